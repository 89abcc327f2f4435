"""The reference traces of the specification, T1 to T22, event by event."""

from __future__ import annotations

import asyncio

import pytest

from agent_tui import AfterToolCall, AssistantMessage, Model, NextTurn, TextBlock, ToolError
from agent_tui.core.stream import StreamStart, TextDelta, TextStart
from agent_tui.testing import call, calls, end, fail, hang, text
from tests.agent.stage import Make, answered, asked, said, stream_of, user
from tests.agent.toolbox import acting, echo, raising, waiting


async def test_t1_a_plain_prompt(stage: Make) -> None:
    it = stage(text("hello"))

    await it.prompt()

    it.expect('AS TS M:u"p" A:a/stop TE[] AE:completed')


async def test_t2_one_tool_call(stage: Make) -> None:
    it = stage(calls(call("echo", {"a": "x"}, id="c1")), text("done"), tools=[echo()])

    await it.prompt()

    it.expect(
        'AS TS M:u"p" A:a/tool_use XS(c1) [XU(c1)*] XE(c1) M:r(c1) TE[c1] '
        "TS A:a/stop TE[] AE:completed"
    )


@pytest.mark.parametrize(
    ("names", "trace"),
    [
        (
            ("slow", "quick", "ghost"),
            "XS(c1) XS(c2) XS(c3) XE(c3)✗ XE(c2) XE(c1) M:r(c1) M:r(c2) M:r(c3) TE[c1,c2,c3]",
        ),
        (
            ("ghost", "quick", "slow"),
            "XS(c1) XE(c1)✗ XS(c2) XS(c3) XE(c2) XE(c3) M:r(c1) M:r(c2) M:r(c3) TE[c1,c2,c3]",
        ),
    ],
    ids=["T3", "T3b"],
)
async def test_t3_parallel_calls_end_as_they_finish(
    stage: Make, names: tuple[str, ...], trace: str
) -> None:
    quick_ended = asyncio.Event()
    it = stage(
        calls(*(call(name, id=f"c{place}") for place, name in enumerate(names, 1))),
        text("done"),
        tools=[waiting("slow", quick_ended), echo("quick")],
    )
    it.when("XE(c2)", quick_ended.set)

    await it.prompt()

    it.expect(f'AS TS M:u"p" A:a/tool_use {trace} TS A:a/stop TE[] AE:completed')


async def test_t4_sequential_calls_are_recorded_one_by_one(stage: Make) -> None:
    it = stage(
        calls(call("echo", {"a": 1}, id="c1"), call("echo", {"a": 2}, id="c2")),
        text("done"),
        tools=[echo()],
        tool_execution="sequential",
    )

    await it.prompt()

    it.expect(
        'AS TS M:u"p" A:a/tool_use XS(c1) XE(c1) M:r(c1) XS(c2) XE(c2) M:r(c2) TE[c1,c2] '
        "TS A:a/stop TE[] AE:completed"
    )


@pytest.mark.parametrize(
    ("mode", "trace"),
    [
        ("one-at-a-time", 'TS M:u"S1" A:a/stop TE[] TS M:u"S2" A:a/stop TE[]'),
        ("all", 'TS M:u"S1" M:u"S2" A:a/stop TE[]'),
    ],
    ids=["T5", "T5b"],
)
async def test_t5_steering_comes_after_the_batch_and_follow_ups_at_the_end(
    stage: Make, mode: str, trace: str
) -> None:
    gate = asyncio.Event()

    def type_ahead() -> None:
        it.agent.steer("S1")
        it.agent.steer("S2")
        it.agent.follow_up("F1")

    it = stage(
        calls(call("act", id="c1"), call("wait", id="c2")),
        text("1"),
        text("2"),
        text("3"),
        tools=[acting("act", type_ahead), waiting("wait", gate)],
        steering_mode=mode,
    )
    it.when("XE(c1)", gate.set)

    await it.prompt()

    it.expect(
        'AS TS M:u"p" A:a/tool_use XS(c1) XS(c2) XE(c1) XE(c2) M:r(c1) M:r(c2) TE[c1,c2] '
        f'{trace} TS M:u"F1" A:a/stop TE[] AE:completed'
    )


async def test_t6_steering_does_not_cut_the_stream(stage: Make) -> None:
    it = stage(text("all of it", chunk=3), text("and more"))
    it.when("text_delta", lambda: it.agent.steer("S"))

    await it.prompt()

    it.expect('AS TS M:u"p" MS:a MU MU [MU*] ME:a/stop TE[] TS M:u"S" A:a/stop TE[] AE:completed')
    assert it.answers[0].text == "all of it"


async def test_t7_a_waiting_follow_up_starts_its_own_turn(stage: Make) -> None:
    it = stage(text("1"), text("2"))
    it.agent.follow_up("F")

    await it.prompt()

    it.expect('AS TS M:u"p" A:a/stop TE[] TS M:u"F" A:a/stop TE[] AE:completed')


async def test_t7_a_follow_up_during_the_answer_starts_its_own_turn(stage: Make) -> None:
    it = stage(text("1"), text("2"))
    it.when("text_delta", lambda: it.agent.follow_up("F"))

    await it.prompt()

    it.expect('AS TS M:u"p" A:a/stop TE[] TS M:u"F" A:a/stop TE[] AE:completed')


async def test_t8_an_error_ends_the_run_and_leaves_the_queue(stage: Make) -> None:
    it = stage(fail("auth", "no key"), text("never"))
    it.agent.follow_up("F")

    await it.prompt()

    it.expect('AS TS M:u"p" A:a/error TE[] AE:error')
    assert it.queue == ["F"]


async def test_t9_an_abort_ends_the_stream_and_leaves_the_queues(stage: Make) -> None:
    it = stage([text("par"), hang()])
    it.agent.follow_up("F")

    def stop() -> None:
        it.agent.steer("S")
        it.agent.abort()

    it.when("text_delta", stop)

    await it.prompt()

    it.expect('AS TS M:u"p" MS:a MU [MU*] ME:a/aborted TE[] AE:aborted')
    assert it.queue == ["S", "F"]


@pytest.mark.parametrize(
    ("mode", "trace"),
    [
        ("sequential", "XS(c1) XE(c1)✗ M:r(c1) XS(c2) XE(c2)✗ M:r(c2) TE[c1,c2]"),
        ("parallel", "XS(c1) XS(c2) XE(c1)✗ XE(c2)✗ M:r(c1) M:r(c2) TE[c1,c2]"),
    ],
    ids=["T10", "T10b"],
)
async def test_t10_an_abort_during_tools_answers_every_call(
    stage: Make, mode: str, trace: str
) -> None:
    started = asyncio.Event()
    it = stage(
        calls(call("wait", id="c1"), call("wait", id="c2")),
        tools=[waiting("wait", asyncio.Event(), started=started)],
        tool_execution=mode,
    )

    run = asyncio.create_task(it.prompt())
    await started.wait()
    it.agent.abort()
    await run

    it.expect(f'AS TS M:u"p" A:a/tool_use {trace} AE:aborted')
    assert len(it.requests) == 1


async def test_t11_an_abort_before_the_first_request_makes_none(stage: Make) -> None:
    it = stage(text("never"))
    it.when('ME:u"p"', lambda: it.agent.abort())

    await it.prompt()

    it.expect('AS TS M:u"p" M:a/aborted TE[] AE:aborted')
    assert it.requests == []


async def test_t12_a_stream_that_raises_keeps_its_partial_text(stage: Make) -> None:
    partial = AssistantMessage(content=[TextBlock(text="half")])
    it = stage(
        stream_fn=stream_of(
            StreamStart(partial), TextStart(0, partial), TextDelta(0, "half", partial), OSError("x")
        )
    )

    await it.prompt()

    it.expect('AS TS M:u"p" MS:a MU MU ME:a/error TE[] AE:error')
    assert it.answers[0].text == "half"


async def test_t13_calls_of_a_truncated_answer_all_fail(stage: Make) -> None:
    it = stage(
        [calls(call("echo", id="c1"), call("echo", id="c2")), end("length")],
        text("shorter"),
        tools=[echo()],
    )

    await it.prompt()

    it.expect(
        'AS TS M:u"p" A:a/length XS(c1) XE(c1)✗ M:r(c1) XS(c2) XE(c2)✗ M:r(c2) TE[c1,c2] '
        "TS A:a/stop TE[] AE:completed"
    )
    assert it.executed == []


async def test_t14_the_cap_ends_the_run_after_the_last_tools(stage: Make) -> None:
    it = stage(
        calls(call("echo", {"a": 1}, id="c1")),
        calls(call("echo", {"a": 2}, id="c2")),
        text("never"),
        tools=[echo()],
        max_iterations=2,
    )
    it.agent.follow_up("F")

    await it.prompt()

    it.expect(
        'AS TS M:u"p" A:a/tool_use XS(c1) XE(c1) M:r(c1) TE[c1] '
        "TS A:a/tool_use XS(c2) XE(c2) M:r(c2) TE[c2] AE:max_iterations"
    )
    assert len(it.requests) == 2
    assert it.queue == ["F"]


async def test_t15_a_stop_hook_ends_the_run_before_the_queues_are_polled(stage: Make) -> None:
    it = stage(
        calls(call("echo", id="c1")),
        text("never"),
        tools=[echo()],
        should_stop_after_turn=lambda ctx, signal: True,
    )
    it.when("XE(c1)", lambda: it.agent.steer("S"))
    it.agent.follow_up("F")

    await it.prompt()

    it.expect('AS TS M:u"p" A:a/tool_use XS(c1) XE(c1) M:r(c1) TE[c1] AE:stopped')
    assert it.queue == ["S", "F"]


async def test_t16_the_next_turn_may_use_another_model(stage: Make) -> None:
    order: list[str] = []

    def prepare(ctx: object, signal: object) -> NextTurn:
        order.append("prepare")
        return NextTurn(model=Model("test", "m2"))

    def stop(ctx: object, signal: object) -> bool:
        order.append("stop?")
        return False

    it = stage(
        calls(call("echo", id="c1")),
        text("done"),
        tools=[echo()],
        prepare_next_turn=prepare,
        should_stop_after_turn=stop,
    )

    await it.prompt()

    it.expect(
        'AS TS M:u"p" A:a/tool_use XS(c1) XE(c1) M:r(c1) TE[c1] TS A:a/stop TE[] AE:completed'
    )
    assert order == ["prepare", "stop?", "stop?"]
    assert [request.model.id for request in it.requests] == ["m", "m2"]


@pytest.mark.parametrize(
    "transcript",
    [[user("old")], [user("old"), asked("c0"), answered("c0")]],
    ids=["user", "tool-result"],
)
async def test_t17_continuing_answers_what_is_there(stage: Make, transcript: list[object]) -> None:
    it = stage(text("new"), messages=transcript)

    await it.agent.continue_()

    it.expect("AS TS A:a/stop TE[] AE:completed")
    assert it.end.messages == [it.answers[-1]]


async def test_t18_continuing_after_an_answer_delivers_steering_one_at_a_time(stage: Make) -> None:
    it = stage(text("1"), text("2"), messages=[user("old"), said("answer")])
    it.agent.steer("S1")
    it.agent.steer("S2")

    await it.agent.continue_()

    it.expect('AS TS M:u"S1" A:a/stop TE[] TS M:u"S2" A:a/stop TE[] AE:completed')


async def test_t19_a_fatal_tool_error_aborts_the_siblings(stage: Make) -> None:
    started = asyncio.Event()
    it = stage(
        calls(call("break", id="c1"), call("wait", id="c2")),
        text("never"),
        tools=[
            raising("break", ToolError("disk on fire"), after=started),
            waiting("wait", asyncio.Event(), started=started),
        ],
    )

    await it.prompt()

    it.expect(
        'AS TS M:u"p" A:a/tool_use XS(c1) XS(c2) XE(c1)✗ XE(c2)✗ M:r(c1) M:r(c2) TE[c1,c2] '
        "AE:tool_error"
    )


async def test_t20_steering_gets_its_turn_after_a_terminating_batch(stage: Make) -> None:
    it = stage(
        calls(call("echo", id="c1")),
        text("steered"),
        tools=[echo()],
        after_tool_call=lambda ctx, signal: AfterToolCall(terminate=True),
    )
    it.when("XE(c1)", lambda: it.agent.steer("S"))

    await it.prompt()

    it.expect(
        'AS TS M:u"p" A:a/tool_use XS(c1) XE(c1) M:r(c1) TE[c1] '
        'TS M:u"S" A:a/stop TE[] AE:completed'
    )


async def test_t21_an_abort_between_deliveries_gives_the_rest_back(stage: Make) -> None:
    it = stage(text("answer"), steering_mode="all")
    it.agent.steer("A")
    it.agent.steer("B")
    it.when('ME:u"A"', lambda: it.agent.abort())

    await it.prompt("old")
    queued_between = it.queue
    await it.prompt("fresh")

    it.expect(
        'AS TS M:u"old" M:u"A" M:a/aborted TE[] AE:aborted '
        'AS TS M:u"fresh" M:u"B" A:a/stop TE[] AE:completed'
    )
    assert queued_between == ["B"]
    assert len(it.requests) == 1


async def test_t22_an_abort_after_completion_holds_what_is_queued(stage: Make) -> None:
    it = stage(text("whole"), text("never"))
    it.when("ME:a/stop", lambda: it.agent.steer("Q"))
    it.when("ME:a/stop", lambda: it.agent.abort())

    await it.prompt()

    it.expect('AS TS M:u"p" A:a/stop TE[] AE:aborted')
    assert it.queue == ["Q"]


async def test_t22_an_abort_after_completion_changes_nothing_else(stage: Make) -> None:
    it = stage(text("whole"))
    it.when("ME:a/stop", lambda: it.agent.abort())

    await it.prompt()

    it.expect('AS TS M:u"p" A:a/stop TE[] AE:completed')
