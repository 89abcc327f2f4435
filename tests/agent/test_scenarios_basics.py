"""Conformance scenarios S01 to S09: prompts, streams, contexts."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Sequence
from typing import Any

import pytest

from agent_tui import (
    AgentMessage,
    AssistantMessage,
    CustomMessage,
    InternalError,
    Model,
    ProviderError,
    TextBlock,
    ThinkingBlock,
)
from agent_tui.core.events import MessageUpdateEvent
from agent_tui.core.messages import LlmMessage
from agent_tui.core.stream import (
    LlmContext,
    StreamDone,
    StreamEvent,
    StreamFn,
    StreamOptions,
    StreamStart,
    TextDelta,
    TextStart,
)
from agent_tui.testing import call, calls, fail, text, think
from tests.agent.stage import Make, said, stream_of, user
from tests.agent.toolbox import echo


def updates_of(events: Sequence[object]) -> list[MessageUpdateEvent]:
    return [event for event in events if isinstance(event, MessageUpdateEvent)]


async def test_a_streamed_answer_has_the_expected_order(stage: Make) -> None:
    """S01."""
    it = stage(text("hello", chunk=2))

    await it.prompt("hi")

    it.expect('AS TS M:u"hi" A:a/stop TE[] AE:completed')
    assert [message.role for message in it.end.messages] == ["user", "assistant"]
    assert it.answers[0].text == "hello"


async def test_a_stream_of_only_a_terminal_event_has_no_updates(stage: Make) -> None:
    """S02."""
    it = stage(stream_fn=stream_of(StreamDone("stop", said("all at once"))))

    await it.prompt("hi")

    it.expect('AS TS M:u"hi" M:a/stop TE[] AE:completed')
    assert it.answers[0].text == "all at once"


async def test_blocks_stream_one_after_another_and_add_up(stage: Make) -> None:
    """S03."""
    it = stage(
        [think("go"), text("okay", chunk=2), calls(call("echo", {"a": 1}, id="c1"))],
        text("done"),
        tools=[echo()],
    )

    await it.prompt()

    first = it.answers[0]
    updates = [u for u in updates_of(it.events) if u.message.id == first.id]
    kinds = " ".join(update.assistant_message_event.type for update in updates)
    deltas = [getattr(update.assistant_message_event, "delta", "") for update in updates]
    assert re.fullmatch(
        "thinking_start( thinking_delta)+ thinking_end text_start( text_delta)+ text_end "
        "toolcall_start( toolcall_delta)+ toolcall_end",
        kinds,
    )
    assert kinds.count("text_delta") == 2
    assert "".join(deltas).startswith("gookay{")
    assert [block.type for block in first.content] == ["thinking", "text", "tool_call"]
    assert isinstance(first.content[0], ThinkingBlock)
    assert first.content[0].thinking == "go"
    assert first.text == "okay"
    assert first.tool_calls[0].arguments == {"a": 1}


async def test_a_notice_stays_in_the_transcript_and_out_of_the_request(stage: Make) -> None:
    """S04."""

    def convert(messages: list[AgentMessage]) -> list[LlmMessage]:
        return [m for m in messages if m.role in ("user", "assistant", "tool_result")]

    notice = CustomMessage(custom_type="notice", content="theme changed")
    it = stage(text("ok"), messages=[notice], convert_to_llm=convert)

    await it.prompt()

    assert it.requests[0].roles == ["user"]
    assert notice in it.messages


async def test_the_context_is_transformed_before_it_is_converted(stage: Make) -> None:
    """S05."""
    seen: list[int] = []

    async def transform(messages: list[AgentMessage], signal: object) -> list[AgentMessage]:
        return messages[-2:]

    def convert(messages: list[AgentMessage]) -> list[LlmMessage]:
        seen.append(len(messages))
        return messages  # type: ignore[return-value]

    it = stage(
        text("ok"),
        messages=[user("1"), said("2"), user("3"), said("4")],
        transform_context=transform,
        convert_to_llm=convert,
    )

    await it.prompt()

    assert seen == [2]
    assert it.requests[0].texts == ["4", "p"]
    assert len(it.messages) == 6


def _raises_when_called(
    model: Model, context: LlmContext, options: StreamOptions
) -> AsyncIterator[StreamEvent]:
    raise OSError("no route")


@pytest.mark.parametrize(
    "stream_fn",
    [_raises_when_called, stream_of(OSError("no route"))],
    ids=["at-the-call", "at-the-first-event"],
)
async def test_a_stream_function_that_raises_ends_the_run_with_an_error(
    stage: Make, stream_fn: StreamFn
) -> None:
    """S06."""
    it = stage(stream_fn=stream_fn)

    await it.prompt()

    it.expect('AS TS M:u"p" M:a/error TE[] AE:error')
    assert isinstance(it.agent.state.error, ProviderError)
    assert it.agent.state.error.code == "provider"
    assert "no route" in it.agent.state.error.message


async def test_a_stream_without_a_terminal_event_is_incomplete(stage: Make) -> None:
    """S08."""
    partial = AssistantMessage(content=[TextBlock(text="hal")])
    it = stage(
        stream_fn=stream_of(
            StreamStart(partial), TextStart(0, partial), TextDelta(0, "hal", partial)
        )
    )

    await it.prompt()

    it.expect('AS TS M:u"p" MS:a MU MU ME:a/error TE[] AE:error')
    assert it.answers[0].error is not None
    assert it.answers[0].error.code == "stream_incomplete"
    assert it.answers[0].error.retryable


async def test_an_answer_of_thoughts_alone_is_a_complete_turn(stage: Make) -> None:
    """S09."""
    it = stage(think("hm"))

    result = await it.agent.run("p")

    it.expect('AS TS M:u"p" A:a/stop TE[] AE:completed')
    assert result.final_message == ""


@pytest.mark.parametrize("hook", ["transform_context", "convert_to_llm", "get_api_key"])
async def test_a_request_hook_that_raises_ends_the_open_turn_with_an_error(
    stage: Make, hook: str
) -> None:
    def broken(*args: object) -> object:
        raise KeyError("lost")

    it = stage(text("never"), **{hook: broken})

    await it.prompt()

    it.expect('AS TS M:u"p" M:a/error TE[] AE:error')
    assert it.requests == []
    assert it.end.error is not None
    assert it.end.error.code == "hook_failed"
    assert isinstance(it.agent.state.error, InternalError)


async def test_the_failed_answer_lists_every_message_of_the_run(stage: Make) -> None:
    it = stage(calls(call("echo", id="c1")), fail("network"), tools=[echo()])

    await it.prompt()

    it.expect('AS TS M:u"p" A:a/tool_use XS(c1) XE(c1) M:r(c1) TE[c1] TS A:a/error TE[] AE:error')
    assert [m.role for m in it.end.messages] == ["user", "assistant", "tool_result", "assistant"]


@pytest.mark.parametrize("hook", ["transform_context", "convert_to_llm", "get_api_key"])
async def test_an_abort_in_a_request_hook_makes_no_request(stage: Make, hook: str) -> None:
    def stop(*args: Any) -> Any:
        it.agent.abort()
        return args[0]

    it = stage(text("never"), **{hook: stop})

    await it.prompt()

    it.expect('AS TS M:u"p" M:a/aborted TE[] AE:aborted')
    assert it.requests == []


async def test_a_converter_that_answers_nonsense_ends_the_turn_with_an_error(stage: Make) -> None:
    it = stage(text("never"), convert_to_llm=lambda messages: "nonsense")

    await it.prompt()

    it.expect('AS TS M:u"p" M:a/error TE[] AE:error')
    assert it.requests == []


@pytest.mark.parametrize("nonsense", [{"model": "x"}, "no", 7], ids=repr)
async def test_a_preparation_that_answers_nonsense_gets_a_turn_for_its_error(
    stage: Make, nonsense: object
) -> None:
    it = stage(
        calls(call("echo", id="c1")),
        text("never"),
        tools=[echo()],
        prepare_next_turn=lambda ctx, signal: nonsense,
    )

    await it.prompt()

    it.expect('AS TS M:u"p" A:a/tool_use XS(c1) XE(c1) M:r(c1) TE[c1] TS M:a/error TE[] AE:error')
    assert it.end.error is not None
    assert it.end.error.code == "hook_failed"
