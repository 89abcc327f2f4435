"""When to stop summarising by itself: it keeps failing, or it does not help."""

from __future__ import annotations

_FAILURES = 3
_IN_A_ROW = 3
_CLOSE = 3
"""Compactions within so many steps of each other are too close."""


class Breaker:
    """Counts failures, and compactions that follow each other too closely."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Begin anew: the person asked for a summary and got it."""
        self._failures = 0
        self._close = 0
        self._steps = _CLOSE + 1
        self.reason: str | None = None
        """Why nothing is summarised by itself any more; None while it is."""

    def step(self) -> None:
        """The model has answered."""
        self._steps += 1

    def failed(self, *, is_transient: bool) -> None:
        """A summary could not be had; what passes by itself, as rate limits do, does not count."""
        self._failures += not is_transient
        if self._failures >= _FAILURES:
            self.reason = (
                f"{_FAILURES} summaries in a row failed: the context is not summarised by itself "
                "any more in this session. /compact tries again."
            )

    def succeeded(self) -> None:
        """A summary has taken its place."""
        self._failures = 0
        self._close = self._close + 1 if self._steps <= _CLOSE else 1
        self._steps = 0
        if self._close >= _IN_A_ROW:
            self.reason = (
                "The context was full again at once, several times: something in it is too large. "
                "/context shows what; it is not summarised by itself any more."
            )
