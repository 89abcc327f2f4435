"""The wait for a retry: a notice that counts down and is gone when the request is made again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from agent_tui.core.errors import ErrorInfo, reason_of
from agent_tui.tui.answer import View
from agent_tui.tui.banner import retry_sentence
from agent_tui.tui.blocks import NoticeBlock
from agent_tui.tui.figures import countdown


@dataclass(frozen=True, slots=True)
class _Wait:
    attempt: int
    max_attempts: int
    due: float
    error: ErrorInfo
    notice: NoticeBlock


class Countdown:
    """At most one wait at a time."""

    def __init__(self, view: View, now: Callable[[], float]) -> None:
        self._view = view
        self._now = now
        self._wait: _Wait | None = None

    @property
    def seconds_left(self) -> float | None:
        """Until the next try; None while nothing is waited for."""
        return None if self._wait is None else max(0.0, self._wait.due - self._now())

    def begin(self, attempt: int, max_attempts: int, delay: float, error: ErrorInfo) -> None:
        """A request failed and is made again after `delay` seconds."""
        self.end()
        notice = NoticeBlock(retry_sentence(attempt, max_attempts, delay, error), "warning")
        self._wait = _Wait(attempt, max_attempts, self._now() + delay, error, notice)
        self._view.append(notice)

    def tick(self) -> None:
        """Some time has passed."""
        wait, left = self._wait, self.seconds_left
        if wait is not None and left is not None:
            said = retry_sentence(wait.attempt, wait.max_attempts, left, wait.error)
            wait.notice.change(said)
            self._view.mark(wait.notice)

    def end(self) -> ErrorInfo | None:
        """The wait is over; what it was for, None if nothing was waited for."""
        wait, self._wait = self._wait, None
        if wait is None:
            return None
        self._view.remove(wait.notice)
        return wait.error

    @property
    def words(self) -> str:
        """For the status line: `rate limited (429): try 2/3 in 4 s`; empty without a wait."""
        wait, left = self._wait, self.seconds_left
        if wait is None or left is None:
            return ""
        when = f"try {wait.attempt}/{wait.max_attempts} {countdown(left)}"
        return f"{reason_of(wait.error)}: {when}"
