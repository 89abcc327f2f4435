"""The error tree, and errors as data."""

from __future__ import annotations

import pytest

import agent_tui
from agent_tui import (
    AgentBusyError,
    AgentError,
    AuthenticationError,
    CancelledRunError,
    ConfigError,
    ContentPolicyError,
    ContextOverflowError,
    ErrorInfo,
    InternalError,
    InvalidInputError,
    InvalidStateError,
    NetworkError,
    OverloadedError,
    ProviderError,
    QuotaError,
    RateLimitError,
    RequestTimeoutError,
    SessionError,
    ToolError,
)
from agent_tui.core.errors import default_retryable, error_to_info, info_to_error

CODES: list[tuple[type[AgentError], str, bool]] = [
    (AuthenticationError, "auth", False),
    (RateLimitError, "rate_limit", True),
    (QuotaError, "quota", False),
    (RequestTimeoutError, "timeout", True),
    (OverloadedError, "overloaded", True),
    (NetworkError, "network", True),
    (ContentPolicyError, "content_policy", False),
    (ContextOverflowError, "context_overflow", False),
    (ProviderError, "provider", False),
    (ToolError, "tool", False),
    (CancelledRunError, "cancelled", False),
    (InvalidInputError, "invalid_input", False),
    (AgentBusyError, "busy", False),
    (InvalidStateError, "invalid_state", False),
    (ConfigError, "config", False),
    (SessionError, "session", False),
    (InternalError, "internal", False),
]
NAMES = [cls.__name__ for cls, _, _ in CODES]


@pytest.mark.parametrize(("cls", "code", "retryable"), CODES, ids=NAMES)
def test_each_error_has_its_code(cls: type[AgentError], code: str, retryable: bool) -> None:
    error = cls("what, where, what to do")

    assert isinstance(error, AgentError)
    assert (error.code, error.retryable) == (code, retryable)
    assert str(error) == error.message == "what, where, what to do"
    assert getattr(agent_tui, cls.__name__) is cls


@pytest.mark.parametrize(("cls", "code", "retryable"), CODES, ids=NAMES)
def test_code_retryable_and_cause_can_be_said(
    cls: type[AgentError], code: str, retryable: bool
) -> None:
    cause = OSError("reset")

    error = cls("x", code="special", retryable=not retryable, cause=cause)

    assert (error.code, error.retryable) == ("special", not retryable)
    assert error.__cause__ is cause


def test_errors_carry_the_fields_of_their_class() -> None:
    limit = RateLimitError("x", retry_after=1.5, status=429, provider="p", request_id="r")
    tool = ToolError("x", tool_name="t", tool_call_id="c")
    session = SessionError("x", path="f", line=3)
    config = ConfigError("x", path="f", key="k")

    assert (limit.retry_after, limit.status, limit.provider, limit.request_id) == (
        1.5,
        429,
        "p",
        "r",
    )
    assert (tool.tool_name, tool.tool_call_id) == ("t", "c")
    assert (session.path, session.line) == ("f", 3)
    assert (config.path, config.key) == ("f", "k")


def test_the_delay_is_unknown_unless_the_server_said_it() -> None:
    assert RateLimitError("x").retry_after is None


@pytest.mark.parametrize(("cls", "code", "retryable"), CODES, ids=NAMES)
def test_an_error_survives_being_data(cls: type[AgentError], code: str, retryable: bool) -> None:
    error = cls("x", retryable=not retryable)

    back = info_to_error(error_to_info(error))

    assert type(back) is cls
    assert (back.code, back.message, back.retryable) == (code, "x", not retryable)


def test_the_data_keeps_what_a_retry_needs() -> None:
    error = RateLimitError("x", retry_after=2.5, status=429, request_id="r")

    info = error_to_info(error)
    back = info_to_error(info)

    assert info == ErrorInfo(
        code="rate_limit",
        message="x",
        retryable=True,
        retry_after=2.5,
        status=429,
        request_id="r",
    )
    assert isinstance(back, RateLimitError)
    assert (back.retry_after, back.status, back.request_id) == (2.5, 429, "r")


@pytest.mark.parametrize(
    ("code", "cls"),
    [
        ("stream_incomplete", NetworkError),
        ("hook_failed", InternalError),
        ("output_limit_loop", InternalError),
        ("something_new", ProviderError),
    ],
)
def test_special_codes_have_a_class(code: str, cls: type[AgentError]) -> None:
    error = info_to_error(ErrorInfo(code=code, message="x", retryable=True))

    assert type(error) is cls
    assert error.code == code
    assert error.retryable


@pytest.mark.parametrize(
    ("code", "retryable"),
    [
        ("rate_limit", True),
        ("timeout", True),
        ("overloaded", True),
        ("network", True),
        ("stream_incomplete", True),
        ("auth", False),
        ("quota", False),
        ("content_policy", False),
        ("context_overflow", False),
        ("provider", False),
        ("anything_else", False),
    ],
)
def test_only_what_may_pass_is_worth_another_try(code: str, retryable: bool) -> None:
    assert default_retryable(code) is retryable


def test_error_data_has_defaults() -> None:
    info = ErrorInfo(code="auth", message="x")

    assert (info.retryable, info.retry_after, info.status, info.request_id) == (
        False,
        None,
        None,
        None,
    )
