"""What Ctrl+C and Esc mean right now. Pure: a decision from the state and the clock.

A stop key never quits the program and never touches the draft: leaving needs two presses while
nothing runs, and presses within 1.5 s of a stop are taken for impatience, not for leaving.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

StopAct = Literal["abort", "kill", "copy", "stash", "arm_quit", "quit", "rewind", "ignore"]

GUARD_SECONDS = 1.5
"""After a stop has finished, further presses of Ctrl+C are ignored for this long."""
DOUBLE_SECONDS = 0.6
"""How soon after the first a second Esc belongs to it."""
ARMED_SECONDS = 2.0
"""How long a second Ctrl+C on an empty composer quits."""


@dataclass(slots=True)
class StopKeys:
    """The memory behind Ctrl+C."""

    now: Callable[[], float]
    stopping_since: float | None = None
    stopped_at: float | None = None
    _armed_at: float | None = None
    _escaped_at: float | None = None

    def ctrl_c(self, *, running: bool, has_selection: bool, has_draft: bool) -> StopAct:
        """What this press does."""
        if running:
            return self._stop()
        if self._within(self.stopped_at, GUARD_SECONDS):
            return "ignore"
        if has_selection:
            return "copy"
        if has_draft:
            return "stash"
        if self._within(self._armed_at, ARMED_SECONDS):
            return "quit"
        self._armed_at = self.now()
        return "arm_quit"

    def escape(self, *, running: bool) -> StopAct:
        """Esc with no popup open: stops, never kills or quits; twice at rest it goes back."""
        if running:
            return "ignore" if self.stopping_since is not None else self._stop()
        if self._within(self.stopped_at, GUARD_SECONDS):
            return "ignore"
        is_second = self._within(self._escaped_at, DOUBLE_SECONDS)
        self._escaped_at = None if is_second else self.now()
        return "rewind" if is_second else "ignore"

    def run_began(self) -> None:
        """A run began, for instance the one that a stop made room for."""
        self.stopping_since = None

    def settled(self) -> None:
        """The turn is over; begins the guard time if it was stopped."""
        if self.stopping_since is not None:
            self.stopped_at = self.now()
        self.stopping_since = None
        self._armed_at = None

    def _stop(self) -> StopAct:
        if self.stopping_since is not None:
            return "kill"
        self.stopping_since = self.now()
        return "abort"

    def _within(self, since: float | None, seconds: float) -> bool:
        return since is not None and self.now() - since < seconds
