"""Commands that the person runs themself, beside the turn: `!cmd` and `!!cmd`.

They run at once. The transcript gets one when it has ended: at once if no turn runs, else between
two steps, never in the middle of one, and it never starts a turn.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from agent_tui.core.abort import AbortSignal
from agent_tui.core.messages import AgentMessage, BashExecutionMessage
from agent_tui.core.tool import ToolContext, ToolResult
from agent_tui.session.parts import Parts
from agent_tui.tools import run_for_person


class OwnShell(Parts):
    """The part of a session that is about the person's own commands."""

    own_output_dir: Path | None = None
    """Where long outputs of the person's commands are saved; None: a temporary folder."""
    own_environ: Mapping[str, str] | None = None
    """What the person's commands inherit; None: what this process has."""
    _own_ran: tuple[BashExecutionMessage, ...] = ()
    """Commands that have ended and wait for the end of the step."""
    _own_running: tuple[AbortSignal, ...] = ()

    async def run_command(
        self,
        command: str,
        *,
        exclude_from_context: bool = False,
        signal: AbortSignal | None = None,
        on_update: Callable[[ToolResult], None] = lambda shown: None,
    ) -> BashExecutionMessage:
        """Run a shell command of the person's own; needs no approval.

        `signal` ends it. With `exclude_from_context` the model never sees it. `on_update` gets what
        it has printed, in `details` the number of `lines`. The result is in the transcript, or will
        be after the step that runs.
        """
        signal = signal or AbortSignal()
        self._own_running = (*self._own_running, signal)
        context = ToolContext(signal, lambda shown: on_update(_as_result(shown)))
        try:
            ran = await run_for_person(
                command,
                self.approvals.cwd,
                context,
                output_dir=self.own_output_dir,
                environ=self.own_environ,
            )
        finally:
            self._own_running = tuple(one for one in self._own_running if one is not signal)
        on_update(ToolResult(ran.output, details={"lines": ran.lines}))
        message = BashExecutionMessage(
            command=command,
            output=ran.output,
            exit_code=ran.exit_code,
            cancelled=ran.is_cancelled,
            truncated=ran.is_shortened,
            full_output_path=str(ran.path) if ran.path is not None else None,
            exclude_from_context=exclude_from_context,
        )
        self._own_ran = (*self._own_ran, message)
        if not self.is_running:
            self._keep_own_commands()
        return message

    async def _room_between_steps(self, signal: AbortSignal) -> list[AgentMessage] | None:
        """What the rest of the run goes on with; None if that is as it was."""
        shorter = await self._upkeep.between_steps(signal)
        if not self._own_ran:
            return shorter
        if shorter is not None:
            self.agent.state.messages = shorter
        return self._keep_own_commands()

    def _stop_own_commands(self) -> None:
        for signal in self._own_running:
            signal.set("the session was closed")

    def _keep_own_commands(self) -> list[AgentMessage]:
        """Put what has ended into the transcript, for good; the transcript."""
        messages = [*self.agent.state.messages, *self._own_ran]
        if self._own_ran:
            self.agent.state.messages = messages
            for message in self._own_ran:
                self.journal.add_message(message)
            self._own_ran = ()
            self._context_tokens = None
        return messages


def _as_result(shown: ToolResult | str) -> ToolResult:
    return shown if isinstance(shown, ToolResult) else ToolResult(shown)
