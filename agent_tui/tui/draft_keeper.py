"""Keeps on disk what is being written, so that a crash of the program does not lose it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.timer import Timer

if TYPE_CHECKING:
    from agent_tui.tui.app import ChatApp

SAVE_SECONDS = 0.5
"""How much of the writing a crash may cost."""


class DraftKeeper:
    """Saves the composer's text and the stash beside the session."""

    def __init__(self, app: ChatApp) -> None:
        self._app = app
        self._timer: Timer | None = None

    def restore(self) -> None:
        """Bring back what was being written, unless it was sent after all."""
        app = self._app
        kept = app.session.drafts
        sent = {getattr(message, "text", None) for message in app.session.agent.state.messages}
        sent |= {getattr(item.message, "text", None) for item in app.session.agent.queued()}
        app.prompt.stash_all(text for text in kept.stash if text not in sent)
        if kept.text.strip() and kept.text not in sent and app.prompt.is_blank:
            app.prompt.set_text(kept.text)

    def changed(self) -> None:
        """The text or the stash is another: it is saved soon."""
        if self._app.is_ready and self._timer is None:
            self._timer = self._app.set_timer(SAVE_SECONDS, self.save)

    def save(self) -> None:
        """Save now."""
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
        prompt = self._app.prompt
        self._app.session.keep_drafts(prompt.expanded_text, prompt.stashed)
