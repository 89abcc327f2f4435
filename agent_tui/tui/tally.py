"""What the screen counts beside the session's sums: steps, time, speed, and what is unknown."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from agent_tui.core.limits import Limits
from agent_tui.core.messages import AssistantMessage
from agent_tui.core.spending import Spent
from agent_tui.tui.status import Counters

CHARACTERS_PER_TOKEN = 4
"""The rough rule by which a streaming answer is estimated; shown with `~`."""
MINIMUM_RATE_SECONDS = 0.3
"""A shorter answer says nothing about speed."""


@dataclass(slots=True)
class Tally:
    """Counts the steps of the turn and of the session, and times the answers."""

    now: Callable[[], float]
    steps: int = 0
    """Steps begun in this turn; a failed request and its repetitions are one."""
    failures: int = 0
    """Requests of this turn that failed."""
    attempt: int = 1
    """Which try at the present step is going on."""
    is_guessing: bool = False
    """The latest answer came without counts: the size of the context is an estimate."""
    _repeats: bool = False
    """The last request failed: the next one is for the same step."""
    _session_steps: int = 0
    _began: float = 0.0
    _ended: float | None = None
    _first_delta_at: float | None = None
    _rate: float | None = None

    def begin_turn(self) -> None:
        """A turn begins: its figures are zero."""
        self.steps = self.failures = 0
        self.attempt, self._repeats = 1, False
        self._began = self.now()
        self._rate = None

    def begin_run(self) -> None:
        """The clock runs."""
        self._ended = None

    def end_run(self) -> None:
        """The clock stands, until the turn goes on with a retry."""
        self._ended = self.now()

    def begin_step(self) -> None:
        """One more, or another try at the one that failed."""
        self.attempt = self.attempt + 1 if self._repeats else 1
        if not self._repeats:
            self.steps += 1
            self._session_steps += 1
        self._repeats = False

    def begin_answer(self) -> None:
        """Nothing has arrived yet."""
        self._first_delta_at = None

    def arrived(self) -> None:
        """A piece of the answer arrived."""
        if self._first_delta_at is None:
            self._first_delta_at = self.now()

    def end_answer(self, message: AssistantMessage) -> None:
        """The answer is complete: now its tokens are known, if the provider counted them."""
        self._repeats = message.stop_reason == "error"
        self.failures += self._repeats
        usage, began = message.usage, self._first_delta_at
        self._first_delta_at = None
        self.is_guessing = not usage.total and not usage.output
        seconds = self.now() - began if began is not None else 0.0
        known = bool(usage.output) and seconds >= MINIMUM_RATE_SECONDS
        self._rate = usage.output / seconds if known else None

    def show_earlier(self) -> None:
        """An answer of an earlier time belongs to the session, not to a turn."""
        self._session_steps += 1

    @property
    def seconds(self) -> float:
        """How long the turn has been running, or took; 0 before the first."""
        end = self.now() if self._ended is None else self._ended
        return end - self._began if self.steps else 0.0

    def rate(self, characters: int | None) -> tuple[float | None, bool]:
        """Tokens per second, and whether that is an estimate; `characters` have arrived so far."""
        if characters is None or self._first_delta_at is None:
            return self._rate, False
        seconds = self.now() - self._first_delta_at
        if seconds < MINIMUM_RATE_SECONDS:
            return None, False
        return characters / CHARACTERS_PER_TOKEN / seconds, True

    def turn(self, spent: Spent, limits: Limits, characters: int = 0) -> Counters:
        """The counters of the turn, given what its finished steps used."""
        arriving = characters // CHARACTERS_PER_TOKEN
        return Counters(spent, self.steps, arriving, limits, self.failures, self.attempt)

    def session(self, spent: Spent, limits: Limits) -> Counters:
        """The counters of the session."""
        return Counters(spent, self._session_steps, limits=limits)
