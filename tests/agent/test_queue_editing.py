"""Looking at, changing, holding and taking back what is queued."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Any

import pytest

from agent_tui import Agent, InvalidInputError, QueuedItem, UserMessage
from agent_tui.testing import ScriptedModel, call, calls, fail, hang, text
from tests.agent.stage import Make, said, user
from tests.agent.toolbox import acting, echo


def idle(**options: Any) -> Agent:
    """An agent that nothing is asked of."""
    return Agent("test/m", stream_fn=ScriptedModel([]), **options)


def texts(agent: Agent) -> list[str]:
    return [item.message.text for item in agent.queued() if isinstance(item.message, UserMessage)]


# -- looking ---------------------------------------------------------------------------------------


def test_an_item_says_what_waits_and_since_when() -> None:
    agent = idle()
    before = time.time_ns() // 1_000_000
    message = user("F")

    item_id = agent.follow_up(message)

    item = agent.queued()[0]
    assert item.id == item_id == message.id
    assert item.kind == "follow_up"
    assert item.message is message
    assert before <= item.enqueued_at <= before + 10_000
    assert not item.held


def test_steering_is_listed_before_follow_ups_each_in_delivery_order() -> None:
    agent = idle()

    agent.follow_up("f1")
    agent.steer("s1")
    agent.follow_up("f2")
    agent.steer("s2")

    assert texts(agent) == ["s1", "s2", "f1", "f2"]
    assert [item.kind for item in agent.queued()] == ["steer", "steer", "follow_up", "follow_up"]


def test_queueing_while_idle_only_queues() -> None:
    agent = idle()

    agent.steer("s")

    assert not agent.state.is_running
    assert agent.state.messages == []


@pytest.mark.parametrize("kind", ["steer", "follow_up"])
@pytest.mark.parametrize(
    "message",
    ["", " \n\t", UserMessage(content=""), UserMessage(content=[])],
    ids=["nothing", "blanks", "empty-text", "no-blocks"],
)
def test_nothing_cannot_be_queued(kind: str, message: str | UserMessage) -> None:
    agent = idle()

    with pytest.raises(InvalidInputError):
        getattr(agent, kind)(message)

    assert agent.queued() == []


@pytest.mark.parametrize("kind", ["steer", "follow_up"])
def test_an_id_that_is_already_there_cannot_be_queued(kind: str) -> None:
    old, waiting = user("old"), user("waiting")
    agent = idle(messages=[old])
    agent.steer(waiting)

    with pytest.raises(InvalidInputError):
        getattr(agent, kind)(waiting)
    with pytest.raises(InvalidInputError):
        getattr(agent, kind)(UserMessage(id=old.id, content="other"))

    assert texts(agent) == ["waiting"]


async def test_a_queued_id_cannot_be_prompted(stage: Make) -> None:
    it = stage(text("ok"))
    message = user("x")
    it.agent.steer(message)

    with pytest.raises(InvalidInputError):
        await it.agent.prompt(message)

    assert it.events == []


# -- cancelling ------------------------------------------------------------------------------------


def test_a_waiting_item_can_be_cancelled_once() -> None:
    agent = idle()
    item_id = agent.steer("s")

    answers = [agent.cancel_queued(item_id), agent.cancel_queued(item_id)]

    assert answers[0] == "cancelled"
    assert answers[1] != "cancelled"
    assert agent.queued() == []


def test_an_unknown_item_cannot_be_cancelled() -> None:
    assert idle().cancel_queued("nobody") == "unknown"


async def test_a_delivered_item_cannot_be_cancelled(stage: Make) -> None:
    it = stage(text("1"), text("2"))
    item_id = it.agent.follow_up("F")

    await it.prompt()

    assert it.agent.cancel_queued(item_id) == "already_delivered"


@pytest.mark.parametrize("moment", ['MS:u"F"', 'ME:u"F"'])
async def test_an_item_in_flight_is_already_delivered(stage: Make, moment: str) -> None:
    told: list[str] = []
    it = stage(text("1"), text("2"))
    item_id = it.agent.follow_up("F")
    it.when(moment, lambda: told.append(it.agent.cancel_queued(item_id)))

    await it.prompt()

    assert told == ["already_delivered"]
    assert it.queue == []


async def test_items_of_equal_text_are_told_apart(stage: Make) -> None:
    it = stage(text("1"), text("2"))
    first = it.agent.follow_up("again")
    second = it.agent.follow_up("again")

    it.agent.cancel_queued(first)
    await it.prompt()

    assert second in [message.id for message in it.messages]
    assert first not in [message.id for message in it.messages]


# -- reservations ----------------------------------------------------------------------------------


async def test_a_reserved_item_is_still_listed(stage: Make) -> None:
    seen: list[list[str]] = []
    it = stage(text("1"), text("2"), follow_up_mode="all")
    it.agent.follow_up("A")
    it.agent.follow_up("B")
    it.when('ME:u"A"', lambda: seen.append(it.queue))

    await it.prompt()

    assert seen == [["B"]]


@pytest.mark.parametrize("kind", ["steer", "follow_up"])
async def test_a_reserved_item_can_still_be_cancelled(stage: Make, kind: str) -> None:
    told: list[str] = []
    it = stage(text("1"), text("2"), steering_mode="all", follow_up_mode="all")
    ids = [getattr(it.agent, kind)(name) for name in ("A", "B", "C")]
    it.when('ME:u"A"', lambda: told.append(it.agent.cancel_queued(ids[1])))

    await it.prompt()

    it.expect('… M:u"A" M:u"C" A:a/stop TE[] AE:completed')
    assert told == ["cancelled"]


async def test_reserved_items_can_still_be_cleared(stage: Make) -> None:
    cleared: list[list[QueuedItem]] = []
    it = stage(text("1"), text("2"), follow_up_mode="all")
    ids = [it.agent.follow_up(name) for name in ("A", "B", "C")]
    it.when('ME:u"A"', lambda: cleared.append(it.agent.clear_queue()))

    await it.prompt()

    it.expect('… M:u"A" A:a/stop TE[] AE:completed')
    assert [item.id for item in cleared[0]] == ids[1:]


async def test_a_reserved_item_can_still_be_popped(stage: Make) -> None:
    it = stage(text("1"), text("2"), follow_up_mode="all")
    it.agent.follow_up("A")
    it.agent.follow_up("B")
    it.when('ME:u"A"', lambda: it.agent.pop_last_queued())

    await it.prompt()

    it.expect('… M:u"A" A:a/stop TE[] AE:completed')


async def test_a_reserved_item_can_still_be_replaced(stage: Make) -> None:
    it = stage(text("1"), text("2"), follow_up_mode="all")
    it.agent.follow_up("A")
    item_id = it.agent.follow_up("B")
    it.when('ME:u"A"', lambda: it.agent.replace_queued(item_id, "better"))

    await it.prompt()

    it.expect('… M:u"A" M:u"better" A:a/stop TE[] AE:completed')


async def test_reserved_items_return_to_the_front_in_their_order(stage: Make) -> None:
    it = stage(text("1"), text("2"), text("3"), follow_up_mode="all")
    for name in ("A", "B", "C"):
        it.agent.follow_up(name)
    it.when('ME:u"A"', lambda: it.agent.follow_up("D"), lambda: it.agent.abort())

    await it.prompt()
    held = it.queue
    await it.prompt("fresh")

    assert held == ["B", "C", "D"]
    it.expect(
        'AS TS M:u"p" A:a/stop TE[] TS M:u"A" M:a/aborted TE[] AE:aborted '
        'AS TS M:u"fresh" A:a/stop TE[] TS M:u"B" M:u"C" M:u"D" A:a/stop TE[] AE:completed'
    )


async def test_a_turn_whose_only_message_was_withdrawn_asks_nothing(stage: Make) -> None:
    it = stage(text("1"), text("never"))
    item_id = it.agent.follow_up("F")
    it.when("TE[]", lambda: it.when("TS", lambda: it.agent.cancel_queued(item_id)))

    await it.prompt()

    assert len(it.requests) == 1
    assert it.end.reason == "completed"
    assert it.queue == []


async def test_a_withdrawn_message_leaves_the_result_of_the_run_as_it_was(stage: Make) -> None:
    it = stage(text("the answer"), text("never"))
    item_id = it.agent.follow_up("F")
    it.when("TE[]", lambda: it.when("TS", lambda: it.agent.cancel_queued(item_id)))

    result = await it.agent.run("p")

    assert result.iterations == len(it.requests) == 1
    assert result.final_message == "the answer"


# -- replacing and moving --------------------------------------------------------------------------


def test_a_replacement_takes_over_id_and_place() -> None:
    agent = idle()
    first = agent.follow_up("f1")
    agent.follow_up("f2")
    replacement = user("better")

    done = agent.replace_queued(first, replacement)

    assert done
    assert texts(agent) == ["better", "f2"]
    assert agent.queued()[0].id == agent.queued()[0].message.id == first


async def test_a_replaced_message_is_delivered_under_the_id_of_the_item(stage: Make) -> None:
    it = stage(text("1"), text("2"))
    item_id = it.agent.follow_up("F")
    it.agent.replace_queued(item_id, "better")

    await it.prompt()

    delivered = [m for m in it.messages if m.id == item_id]
    assert isinstance(delivered[0], UserMessage)
    assert delivered[0].text == "better"


def test_what_is_not_queued_cannot_be_replaced_or_moved() -> None:
    agent = idle()

    assert not agent.replace_queued("nobody", "x")
    assert not agent.move_queued("nobody", index=0)
    assert not agent.hold_queued("nobody")


def test_a_replacement_must_say_something() -> None:
    agent = idle()
    item_id = agent.steer("s")

    with pytest.raises(InvalidInputError):
        agent.replace_queued(item_id, "  ")

    assert texts(agent) == ["s"]


@pytest.mark.parametrize(
    ("name", "place", "order"),
    [
        ("a", 0, ["a", "b", "c"]),
        ("a", 1, ["b", "a", "c"]),
        ("a", 2, ["b", "c", "a"]),
        ("c", 0, ["c", "a", "b"]),
        ("c", 1, ["a", "c", "b"]),
        ("a", None, ["b", "c", "a"]),
    ],
)
def test_an_item_moves_to_its_final_place(name: str, place: int | None, order: list[str]) -> None:
    agent = idle()
    ids = {each: agent.follow_up(each) for each in ("a", "b", "c")}

    moved = agent.move_queued(ids[name], index=place)

    assert moved
    assert texts(agent) == order


def test_a_follow_up_can_be_promoted_to_steering() -> None:
    agent = idle()
    agent.steer("s1")
    agent.steer("s2")
    item_id = agent.follow_up("f")

    agent.move_queued(item_id, index=1, kind="steer")

    assert texts(agent) == ["s1", "f", "s2"]
    assert {item.kind for item in agent.queued()} == {"steer"}
    assert agent.queued()[1].id == item_id


def test_an_item_moves_to_the_end_of_the_other_lane() -> None:
    agent = idle()
    item_id = agent.steer("s")
    agent.follow_up("f")

    agent.move_queued(item_id, kind="follow_up")

    assert texts(agent) == ["f", "s"]


async def test_a_promoted_follow_up_is_delivered_as_steering(stage: Make) -> None:
    it = stage(calls(call("act", id="c1")), text("1"), tools=[acting("act", lambda: promote())])
    item_id = it.agent.follow_up("F")

    def promote() -> None:
        it.agent.move_queued(item_id, kind="steer")

    await it.prompt()

    it.expect('… TE[c1] TS M:u"F" A:a/stop TE[] AE:completed')


# -- taking back -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "cleared", "left"),
    [
        (None, ["s", "f"], []),
        ("steer", ["s"], ["f"]),
        ("follow_up", ["f"], ["s"]),
    ],
)
def test_clearing_returns_what_was_there(kind: Any, cleared: list[str], left: list[str]) -> None:
    agent = idle()
    agent.follow_up("f")
    agent.steer("s")

    taken = agent.clear_queue(kind)

    assert [i.message.text for i in taken if isinstance(i.message, UserMessage)] == cleared
    assert texts(agent) == left


async def test_resetting_forgets_transcript_queues_and_error(stage: Make) -> None:
    it = stage(fail("auth"), tools=[echo()], system_prompt="be brief")
    it.agent.follow_up("F")
    await it.prompt()

    it.agent.reset()

    state = it.agent.state
    assert (state.messages, state.error, it.queue) == ([], None, [])
    assert (state.model.id, state.system_prompt) == ("m", "be brief")
    assert [tool.name for tool in state.tools] == ["echo"]


# -- holding ---------------------------------------------------------------------------------------


async def test_a_held_item_keeps_its_place_and_is_not_delivered(stage: Make) -> None:
    it = stage(text("1"), text("2"))
    held = it.agent.follow_up("held")
    it.agent.follow_up("free")

    done = it.agent.hold_queued(held)
    listed = [(item.id == held, item.held) for item in it.agent.queued()]
    await it.prompt()

    assert done
    assert listed == [(True, True), (False, False)]
    it.expect('AS TS M:u"p" A:a/stop TE[] TS M:u"free" A:a/stop TE[] AE:completed')
    assert it.queue == ["held"]


async def test_an_item_that_is_let_go_is_delivered_in_its_place(stage: Make) -> None:
    it = stage(text("1"), text("2"), text("3"))
    held = it.agent.follow_up("held")
    it.agent.follow_up("free")

    it.agent.hold_queued(held)
    it.agent.hold_queued(held, False)
    await it.prompt()

    it.expect('… TS M:u"held" A:a/stop TE[] TS M:u"free" A:a/stop TE[] AE:completed')


async def test_a_run_does_not_wait_for_a_held_item(stage: Make) -> None:
    prepared: list[str] = []
    it = stage(text("1"), text("never"), prepare_next_turn=lambda ctx, signal: prepared.append("x"))
    it.agent.hold_queued(it.agent.steer("held"))

    await it.prompt()

    it.expect('AS TS M:u"p" A:a/stop TE[] AE:completed')
    assert prepared == []


async def test_a_reserved_item_can_still_be_held(stage: Make) -> None:
    it = stage(text("1"), text("2"), follow_up_mode="all")
    it.agent.follow_up("A")
    item_id = it.agent.follow_up("B")
    it.when('ME:u"A"', lambda: it.agent.hold_queued(item_id))

    await it.prompt()

    it.expect('… M:u"A" A:a/stop TE[] AE:completed')
    assert it.queue == ["B"]


# -- being told ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("edit", "after"),
    [
        (lambda agent, ids: agent.steer("new"), ["s", "new", "f1", "f2"]),
        (lambda agent, ids: agent.follow_up("new"), ["s", "f1", "f2", "new"]),
        (lambda agent, ids: agent.cancel_queued(ids[1]), ["s", "f2"]),
        (lambda agent, ids: agent.replace_queued(ids[0], "t"), ["t", "f1", "f2"]),
        (lambda agent, ids: agent.move_queued(ids[1]), ["s", "f2", "f1"]),
        (lambda agent, ids: agent.pop_last_queued(), ["s", "f1"]),
        (lambda agent, ids: agent.hold_queued(ids[0]), ["s", "f1", "f2"]),
        (lambda agent, ids: agent.clear_queue(), []),
        (lambda agent, ids: agent.reset(), []),
    ],
    ids=["steer", "follow-up", "cancel", "replace", "move", "pop", "hold", "clear", "reset"],
)
def test_each_change_is_told_once_before_the_call_returns(
    edit: Callable[[Agent, list[str]], object], after: list[str]
) -> None:
    agent = idle()
    ids = [agent.steer("s"), agent.follow_up("f1"), agent.follow_up("f2")]
    told: list[list[str]] = []
    agent.on_queue_change(
        lambda items: told.append(
            [item.message.text for item in items if isinstance(item.message, UserMessage)]
        )
    )

    edit(agent, ids)

    assert told == [after]


def test_nothing_is_told_when_nothing_changed() -> None:
    agent = idle()
    told: list[object] = []
    agent.on_queue_change(told.append)

    agent.cancel_queued("nobody")
    agent.pop_last_queued()
    agent.clear_queue()
    agent.replace_queued("nobody", "x")

    assert told == []


def test_who_stops_listening_is_told_nothing_more() -> None:
    agent = idle()
    told: list[object] = []
    forget = agent.on_queue_change(told.append)

    forget()
    forget()
    agent.steer("s")

    assert told == []


async def test_a_queue_listener_that_raises_does_not_break_the_run(
    stage: Make, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(items: list[QueuedItem]) -> None:
        raise RuntimeError("the panel is gone")

    told: list[int] = []
    it = stage(text("1"), text("2"))
    it.agent.on_queue_change(broken)
    it.agent.on_queue_change(lambda items: told.append(len(items)))

    with caplog.at_level(logging.DEBUG):
        it.agent.follow_up("F")
        await it.prompt()

    it.expect('AS TS M:u"p" A:a/stop TE[] TS M:u"F" A:a/stop TE[] AE:completed')
    assert told == [1, 0]


async def test_queue_changes_are_no_events(stage: Make) -> None:
    it = stage(text("1"), text("2"))
    it.when("text_delta", lambda: it.agent.cancel_queued(it.agent.follow_up("F")))

    await it.prompt()

    it.expect('AS TS M:u"p" A:a/stop TE[] AE:completed')


# -- continuing ------------------------------------------------------------------------------------


async def test_continuing_takes_steering_before_follow_ups(stage: Make) -> None:
    it = stage(text("1"), text("2"), messages=[user("old"), said("answer")])
    it.agent.follow_up("F")
    it.agent.steer("S")

    await it.agent.continue_()

    it.expect('AS TS M:u"S" A:a/stop TE[] TS M:u"F" A:a/stop TE[] AE:completed')


async def test_continuing_takes_a_whole_unit_in_all_mode(stage: Make) -> None:
    it = stage(text("1"), text("2"), messages=[user("old"), said("answer")], steering_mode="all")
    it.agent.steer("S1")
    it.agent.steer("S2")

    await it.agent.continue_()

    it.expect('AS TS M:u"S1" M:u"S2" A:a/stop TE[] AE:completed')


async def test_continuing_a_question_polls_steering_as_usual(stage: Make) -> None:
    it = stage(text("1"), messages=[user("old")])
    it.agent.steer("S")

    await it.agent.continue_()

    it.expect('AS TS M:u"S" A:a/stop TE[] AE:completed')
    assert it.requests[0].texts == ["old", "S"]


async def test_continuing_after_an_abort_delivers_what_is_queued(stage: Make) -> None:
    it = stage([text("par"), hang()], text("ok"))
    it.when("text_delta", lambda: it.agent.follow_up("F"), lambda: it.agent.abort())
    await it.prompt()

    await it.agent.continue_()

    it.expect('… AE:aborted AS TS M:u"F" A:a/stop TE[] AE:completed')
