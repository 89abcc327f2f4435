"""Verbs about the context: what fills it, summaries, and messages that stay as they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_tui.core.errors import AgentError
from agent_tui.tui.block import Block

if TYPE_CHECKING:
    from agent_tui.tui.app import ChatApp


class ContextVerbs:
    """One method a verb, named as in the registry."""

    def __init__(self, app: ChatApp) -> None:
        self._app = app

    def context(self, _: str) -> str | None:
        """Show what the window is filled with."""
        from agent_tui.tui.context import context_text
        from agent_tui.tui.screens.output import OutputScreen

        report = self._app.session.context_report()
        self._app.push_screen(
            OutputScreen("Context", context_text(report, self._app.size.width - 2))
        )
        return None

    def compact(self, argument: str) -> str | None:
        """Summarise older messages, or take the last summary back."""
        if argument == "undo":
            return self._undo()
        app = self._app
        if app.session.is_running:
            app.flash("Older messages are summarised before the next step, or after the last one.")
        app.start(app.session.compact(argument))
        return None

    def _undo(self) -> str | None:
        session = self._app.session
        try:
            summary = session.undo_compaction()
        except AgentError as error:
            return error.message
        if summary is None:
            return "There is no summary to take back."
        self._app.presenter.say("The summary was taken back: the context is as it was before.")
        self._app.redraw()
        return None

    def pin(self, _: str) -> str | None:
        """Keep the last message word for word, or no longer."""
        messages = self._app.session.agent.state.messages
        last = next((m.id for m in reversed(messages) if m.role in ("user", "assistant")), None)
        return "There is no message to pin yet." if last is None else self._pin(last)

    def pin_block(self, block: Block) -> None:
        """The same with the message that a block shows."""
        reason = self._pin(block.message_id) if block.message_id else "That is no message."
        if reason is not None:
            self._app.flash(reason, "warning")

    def _pin(self, message_id: str) -> str | None:
        session = self._app.session
        is_pinned = message_id in session.pins
        if not session.pin(message_id, not is_pinned):
            return "That message is not in the context any more."
        self._app.flash(
            "Not pinned any more." if is_pinned else "Pinned: no summary takes its place."
        )
        return None
