"""The time of turns: how long they take, and how much of that is work and not waiting for a person.

A question to the person stops the clock of the budgets, not the one on the screen.
"""

from __future__ import annotations

from collections.abc import Callable


class Stopwatch:
    """Started with a turn, stopped with it; `pause` and `resume` go around each question."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._started: float | None = None
        self._took = 0.0
        self._waited = 0.0
        self._earlier = 0.0
        """Work of the turns before."""
        self._questions = 0
        self._asked_at = 0.0

    def start(self) -> None:
        """A turn begins."""
        self.stop()
        self._earlier += self.worked
        self._started = self._asked_at = self._clock()
        self._waited = 0.0

    def stop(self) -> None:
        """The turn is over; may be repeated."""
        if self._started is None:
            return
        if self._questions:
            self._waited += self._clock() - self._asked_at
            self._questions = 0
        self._took = self.elapsed
        self._started = None

    def pause(self) -> None:
        """A question is open; several may be."""
        if not self._questions:
            self._asked_at = self._clock()
        self._questions += 1

    def resume(self) -> None:
        """A question is answered."""
        if self._questions == 1 and self._started is not None:
            self._waited += self._clock() - self._asked_at
        self._questions = max(0, self._questions - 1)

    @property
    def elapsed(self) -> float:
        """Seconds since the turn began, or that it took."""
        return self._took if self._started is None else self._clock() - self._started

    @property
    def worked(self) -> float:
        """The same without the waits for answers."""
        is_waiting = self._questions > 0 and self._started is not None
        waiting = self._clock() - self._asked_at if is_waiting else 0.0
        return self.elapsed - self._waited - waiting

    @property
    def worked_in_all(self) -> float:
        """Seconds of work of all turns together."""
        return self._earlier + self.worked
