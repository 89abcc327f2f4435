"""What a session has spent: the steps add up to the turn, the turns to the session."""

from __future__ import annotations

from collections.abc import Callable

from agent_tui.core.messages import AgentMessage, AssistantMessage, ToolResultMessage
from agent_tui.core.usage import Usage


class Totals:
    """Sums over every finished message, failed and repeated attempts included."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._started: float | None = None
        self._took = 0.0
        self.session = Usage()
        self.turn = Usage()
        self.steps = 0
        """Steps begun in this turn."""

    def begin_turn(self) -> None:
        """Start counting a new turn."""
        self._started = self._clock()
        self.turn = Usage()
        self.steps = 0

    def end_turn(self) -> None:
        """Stop the turn's clock."""
        self._took = self.seconds
        self._started = None

    def count(self, message: AgentMessage) -> None:
        """Add what a finished message cost."""
        match message:
            case AssistantMessage(usage=usage) | ToolResultMessage(usage=Usage() as usage):
                self.turn += usage
                self.session += usage

    @property
    def seconds(self) -> float:
        """How long the turn has been running, or took."""
        return self._took if self._started is None else self._clock() - self._started
