"""The error tree, and errors as data.

```
AgentError                 message, code, retryable
├── ConfigError            the user can fix a file or a flag          (path, key)
├── InvalidInputError      a call with arguments that make no sense
├── InvalidStateError      a call that makes no sense now
├── AgentBusyError         a run is active
├── ProviderError          the provider said no                       (status, provider, request_id)
│   ├── AuthenticationError, QuotaError, ContentPolicyError, ContextOverflowError
│   └── RateLimitError(retry_after), RequestTimeoutError, OverloadedError, NetworkError
├── ToolError              ends the run by policy                     (tool_name, tool_call_id)
├── CancelledRunError      `abort()`, seen by `run()`
├── SessionError           the journal cannot be read or written      (path, line)
└── InternalError          a hook raised, or the engine is at fault
```

What happens in normal use (a failed request, a failed tool) is data: `ErrorInfo` on the assistant
message, an error result. Exceptions are for misuse and for `run()`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

BAD_TOOL_CALL = "bad_tool_call"
"""The code of a `ProviderError` for a call that the server itself could not read: asking once more
helps, asking often does not."""


class AgentError(Exception):
    """Root of every error this package raises on purpose; `str(error) == error.message`."""

    default_code: ClassVar[str] = "internal"
    default_retryable: ClassVar[bool] = False

    def __init__(
        self,
        message: str = "",
        *,
        code: str | None = None,
        retryable: bool | None = None,
        cause: BaseException | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        """One plain sentence for a person."""
        self.code = code or self.default_code
        """Stable machine word, e.g. `rate_limit`."""
        self.retryable = self.default_retryable if retryable is None else retryable
        """Whether the same request may succeed later."""
        if cause is not None:
            self.__cause__ = cause

    def __str__(self) -> str:
        return self.message


class ConfigError(AgentError):
    """A file or a flag holds something the person can correct."""

    default_code = "config"

    def __init__(
        self, message: str = "", *, path: str | None = None, key: str | None = None, **base: Any
    ) -> None:
        super().__init__(message, **base)
        self.path = path
        self.key = key


class InvalidInputError(AgentError):
    """An argument makes no sense: empty text, an unknown model, two tools of one name."""

    default_code = "invalid_input"


class InvalidStateError(AgentError):
    """The call makes no sense in the agent's present state."""

    default_code = "invalid_state"


class AgentBusyError(AgentError):
    """A run is active; use `steer()`, `follow_up()` or wait."""

    default_code = "busy"


class ProviderError(AgentError):
    """The provider refused or failed in a way no subclass names."""

    default_code = "provider"

    def __init__(
        self,
        message: str = "",
        *,
        status: int | None = None,
        provider: str | None = None,
        request_id: str | None = None,
        retry_after: float | None = None,
        **base: Any,
    ) -> None:
        super().__init__(message, **base)
        self.status = status
        """HTTP status, None when the request got no answer."""
        self.provider = provider
        self.request_id = request_id
        self.retry_after = retry_after
        """Seconds the server asked to wait, None if it did not say."""


class AuthenticationError(ProviderError):
    """The key is missing, wrong, or not allowed to do this."""

    default_code = "auth"


class RateLimitError(ProviderError):
    """Too many requests for now; `retry_after` is in seconds."""

    default_code = "rate_limit"
    default_retryable = True


class QuotaError(ProviderError):
    """The account's quota or credit is used up; waiting does not help."""

    default_code = "quota"


class RequestTimeoutError(ProviderError):
    """The provider kept silent longer than a time limit allows."""

    default_code = "timeout"
    default_retryable = True


class OverloadedError(ProviderError):
    """The provider is overloaded or broken for the moment."""

    default_code = "overloaded"
    default_retryable = True


class NetworkError(ProviderError):
    """Refused, DNS, TLS, reset; `stream_incomplete` when the answer was cut."""

    default_code = "network"
    default_retryable = True


class ContentPolicyError(ProviderError):
    """The model refused, or a filter stopped the answer."""

    default_code = "content_policy"


class ContextOverflowError(ProviderError):
    """The request does not fit the model's context window."""

    default_code = "context_overflow"


class ToolError(AgentError):
    """Raised by a tool to end the run; other exceptions become error results."""

    default_code = "tool"

    def __init__(
        self,
        message: str = "",
        *,
        tool_name: str | None = None,
        tool_call_id: str | None = None,
        **base: Any,
    ) -> None:
        super().__init__(message, **base)
        self.tool_name = tool_name
        self.tool_call_id = tool_call_id


class CancelledRunError(AgentError):
    """The run ended because `abort()` was called."""

    default_code = "cancelled"


class SessionError(AgentError):
    """The session file cannot be read or written."""

    default_code = "session"

    def __init__(
        self, message: str = "", *, path: str | None = None, line: int | None = None, **base: Any
    ) -> None:
        super().__init__(message, **base)
        self.path = path
        self.line = line


class InternalError(AgentError):
    """A hook raised, a guard of the loop tripped, or the engine is at fault."""

    default_code = "internal"


@dataclass(slots=True)
class ErrorInfo:
    """An error as data: what an assistant message and `agent_end` carry."""

    code: str
    message: str
    retryable: bool = False
    retry_after: float | None = None
    status: int | None = None
    request_id: str | None = None


_REASONS = {
    "rate_limit": "rate limited",
    "stream_incomplete": "the answer broke off",
    "network": "no connection",
    "timeout": "no answer in time",
    "auth": "the key was refused",
    BAD_TOOL_CALL: "an unreadable call",
}


def reason_of(info: ErrorInfo) -> str:
    """A few words for a line that has no room for the sentence: `rate limited (429)`."""
    said = _REASONS.get(info.code) or info.code.replace("_", " ")
    return f"{said} ({info.status})" if info.status else said


_CLASSES: tuple[type[AgentError], ...] = (
    ConfigError,
    InvalidInputError,
    InvalidStateError,
    AgentBusyError,
    ProviderError,
    AuthenticationError,
    RateLimitError,
    QuotaError,
    RequestTimeoutError,
    OverloadedError,
    NetworkError,
    ContentPolicyError,
    ContextOverflowError,
    ToolError,
    CancelledRunError,
    SessionError,
    InternalError,
)
_CLASS_BY_CODE: dict[str, type[AgentError]] = {cls.default_code: cls for cls in _CLASSES} | {
    "stream_incomplete": NetworkError,
    BAD_TOOL_CALL: ProviderError,
    "hook_failed": InternalError,
    "output_limit_loop": InternalError,
}


def default_retryable(code: str) -> bool:
    """Whether an error of this code is worth another try when nobody said otherwise."""
    return _CLASS_BY_CODE.get(code, ProviderError).default_retryable


def error_to_info(error: AgentError) -> ErrorInfo:
    """The data form of an exception."""
    return ErrorInfo(
        code=error.code,
        message=error.message,
        retryable=error.retryable,
        retry_after=getattr(error, "retry_after", None),
        status=getattr(error, "status", None),
        request_id=getattr(error, "request_id", None),
    )


def info_to_error(info: ErrorInfo) -> AgentError:
    """The exception for an error stored as data; unknown codes become `ProviderError`."""
    cls = _CLASS_BY_CODE.get(info.code, ProviderError)
    if issubclass(cls, ProviderError):
        return cls(
            info.message,
            code=info.code,
            retryable=info.retryable,
            status=info.status,
            request_id=info.request_id,
            retry_after=info.retry_after,
        )
    return cls(info.message, code=info.code, retryable=info.retryable)
