"""Conformance scenarios S38 to S60: steering and follow-ups, and what an abort does to them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from agent_tui import (
    Agent,
    CustomMessage,
    ImageBlock,
    InvalidStateError,
    QueuedItem,
    TextBlock,
    Tool,
    ToolContext,
    ToolError,
    UserMessage,
)
from agent_tui.core.events import AgentStartEvent, MessageStartEvent
from agent_tui.testing import call, calls, fail, hang, text, think
from tests.agent.stage import Make, said, user
from tests.agent.toolbox import ANYTHING, acting, echo, raising, waiting


async def test_steering_waits_for_the_running_batch(stage: Make) -> None:
    """S38."""
    it = stage(
        calls(call("act", id="c1"), call("echo", id="c2")),
        text("ok"),
        tools=[acting("act", lambda: it.agent.steer("S")), echo()],
        tool_execution="sequential",
    )

    await it.prompt()

    it.expect(
        '… XS(c1) XE(c1) M:r(c1) XS(c2) XE(c2) M:r(c2) TE[c1,c2] TS M:u"S" A:a/stop TE[] '
        "AE:completed"
    )
    assert it.executed == ["c1", "c2"]
    assert it.requests[1].roles == ["user", "assistant", "tool_result", "tool_result", "user"]


async def test_steering_is_delivered_one_at_a_time(stage: Make) -> None:
    """S39."""
    it = stage(text("1"), text("2"), text("3"))
    it.when("text_delta", lambda: it.agent.steer("s1"), lambda: it.agent.steer("s2"))

    await it.prompt("start")

    it.expect(
        'AS TS M:u"start" A:a/stop TE[] TS M:u"s1" A:a/stop TE[] TS M:u"s2" A:a/stop TE[] '
        "AE:completed"
    )
    assert it.requests[2].texts == ["start", "1", "s1", "2", "s2"]


async def test_steering_is_delivered_together_in_all_mode(stage: Make) -> None:
    """S40."""
    it = stage(text("1"), text("2"), steering_mode="all")
    it.when("text_delta", lambda: it.agent.steer("s1"), lambda: it.agent.steer("s2"))

    await it.prompt("start")

    assert len(it.requests) == 2
    assert it.requests[1].texts == ["start", "1", "s1", "s2"]


async def test_follow_ups_wait_until_the_agent_would_stop(stage: Make) -> None:
    """S41."""
    it = stage(calls(call("echo", id="c1")), text("done"), text("one"), text("two"), tools=[echo()])
    it.when("XS(c1)", lambda: it.agent.follow_up("f1"), lambda: it.agent.follow_up("f2"))

    await it.prompt()

    it.expect(
        'AS TS M:u"p" A:a/tool_use XS(c1) XE(c1) M:r(c1) TE[c1] TS A:a/stop TE[] '
        'TS M:u"f1" A:a/stop TE[] TS M:u"f2" A:a/stop TE[] AE:completed'
    )


async def test_follow_ups_are_delivered_together_in_all_mode(stage: Make) -> None:
    """S42."""
    it = stage(text("1"), text("2"), follow_up_mode="all")
    it.agent.follow_up("f1")
    it.agent.follow_up("f2")

    await it.prompt()

    it.expect('AS TS M:u"p" A:a/stop TE[] TS M:u"f1" M:u"f2" A:a/stop TE[] AE:completed')


async def test_steering_during_text_lets_the_answer_finish(stage: Make) -> None:
    """S43."""
    it = stage(text("the whole answer", chunk=4), text("more"))
    it.when("text_delta", lambda: it.agent.steer("S"))

    await it.prompt()

    assert it.answers[0].text == "the whole answer"
    assert it.requests[1].texts == ["p", "the whole answer", "S"]


async def test_steering_during_thoughts_lets_the_tool_run(stage: Make) -> None:
    """S44."""
    it = stage([think("hm"), calls(call("echo", id="c1"))], text("ok"), tools=[echo()])
    it.when("thinking_delta", lambda: it.agent.steer("S"))

    await it.prompt()

    it.expect('… XS(c1) XE(c1) M:r(c1) TE[c1] TS M:u"S" A:a/stop TE[] AE:completed')


async def test_steering_comes_before_an_older_follow_up(stage: Make) -> None:
    """S45."""
    it = stage(calls(call("echo", id="c1")), text("1"), text("2"), tools=[echo()])
    it.when("XS(c1)", lambda: it.agent.follow_up("later"), lambda: it.agent.steer("now"))

    await it.prompt()

    assert it.requests[1].texts[-1] == "now"
    assert it.requests[2].texts[-1] == "later"


async def test_an_item_leaves_the_queue_before_its_message_starts(stage: Make) -> None:
    """S46."""
    log: list[str] = []

    def on_change(items: list[QueuedItem]) -> None:
        log.append(f"{len(items)} queued")

    def on_event(event: object, signal: object) -> None:
        if isinstance(event, MessageStartEvent) and isinstance(event.message, UserMessage):
            log.append(f"{event.message.text} starts, {len(it.agent.queued())} queued")

    it = stage(text("1"), text("2"))
    it.agent.on_queue_change(on_change)
    it.agent.subscribe(on_event)
    it.agent.follow_up("F")

    await it.prompt()

    assert log == ["1 queued", "p starts, 1 queued", "0 queued", "F starts, 0 queued"]


async def test_a_popped_follow_up_is_not_delivered(stage: Make) -> None:
    """S47."""
    it = stage(text("1"), text("2"))
    it.agent.follow_up("first")
    it.agent.follow_up("second")
    popped: list[QueuedItem | None] = []
    it.when("MU", lambda: popped.append(it.agent.pop_last_queued()))

    await it.prompt()

    assert popped[0] is not None
    assert isinstance(popped[0].message, UserMessage)
    assert popped[0].message.text == "second"
    it.expect('AS TS M:u"p" A:a/stop TE[] TS M:u"first" A:a/stop TE[] AE:completed')


async def test_popping_prefers_follow_ups_over_steering(stage: Make) -> None:
    """S47."""
    agent = stage().agent
    follow_up = agent.follow_up("F")
    first, second = agent.steer("S1"), agent.steer("S2")

    popped = [agent.pop_last_queued() for _ in range(4)]

    assert [item and item.id for item in popped] == [follow_up, second, first, None]


async def test_continuing_after_an_answer_keeps_one_at_a_time(stage: Make) -> None:
    """S49."""
    it = stage(text("1"), text("2"), messages=[user("old"), said("answer")])
    it.agent.steer("S1")
    it.agent.steer("S2")

    await it.agent.continue_()

    it.expect('AS TS M:u"S1" A:a/stop TE[] TS M:u"S2" A:a/stop TE[] AE:completed')


async def test_continuing_after_an_answer_takes_follow_ups(stage: Make) -> None:
    """S50."""
    it = stage(text("1"), text("2"), messages=[user("old"), said("answer")])
    it.agent.follow_up("F1")
    it.agent.follow_up("F2")

    await it.agent.continue_()

    it.expect('AS TS M:u"F1" A:a/stop TE[] TS M:u"F2" A:a/stop TE[] AE:completed')


async def test_continuing_after_an_answer_with_nothing_queued_is_refused(stage: Make) -> None:
    """S50."""
    it = stage(messages=[user("old"), said("answer")])

    with pytest.raises(InvalidStateError):
        await it.agent.continue_()

    assert it.events == []


@pytest.mark.parametrize("kind", ["steer", "follow_up"])
@pytest.mark.parametrize("mode", ["one-at-a-time", "all"])
async def test_messages_survive_an_abort_during_preparation(
    stage: Make, kind: str, mode: str
) -> None:
    """S51."""

    def stop_once(ctx: object, signal: object) -> None:
        if len(it.requests) == 1:
            it.agent.abort()

    it = stage(
        text("1"),
        text("2"),
        text("3"),
        prepare_next_turn=stop_once,
        steering_mode=mode,
        follow_up_mode=mode,
    )
    originals = [user("a"), user("b")]
    it.when("TE[]", lambda: [getattr(it.agent, kind)(message) for message in originals])

    await it.prompt()
    requests = len(it.requests)
    waiting_between = [item.message for item in it.agent.queued()]
    await it.prompt("fresh")

    delivered = [message for message in it.messages if message in originals]
    assert requests == 1
    assert [id(message) for message in waiting_between] == [id(m) for m in originals]
    assert [id(message) for message in delivered] == [id(m) for m in originals]
    assert it.queue == []


@pytest.mark.parametrize("kind", ["steer", "follow_up"])
@pytest.mark.parametrize("mode", ["one-at-a-time", "all"])
async def test_messages_cleared_during_preparation_are_gone(
    stage: Make, kind: str, mode: str
) -> None:
    """S51, with clear."""

    def stop_and_clear(ctx: object, signal: object) -> None:
        it.agent.abort()
        it.agent.clear_queue()

    it = stage(text("1"), prepare_next_turn=stop_and_clear, steering_mode=mode, follow_up_mode=mode)
    it.when("TE[]", lambda: [getattr(it.agent, kind)("a"), getattr(it.agent, kind)("b")])

    await it.prompt()

    assert len(it.requests) == 1
    assert it.queue == []


async def test_an_abort_at_the_end_of_a_whole_answer_holds_fresh_steering(stage: Make) -> None:
    """S53."""
    it = stage(text("whole"), text("next"))
    it.when("ME:a/stop", lambda: it.agent.steer("Q"), lambda: it.agent.abort())

    await it.prompt()
    held = it.queue
    await it.prompt("again")

    it.expect(
        'AS TS M:u"p" A:a/stop TE[] AE:aborted AS TS M:u"again" M:u"Q" A:a/stop TE[] AE:completed'
    )
    assert held == ["Q"]


async def test_an_abort_at_the_end_of_a_whole_answer_is_nothing_else(stage: Make) -> None:
    """S53."""
    it = stage(text("whole"))
    it.when("ME:a/stop", lambda: it.agent.abort())

    result = await it.agent.run("p")

    assert result.reason == "completed"
    assert it.agent.state.error is None


async def test_all_mode_delivers_the_rest_together_after_an_abort(stage: Make) -> None:
    """S55."""
    it = stage([text("par"), hang()], text("ok"), steering_mode="all")
    it.when(
        "text_delta",
        lambda: it.agent.steer("s1"),
        lambda: it.agent.steer("s2"),
        lambda: it.agent.abort("enough"),
    )
    await it.prompt()

    await it.agent.continue_()

    it.expect('… AE:aborted AS TS M:u"s1" M:u"s2" A:a/stop TE[] AE:completed')


async def test_a_plain_abort_with_an_empty_queue_only_ends_the_run(stage: Make) -> None:
    """S55."""
    it = stage([text("par"), hang()])
    it.when("text_delta", lambda: it.agent.abort())

    await it.prompt()

    assert it.end.reason == "aborted"
    assert it.queue == []


async def test_a_custom_message_never_lands_between_a_call_and_its_result(stage: Make) -> None:
    """S59."""
    note = CustomMessage(custom_type="note", content="build finished")
    it = stage(
        calls(call("act", id="c1")), text("ok"), tools=[acting("act", lambda: it.agent.steer(note))]
    )

    await it.prompt()

    roles = [message.role for message in it.messages]
    assert roles == ["user", "assistant", "tool_result", "custom", "assistant"]
    assert it.requests[1].texts[-1] == "build finished"


async def test_a_waiting_tool_may_return_when_steering_waits(stage: Make) -> None:
    """S60."""

    async def execute(call_id: str, args: dict[str, Any], ctx: ToolContext) -> str:
        it.agent.steer("S")
        await asyncio.wait_for(ctx.steering_waiting.wait(), 5)
        return "returned early"

    it = stage(
        calls(call("sleep", id="c1")),
        text("ok"),
        tools=[Tool("sleep", "Waits.", ANYTHING, execute)],
    )

    await it.prompt()

    assert it.results[0].text == "returned early"
    assert it.requests[1].texts[-1] == "S"


async def test_a_tool_sees_that_steering_was_already_waiting(stage: Make) -> None:
    seen: list[bool] = []

    async def execute(call_id: str, args: dict[str, Any], ctx: ToolContext) -> str:
        seen.append(ctx.steering_waiting.aborted)
        return "ok"

    it = stage(
        calls(call("look", {"n": 1}, id="c1")),
        calls(call("look", {"n": 2}, id="c2")),
        text("ok"),
        tools=[Tool("look", "Looks.", ANYTHING, execute)],
    )
    it.when("ME:a/tool_use", lambda: it.agent.steer("S"))

    await it.prompt()

    assert seen == [True, False]


async def test_a_follow_up_does_not_count_as_waiting_steering(stage: Make) -> None:
    seen: list[bool] = []

    async def execute(call_id: str, args: dict[str, Any], ctx: ToolContext) -> str:
        it.agent.follow_up("F")
        seen.append(ctx.steering_waiting.aborted)
        return "ok"

    it = stage(
        calls(call("look", id="c1")),
        text("1"),
        text("2"),
        tools=[Tool("look", "Looks.", ANYTHING, execute)],
    )

    await it.prompt()

    assert seen == [False]


def dozing(seen: list[bool], act: Callable[[], object]) -> Tool:
    """A tool that only waits, and returns when steering waits; does something meanwhile."""

    async def execute(call_id: str, args: dict[str, Any], ctx: ToolContext) -> str:
        seen.append(ctx.steering_waiting.aborted)
        act()
        await asyncio.wait_for(ctx.steering_waiting.wait(), 2)
        return "returned early"

    return Tool("doze", "Waits.", ANYTHING, execute)


async def test_a_waiting_tool_hears_of_a_follow_up_that_is_promoted(stage: Make) -> None:
    seen: list[bool] = []
    agent: list[Agent] = []
    item: list[str] = []
    doze = dozing(seen, lambda: agent[0].move_queued(item[0], kind="steer"))
    it = stage(calls(call("doze", id="c1")), text("ok"), tools=[doze])
    agent.append(it.agent)
    item.append(it.agent.follow_up("F"))

    await it.prompt()

    assert seen == [False]
    assert it.results[0].text == "returned early"


async def test_a_waiting_tool_hears_of_steering_that_is_let_go(stage: Make) -> None:
    seen: list[bool] = []
    agent: list[Agent] = []
    item: list[str] = []
    doze = dozing(seen, lambda: agent[0].hold_queued(item[0], False))
    it = stage(calls(call("doze", id="c1")), text("ok"), tools=[doze])
    agent.append(it.agent)
    item.append(it.agent.steer("S"))
    it.agent.hold_queued(item[0])

    await it.prompt()

    assert seen == [False]
    assert it.results[0].text == "returned early"


async def test_steering_queued_while_idle_comes_right_after_the_prompt(stage: Make) -> None:
    it = stage(text("1"), text("2"))
    it.agent.steer("S1")
    it.agent.steer("S2")

    await it.prompt()

    it.expect('AS TS M:u"p" M:u"S1" A:a/stop TE[] TS M:u"S2" A:a/stop TE[] AE:completed')


async def test_a_message_queued_while_the_run_ends_stays_queued(stage: Make) -> None:
    it = stage(text("1"), text("2"))
    it.when("AE:completed", lambda: it.agent.steer("late"))

    await it.prompt()

    it.expect('AS TS M:u"p" A:a/stop TE[] AE:completed')
    assert it.queue == ["late"]


async def test_a_mode_set_during_a_run_applies_to_the_next_poll(stage: Make) -> None:
    def change() -> None:
        it.agent.steer("s1")
        it.agent.steer("s2")
        it.agent.steering_mode = "all"

    it = stage(text("1"), text("2"))
    it.when("text_delta", change)

    await it.prompt()

    it.expect('AS TS M:u"p" A:a/stop TE[] TS M:u"s1" M:u"s2" A:a/stop TE[] AE:completed')


async def test_the_follow_up_mode_set_during_a_run_applies_to_the_next_poll(stage: Make) -> None:
    def change() -> None:
        it.agent.follow_up("f1")
        it.agent.follow_up("f2")
        it.agent.follow_up_mode = "all"

    it = stage(text("1"), text("2"))
    it.when("text_delta", change)

    await it.prompt()

    it.expect('AS TS M:u"p" A:a/stop TE[] TS M:u"f1" M:u"f2" A:a/stop TE[] AE:completed')


async def test_steering_typed_during_a_follow_up_turn_comes_before_the_next_follow_up(
    stage: Make,
) -> None:
    it = stage(text("1"), text("2"), text("3"), text("4"))
    it.agent.follow_up("f1")
    it.agent.follow_up("f2")
    it.when('ME:u"f1"', lambda: it.agent.steer("S"))

    await it.prompt()

    assert [m.text for m in it.messages if isinstance(m, UserMessage)] == ["p", "f1", "S", "f2"]


async def test_an_error_keeps_both_queues_for_the_next_run(stage: Make) -> None:
    it = stage([text("par"), fail("network")], text("1"), text("2"))
    it.when("text_delta", lambda: it.agent.follow_up("F"), lambda: it.agent.steer("S"))

    await it.prompt()
    held = it.queue
    await it.prompt("again")

    assert held == ["S", "F"]
    it.expect(
        '… AE:error AS TS M:u"again" M:u"S" A:a/stop TE[] TS M:u"F" A:a/stop TE[] AE:completed'
    )
    assert sum(isinstance(event, AgentStartEvent) for event in it.events) == 2


async def test_a_fatal_tool_error_keeps_the_queues(stage: Make) -> None:
    it = stage(calls(call("break", id="c1")), tools=[raising("break", ToolError("x"))])
    it.agent.follow_up("F")
    it.when("XS(c1)", lambda: it.agent.steer("S"))

    await it.prompt()

    assert it.end.reason == "tool_error"
    assert it.queue == ["S", "F"]


async def test_a_queued_message_may_have_several_blocks(stage: Make) -> None:
    message = UserMessage(
        content=[TextBlock(text="see"), ImageBlock(data="aGk=", mime_type="image/png")]
    )
    it = stage(text("1"), text("2"))
    it.agent.follow_up(message)

    await it.prompt()

    assert message in it.messages


async def test_a_run_that_waits_for_a_tool_can_be_steered_from_outside(stage: Make) -> None:
    gate, started = asyncio.Event(), asyncio.Event()
    it = stage(
        calls(call("wait", id="c1")), text("ok"), tools=[waiting("wait", gate, started=started)]
    )

    run = asyncio.create_task(it.prompt())
    await started.wait()
    it.agent.steer("S")
    gate.set()
    await run

    it.expect('… XE(c1) M:r(c1) TE[c1] TS M:u"S" A:a/stop TE[] AE:completed')
