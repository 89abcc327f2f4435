"""The scripted model, as users of the package see it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from typing import Any

import pytest

from agent_tui import (
    AbortSignal,
    Agent,
    AssistantMessage,
    Model,
    RateLimitError,
    TextBlock,
    ToolCall,
    Usage,
    UserMessage,
    tool,
)
from agent_tui.core.stream import (
    LlmContext,
    StreamDone,
    StreamError,
    StreamEvent,
    StreamOptions,
    ToolCallDelta,
)
from agent_tui.testing import (
    ScriptedModel,
    call,
    calls,
    end,
    fail,
    hang,
    pause,
    text,
    think,
)

MODEL = Model("test", "m", api="demo")


async def collected(stream: AsyncIterator[StreamEvent]) -> list[StreamEvent]:
    return [event async for event in stream]


async def events_of(*script: Any, signal: AbortSignal | None = None) -> list[StreamEvent]:
    options = StreamOptions(signal=signal or AbortSignal())
    return await collected(ScriptedModel(list(script))(MODEL, LlmContext(), options))


def kinds(events: list[StreamEvent]) -> str:
    return " ".join(event.type for event in events)


def final(events: list[StreamEvent]) -> AssistantMessage:
    last = events[-1]
    assert isinstance(last, StreamDone | StreamError)
    return last.message


async def test_text_is_one_delta_unless_it_is_cut() -> None:
    whole = await events_of(text("hello"))
    cut = await events_of(text("hello", chunk=2))

    assert kinds(whole) == "start text_start text_delta text_end done"
    assert kinds(cut) == "start text_start text_delta text_delta text_delta text_end done"
    assert final(whole).text == final(cut).text == "hello"


async def test_thoughts_come_as_thoughts() -> None:
    events = await events_of([think("hm"), text("ok")])

    assert kinds(events) == (
        "start thinking_start thinking_delta thinking_end text_start text_delta text_end done"
    )
    assert [block.type for block in final(events).content] == ["thinking", "text"]


async def test_calls_come_with_argument_text_and_stop_for_tool_use() -> None:
    events = await events_of(calls(call("add", {"a": 1}, id="c1"), call("add", '{"a": 2}')))

    deltas = [event.delta for event in events if isinstance(event, ToolCallDelta)]
    blocks = final(events).tool_calls
    last = events[-1]
    assert deltas == ['{"a": 1}', '{"a": 2}']
    assert [block.name for block in blocks] == ["add", "add"]
    assert blocks[0].id == "c1"
    assert blocks[1].id not in ("", "c1")
    assert isinstance(last, StreamDone)
    assert last.reason == "tool_use"


async def test_raw_argument_text_stays_as_it_is() -> None:
    events = await events_of(calls(call("add", '{"a": ', id="c1")))

    assert [e.delta for e in events if isinstance(e, ToolCallDelta)] == ['{"a": ']


async def test_an_entry_is_one_response_and_a_list_of_parts_too() -> None:
    model = ScriptedModel([text("one"), [text("two "), text("parts")]])
    options = StreamOptions()

    first = await collected(model(MODEL, LlmContext(), options))
    second = await collected(model(MODEL, LlmContext(), options))

    assert final(first).text == "one"
    assert final(second).text == "two parts"


async def test_the_end_says_why_and_what_it_counted() -> None:
    events = await events_of([text("x"), end("length", Usage(input=3, output=1, total=4))])

    last = events[-1]
    assert isinstance(last, StreamDone)
    assert last.reason == last.message.stop_reason == "length"
    assert last.message.usage == Usage(input=3, output=1, total=4)


@pytest.mark.parametrize("reason", ["error", "aborted"])
async def test_the_end_may_be_a_bad_one(reason: Any) -> None:
    events = await events_of([text("x"), end(reason)])

    last = events[-1]
    assert isinstance(last, StreamError)
    assert last.reason == reason


async def test_a_failure_comes_after_the_parts_before_it() -> None:
    events = await events_of([text("par"), fail("rate_limit", "slow down", retry_after=2.5)])

    error = final(events).error
    assert kinds(events) == "start text_start text_delta text_end error"
    assert error is not None
    assert (error.code, error.message, error.retryable, error.retry_after) == (
        "rate_limit",
        "slow down",
        True,
        2.5,
    )


@pytest.mark.parametrize(
    ("code", "given", "retryable"),
    [
        ("auth", None, False),
        ("network", None, True),
        ("stream_incomplete", None, True),
        ("auth", True, True),
        ("network", False, False),
    ],
)
async def test_whether_a_failure_can_be_retried_follows_from_its_code_unless_said(
    code: str, given: bool | None, retryable: bool
) -> None:
    error = final(await events_of(fail(code, retryable=given))).error

    assert error is not None
    assert error.retryable is retryable


async def test_an_exhausted_script_fails() -> None:
    error = final(await events_of()).error

    assert error is not None
    assert (error.code, error.message) == ("provider", "script exhausted")


async def test_a_pause_takes_its_time() -> None:
    begun = time.monotonic()

    events = await events_of([pause(0.05), text("x")])

    assert time.monotonic() - begun >= 0.04
    assert final(events).text == "x"


@pytest.mark.parametrize("part", [pause(30), hang()], ids=["pause", "hang"])
async def test_waiting_ends_with_the_abort(part: Any) -> None:
    signal = AbortSignal()
    task = asyncio.create_task(events_of([text("par"), part, text("never")], signal=signal))
    for _ in range(20):
        await asyncio.sleep(0)
    waiting = not task.done()

    signal.set()
    events = await asyncio.wait_for(task, 5)

    last = events[-1]
    assert waiting
    assert isinstance(last, StreamError)
    assert last.reason == "aborted"
    assert last.message.text == "par"


async def test_requests_are_recorded_as_they_were() -> None:
    @tool
    def add(a: int, b: int) -> int:
        """Add two numbers."""
        return a + b

    model = ScriptedModel([calls(call("add", {"a": 1, "b": 2}, id="c1")), text("3")])
    agent = Agent("test/m", stream_fn=model, tools=[add], system_prompt="be brief")

    result = await agent.run("1 + 2?")

    assert result.final_message == "3"
    assert [len(request.messages) for request in model.requests] == [1, 3]
    assert model.requests[0].system_prompt == "be brief"
    assert [schema.name for schema in model.requests[0].tools] == ["add"]
    assert isinstance(model.requests[0].messages[0], UserMessage)


async def test_the_message_says_which_model_it_is_from() -> None:
    message = final(await events_of(text("x")))

    assert (message.provider, message.model, message.api) == ("test", "m", "demo")


async def test_one_message_grows() -> None:
    events = await events_of([think("a"), text("b"), calls(call("c", id="1"))])

    partials = {id(getattr(event, "partial", None)) for event in events[:-1]}
    assert partials == {id(final(events))}


async def test_a_script_can_be_played_by_two_agents() -> None:
    script = [text("hi")]

    answers = [
        (await Agent("test/m", stream_fn=ScriptedModel(script)).run("p")).final_message
        for _ in range(2)
    ]

    assert answers == ["hi", "hi"]


async def test_a_failure_is_what_run_raises() -> None:
    agent = Agent("test/m", stream_fn=ScriptedModel([fail("rate_limit", retry_after=3)]))

    with pytest.raises(RateLimitError) as caught:
        await agent.run("p")

    assert caught.value.retry_after == 3


async def test_blocks_of_the_message_are_its_own() -> None:
    part = [text("x"), calls(call("c", {"a": 1}, id="1"))]
    model = ScriptedModel([part, part])

    first = final(await collected(model(MODEL, LlmContext(), StreamOptions())))
    second = final(await collected(model(MODEL, LlmContext(), StreamOptions())))

    assert first.content[0] == second.content[0] == TextBlock(text="x")
    assert first.content[0] is not second.content[0]
    assert isinstance(first.content[1], ToolCall)
    assert first.content[1] is not second.content[1]
