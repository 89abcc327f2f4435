"""Which failures are worth another try, and after how long."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from agent_tui.core.errors import BAD_TOOL_CALL, ErrorInfo
from agent_tui.core.model import Model


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often and how patiently to try again."""

    max_retries: int = 3
    base_seconds: float = 2.0
    """The first wait; each further one is twice as long."""
    cap_seconds: float = 60.0
    """No wait is longer; a server that asks for more is not waited for."""


@dataclass(frozen=True, slots=True)
class RetryPlan:
    """What to do about one failure."""

    error: ErrorInfo
    """The failure, with the reason added when it is given up for a wait that is too long."""
    delay: float | None
    """Seconds to wait before the next try, None to give up."""
    stand_in: Model | None = None
    """Who makes the next try, None for the same model."""


class Retries:
    """Counts the retries of one request; an answer starts the count anew."""

    def __init__(self, policy: RetryPolicy, jitter: Callable[[], float]) -> None:
        self.policy = policy
        self._jitter = jitter
        self.attempt = 0
        """Retries begun since the last answer."""

    def limit(self, error: ErrorInfo) -> int:
        """How many retries a failure like this is worth."""
        most = self.policy.max_retries
        return min(most, 1) if error.code == BAD_TOOL_CALL else most

    def plan(self, error: ErrorInfo) -> RetryPlan:
        """What to do now that a request ended with `error`; counts the retry if there is one."""
        if not error.retryable or self.attempt >= self.limit(error):
            return RetryPlan(error, None)
        asked = error.retry_after
        if asked is not None and asked > self.policy.cap_seconds:
            return RetryPlan(_with_reason(error, asked), None)
        self.attempt += 1
        if asked is not None:
            return RetryPlan(error, max(asked, 0.0))
        wait = self.policy.base_seconds * 2 ** (self.attempt - 1) * self._jitter()
        return RetryPlan(error, min(wait, self.policy.cap_seconds))

    def reset(self) -> int:
        """Forget the retries; returns how many there were."""
        done, self.attempt = self.attempt, 0
        return done


def _with_reason(error: ErrorInfo, seconds: float) -> ErrorInfo:
    reason = f"the server asks to wait {seconds:g} s, too long to wait here; try again later"
    message = f"{error.message.rstrip('. ')}: {reason}" if error.message else reason
    return replace(error, message=message)
