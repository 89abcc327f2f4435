"""The loop inspector's verbs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_tui.tui.loop_rows import details, name_of

if TYPE_CHECKING:
    from agent_tui.core.steps import Step
    from agent_tui.tui.app import ChatApp


class LoopVerbs:
    """Opens the inspector, and does what its keys ask for."""

    def __init__(self, app: ChatApp) -> None:
        self._app = app

    def loop(self, _: str) -> str | None:
        """Show the steps of the loop."""
        from agent_tui.tui.screens.loop import LoopScreen

        record = self._app.session.loop_record
        screen = LoopScreen(lambda: record.steps, record.clock, self._act, self._news)
        self._app.push_screen(screen)
        return None

    def _news(self) -> str:
        """What goes on, and what is held."""
        session = self._app.session
        parts = [f"waiting for {session.waiting_for()}"] if session.is_running else []
        if words := session.breakpoints.words:
            parts.append(f"holds {', '.join(words)}")
        return " · ".join(parts)

    def _act(self, verb: str, step: Step | None) -> None:
        if verb == "hold":
            breakpoints = self._app.session.breakpoints
            breakpoints.calls = "off" if breakpoints.holds_calls else "once"
        elif step is not None and verb == "details":
            self._show(name_of(step), details(step, self._app.session.loop_record.clock()))
        elif step is not None:
            self._app.start(self._request(step, is_copied=verb == "copy"))

    async def _request(self, step: Step, *, is_copied: bool) -> None:
        text = await self._app.session.request_json(step)
        if is_copied:
            self._app.verbs.copy_text(text)
        else:
            self._show(f"Request of {name_of(step)}", text)

    def _show(self, title: str, text: str) -> None:
        from agent_tui.tui.screens.output import OutputScreen

        self._app.push_screen(OutputScreen(title, text))
