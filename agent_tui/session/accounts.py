"""The figures of a session: what it spent and may spend, its time, how full the window is."""

from __future__ import annotations

from pathlib import Path

from agent_tui.core.spending import Spent, UsageReport
from agent_tui.core.steps import Step
from agent_tui.core.usage import Usage
from agent_tui.session.export import export_csv
from agent_tui.session.parts import Parts


class Accounts(Parts):
    """The part of a session that is about figures; everything here only reads."""

    @property
    def totals(self) -> Usage:
        """Everything this session spent, failed and repeated attempts included."""
        return self._ledger.session.usage

    @property
    def turn_totals(self) -> Usage:
        """What the current or last turn spent, from `prompt()` until settled."""
        return self._ledger.turn.usage

    @property
    def spent(self) -> Spent:
        """`totals`, with what is known about their being complete."""
        return self._ledger.session

    @property
    def turn_spent(self) -> Spent:
        """`turn_totals`, likewise."""
        return self._ledger.turn

    def usage_report(self) -> UsageReport:
        """What was spent, call by call, by model and by tool."""
        return self._ledger.report()

    async def request_json(self, step: Step) -> str:
        """The exact request of a step of `loop_record`, indented; no key is in it."""
        from agent_tui.session.loop_request import request_json

        messages = self.loop_record.messages_of(step)
        return await request_json(step, messages, is_ours=self.agent.stream_fn is None)

    def export_usage(self, path: Path) -> None:
        """Write it as CSV to a new file, or over an earlier export.

        Raises:
            InvalidInputError: The file cannot be written, or is something else.
        """
        export_csv(self.usage_report(), path)

    @property
    def turn_steps(self) -> int:
        """Steps begun in the current or last turn."""
        return self._ledger.steps

    @property
    def max_steps(self) -> int | None:
        """Steps of a turn before somebody is asked, or the run ends; None is without a limit."""
        return self.budgets.turn.iterations or self.agent.max_iterations

    @property
    def turn_seconds(self) -> float:
        """How long the current turn has been running, or the last one took."""
        return self._watch.elapsed

    @property
    def context_window(self) -> int | None:
        """How many tokens the model in use can read at once; None is unknown."""
        return self.agent.state.model.context_window

    @property
    def context_tokens(self) -> int | None:
        """How many tokens the transcript amounts to, estimated; None while it is empty."""
        state = self.agent.state
        if not state.messages:
            return None
        if self._context_tokens is None:
            self._context_tokens = self._compactor.context_tokens()
        return self._context_tokens

    @property
    def is_context_guessed(self) -> bool:
        """Whether no count of the provider stands behind `context_tokens`."""
        return self.context_tokens is not None and self._compactor.is_context_guessed
