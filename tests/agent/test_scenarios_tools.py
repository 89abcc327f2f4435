"""Conformance scenarios S10 to S36: batches, arguments, tool hooks, tool errors."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest

from agent_tui import (
    AbortSignal,
    AfterToolCall,
    BeforeToolCall,
    ImageBlock,
    TextBlock,
    Tool,
    ToolContext,
    ToolError,
    ToolResult,
)
from agent_tui.agent.hooks import AfterToolCallContext, BeforeToolCallContext
from agent_tui.core.events import ToolExecutionStartEvent, ToolExecutionUpdateEvent
from agent_tui.testing import call, calls, end, text
from tests.agent.stage import Make, Stage, breathe, user
from tests.agent.toolbox import (
    ANYTHING,
    acting,
    answering,
    echo,
    raising,
    recording,
    schema,
    waiting,
)


def blocking(reason: str | None = None, *, end_turn: bool = False) -> Any:
    """A hook that refuses the tool named `no`."""

    def hook(ctx: BeforeToolCallContext, signal: AbortSignal) -> BeforeToolCall | None:
        refused = ctx.tool_call.name == "no"
        return BeforeToolCall(block=True, reason=reason, end_turn=end_turn) if refused else None

    return hook


async def test_a_tool_call_turn_has_the_expected_order(stage: Make) -> None:
    """S10."""

    async def execute(call_id: str, args: dict[str, Any], ctx: ToolContext) -> str:
        ctx.on_update("half")
        return "whole"

    it = stage(
        calls(call("work", {"n": 1}, id="c1")),
        text("done"),
        tools=[Tool("work", "Works.", ANYTHING, execute)],
    )

    await it.prompt()

    it.expect(
        'AS TS M:u"p" A:a/tool_use XS(c1) XU(c1) XE(c1) M:r(c1) TE[c1] TS A:a/stop TE[] '
        "AE:completed"
    )
    assert it.requests[1].roles == ["user", "assistant", "tool_result"]
    assert it.results[0].text == "whole"
    assert it.results[0].tool_name == "work"


async def test_calls_end_as_they_finish_and_are_recorded_as_they_were_asked(stage: Make) -> None:
    """S11."""
    gate = asyncio.Event()
    it = stage(
        calls(call("slow", id="c1"), call("echo", id="c2")),
        text("done"),
        tools=[waiting("slow", gate), echo()],
    )
    it.when("XE(c2)", gate.set)

    await it.prompt()

    it.expect("… XS(c1) XS(c2) XE(c2) XE(c1) M:r(c1) M:r(c2) TE[c1,c2] …")


async def test_a_sequential_tool_makes_its_batch_sequential(stage: Make) -> None:
    """S12."""
    it = stage(
        calls(call("echo", id="c1"), call("echo", id="c2")),
        text("done"),
        tools=[echo(execution_mode="sequential")],
    )

    await it.prompt()

    it.expect("… XS(c1) XE(c1) M:r(c1) XS(c2) XE(c2) M:r(c2) TE[c1,c2] …")


async def test_one_sequential_tool_makes_the_whole_batch_sequential(stage: Make) -> None:
    """S13."""
    log: list[str] = []

    async def slow(call_id: str, args: dict[str, Any], ctx: ToolContext) -> str:
        log.append("slow begins")
        await breathe()
        log.append("slow ends")
        return "ok"

    it = stage(
        calls(call("slow", id="a"), call("fast", id="b")),
        text("done"),
        tools=[
            Tool("slow", "Slow.", ANYTHING, slow, execution_mode="sequential"),
            acting("fast", lambda: log.append("fast")),
        ],
    )

    await it.prompt()

    assert log == ["slow begins", "slow ends", "fast"]


async def test_an_unknown_tool_is_answered_with_the_known_names(stage: Make) -> None:
    """S14."""
    it = stage(calls(call("ghost", id="c1")), text("ok"), tools=[echo("real_tool")])

    await it.prompt()

    assert it.results[0].is_error
    assert "ghost" in it.results[0].text
    assert "real_tool" in it.results[0].text
    assert len(it.requests) == 2
    assert it.end.reason == "completed"


async def test_arguments_that_break_the_schema_are_fed_back(stage: Make) -> None:
    """S15."""
    it = stage(
        calls(call("add", {"a": "oops", "b": 1}, id="c1")),
        text("sorry"),
        tools=[recording("add", [], schema(a={"type": "integer"}, b={"type": "integer"}))],
    )

    await it.prompt()

    assert it.results[0].is_error
    assert any(line.lstrip("- ").startswith("a:") for line in it.results[0].text.splitlines())
    assert "oops" in it.results[0].text.replace("a: 'oops'", "")
    assert it.executed == []
    assert it.end.reason == "completed"


async def test_arguments_are_bent_into_the_shape_of_the_schema(stage: Make) -> None:
    """S16."""
    raw = {"n": "42", "flag": "true", "names": '["a"]', "nested": '{"x": "1"}'}
    log: list[dict[str, Any]] = []
    it = stage(
        calls(call("take", raw, id="c1")),
        text("ok"),
        tools=[
            recording(
                "take",
                log,
                schema(
                    n={"type": "integer"},
                    flag={"type": "boolean"},
                    names={"type": "array", "items": {"type": "string"}},
                    nested={"type": "object", "properties": {"x": {"type": "integer"}}},
                ),
            )
        ],
    )

    await it.prompt()

    started = [event for event in it.events if isinstance(event, ToolExecutionStartEvent)]
    assert log == [{"n": 42, "flag": True, "names": ["a"], "nested": {"x": 1}}]
    assert started[0].args == raw
    assert it.answers[0].tool_calls[0].arguments == raw


async def test_a_value_that_fits_one_arm_of_a_union_stays_as_it_is(stage: Make) -> None:
    """S17."""
    log: list[dict[str, Any]] = []
    nullable = {"anyOf": [{"type": "null"}, {"type": "string"}]}
    it = stage(
        calls(call("take", {"v": "null"}, id="c1")),
        text("ok"),
        tools=[recording("take", log, schema(v=nullable))],
    )

    await it.prompt()

    assert log == [{"v": "null"}]


async def test_a_blocked_call_gets_the_reason_and_no_after_hook(stage: Make) -> None:
    """S18."""
    after: list[str] = []
    it = stage(
        calls(call("no", id="c1")),
        text("ok"),
        tools=[echo("no")],
        before_tool_call=blocking("not on a Sunday"),
        after_tool_call=lambda ctx, signal: after.append(ctx.tool_call.id),
    )

    await it.prompt()

    it.expect("… XS(c1) XE(c1)✗ M:r(c1) TE[c1] TS A:a/stop TE[] AE:completed")
    assert "not on a Sunday" in it.results[0].text
    assert (it.executed, after) == ([], [])


async def test_an_after_hook_replaces_only_what_it_gives(stage: Make) -> None:
    """S19."""
    it = stage(
        calls(call("know", id="c1")),
        text("ok"),
        tools=[answering("know", ToolResult("raw", details={"lines": 3}, is_error=True))],
        after_tool_call=lambda ctx, signal: AfterToolCall(content=[TextBlock(text="redacted")]),
    )

    await it.prompt()

    assert it.results[0].text == "redacted"
    assert it.results[0].details == {"lines": 3}
    assert it.results[0].is_error


async def test_arguments_changed_in_place_run_unchecked(stage: Make) -> None:
    """S20."""
    log: list[dict[str, Any]] = []

    def change(ctx: BeforeToolCallContext, signal: AbortSignal) -> None:
        ctx.args["n"] = "not a number"

    it = stage(
        calls(call("take", {"n": 1}, id="c1")),
        text("ok"),
        tools=[recording("take", log, schema(n={"type": "integer"}))],
        before_tool_call=change,
    )

    await it.prompt()

    assert log == [{"n": "not a number"}]
    assert it.answers[0].tool_calls[0].arguments == {"n": 1}


async def test_replaced_arguments_are_checked_again(stage: Make) -> None:
    """S20, our rule."""
    it = stage(
        calls(call("take", {"n": 1}, id="c1")),
        text("ok"),
        tools=[recording("take", [], schema(n={"type": "integer"}))],
        before_tool_call=lambda ctx, signal: BeforeToolCall(args={"n": "not a number"}),
    )

    await it.prompt()

    assert it.results[0].is_error
    assert it.executed == []


async def test_a_tool_may_prepare_old_shapes_of_arguments(stage: Make) -> None:
    """S21."""
    log: list[dict[str, Any]] = []
    take = recording("take", log, schema(edits={"type": "array"}))
    take.prepare_arguments = lambda args: {"edits": [args["old"]]}
    it = stage(calls(call("take", {"old": "x"}, id="c1")), text("ok"), tools=[take])

    await it.prompt()

    assert log == [{"edits": ["x"]}]


async def test_updates_after_the_run_vanish(stage: Make) -> None:
    """S22."""
    kept: list[ToolContext] = []

    async def execute(call_id: str, args: dict[str, Any], ctx: ToolContext) -> str:
        kept.append(ctx)
        ctx.on_update("in time")
        return "ok"

    it = stage(
        calls(call("work", id="c1")),
        text("done"),
        tools=[Tool("work", "Works.", ANYTHING, execute)],
    )
    await it.prompt()
    before = len(it.events)

    kept[0].on_update("too late")
    await breathe()

    assert len(it.events) == before
    assert it.trace.count("XU(c1)") == 1


async def test_updates_of_a_settled_call_vanish_while_a_sibling_runs(stage: Make) -> None:
    """S23."""
    kept: list[ToolContext] = []
    gate = asyncio.Event()

    async def execute(call_id: str, args: dict[str, Any], ctx: ToolContext) -> str:
        kept.append(ctx)
        return "ok"

    async def poke() -> None:
        kept[0].on_update("too late")
        await breathe()
        gate.set()

    it = stage(
        calls(call("work", id="c1"), call("wait", id="c2")),
        text("done"),
        tools=[Tool("work", "Works.", ANYTHING, execute), waiting("wait", gate)],
    )
    pokes: list[asyncio.Task[None]] = []
    it.when("XE(c1)", lambda: pokes.append(asyncio.create_task(poke())))

    await it.prompt()
    await pokes[0]

    it.expect("… XS(c1) XS(c2) XE(c1) XE(c2) M:r(c1) M:r(c2) TE[c1,c2] …")


async def test_one_failing_call_does_not_block_the_others(stage: Make) -> None:
    """S24."""
    it = stage(
        calls(call("echo", id="c1"), call("break", id="c2"), call("echo", id="c3")),
        text("ok"),
        tools=[echo(), raising("break", RuntimeError("broken pipe"))],
    )

    await it.prompt()

    assert [result.is_error for result in it.results] == [False, True, False]
    assert "broken pipe" in it.results[1].text
    assert it.end.reason == "completed"
    assert len(it.requests) == 2


async def test_a_batch_whose_results_all_terminate_ends_the_run(stage: Make) -> None:
    """S25."""
    it = stage(
        calls(call("last", id="c1"), call("last", id="c2")),
        text("never"),
        tools=[answering("last", ToolResult("bye", terminate=True))],
    )

    await it.prompt()

    it.expect("… M:r(c1) M:r(c2) TE[c1,c2] AE:terminated")
    assert len(it.requests) == 1


async def test_a_batch_goes_on_if_one_result_does_not_terminate(stage: Make) -> None:
    """S26."""
    it = stage(
        calls(call("last", id="c1"), call("echo", id="c2")),
        text("on"),
        tools=[answering("last", ToolResult("bye", terminate=True)), echo()],
    )

    await it.prompt()

    assert len(it.requests) == 2
    assert it.end.reason == "completed"


async def test_steering_during_a_terminating_batch_still_gets_its_turn(stage: Make) -> None:
    """S27."""
    it = stage(
        calls(call("last", id="c1")),
        text("steered"),
        tools=[answering("last", ToolResult("bye", terminate=True))],
    )
    it.when("XS(c1)", lambda: it.agent.steer("S"))

    await it.prompt()

    it.expect('… XS(c1) XE(c1) M:r(c1) TE[c1] TS M:u"S" A:a/stop TE[] AE:completed')


async def test_a_follow_up_gets_its_turn_after_a_terminating_batch(stage: Make) -> None:
    it = stage(
        calls(call("last", id="c1")),
        text("followed"),
        tools=[answering("last", ToolResult("bye", terminate=True))],
    )
    it.agent.follow_up("F")

    await it.prompt()

    it.expect('… XS(c1) XE(c1) M:r(c1) TE[c1] TS M:u"F" A:a/stop TE[] AE:completed')


async def test_a_call_of_a_truncated_answer_is_not_executed(stage: Make) -> None:
    """S28."""
    it = stage(
        [calls(call("echo", {"a": 1}, id="c1")), end("length")], text("smaller"), tools=[echo()]
    )

    await it.prompt()

    it.expect('AS TS M:u"p" A:a/length XS(c1) XE(c1)✗ M:r(c1) TE[c1] TS A:a/stop TE[] AE:completed')
    assert it.executed == []
    assert "limit" in it.results[0].text.lower()


@pytest.mark.parametrize("raw", ["", "  \n", "null"], ids=["empty", "spaces", "null"])
async def test_missing_arguments_are_no_arguments(stage: Make, raw: str) -> None:
    """S31."""
    log: list[dict[str, Any]] = []
    it = stage(calls(call("take", raw, id="c1")), text("ok"), tools=[recording("take", log)])

    await it.prompt()

    assert log == [{}]
    assert it.answers[0].tool_calls[0].arguments == {}
    assert it.answers[0].tool_calls[0].raw_arguments is None


async def test_a_handler_ends_the_run_with_its_own_error_object(stage: Make) -> None:
    """S32."""
    error = ToolError("disk on fire")

    class Handler:
        async def execute(self, tool_name: str, arguments_json: str) -> str:
            raise error

    it = stage(
        calls(call("save", id="c1")),
        text("again"),
        tools=[Tool("save", "Saves.", ANYTHING)],
        tool_handler=Handler(),
    )

    with pytest.raises(ToolError) as caught:
        await it.agent.run("p")
    tail = it.messages[-1]
    round_trips = len(it.requests)
    await it.prompt("x")

    assert caught.value is error
    assert str(caught.value) == "disk on fire"
    assert round_trips == 1
    assert tail == it.results[0]
    assert it.results[0].is_error
    assert it.results[0].text == "disk on fire"
    assert it.end.reason == "completed"


def three_calls(stage: Make, policy: str) -> Stage:
    """c1 raises the fatal error, c2 waits and listens to its signal, c3 is blocked."""
    gate = asyncio.Event()
    it = stage(
        calls(call("break", id="c1"), call("wait", id="c2"), call("no", id="c3")),
        text("on"),
        tools=[raising("break", ToolError("fatal")), waiting("wait", gate), echo("no")],
        before_tool_call=blocking("no"),
        tool_error_policy=policy,
    )
    if policy == "feed_back":
        it.when("XE(c1)", gate.set)
    return it


async def test_a_fatal_error_settles_the_whole_batch(stage: Make) -> None:
    """S33."""
    it = three_calls(stage, "abort")
    begun = time.monotonic()

    await it.prompt()

    it.expect(
        'AS TS M:u"p" A:a/tool_use XS(c1) XS(c2) XS(c3) XE(c3)✗ XE(c1)✗ XE(c2)✗ '
        "M:r(c1) M:r(c2) M:r(c3) TE[c1,c2,c3] AE:tool_error"
    )
    assert time.monotonic() - begun < 2
    assert len(it.requests) == 1


async def test_a_fatal_error_may_be_fed_back_instead(stage: Make) -> None:
    """S33, the other policy."""
    it = three_calls(stage, "feed_back")

    await it.prompt()

    assert [result.is_error for result in it.results] == [True, False, True]
    assert it.results[0].text == "fatal"
    assert it.end.reason == "completed"


async def test_repeated_bad_calls_are_bounded_by_the_cap(stage: Make) -> None:
    """S34."""
    it = stage(
        *[calls(call("ghost", {"n": n}, id=f"c{n}")) for n in range(6)],
        tools=[echo()],
        max_iterations=3,
    )

    result = await it.agent.run("p")

    assert len(it.requests) == 3
    assert [r.is_error for r in it.results] == [True, True, True]
    assert result.reason == it.end.reason == "max_iterations"
    assert result.iterations == 3


async def test_twelve_identical_calls_stop_the_run(stage: Make) -> None:
    """S35."""
    it = stage(*[calls(call("echo", {"a": 1}, id=f"c{n}")) for n in range(1, 20)], tools=[echo()])

    await it.prompt()

    assert it.trace.endswith("XE(c12) MS:r(c12) ME:r(c12) TE[c12] AE:stopped")
    assert len(it.requests) == 12


async def test_a_denial_with_a_comment_goes_on(stage: Make) -> None:
    """S36."""
    it = stage(
        calls(call("no", id="c1")),
        text("fine"),
        tools=[echo("no")],
        before_tool_call=blocking("use tabs instead"),
    )

    await it.prompt()

    assert "use tabs instead" in it.results[0].text
    assert len(it.requests) == 2
    assert it.end.reason == "completed"


async def test_a_denial_without_a_comment_ends_the_turn_whatever_a_sibling_says(
    stage: Make,
) -> None:
    """S36."""
    it = stage(
        calls(call("echo", id="c1"), call("no", id="c2")),
        text("never"),
        tools=[echo(), echo("no")],
        before_tool_call=blocking(end_turn=True),
    )

    await it.prompt()

    it.expect("… TE[c1,c2] AE:terminated")
    assert [result.is_error for result in it.results] == [False, True]


async def test_steering_during_a_denial_gets_its_turn(stage: Make) -> None:
    """S36."""
    it = stage(
        calls(call("no", id="c1")),
        text("steered"),
        tools=[echo("no")],
        before_tool_call=blocking(end_turn=True),
    )
    it.when("XS(c1)", lambda: it.agent.steer("S"))

    await it.prompt()

    it.expect('… XS(c1) XE(c1)✗ M:r(c1) TE[c1] TS M:u"S" A:a/stop TE[] AE:completed')


async def test_the_after_hook_sees_the_call_and_its_result(stage: Make) -> None:
    seen: list[AfterToolCallContext] = []
    context: list[str] = []

    def look(ctx: AfterToolCallContext, signal: AbortSignal) -> None:
        seen.append(ctx)
        context.extend(message.id for message in ctx.context.messages)

    it = stage(
        calls(call("echo", {"a": "x"}, id="c1")), text("ok"), tools=[echo()], after_tool_call=look
    )

    await it.prompt()

    assert seen[0].assistant_message is it.answers[0]
    assert seen[0].tool_call is it.answers[0].tool_calls[0]
    assert seen[0].args == {"a": "x"}
    assert seen[0].result.text == "x"
    assert not seen[0].is_error
    assert context == [message.id for message in it.messages[:2]]


async def test_updates_replace_one_another_in_order(stage: Make) -> None:
    async def execute(call_id: str, args: dict[str, Any], ctx: ToolContext) -> str:
        ctx.on_update("1")
        ctx.on_update(ToolResult("1 2", details={"lines": 2}))
        return "1 2 3"

    it = stage(
        calls(call("work", {"n": 1}, id="c1")),
        text("done"),
        tools=[Tool("work", "Works.", ANYTHING, execute)],
    )

    await it.prompt()

    updates = [event for event in it.events if isinstance(event, ToolExecutionUpdateEvent)]
    assert [update.partial_result.text for update in updates] == ["1", "1 2"]
    assert updates[1].partial_result.details == {"lines": 2}
    assert (updates[0].tool_name, updates[0].args) == ("work", {"n": 1})


async def test_images_in_a_result_reach_the_transcript(stage: Make) -> None:
    picture = ImageBlock(data="aGk=", mime_type="image/png")
    it = stage(
        calls(call("look", id="c1")),
        text("ok"),
        tools=[answering("look", ToolResult([TextBlock(text="see"), picture]))],
        messages=[user("old")],
    )

    await it.prompt()

    assert it.results[0].content == [TextBlock(text="see"), picture]
