"""Trying again without a session."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from agent_tui.core.errors import (
    BAD_TOOL_CALL,
    AgentError,
    NetworkError,
    OverloadedError,
    ProviderError,
    RateLimitError,
)
from agent_tui.core.model import Model
from agent_tui.core.stream import (
    LlmContext,
    StreamError,
    StreamEvent,
    StreamFn,
    StreamOptions,
)
from agent_tui.providers import with_retries
from agent_tui.providers.stream import MessageBuilder

MODEL = Model("lab", "m")


class Flaky:
    """Fails with the given errors, one a call, then answers."""

    def __init__(self, *errors: AgentError, text: str = "", raises: bool = False) -> None:
        self.errors = list(errors)
        self.text = text
        self.raises = raises
        self.calls = 0

    async def __call__(
        self, model: Model, context: LlmContext, options: StreamOptions
    ) -> AsyncIterator[StreamEvent]:
        self.calls += 1
        builder = MessageBuilder(model)
        builder.start()
        error = self.errors.pop(0) if self.errors else None
        builder.text(self.text if error else "answer")
        for event in builder.take():
            yield event
        if error is not None and self.raises:
            raise error
        if error is not None:
            builder.fail(error)
        else:
            builder.done("stop")
        for event in builder.take():
            yield event


async def run(
    flaky: StreamFn, options: StreamOptions | None = None
) -> tuple[list[StreamEvent], list[float]]:
    """The events, and how long was waited before each retry."""
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    stream = with_retries(flaky, sleep=sleep, jitter=lambda: 1.0)
    events = [e async for e in stream(MODEL, LlmContext(), options or StreamOptions())]
    return events, waits


def types(events: list[StreamEvent]) -> list[str]:
    return [event.type for event in events]


ANSWER = ["start", "text_start", "text_delta", "text_end", "done"]


@pytest.mark.parametrize("raises", [False, True])
async def test_retryable_failures_leave_no_trace_in_the_events(raises: bool) -> None:
    flaky = Flaky(OverloadedError("busy"), NetworkError("reset"), raises=raises)

    events, waits = await run(flaky)

    assert types(events) == ANSWER
    assert waits == [2, 4]


async def test_the_last_failure_is_told_when_all_tries_fail() -> None:
    events, waits = await run(Flaky(*(OverloadedError(str(n)) for n in range(9))))

    assert waits == [2, 4, 8]
    assert isinstance(events[-1], StreamError)
    assert events[-1].message.error is not None
    assert events[-1].message.error.message == "3"


async def test_a_call_that_the_server_could_not_read_is_asked_for_once_more() -> None:
    bad = ProviderError("bad call", code=BAD_TOOL_CALL, retryable=True)

    events, waits = await run(Flaky(bad, bad, bad))

    assert waits == [2]
    assert types(events) == ["error"]


async def test_a_failure_that_is_final_is_told_at_once() -> None:
    flaky = Flaky(AgentError("no"))

    events, waits = await run(flaky)

    assert (types(events), waits, flaky.calls) == (["error"], [], 1)


async def test_after_content_nothing_is_tried_again() -> None:
    flaky = Flaky(OverloadedError("busy"), text="half an ans")

    events, waits = await run(flaky)

    assert types(events) == [*ANSWER[:-1], "error"]
    assert (waits, flaky.calls) == ([], 1)


async def test_what_is_raised_after_content_is_passed_on() -> None:
    flaky = Flaky(OverloadedError("busy"), text="half an ans", raises=True)

    with pytest.raises(OverloadedError):
        await run(flaky)

    assert flaky.calls == 1


async def test_the_servers_delay_is_used_exactly() -> None:
    _, waits = await run(Flaky(RateLimitError("slow", retry_after=30.5)))

    assert waits == [30.5]


async def test_a_delay_beyond_a_minute_fails_at_once_and_says_so() -> None:
    events, waits = await run(Flaky(RateLimitError("slow", retry_after=300.0)))

    assert waits == []
    assert isinstance(events[-1], StreamError)
    assert events[-1].message.error is not None
    assert "300 s" in events[-1].message.error.message


async def test_the_signal_ends_a_wait_at_once() -> None:
    flaky = Flaky(OverloadedError("busy"))
    options = StreamOptions()
    stream = with_retries(flaky, sleep=lambda _: asyncio.Event().wait())
    asyncio.get_running_loop().call_later(0.01, options.signal.set)

    async with asyncio.timeout(1):
        events = [event async for event in stream(MODEL, LlmContext(), options)]

    assert isinstance(events[-1], StreamError)
    assert events[-1].reason == "aborted"
    assert flaky.calls == 1
