"""`!cmd` and `!!cmd` in the composer: a shell command of the person's own, shown as a panel."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_tui.core.abort import AbortSignal
from agent_tui.core.errors import AgentError
from agent_tui.tui.blocks import ToolBlock
from agent_tui.tui.hints import MARK, mark_of

if TYPE_CHECKING:
    from agent_tui.tui.app import ChatApp

STOPPED = "stopped by the user"


class OwnShell:
    """Runs them, as many at a time as the person likes."""

    def __init__(self, app: ChatApp) -> None:
        self._app = app
        self._running: dict[str, AbortSignal] = {}
        """Id of the panel → what ends its command."""

    @property
    def is_running(self) -> bool:
        """At least one runs."""
        return bool(self._running)

    def takes(self, text: str) -> bool:
        """Run the command in `text`; False if it is none."""
        mark = mark_of(text)
        if not mark:
            return False
        command = text[len(mark) :].strip()
        if not command:
            self._app.prompt.put_back(text)
            self._app.flash("A shell command follows: !ls, or !!ls to hide it from the model.")
            return True
        self._app.transcript.follow()
        is_hidden = mark != MARK
        block = self._app.presenter.calls.own_began(command, is_hidden)
        self._running[block.id] = signal = AbortSignal()
        self._app.start(self._run(command, is_hidden, block, signal))
        return True

    def stop(self, block: ToolBlock | None = None) -> bool:
        """End the command of this panel, None: all of them; False if none runs."""
        ids = [*self._running] if block is None else [block.id]
        signals = [self._running[id_] for id_ in ids if id_ in self._running]
        for signal in signals:
            signal.set(STOPPED)
        return bool(signals)

    async def _run(
        self, command: str, is_hidden: bool, block: ToolBlock, signal: AbortSignal
    ) -> None:
        app, calls = self._app, self._app.presenter.calls
        calls.own_runs(block)
        try:
            message = await app.session.run_command(
                command,
                exclude_from_context=is_hidden,
                signal=signal,
                on_update=lambda shown: calls.own_prints(block, shown),
            )
            calls.own_ended(block, message)
        except AgentError as error:
            app.presenter.say(error.message, "error")
        finally:
            del self._running[block.id]
        app.redraw()
