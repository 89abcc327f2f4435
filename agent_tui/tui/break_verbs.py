"""Verbs about breakpoints: where to hold, and how to go on from there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from agent_tui.core.errors import AgentError
from agent_tui.tui.held import HeldCall, arguments, as_arguments

if TYPE_CHECKING:
    from agent_tui.tui.app import ChatApp

CHOICES = ("next", "each", "off")


class BreakVerbs:
    """One method a verb, named as in the registry."""

    def __init__(self, app: ChatApp) -> None:
        self._app = app

    @property
    def held(self) -> HeldCall | None:
        """What is held, the oldest first."""
        pending = self._app.session.breakpoints.pending
        return pending[0] if pending else None

    def break_(self, where: str) -> str | None:
        """Hold before the next model call, every one, or the calls of a tool; or no more."""
        breakpoints = self._app.session.breakpoints
        match where:
            case "" | "next":
                breakpoints.calls = "once"
            case "each":
                breakpoints.calls = "each"
            case "off":
                breakpoints.clear()
            case _ if where in breakpoints.tools:
                breakpoints.tools.remove(where)
            case _:
                names = where.removeprefix("tool ").split()
                breakpoints.tools += [name for name in names if name not in breakpoints.tools]
        words = " · ".join(breakpoints.words)
        self._app.flash(f"Held: {words}. /break off ends that." if words else "Nothing is held.")
        return None

    def step(self, _: str) -> str | None:
        """Go on, and hold before the next model call."""
        if self.held is None:
            return self.break_("next")
        return self.answer("step")

    def answer(self, verdict: Literal["go", "step", "stop"]) -> str | None:
        """Let what is held go on, or not."""
        if (held := self.held) is None:
            return "Nothing is held."
        self._app.session.breakpoints.answer(held.id, verdict)
        return None

    def edit_arguments(self) -> None:
        """Open the arguments of the call that is held."""
        held = self.held
        if held is None or not held.tool_name:
            self._app.flash("A model call has no arguments to edit: steer with a message.")
            return
        from agent_tui.tui.screens.arguments import ArgumentsScreen

        title = f"Arguments of {held.tool_name}, as JSON"
        self._app.push_screen(
            ArgumentsScreen(title, arguments(held), lambda text: self._store(held.id, text))
        )

    def _store(self, held_id: str, text: str) -> str | None:
        found = as_arguments(text)
        if isinstance(found, str):
            return found
        try:
            is_open = self._app.session.breakpoints.answer(held_id, "go", found)
        except AgentError as error:
            return f"{error.message}."
        if not is_open:
            self._app.flash("That call is not held any more: nothing was changed.", "warning")
        return None
