"""Conformance scenarios S68 to S80: aborts, errors, lifecycle."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from agent_tui import (
    AbortSignal,
    AgentBusyError,
    AgentContext,
    AgentLoopConfig,
    AssistantMessage,
    AuthenticationError,
    CancelledRunError,
    CustomMessage,
    InvalidStateError,
    Model,
    RateLimitError,
    Tool,
    ToolCall,
    ToolContext,
    agent_loop_continue,
)
from agent_tui.core.events import AgentEndEvent, AgentEvent
from agent_tui.core.stream import (
    LlmContext,
    StreamEvent,
    StreamOptions,
    StreamStart,
    ToolCallDelta,
    ToolCallStart,
)
from agent_tui.testing import ScriptedModel, call, calls, fail, hang, text
from tests.agent.stage import Make, breathe, said, user
from tests.agent.toolbox import ANYTHING, deaf, echo, raising, waiting


async def test_an_error_ends_the_run_and_is_reported(stage: Make) -> None:
    """S68."""
    it = stage([text("par"), fail("rate_limit", "slow down", retry_after=7.5)])

    await it.prompt()

    it.expect('AS TS M:u"p" A:a/error TE[] AE:error')
    assert it.answers[0].text == "par"
    assert it.answers[0].error == it.end.error
    assert it.end.error is not None
    assert (it.end.error.code, it.end.error.retryable) == ("rate_limit", True)
    assert isinstance(it.agent.state.error, RateLimitError)
    assert it.agent.state.error.retry_after == 7.5


async def test_an_aborted_answer_stays_in_the_transcript_with_its_text(stage: Make) -> None:
    """S69."""
    it = stage([text("half of it"), hang()])
    it.when("text_end", lambda: it.agent.abort("enough"))

    await it.prompt()

    it.expect('AS TS M:u"p" MS:a MU MU MU ME:a/aborted TE[] AE:aborted')
    assert it.messages[-1] is it.answers[0]
    assert it.answers[0].text == "half of it"
    assert it.answers[0].usage.incomplete
    assert isinstance(it.agent.state.error, CancelledRunError)


async def test_a_call_that_was_aborted_while_it_streamed_is_not_executed(stage: Make) -> None:
    """S70."""

    async def play(
        model: Model, context: LlmContext, options: StreamOptions
    ) -> AsyncIterator[StreamEvent]:
        partial = AssistantMessage(content=[ToolCall(id="c1", name="echo")])
        yield StreamStart(partial)
        yield ToolCallStart(0, partial)
        yield ToolCallDelta(0, '{"a": ', partial)
        await options.signal.wait()

    it = stage(stream_fn=play, tools=[echo()])
    it.when("toolcall_delta", lambda: it.agent.abort())

    await it.prompt()

    it.expect('AS TS M:u"p" MS:a MU MU ME:a/aborted TE[] AE:aborted')
    assert it.answers[0].tool_calls[0].raw_arguments == '{"a": '
    assert it.executed == []


async def test_a_running_call_settles_with_its_partial_output(stage: Make) -> None:
    """S71."""

    async def execute(call_id: str, args: dict[str, Any], ctx: ToolContext) -> str:
        started.set()
        await ctx.signal.wait()
        return "half of the output"

    started = asyncio.Event()
    it = stage(
        calls(call("work", id="c1")),
        text("never"),
        tools=[Tool("work", "Works.", ANYTHING, execute)],
    )

    run = asyncio.create_task(it.prompt())
    await started.wait()
    it.agent.abort()
    await run

    it.expect('AS TS M:u"p" A:a/tool_use XS(c1) XE(c1)✗ M:r(c1) TE[c1] AE:aborted')
    assert "half of the output" in it.results[0].text
    assert len(it.requests) == 1


async def test_a_cancelled_call_keeps_what_it_last_reported(stage: Make) -> None:
    """S71, for a tool that does not listen to its signal."""
    it = stage(calls(call("deaf", id="c1")), tools=[deaf("deaf", reports="half")])
    it.when("XU(c1)", lambda: it.agent.abort())
    begun = time.monotonic()

    await it.prompt()

    it.expect('AS TS M:u"p" A:a/tool_use XS(c1) XU(c1) XE(c1)✗ M:r(c1) TE[c1] AE:aborted')
    assert 0.7 < time.monotonic() - begun < 1.4
    assert "half" in it.results[0].text
    assert "aborted" in it.results[0].text.lower()


async def test_an_abort_before_the_first_request_makes_none(stage: Make) -> None:
    """S73."""
    it = stage(text("never"))
    it.when("AS", lambda: it.agent.abort())

    await it.prompt()

    it.expect('AS TS M:u"p" M:a/aborted TE[] AE:aborted')
    assert it.requests == []


async def test_cancelling_the_caller_settles_the_run_and_is_not_swallowed(stage: Make) -> None:
    """S74."""
    streaming = asyncio.Event()
    it = stage([text("par"), hang()], text("again"))
    it.when("text_delta", streaming.set)

    caller = asyncio.create_task(it.agent.prompt("p"))
    await streaming.wait()
    caller.cancel()
    with pytest.raises(asyncio.CancelledError):
        await caller
    settled = not it.agent.state.is_running
    await it.prompt("q")

    assert settled
    it.expect('AS TS M:u"p" A:a/aborted TE[] AE:aborted AS TS M:u"q" A:a/stop TE[] AE:completed')


async def test_a_tool_that_cancels_itself_ends_the_run(stage: Make) -> None:
    """S75."""
    it = stage(
        calls(call("quit", id="c1")),
        text("never"),
        tools=[raising("quit", asyncio.CancelledError())],
    )

    await it.prompt()

    it.expect('AS TS M:u"p" A:a/tool_use XS(c1) XE(c1)✗ M:r(c1) TE[c1] AE:aborted')
    assert "cancelled" in it.results[0].text
    assert len(it.requests) == 1


@pytest.mark.parametrize("entry", ["prompt", "continue_", "run", "reset"])
async def test_a_busy_agent_refuses_and_is_not_disturbed(stage: Make, entry: str) -> None:
    """S76."""
    gate, started = asyncio.Event(), asyncio.Event()
    it = stage(
        calls(call("wait", id="c1")), text("ok"), tools=[waiting("wait", gate, started=started)]
    )
    run = asyncio.create_task(it.prompt())
    await started.wait()
    before, transcript = it.trace, it.messages
    attempts: dict[str, Callable[[], Any]] = {
        "prompt": lambda: it.agent.prompt("x"),
        "continue_": it.agent.continue_,
        "run": lambda: it.agent.run("x"),
        "reset": lambda: _later(it.agent.reset),
    }

    with pytest.raises(AgentBusyError) as caught:
        await attempts[entry]()

    assert (it.trace, it.messages) == (before, transcript)
    assert caught.value.code == "busy"
    gate.set()
    await run
    assert it.end.reason == "completed"


async def _later(act: Callable[[], object]) -> None:
    act()


async def test_being_busy_names_the_ways_to_add_to_the_run(stage: Make) -> None:
    """S76."""
    it = stage([text("par"), hang()])
    run = asyncio.create_task(it.prompt())
    await breathe()

    with pytest.raises(AgentBusyError, match=r"steer.*follow_up"):
        await it.agent.prompt("x")

    it.agent.abort()
    await run


async def test_listeners_are_awaited_before_the_prompt_resolves(stage: Make) -> None:
    """S77."""
    log: list[str] = []

    async def slow(event: AgentEvent, signal: AbortSignal) -> None:
        if isinstance(event, AgentEndEvent):
            await breathe()
            log.append(f"listener done, running {it.agent.state.is_running}")

    it = stage(text("ok"))
    it.agent.subscribe(slow)

    run = asyncio.create_task(it.agent.prompt("p"))
    await asyncio.sleep(0)
    await it.agent.wait_for_idle()
    log.append(f"idle, running {it.agent.state.is_running}")
    await run

    assert log == ["listener done, running True", "idle, running False"]


async def test_prompting_from_an_agent_end_listener_is_refused(stage: Make) -> None:
    """S77."""
    refused: list[Exception] = []

    async def again(event: AgentEvent, signal: AbortSignal) -> None:
        if isinstance(event, AgentEndEvent):
            try:
                await it.agent.prompt("again")
            except AgentBusyError as error:
                refused.append(error)

    it = stage(text("ok"))
    it.agent.subscribe(again)

    await it.prompt()

    assert len(refused) == 1
    it.expect('AS TS M:u"p" A:a/stop TE[] AE:completed')


async def test_a_listener_that_raises_changes_nothing(
    stage: Make, caplog: pytest.LogCaptureFixture
) -> None:
    """S78."""
    seen: list[str] = []

    def broken(event: AgentEvent, signal: AbortSignal) -> None:
        raise RuntimeError("listener is broken")

    async def broken_later(event: AgentEvent, signal: AbortSignal) -> None:
        raise RuntimeError("this one too")

    it = stage(calls(call("echo", id="c1")), text("ok"), tools=[echo()])
    it.agent.subscribe(broken)
    it.agent.subscribe(broken_later)
    it.agent.subscribe(lambda event, signal: seen.append(event.type))

    await it.prompt()

    it.expect(
        'AS TS M:u"p" A:a/tool_use XS(c1) XE(c1) M:r(c1) TE[c1] TS A:a/stop TE[] AE:completed'
    )
    assert len(seen) == len(it.events)
    assert caplog.text.count("RuntimeError: listener is broken") == 1
    assert caplog.text.count("RuntimeError: this one too") == 1


async def test_listeners_get_the_signal_of_the_run(stage: Make) -> None:
    """S79."""
    seen: list[AbortSignal] = []
    it = stage([text("par"), hang()], text("ok"))
    it.agent.subscribe(lambda event, signal: seen.append(signal))
    it.when("text_delta", lambda: it.agent.abort("enough"))

    await it.prompt()
    first = set(map(id, seen))
    await it.prompt()

    assert len(first) == 1
    assert (seen[0].aborted, seen[0].reason) == (True, "enough")
    assert seen[-1] is not seen[0]
    assert not seen[-1].aborted
    assert it.requests[0].options.signal is seen[0]


async def test_an_idle_abort_is_nothing(stage: Make) -> None:
    """S79."""
    it = stage(text("ok"))

    it.agent.abort()
    await it.prompt()
    it.agent.abort()

    assert it.end.reason == "completed"
    assert it.agent.state.error is None


async def test_aborting_twice_keeps_the_first_reason(stage: Make) -> None:
    it = stage([text("par"), hang()])
    it.when("text_delta", lambda: it.agent.abort("first"), lambda: it.agent.abort("second"))

    await it.prompt()

    assert it.signals[0].reason == "first"
    it.expect('AS TS M:u"p" A:a/aborted TE[] AE:aborted')


async def test_continuing_an_empty_transcript_is_refused(stage: Make) -> None:
    """S80."""
    it = stage(text("never"))

    with pytest.raises(InvalidStateError):
        await it.agent.continue_()

    assert it.events == []


async def test_the_loop_functions_refuse_an_empty_context() -> None:
    """S80."""
    config = AgentLoopConfig(Model("test", "m"), stream_fn=ScriptedModel([]))

    with pytest.raises(InvalidStateError):
        await agent_loop_continue(AgentContext(), config, lambda event: None)


async def test_continuing_emits_nothing_for_what_is_there(stage: Make) -> None:
    """S80."""
    it = stage(text("new"), messages=[said("hello"), user("old")])

    await it.agent.continue_()

    it.expect("AS TS A:a/stop TE[] AE:completed")
    assert it.requests[0].texts == ["hello", "old"]


async def test_continuing_from_a_custom_message_answers_it(stage: Make) -> None:
    """S80."""
    note = CustomMessage(custom_type="note", content="the build is green")
    it = stage(text("good"), messages=[user("old"), said("ok"), note])

    await it.agent.continue_()

    it.expect("AS TS A:a/stop TE[] AE:completed")
    assert it.requests[0].texts[-1] == "the build is green"


async def test_run_raises_what_the_run_failed_with(stage: Make) -> None:
    it = stage(fail("auth", "wrong key"))

    with pytest.raises(AuthenticationError, match="wrong key") as caught:
        await it.agent.run("p")

    assert type(it.agent.state.error) is type(caught.value)
    assert it.agent.state.error.message == caught.value.message


async def test_run_raises_cancelled_after_an_abort_during_tools(stage: Make) -> None:
    it = stage(calls(call("wait", id="c1")), tools=[waiting("wait", asyncio.Event())])
    it.when("XS(c1)", lambda: it.agent.abort())

    with pytest.raises(CancelledRunError):
        await it.agent.run("p")

    assert isinstance(it.agent.state.error, CancelledRunError)


async def test_the_error_is_cleared_when_a_run_starts(stage: Make) -> None:
    seen: list[object] = []
    it = stage(fail("auth"), text("ok"))
    await it.prompt()
    failed = it.agent.state.error
    it.when("AS", lambda: seen.append(it.agent.state.error))

    await it.prompt()

    assert failed is not None
    assert seen == [None]
    assert it.agent.state.error is None


async def test_the_error_is_there_when_the_failed_turn_ends(stage: Make) -> None:
    seen: list[object] = []
    it = stage(fail("auth"))
    it.when("TE[]", lambda: seen.append(it.agent.state.error))

    await it.prompt()

    assert isinstance(seen[0], AuthenticationError)
