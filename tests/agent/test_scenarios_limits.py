"""Conformance scenarios S61 to S67: hooks between turns, caps and results; and the guards."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable
from typing import Any

import pytest

from agent_tui import (
    AbortSignal,
    Agent,
    AgentContext,
    AgentLoopConfig,
    AgentMessage,
    AgentResult,
    BeforeToolCall,
    InternalError,
    InvalidStateError,
    Model,
    ModelCost,
    NextTurn,
    TextBlock,
    ToolError,
    ToolResult,
    Usage,
    agent_loop,
)
from agent_tui.agent.hooks import TurnContext
from agent_tui.core.events import AgentEvent
from agent_tui.testing import ScriptedModel, call, calls, end, fail, hang, text
from tests.agent.stage import Make, Stage, user
from tests.agent.toolbox import acting, answering, echo, raising, waiting
from tests.agent.tracing import matches


def rounds(count: int, *, same: bool = False) -> list[Any]:
    """Responses that each call `echo` once, with other arguments each time."""
    return [calls(call("echo", {"a": 0 if same else n}, id=f"c{n}")) for n in range(1, count + 1)]


def truncated(count: int) -> list[Any]:
    """Responses that the output limit cut off."""
    return [[calls(call("echo", {"a": n}, id=f"c{n}")), end("length")] for n in range(count)]


# -- stopping --------------------------------------------------------------------------------------


async def test_a_stop_hook_ends_the_run_and_polls_nothing_more() -> None:
    """S61."""
    polled: list[str] = []
    seen: list[TurnContext] = []
    events: list[AgentEvent] = []

    def poll(name: str) -> Any:
        def get() -> list[AgentMessage]:
            polled.append(name)
            return []

        return get

    def stop(ctx: TurnContext, signal: AbortSignal) -> bool:
        seen.append(ctx)
        return True

    await agent_loop(
        [user("p")],
        AgentContext("be brief", [], [echo()]),
        AgentLoopConfig(
            Model("test", "m"),
            stream_fn=ScriptedModel(rounds(1)),
            get_steering_messages=poll("steering"),
            get_follow_up_messages=poll("follow-up"),
            should_stop_after_turn=stop,
        ),
        events.append,
    )

    assert matches(events, 'AS TS M:u"p" A:a/tool_use XS(c1) XE(c1) M:r(c1) TE[c1] AE:stopped')
    assert [m.role for m in seen[0].context.messages] == ["user", "assistant", "tool_result"]
    assert [m.role for m in seen[0].new_messages] == ["user", "assistant", "tool_result"]
    assert seen[0].message.tool_calls[0].id == "c1"
    assert [result.tool_call_id for result in seen[0].tool_results] == ["c1"]
    assert polled == ["steering"]


async def test_the_next_turn_uses_what_was_prepared(stage: Make) -> None:
    """S62."""
    it = stage(
        *rounds(1),
        text("done"),
        tools=[echo()],
        system_prompt="old",
        prepare_next_turn=lambda ctx, signal: NextTurn(
            system_prompt="new",
            model=Model("test", "m2"),
            thinking_level="high",
            tools=[echo("other")],
        ),
    )

    await it.prompt()

    assert [r.system_prompt for r in it.requests] == ["old", "new"]
    assert [r.model.id for r in it.requests] == ["m", "m2"]
    assert [r.options.thinking_level for r in it.requests] == ["off", "high"]
    assert [r.tools for r in it.requests] == [["echo"], ["other"]]
    assert it.answers[1].model == "m2"


async def test_what_was_prepared_holds_for_this_run_only(stage: Make) -> None:
    it = stage(
        *rounds(1),
        text("done"),
        text("again"),
        tools=[echo()],
        system_prompt="old",
        prepare_next_turn=lambda ctx, signal: NextTurn(
            system_prompt=None, model=Model("test", "m2")
        ),
    )

    await it.prompt()
    await it.prompt()

    assert [r.system_prompt for r in it.requests] == ["old", None, "old"]
    assert [r.model.id for r in it.requests] == ["m", "m2", "m"]
    assert it.agent.state.model.id == "m"
    assert it.agent.state.system_prompt == "old"


async def test_a_field_left_out_of_the_next_turn_keeps_its_value(stage: Make) -> None:
    it: Stage = stage(
        *rounds(2),
        text("done"),
        tools=[echo()],
        system_prompt="old",
        thinking_level="low",
        prepare_next_turn=lambda ctx, signal: (
            NextTurn(thinking_level="off") if len(it.requests) == 1 else NextTurn()
        ),
    )

    await it.prompt()

    assert [r.options.thinking_level for r in it.requests] == ["low", "off", "off"]
    assert {r.system_prompt for r in it.requests} == {"old"}


async def test_prepared_messages_replace_the_transcript_for_good(stage: Make) -> None:
    def compact(ctx: TurnContext, signal: AbortSignal) -> NextTurn:
        return NextTurn(messages=[user("summary")])

    it = stage(*rounds(1), text("done"), text("again"), tools=[echo()], prepare_next_turn=compact)

    await it.prompt()
    await it.prompt("next")

    assert it.requests[1].texts == ["summary"]
    assert it.requests[2].texts == ["summary", "done", "next"]
    assert len(it.messages) == 4


async def test_prepare_runs_once_before_every_turn_but_the_first(stage: Make) -> None:
    prepared: list[int] = []
    it: Stage = stage(
        *rounds(2),
        text("done"),
        text("followed"),
        tools=[echo()],
        prepare_next_turn=lambda ctx, signal: prepared.append(len(it.requests)),
    )
    it.agent.follow_up("F")

    await it.prompt()

    assert prepared == [1, 2, 3]


async def test_a_message_that_comes_during_the_stop_hook_is_prepared_for(stage: Make) -> None:
    order: list[str] = []

    async def stop(ctx: TurnContext, signal: AbortSignal) -> bool:
        order.append("stop?")
        if len(it.requests) == 1:
            it.agent.steer("S")
        return False

    it = stage(
        text("1"),
        text("2"),
        should_stop_after_turn=stop,
        prepare_next_turn=lambda ctx, signal: order.append("prepare"),
    )

    await it.prompt()

    it.expect('AS TS M:u"p" A:a/stop TE[] TS M:u"S" A:a/stop TE[] AE:completed')
    assert order == ["stop?", "prepare", "stop?"]


async def test_prepare_runs_before_a_stop_hook_that_stops(stage: Make) -> None:
    order: list[str] = []

    def stop(ctx: TurnContext, signal: AbortSignal) -> bool:
        order.append("stop?")
        return True

    it = stage(
        *rounds(1),
        tools=[echo()],
        should_stop_after_turn=stop,
        prepare_next_turn=lambda ctx, signal: order.append("prepare"),
    )

    await it.prompt()

    assert order == ["prepare", "stop?"]
    assert it.end.reason == "stopped"


@pytest.mark.parametrize(
    ("script", "options", "reason"),
    [
        ([text("done")], {}, "completed"),
        ([text("done")], {"max_iterations": 1}, "completed"),
        (rounds(2), {"max_iterations": 1}, "max_iterations"),
        ([calls(call("break", id="c1"))], {}, "tool_error"),
        ([calls(call("stop", id="c1"))], {}, "aborted"),
        ([calls(call("last", id="c1"))], {}, "terminated"),
    ],
    ids=["answer", "answer-at-cap", "cap", "tool-error", "abort", "terminate"],
)
async def test_nothing_is_prepared_when_the_run_ends_by_itself(
    stage: Make, script: list[Any], options: dict[str, Any], reason: str
) -> None:
    prepared: list[int] = []
    it = stage(
        *script,
        tools=[
            echo(),
            raising("break", ToolError("x")),
            acting("stop", lambda: it.agent.abort()),
            answering("last", ToolResult("x", terminate=True)),
        ],
        prepare_next_turn=lambda ctx, signal: prepared.append(1),
        **options,
    )

    await it.prompt()

    assert it.end.reason == reason
    assert prepared == []


async def test_no_turn_hook_runs_after_a_failed_answer(stage: Make) -> None:
    called: list[str] = []
    it = stage(
        fail("overloaded"),
        prepare_next_turn=lambda ctx, signal: called.append("prepare"),
        should_stop_after_turn=lambda ctx, signal: called.append("stop?"),
    )
    it.agent.follow_up("F")

    await it.prompt()

    assert called == []


@pytest.mark.parametrize("hook", ["prepare_next_turn", "should_stop_after_turn"])
async def test_a_turn_hook_that_raises_gets_a_turn_for_its_error(stage: Make, hook: str) -> None:
    def broken(ctx: TurnContext, signal: AbortSignal) -> None:
        raise KeyError("lost")

    it = stage(*rounds(1), text("never"), tools=[echo()], **{hook: broken})

    await it.prompt()

    it.expect('AS TS M:u"p" A:a/tool_use XS(c1) XE(c1) M:r(c1) TE[c1] TS M:a/error TE[] AE:error')
    assert it.end.error is not None
    assert it.end.error.code == "hook_failed"
    assert isinstance(it.agent.state.error, InternalError)
    assert len(it.requests) == 1


@pytest.mark.parametrize("hook", ["prepare_next_turn", "should_stop_after_turn"])
async def test_an_abort_in_a_turn_hook_ends_the_run(stage: Make, hook: str) -> None:
    def stop(ctx: TurnContext, signal: AbortSignal) -> None:
        it.agent.abort()

    it = stage(*rounds(1), text("never"), tools=[echo()], **{hook: stop})

    await it.prompt()

    it.expect('AS TS M:u"p" A:a/tool_use XS(c1) XE(c1) M:r(c1) TE[c1] AE:aborted')


async def test_an_abort_beats_a_stop_hook_that_says_stop(stage: Make) -> None:
    def stop(ctx: TurnContext, signal: AbortSignal) -> bool:
        it.agent.abort()
        return True

    it = stage(*rounds(1), text("never"), tools=[echo()], should_stop_after_turn=stop)

    await it.prompt()

    assert it.end.reason == "aborted"


@pytest.mark.parametrize(
    ("script", "reason"),
    [(rounds(1), "aborted"), ([text("whole")], "completed")],
    ids=["results-to-answer", "nothing-left"],
)
async def test_an_abort_when_a_turn_ends_asks_what_was_left_to_do(
    stage: Make, script: list[Any], reason: str
) -> None:
    it = stage(*script, tools=[echo()])
    it.when("TE[c1]", lambda: it.agent.abort())
    it.when("TE[]", lambda: it.agent.abort())

    await it.prompt()

    assert it.end.reason == reason
    assert len(it.requests) == 1


@pytest.mark.parametrize("hook", ["prepare_next_turn", "should_stop_after_turn"])
async def test_an_abort_in_a_hook_after_a_terminating_batch_leaves_it_terminated(
    stage: Make, hook: str
) -> None:
    def stop(ctx: TurnContext, signal: AbortSignal) -> None:
        it.agent.clear_queue()
        it.agent.abort()

    it = stage(
        calls(call("last", id="c1")),
        text("never"),
        tools=[answering("last", ToolResult("x", terminate=True))],
        **{hook: stop},
    )
    it.agent.follow_up("F")

    await it.prompt()

    it.expect('AS TS M:u"p" A:a/tool_use XS(c1) XE(c1) M:r(c1) TE[c1] AE:terminated')


async def test_an_abort_when_a_terminating_batch_ends_leaves_it_terminated(stage: Make) -> None:
    it = stage(
        calls(call("last", id="c1")),
        tools=[answering("last", ToolResult("x", terminate=True))],
    )
    it.when("TE[c1]", lambda: it.agent.abort())

    await it.prompt()

    assert it.end.reason == "terminated"


# -- caps ------------------------------------------------------------------------------------------


async def test_continuing_after_the_cap_has_a_fresh_budget(stage: Make) -> None:
    """S64."""
    it = stage(*rounds(5), tools=[echo()], max_iterations=2)

    await it.prompt()
    requests = len(it.requests)
    await it.agent.continue_()

    it.expect(
        'AS TS M:u"p" A:a/tool_use XS(c1) XE(c1) M:r(c1) TE[c1] TS A:a/tool_use XS(c2) XE(c2) '
        "M:r(c2) TE[c2] AE:max_iterations AS TS A:a/tool_use XS(c3) XE(c3) M:r(c3) TE[c3] "
        "TS A:a/tool_use XS(c4) XE(c4) M:r(c4) TE[c4] AE:max_iterations"
    )
    assert requests == 2


async def test_an_answer_at_the_cap_with_nothing_queued_is_complete(stage: Make) -> None:
    it = stage(text("done"), max_iterations=1)

    await it.prompt()

    assert it.end.reason == "completed"


async def test_an_answer_at_the_cap_with_something_queued_is_not(stage: Make) -> None:
    it = stage(text("done"), text("never"), max_iterations=1)
    it.agent.follow_up("F")

    await it.prompt()

    assert it.end.reason == "max_iterations"
    assert it.queue == ["F"]


async def test_a_terminating_batch_at_the_cap_is_terminated(stage: Make) -> None:
    it = stage(
        calls(call("last", id="c1")),
        tools=[answering("last", ToolResult("x", terminate=True))],
        max_iterations=1,
    )

    await it.prompt()

    assert it.end.reason == "terminated"


async def test_the_cap_set_on_the_agent_applies_to_the_next_run(stage: Make) -> None:
    it = stage(*rounds(3), tools=[echo()])
    it.agent.max_iterations = 1

    await it.prompt()

    assert len(it.requests) == 1


async def test_a_final_answer_may_follow_the_cap(stage: Make) -> None:
    called: list[str] = []
    it: Stage = stage(
        *rounds(2),
        text("so far: two"),
        tools=[echo()],
        max_iterations=2,
        final_answer_on_limit=True,
        prepare_next_turn=lambda ctx, signal: called.append(f"prepare {len(it.requests)}"),
        should_stop_after_turn=lambda ctx, signal: called.append(f"stop? {len(it.requests)}"),
    )
    it.agent.follow_up("F")

    result = await it.agent.run("p")

    assert [request.tools for request in it.requests] == [["echo"], ["echo"], []]
    assert result.reason == "max_iterations"
    assert result.iterations == 3
    assert result.final_message == "so far: two"
    assert called == ["prepare 1", "stop? 1"]
    assert it.queue == ["F"]


async def test_calls_of_the_final_answer_are_answered_and_not_run(stage: Make) -> None:
    it = stage(
        *rounds(1),
        [text("one more: "), calls(call("echo", {"a": 7}, id="x"))],
        text("never"),
        tools=[echo()],
        max_iterations=1,
        final_answer_on_limit=True,
    )

    result = await it.agent.run("p")

    it.expect(
        'AS TS M:u"p" A:a/tool_use XS(c1) XE(c1) M:r(c1) TE[c1] '
        "TS A:a/tool_use XS(x) XE(x)✗ M:r(x) TE[x] AE:max_iterations"
    )
    assert it.executed == ["c1"]
    assert (result.reason, result.iterations) == ("max_iterations", 2)


async def test_an_abort_of_the_final_answer_aborts_the_run(stage: Make) -> None:
    it = stage(
        *rounds(1),
        [text("so f"), hang()],
        tools=[echo()],
        max_iterations=1,
        final_answer_on_limit=True,
    )
    it.when("text_end", lambda: it.agent.abort())

    await it.prompt()

    it.expect("… TE[c1] TS A:a/aborted TE[] AE:aborted")


async def test_a_failing_final_answer_fails_the_run(stage: Make) -> None:
    it = stage(
        *rounds(1),
        fail("network"),
        tools=[echo()],
        max_iterations=1,
        final_answer_on_limit=True,
    )

    await it.prompt()

    it.expect("… TE[c1] TS A:a/error TE[] AE:error")


async def test_no_final_answer_is_asked_for_if_nothing_would_follow(stage: Make) -> None:
    it = stage(text("done"), text("never"), max_iterations=1, final_answer_on_limit=True)

    result = await it.agent.run("p")

    assert (result.reason, result.iterations) == ("completed", 1)


# -- results ---------------------------------------------------------------------------------------


async def test_a_plain_answer_is_one_iteration_with_a_computed_cost(stage: Make) -> None:
    """S66."""
    model = Model("test", "m", cost=ModelCost(input=3.0, output=15.0))
    it = stage([text("done"), end(usage=Usage(input=1000, output=200, total=1200))], model=model)

    result = await it.agent.run("p")

    assert isinstance(result, AgentResult)
    assert (result.iterations, result.tool_call_count) == (1, 0)
    assert result.final_message == "done"
    assert result.total_cost_usd == 0.006
    assert result.total_usage.total == 1200
    assert result.new_messages == it.messages


def test_run_blocking_works_in_a_plain_thread() -> None:
    """S67."""
    results: list[AgentResult] = []
    agent = Agent("test/m", stream_fn=ScriptedModel([text("hi")]))

    thread = threading.Thread(target=lambda: results.append(agent.run_blocking("p")))
    thread.start()
    thread.join(10)

    assert results[0].final_message == "hi"


async def test_run_blocking_refuses_a_running_loop(stage: Make) -> None:
    """S67."""
    it = stage(text("hi"))

    with pytest.raises(InvalidStateError):
        it.agent.run_blocking("p")

    assert it.events == []
    assert it.messages == []


# -- guards ----------------------------------------------------------------------------------------


def warned(it: Stage) -> list[int]:
    """The numbers of the results that carry more than the tool's own answer."""
    return [place for place, result in enumerate(it.results, 1) if len(result.content) > 1]


async def test_the_fifth_identical_call_is_answered_with_a_warning(stage: Make) -> None:
    it = stage(*rounds(5, same=True), text("oh"), tools=[echo()])

    await it.prompt()

    assert warned(it) == [5]
    assert it.results[4].content[0] == TextBlock(text="0")
    assert isinstance(it.results[4].content[-1], TextBlock)
    assert it.results[4].content[-1].text


async def test_the_order_of_arguments_does_not_make_calls_different(stage: Make) -> None:
    arguments = ['{"a": 1, "b": 2}', '{"b": 2, "a": 1}'] * 3
    it = stage(
        *[calls(call("echo", raw, id=f"c{n}")) for n, raw in enumerate(arguments)],
        tools=[echo()],
    )

    await it.prompt()

    assert 5 in warned(it)


async def test_another_call_in_between_starts_the_count_again(stage: Make) -> None:
    it = stage(
        *rounds(4, same=True),
        calls(call("echo", {"a": "other"}, id="x")),
        *[calls(call("echo", {"a": 0}, id=f"d{n}")) for n in range(4)],
        text("ok"),
        tools=[echo()],
    )

    await it.prompt()

    assert warned(it) == []
    assert it.end.reason == "completed"


async def test_a_new_prompt_starts_the_count_again(stage: Make) -> None:
    it = stage(
        *rounds(4, same=True),
        text("ok"),
        *[calls(call("echo", {"a": 0}, id=f"d{n}")) for n in range(4)],
        text("ok"),
        tools=[echo()],
    )

    await it.prompt()
    await it.prompt()

    assert warned(it) == []


async def test_three_truncated_batches_in_a_row_end_the_run(stage: Make) -> None:
    it = stage(*truncated(5), tools=[echo()])

    await it.prompt()

    assert len(it.requests) == 3
    assert it.end.reason == "error"
    assert it.end.error is not None
    assert it.end.error.code == "output_limit_loop"
    assert isinstance(it.agent.state.error, InternalError)
    assert it.trace.endswith("TE[c2] AE:error")


async def test_a_whole_batch_in_between_starts_the_truncation_count_again(stage: Make) -> None:
    it = stage(*truncated(2), *rounds(1), *truncated(2), text("ok"), tools=[echo()])

    await it.prompt()

    assert it.end.reason == "completed"


async def test_a_truncated_answer_without_calls_ends_normally(stage: Make) -> None:
    it = stage([text("too lon"), end("length")])

    await it.prompt()

    it.expect('AS TS M:u"p" A:a/length TE[] AE:completed')


# -- endings that coincide -------------------------------------------------------------------------


async def test_a_tool_error_wins_over_an_abort_and_the_cap(stage: Make) -> None:
    it = stage(
        calls(call("break", id="c1"), call("wait", id="c2")),
        tools=[raising("break", ToolError("x")), waiting("wait", asyncio.Event())],
        max_iterations=1,
    )
    it.when("XE(c1)", lambda: it.agent.abort())

    await it.prompt()

    assert it.end.reason == "tool_error"


async def test_the_truncation_guard_wins_over_an_abort(stage: Make) -> None:
    it = stage(*truncated(3), tools=[echo()], max_iterations=3)
    it.when("XE(c2)", lambda: it.agent.abort())

    await it.prompt()

    assert it.end.reason == "error"


async def test_an_abort_wins_over_the_cap(stage: Make) -> None:
    it = stage(*rounds(1), tools=[echo()], max_iterations=1)
    it.when("XE(c1)", lambda: it.agent.abort())

    await it.prompt()

    assert it.end.reason == "aborted"


async def test_the_cap_wins_over_the_guard_against_identical_calls(stage: Make) -> None:
    it = stage(*rounds(12, same=True), tools=[echo()], max_iterations=12)

    await it.prompt()

    assert it.end.reason == "max_iterations"


async def test_the_guard_against_identical_calls_comes_before_the_turn_hooks(stage: Make) -> None:
    prepared: list[int] = []
    it: Stage = stage(
        *rounds(13, same=True),
        tools=[echo()],
        prepare_next_turn=lambda ctx, signal: prepared.append(len(it.requests)),
    )

    await it.prompt()

    assert it.end.reason == "stopped"
    assert prepared == list(range(1, 12))


async def test_hooks_may_be_coroutines(stage: Make) -> None:
    async def before(ctx: object, signal: object) -> BeforeToolCall:
        await asyncio.sleep(0)
        return BeforeToolCall(args={"a": "changed"})

    def stop(ctx: object, signal: object) -> Awaitable[bool]:
        async def later() -> bool:
            return True

        return later()

    it = stage(*rounds(1), tools=[echo()], before_tool_call=before, should_stop_after_turn=stop)

    await it.prompt()

    assert it.results[0].text == "changed"
    assert it.end.reason == "stopped"
