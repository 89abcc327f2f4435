"""What the engine does with the events of a stream, proper ones and others."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator
from typing import Any

import pytest

from agent_tui import (
    AssistantMessage,
    ErrorInfo,
    Model,
    ModelCost,
    NetworkError,
    ProviderError,
    RateLimitError,
    TextBlock,
    ThinkingBlock,
    ToolCall,
    Usage,
)
from agent_tui.core.events import MessageEndEvent, MessageStartEvent, MessageUpdateEvent
from agent_tui.core.stream import (
    LlmContext,
    StreamDone,
    StreamError,
    StreamEvent,
    StreamFn,
    StreamOptions,
    StreamStart,
    TextDelta,
    TextEnd,
    TextStart,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
)
from agent_tui.testing import call, calls, end, fail, hang, text
from tests.agent.stage import Make, breathe, said, stream_of, turns, until
from tests.agent.toolbox import echo, recording


def call_events(message: AssistantMessage, index: int, *deltas: str) -> list[StreamEvent]:
    """The events of one call block that is already in `message`."""
    return [
        ToolCallStart(index, message),
        *(ToolCallDelta(index, delta, message) for delta in deltas),
        ToolCallEnd(index, message),
    ]


# -- filling in ------------------------------------------------------------------------------------


async def test_an_answer_is_told_where_it_comes_from(stage: Make) -> None:
    it = stage(
        stream_fn=stream_of(StreamDone("stop", said("x"))), model=Model("test", "m", api="demo")
    )

    await it.prompt()

    answer = it.answers[0]
    assert (answer.provider, answer.model, answer.api) == ("test", "m", "demo")
    assert answer.id
    assert answer.timestamp > 0


async def test_what_the_adapter_says_about_the_source_stays(stage: Make) -> None:
    message = said("x", provider="router", model="m-2026", api="openai-chat")
    it = stage(stream_fn=stream_of(StreamDone("stop", message)))

    await it.prompt()

    answer = it.answers[0]
    assert (answer.provider, answer.model, answer.api) == ("router", "m-2026", "openai-chat")


async def test_another_final_message_keeps_the_id_of_the_first_partial(stage: Make) -> None:
    partial = AssistantMessage(content=[TextBlock(text="fin")])
    final = said("final")
    it = stage(
        stream_fn=stream_of(
            StreamStart(partial),
            TextStart(0, partial),
            TextDelta(0, "fin", partial),
            StreamDone("stop", final),
        )
    )
    first_id = partial.id

    await it.prompt()

    ids = {
        event.message.id
        for event in it.events
        if isinstance(event, MessageStartEvent | MessageUpdateEvent | MessageEndEvent)
        and isinstance(event.message, AssistantMessage)
    }
    assert ids == {first_id}
    assert it.answers[0].text == "final"


async def test_another_final_message_gets_the_parsed_arguments(stage: Make) -> None:
    log: list[dict[str, Any]] = []
    partial = AssistantMessage(content=[ToolCall(id="c1", name="take")])
    final = AssistantMessage(content=[ToolCall(id="c1", name="take")])
    it = stage(
        stream_fn=turns(
            stream_of(
                StreamStart(partial),
                *call_events(partial, 0, '{"a"', ": 1}"),
                StreamDone("tool_use", final),
            ),
            stream_of(StreamDone("stop", said("ok"))),
        ),
        tools=[recording("take", log)],
    )

    await it.prompt()

    assert log == [{"a": 1}]


async def test_the_growing_message_is_the_one_that_is_sent(stage: Make) -> None:
    partial = AssistantMessage(content=[TextBlock()])
    it = stage(
        stream_fn=stream_of(
            StreamStart(partial), TextStart(0, partial), StreamDone("stop", partial)
        )
    )

    await it.prompt()

    assert it.answers[0] is partial
    assert all(e.message is partial for e in it.events if isinstance(e, MessageUpdateEvent))


# -- arguments -------------------------------------------------------------------------------------


async def test_argument_text_shows_while_it_streams_and_is_parsed_at_the_end(stage: Make) -> None:
    log: list[dict[str, Any]] = []
    raw: list[str | None] = []
    message = AssistantMessage(content=[ToolCall(id="c1", name="take")])
    it = stage(
        stream_fn=turns(
            stream_of(
                StreamStart(message),
                *call_events(message, 0, '{"a"', ": 1}"),
                StreamDone("tool_use", message),
            ),
            stream_of(StreamDone("stop", said("ok"))),
        ),
        tools=[recording("take", log)],
    )
    it.when("toolcall_delta", lambda: raw.append(message.tool_calls[0].raw_arguments), times=2)

    await it.prompt()

    assert raw == ['{"a"', '{"a": 1}']
    assert log == [{"a": 1}]
    assert it.answers[0].tool_calls[0].raw_arguments is None


async def test_argument_text_without_an_end_is_parsed_at_the_terminal_event(stage: Make) -> None:
    log: list[dict[str, Any]] = []
    message = AssistantMessage(content=[ToolCall(id="c1", name="take")])
    it = stage(
        stream_fn=turns(
            stream_of(
                StreamStart(message),
                ToolCallStart(0, message),
                ToolCallDelta(0, '{"a": 1}', message),
                StreamDone("tool_use", message),
            ),
            stream_of(StreamDone("stop", said("ok"))),
        ),
        tools=[recording("take", log)],
    )

    await it.prompt()

    assert log == [{"a": 1}]


async def test_a_call_without_argument_text_uses_the_given_arguments(stage: Make) -> None:
    log: list[dict[str, Any]] = []
    message = AssistantMessage(content=[ToolCall(id="c1", name="take", arguments={"a": 1})])
    it = stage(
        stream_fn=turns(
            stream_of(
                StreamStart(message), *call_events(message, 0), StreamDone("tool_use", message)
            ),
            stream_of(StreamDone("stop", said("ok"))),
        ),
        tools=[recording("take", log)],
    )

    await it.prompt()

    assert log == [{"a": 1}]


async def test_interleaved_calls_are_told_apart_by_their_index(stage: Make) -> None:
    log: list[dict[str, Any]] = []
    message = AssistantMessage(
        content=[ToolCall(id="c1", name="take"), ToolCall(id="c2", name="take")]
    )
    it = stage(
        stream_fn=turns(
            stream_of(
                StreamStart(message),
                ToolCallStart(0, message),
                ToolCallStart(1, message),
                ToolCallDelta(1, '{"b"', message),
                ToolCallDelta(0, '{"a"', message),
                ToolCallDelta(1, ": 2}", message),
                ToolCallEnd(1, message),
                ToolCallDelta(0, ": 1}", message),
                ToolCallEnd(0, message),
                StreamDone("tool_use", message),
            ),
            stream_of(StreamDone("stop", said("ok"))),
        ),
        tools=[recording("take", log)],
    )

    await it.prompt()

    assert log == [{"a": 1}, {"b": 2}]


async def test_a_delta_after_the_end_of_its_block_is_ignored_and_logged(
    stage: Make, caplog: pytest.LogCaptureFixture
) -> None:
    log: list[dict[str, Any]] = []
    message = AssistantMessage(content=[ToolCall(id="c1", name="take")])
    it = stage(
        stream_fn=turns(
            stream_of(
                StreamStart(message),
                *call_events(message, 0, '{"a": 1}'),
                ToolCallDelta(0, "garbage", message),
                StreamDone("tool_use", message),
            ),
            stream_of(StreamDone("stop", said("ok"))),
        ),
        tools=[recording("take", log)],
    )

    with caplog.at_level(logging.DEBUG):
        await it.prompt()

    assert log == [{"a": 1}]
    assert caplog.records


# -- order -----------------------------------------------------------------------------------------


async def test_a_delta_before_the_start_implies_the_start(stage: Make) -> None:
    message = said("x")
    it = stage(stream_fn=stream_of(TextDelta(0, "x", message), StreamDone("stop", message)))

    await it.prompt()

    it.expect('AS TS M:u"p" MS:a MU ME:a/stop TE[] AE:completed')


async def test_there_is_one_update_for_every_event_between_start_and_end(stage: Make) -> None:
    message = said("ab")
    events: list[StreamEvent] = [
        TextStart(0, message),
        TextDelta(0, "a", message),
        TextDelta(0, "b", message),
        TextEnd(0, message),
    ]
    it = stage(stream_fn=stream_of(StreamStart(message), *events, StreamDone("stop", message)))

    await it.prompt()

    updates = [e for e in it.events if isinstance(e, MessageUpdateEvent)]
    assert [update.assistant_message_event for update in updates] == events


async def test_nothing_after_the_terminal_event_is_looked_at(stage: Make) -> None:
    message = said("x")
    it = stage(
        stream_fn=stream_of(
            StreamDone("stop", message),
            TextDelta(0, "more", message),
            StreamError("error", message),
            OSError("late"),
        )
    )

    await it.prompt()

    it.expect('AS TS M:u"p" M:a/stop TE[] AE:completed')


async def test_tools_run_because_there_are_calls_whatever_the_stop_reason(stage: Make) -> None:
    it = stage([calls(call("echo", id="c1")), end("stop")], text("ok"), tools=[echo()])

    await it.prompt()

    it.expect('AS TS M:u"p" A:a/stop XS(c1) XE(c1) M:r(c1) TE[c1] TS A:a/stop TE[] AE:completed')


async def test_tool_use_without_calls_ends_like_stop(stage: Make) -> None:
    it = stage([text("x"), end("tool_use")])

    await it.prompt()

    it.expect('AS TS M:u"p" A:a/tool_use TE[] AE:completed')


async def test_calls_of_a_failed_answer_do_not_run(stage: Make) -> None:
    it = stage([calls(call("echo", id="c1")), fail("network")], tools=[echo()])

    await it.prompt()

    it.expect('AS TS M:u"p" A:a/error TE[] AE:error')
    assert it.executed == []


# -- closing ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "ending", [StreamDone("stop", said("x")), OSError("x")], ids=["done", "raised"]
)
async def test_the_stream_is_closed_before_the_message_ends(stage: Make, ending: Any) -> None:
    log: list[str] = []

    async def play(
        model: Model, context: LlmContext, options: StreamOptions
    ) -> AsyncIterator[StreamEvent]:
        try:
            yield StreamStart(said(""))
            if isinstance(ending, BaseException):
                raise ending
            yield ending
            log.append("went on")
        finally:
            log.append("closed")

    it = stage(stream_fn=play)
    it.when("ME:a/stop", lambda: log.append("message_end"))
    it.when("ME:a/error", lambda: log.append("message_end"))

    await it.prompt()

    assert log == ["closed", "message_end"]


async def test_any_async_iterator_will_do(stage: Make) -> None:
    class Plain:
        def __init__(self) -> None:
            self._events = iter([StreamDone("stop", said("plain"))])

        def __aiter__(self) -> Plain:
            return self

        async def __anext__(self) -> StreamEvent:
            return next(self._events)

    it = stage(stream_fn=lambda model, context, options: Plain())

    await it.prompt()

    assert it.answers[0].text == "plain"


async def test_a_stream_that_ignores_the_abort_is_closed_within_a_second(stage: Make) -> None:
    closed: list[str] = []
    partial = said("half")

    async def play(
        model: Model, context: LlmContext, options: StreamOptions
    ) -> AsyncIterator[StreamEvent]:
        try:
            yield StreamStart(partial)
            yield TextDelta(0, "half", partial)
            await asyncio.Event().wait()
        finally:
            closed.append("closed")

    it = stage(stream_fn=play)
    it.when("text_delta", lambda: it.agent.abort())
    it.when("ME:a/aborted", lambda: closed.append("message_end"))
    begun = time.monotonic()

    await it.prompt()

    it.expect('AS TS M:u"p" MS:a MU ME:a/aborted TE[] AE:aborted')
    assert time.monotonic() - begun < 2
    assert closed == ["closed", "message_end"]
    assert it.answers[0].text == "half"


async def test_a_stream_that_resists_being_closed_is_left_alone(stage: Make) -> None:
    release = asyncio.Event()
    ended = asyncio.Event()
    partial = said("half")

    async def play(
        model: Model, context: LlmContext, options: StreamOptions
    ) -> AsyncIterator[StreamEvent]:
        yield StreamStart(partial)
        yield TextDelta(0, "half", partial)
        while not release.is_set():
            try:
                await release.wait()
            except asyncio.CancelledError:
                continue
        ended.set()
        yield TextDelta(0, " too late", partial)

    it = stage(stream_fn=play)
    it.when("text_delta", lambda: it.agent.abort())
    begun = time.monotonic()

    await it.prompt()
    took = time.monotonic() - begun
    before = len(it.events)
    release.set()
    await asyncio.wait_for(ended.wait(), 5)
    await breathe()

    it.expect('AS TS M:u"p" MS:a MU ME:a/aborted TE[] AE:aborted')
    assert took < 3
    assert len(it.events) == before


async def test_a_stream_that_was_cancelled_from_inside_is_an_error(stage: Make) -> None:
    it = stage(stream_fn=stream_of(StreamStart(said("half")), asyncio.CancelledError()))

    await it.prompt()

    it.expect('AS TS M:u"p" A:a/error TE[] AE:error')


# -- with the signal set ---------------------------------------------------------------------------


def after_the_abort(*events: StreamEvent | BaseException) -> StreamFn:
    """A stream that waits for the abort before it goes on with these events."""

    async def play(
        model: Model, context: LlmContext, options: StreamOptions
    ) -> AsyncIterator[StreamEvent]:
        yield StreamStart(said("half"))
        await options.signal.wait()
        for event in events:
            if isinstance(event, BaseException):
                raise event
            yield event

    return play


async def test_a_done_after_the_abort_makes_the_answer_complete(stage: Make) -> None:
    it = stage(stream_fn=after_the_abort(StreamDone("stop", said("whole"))))
    it.when("MS:a", lambda: it.agent.abort())

    await it.prompt()

    it.expect('AS TS M:u"p" A:a/stop TE[] AE:completed')


async def test_a_done_after_the_abort_leaves_the_queue(stage: Make) -> None:
    it = stage(stream_fn=after_the_abort(StreamDone("stop", said("whole"))))
    it.when("MS:a", lambda: it.agent.steer("Q"), lambda: it.agent.abort())

    await it.prompt()

    it.expect('AS TS M:u"p" A:a/stop TE[] AE:aborted')
    assert it.queue == ["Q"]


async def test_the_calls_of_a_done_after_the_abort_do_not_start(stage: Make) -> None:
    asked = AssistantMessage(content=[ToolCall(id="c1", name="echo")])
    it = stage(stream_fn=after_the_abort(StreamDone("tool_use", asked)), tools=[echo()])
    it.when("MS:a", lambda: it.agent.abort())

    await it.prompt()

    it.expect('AS TS M:u"p" A:a/tool_use XS(c1) XE(c1)✗ M:r(c1) TE[c1] AE:aborted')
    assert it.executed == []


@pytest.mark.parametrize("events", [[OSError("reset")], []], ids=["raises", "just-ends"])
async def test_a_stream_that_breaks_after_the_abort_is_aborted(
    stage: Make, events: list[BaseException]
) -> None:
    it = stage(stream_fn=after_the_abort(*events))
    it.when("MS:a", lambda: it.agent.abort())

    await it.prompt()

    it.expect('AS TS M:u"p" A:a/aborted TE[] AE:aborted')
    assert it.answers[0].error is None


# -- errors ----------------------------------------------------------------------------------------


async def test_a_raised_agent_error_keeps_its_class_code_and_delay(stage: Make) -> None:
    error = RateLimitError("slow down", retry_after=12.0, status=429)
    it = stage(stream_fn=stream_of(StreamStart(said("par")), error))

    with pytest.raises(RateLimitError) as caught:
        await it.agent.run("p")

    info = it.answers[0].error
    assert info is not None
    assert (info.code, info.retryable, info.retry_after) == ("rate_limit", True, 12.0)
    assert caught.value.retry_after == 12.0


async def test_any_other_exception_becomes_a_provider_error(stage: Make) -> None:
    it = stage(stream_fn=stream_of(ZeroDivisionError("tokens per nothing")))

    await it.prompt()

    assert it.answers[0].error is not None
    assert it.answers[0].error.code == "provider"
    assert "tokens per nothing" in it.answers[0].error.message
    assert type(it.agent.state.error) is ProviderError


async def test_an_error_event_carries_its_error(stage: Make) -> None:
    info = ErrorInfo(code="network", message="reset", retryable=True)
    it = stage(stream_fn=stream_of(StreamError("error", said("par", error=info))))

    await it.prompt()

    assert it.end.error == info
    assert isinstance(it.agent.state.error, NetworkError)


async def test_an_aborted_answer_of_the_provider_aborts_the_run(stage: Make) -> None:
    it = stage(stream_fn=stream_of(StreamError("aborted", said("par"))))

    await it.prompt()

    it.expect('AS TS M:u"p" M:a/aborted TE[] AE:aborted')


# -- usage and cost --------------------------------------------------------------------------------

PRICED = Model("test", "m", cost=ModelCost(input=3.0, output=15.0, cache_read=0.3))


async def test_the_cost_is_filled_in_from_the_model(stage: Make) -> None:
    usage = Usage(input=1_000, output=100, cache_read=10_000, total=11_100)
    it = stage([text("x"), end(usage=usage)], model=PRICED)

    await it.prompt()

    assert it.answers[0].usage.cost_usd == 0.0075


async def test_a_cost_that_the_provider_reported_stays(stage: Make) -> None:
    it = stage([text("x"), end(usage=Usage(input=1_000, total=1_000, cost_usd=0.5))], model=PRICED)

    await it.prompt()

    assert it.answers[0].usage.cost_usd == 0.5


async def test_a_model_without_prices_has_unknown_cost(stage: Make) -> None:
    it = stage([text("x"), end(usage=Usage(input=1_000, total=1_000))])

    result = await it.agent.run("p")

    assert it.answers[0].usage.cost_usd is None
    assert result.total_cost_usd is None


async def test_the_total_is_the_sum_of_the_classes_where_the_provider_gives_none(
    stage: Make,
) -> None:
    it = stage([text("x"), end(usage=Usage(input=1, output=2, cache_read=3, cache_write=4))])

    await it.prompt()

    assert it.answers[0].usage.total == 10


async def test_an_aborted_answer_keeps_what_was_counted(stage: Make) -> None:
    async def play(
        model: Model, context: LlmContext, options: StreamOptions
    ) -> AsyncIterator[StreamEvent]:
        partial = said("half", usage=Usage(input=50))
        yield StreamStart(partial)
        await options.signal.wait()

    it = stage(stream_fn=play)
    it.when("MS:a", lambda: it.agent.abort())

    await it.prompt()

    assert it.answers[0].usage.input == 50
    assert it.answers[0].usage.incomplete


async def test_a_failed_answer_keeps_what_was_counted(stage: Make) -> None:
    counted = said("par", usage=Usage(input=1_000), error=ErrorInfo(code="network", message="x"))
    it = stage(stream_fn=stream_of(StreamError("error", counted)), model=PRICED)

    await it.prompt()

    assert it.answers[0].usage.incomplete
    assert it.answers[0].usage.cost_usd == 0.003


async def test_thoughts_and_signatures_stay_in_the_message(stage: Make) -> None:
    message = AssistantMessage(
        content=[ThinkingBlock(thinking="hm", signature="s"), TextBlock(text="x")]
    )
    it = stage(stream_fn=stream_of(StreamDone("stop", message)))

    await it.prompt()

    assert it.answers[0].content == [
        ThinkingBlock(thinking="hm", signature="s"),
        TextBlock(text="x"),
    ]


async def test_a_request_carries_level_session_and_key(stage: Make) -> None:
    async def key(provider: str) -> str:
        return f"key of {provider}"

    it = stage(text("x"), thinking_level="high", session_id="s1", get_api_key=key)

    await it.prompt()

    options = it.requests[0].options
    assert options.thinking_level == "high"
    assert options.session_id == "s1"
    assert options.api_key == "key of test"


async def test_the_key_is_asked_for_at_each_request(stage: Make) -> None:
    keys = iter(["first", "second"])
    it = stage(
        calls(call("echo", id="c1")),
        text("ok"),
        tools=[echo()],
        get_api_key=lambda provider: next(keys),
    )

    await it.prompt()

    assert [request.options.api_key for request in it.requests] == ["first", "second"]


async def test_an_abort_does_not_wait_for_a_hanging_model(stage: Make) -> None:
    it = stage(hang())
    run = asyncio.create_task(it.prompt())
    await asyncio.sleep(0)
    await until(lambda: it.requests)

    it.agent.abort()
    await run

    assert it.end.reason == "aborted"
