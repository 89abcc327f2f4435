"""What becomes of a text that left the composer: a command, a command of the person's, a message.

A text that nothing can be done with goes back to the composer, and the hint line says why.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from agent_tui.tui.commands import Parsed, find, parse

if TYPE_CHECKING:
    from agent_tui.tui.app import ChatApp
    from agent_tui.tui.prompt import Prompt


class Submitting:
    """Takes texts from the composer, and queued commands when their turn comes."""

    def __init__(self, app: ChatApp) -> None:
        self._app = app
        self._early: list[Prompt.Submitted] = []

    def take(self, event: Prompt.Submitted) -> None:
        """Do what the person meant; before the session is open it waits for that."""
        app, text = self._app, event.text
        if not app.is_ready:
            self._early.append(event)
            return
        app.chrome.end_flash()
        parsed = parse(text)
        if parsed is None or parsed.command is not find("quit"):
            app.leaving.stay()
        if not text.strip():
            if not app.delivery.go_on() and app.is_busy:
                app.flash("Nothing to send.", "quiet")
        elif app.verbs.takes(text, event.lane):
            pass
        elif (reason := app.verbs.own.unknown(text)) is not None:
            self.give_back(text, reason)
        elif parsed is None or (parsed.command is None and Path(f"/{parsed.name}").exists()):
            app.send(text, event.lane)
        elif parsed.command and event.lane == "follow_up" and app.is_busy:
            app.delivery.queue_command(text)
        else:
            self._run(parsed, text)
        app.redraw()

    def take_early(self) -> None:
        """The session is open: what was sent before goes its way now."""
        early, self._early = self._early, []
        for event in early:
            self.take(event)

    def _run(self, parsed: Parsed, text: str) -> None:
        reason = self._app.verbs.run(parsed)
        if reason is not None and parsed.is_bare:
            self._app.flash(reason, "warning")
        elif reason is not None:
            self.give_back(text, reason)

    def give_back(self, text: str, reason: str) -> None:
        """The composer has the text again; say why."""
        self._app.prompt.put_back(text)
        self._app.flash(reason, "warning")

    def run_queued(self, line: str) -> None:
        """The turn of a queued command has come."""
        app, parsed = self._app, parse(line)
        if app.verbs.own.takes(line, "now" if app.is_busy else "enter"):
            pass
        elif parsed is not None and (reason := app.verbs.run(parsed)) is not None:
            app.presenter.say(f"{line}: {reason}", "warning")
        app.redraw_soon()
