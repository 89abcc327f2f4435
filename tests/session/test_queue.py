"""Where queued messages go: delivered, on hold, sent now, handed back; never lost or doubled."""

from __future__ import annotations

import asyncio
import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_tui.core.errors import AgentBusyError, InvalidInputError
from agent_tui.core.events import AgentEndEvent, MessageStartEvent, TurnStartEvent
from agent_tui.core.messages import UserMessage, text_of
from agent_tui.session.events import QueueUpdateEvent
from agent_tui.testing import call, calls, fail, hang, text
from tests.session.rig import Rig, plain_tool, start, until, user_texts, waiting_tool


async def stopped_with_queue(*texts: str, **options: str) -> Rig:
    """A session whose first turn was aborted while `texts` were queued as follow-ups."""
    rig = Rig([text("part"), hang()], *[text(f"answer {n}") for n in range(1, 9)])
    turn = start(rig.session.prompt("go"))
    await until(lambda: "message_update" in rig.types)
    for item in texts:
        rig.session.follow_up(item)
    rig.session.abort()
    await turn
    return rig


async def test_follow_ups_queued_by_a_listener_of_the_end_get_one_more_run() -> None:
    """S56."""
    rig = Rig(text("one"), text("two"))
    rig.when(AgentEndEvent, lambda: rig.session.follow_up("and then?"))

    await rig.session.prompt("go")

    assert rig.reasons == ["completed", "completed"]
    assert rig.settled == 1
    assert rig.types[-1] == "agent_settled"
    assert user_texts(rig.model.requests[1]) == ["go", "and then?"]


async def test_steering_in_the_instant_of_the_end_is_delivered_before_the_session_settles() -> None:
    rig = Rig(text("one"), text("two"))
    rig.when(AgentEndEvent, lambda: rig.session.steer("wait"))

    await rig.session.prompt("go")

    assert user_texts(rig.model.requests[1]) == ["go", "wait"]
    assert rig.queued == []


async def test_after_an_abort_the_queue_is_on_hold() -> None:
    """S54, hold."""
    rig = await stopped_with_queue("q1", "q2")

    assert rig.queued == ["q1", "q2"]
    assert rig.session.queue_state == "paused"
    assert rig.reasons == ["aborted"]
    assert len(rig.model.requests) == 1


async def test_taking_the_queue_back_empties_it_in_delivery_order() -> None:
    """S54, restore: the screen puts what it gets into the composer."""
    rig = await stopped_with_queue("later")
    rig.session.steer("first")

    taken = [text_of(item.message.content) for item in rig.session.agent.clear_queue()]  # type: ignore[union-attr]

    assert taken == ["first", "later"]
    assert rig.queued == []
    assert rig.session.queue_state == "active"


async def test_with_after_abort_send_the_queue_follows_at_once() -> None:
    rig = Rig([text("part"), hang()], text("one"), text("two"))
    rig.session.after_abort = "send"
    turn = start(rig.session.prompt("go"))
    await until(lambda: "message_update" in rig.types)
    rig.session.follow_up("q1")
    rig.session.follow_up("q2")

    rig.session.abort()
    await turn

    assert rig.queued == []
    assert rig.reasons == ["aborted", "completed"]
    assert user_texts(rig.model.requests[-1])[-1] == "q2"
    assert rig.settled == 1


async def test_resuming_delivers_everything_on_hold() -> None:
    rig = await stopped_with_queue("q1", "q2")

    await rig.session.resume_queue()

    assert rig.queued == []
    assert [user_texts(request)[-1] for request in rig.model.requests] == ["go", "q1", "q2"]
    assert rig.session.queue_state == "active"


async def test_resuming_with_nothing_queued_does_nothing() -> None:
    rig = Rig(text("one"))
    await rig.session.prompt("go")
    told = len(rig.events)

    await rig.session.resume_queue()

    assert len(rig.events) == told


async def test_resuming_after_a_stopped_tool_sends_the_message_with_the_first_request() -> None:
    tool, started, _ = waiting_tool()
    rig = Rig(calls(call("wait")), text("one"), tools=[tool])
    turn = start(rig.session.prompt("go"))
    await started.wait()
    rig.session.follow_up("q1")
    rig.session.abort()
    await turn

    await rig.session.resume_queue()

    assert user_texts(rig.model.requests[1]) == ["go", "q1"]
    assert len(rig.model.requests) == 2


async def test_what_was_queued_before_the_first_prompt_can_be_delivered() -> None:
    rig = Rig(text("one"))
    rig.session.steer("hello")

    await rig.session.resume_queue()

    assert user_texts(rig.model.requests[0]) == ["hello"]


async def test_resuming_delivers_a_whole_lane_at_once_in_mode_all() -> None:
    """S55."""
    rig = Rig([text("part"), hang()], text("one"), text("two"), steering_mode="all")
    turn = start(rig.session.prompt("go"))
    await until(lambda: "message_update" in rig.types)
    for words in ("s1", "s2"):
        rig.session.steer(words)
    rig.session.follow_up("f1")
    rig.session.abort()
    await turn

    await rig.session.resume_queue()

    assert user_texts(rig.model.requests[1])[1:] == ["s1", "s2"]
    assert user_texts(rig.model.requests[2])[-1] == "f1"


async def test_a_new_prompt_goes_first_and_what_is_on_hold_follows() -> None:
    rig = await stopped_with_queue("q1")

    await rig.session.prompt("first this")

    assert user_texts(rig.model.requests[1])[-1] == "first this"
    assert user_texts(rig.model.requests[2])[-1] == "q1"


@pytest.mark.parametrize("code", ["auth", "quota"])
async def test_a_final_failure_pauses_the_queue(code: str) -> None:
    rig = Rig(fail(code), text("never asked"))
    rig.session.follow_up("q1")

    await rig.session.prompt("go")

    assert rig.session.queue_state == "paused"
    assert rig.queued == ["q1"]
    assert len(rig.model.requests) == 1


async def test_reaching_the_step_limit_pauses_the_queue() -> None:
    rig = Rig(calls(call("look")), text("no"), tools=[plain_tool("look")], max_iterations=1)
    rig.session.follow_up("q1")

    await rig.session.prompt("go")

    assert rig.reasons == ["max_iterations"]
    assert rig.session.queue_state == "paused"


async def test_the_state_is_told_when_it_changes() -> None:
    rig = await stopped_with_queue("q1")

    await rig.session.resume_queue()

    states = [event.state for event in rig.told(QueueUpdateEvent)]
    assert states == ["active", "paused", "active", "active"]


async def test_deleting_the_last_item_on_hold_makes_the_queue_active() -> None:
    rig = await stopped_with_queue("q1")

    rig.agent.pop_last_queued()

    assert rig.session.queue_state == "active"


async def test_an_item_leaves_the_queue_before_its_message_starts() -> None:
    rig = Rig(text("one"), text("two"))
    rig.when(TurnStartEvent, lambda: rig.session.steer("s"))

    await rig.session.prompt("go")

    place = next(
        n
        for n, event in enumerate(rig.events)
        if isinstance(event, MessageStartEvent)
        and isinstance(event.message, UserMessage)
        and event.message.text == "s"
    )
    assert rig.events[place - 1] == QueueUpdateEvent([], "active")


async def test_what_another_thread_queues_is_told_in_the_loops_thread() -> None:
    tool, started, let_go = waiting_tool()
    rig = Rig(calls(call("wait")), text("one"), tools=[tool])
    threads: list[int] = []
    rig.when(QueueUpdateEvent, lambda: threads.append(threading.get_ident()))
    turn = start(rig.session.prompt("go"))
    await started.wait()

    await asyncio.to_thread(rig.session.steer, "from elsewhere")
    let_go.set()
    await turn

    assert threads == [threading.get_ident()]
    assert user_texts(rig.model.requests[1]) == ["go", "from elsewhere"]


async def test_a_held_item_is_not_delivered_and_stays() -> None:
    rig = Rig(text("one"))
    item = rig.session.follow_up("being edited")
    rig.agent.hold_queued(item, held=True)

    await rig.session.prompt("go")

    assert rig.queued == ["being edited"]
    assert rig.session.queue_state == "active"


async def test_send_now_stops_the_turn_and_goes_first() -> None:
    rig = Rig([text("part"), hang()], text("one"), text("two"), text("three"))
    turn = start(rig.session.prompt("go"))
    await until(lambda: "message_update" in rig.types)
    rig.session.steer("s1")
    rig.session.follow_up("f1")

    await rig.session.send_now("urgent")
    await turn

    assert [user_texts(request)[-1] for request in rig.model.requests] == [
        "go",
        "urgent",
        "s1",
        "f1",
    ]
    assert rig.settled == 1
    assert rig.session.queue_state == "active"


async def test_send_now_moves_a_queued_item_to_the_front() -> None:
    rig = Rig([text("part"), hang()], text("one"), text("two"))
    turn = start(rig.session.prompt("go"))
    await until(lambda: "message_update" in rig.types)
    rig.session.follow_up("f1")
    chosen = rig.session.follow_up("f2")

    await rig.session.send_now(item_id=chosen)
    await turn

    assert [user_texts(request)[-1] for request in rig.model.requests] == ["go", "f2", "f1"]


async def test_send_now_delivers_an_item_that_was_held_for_editing() -> None:
    rig = await stopped_with_queue("q1")
    [item] = rig.agent.queued()
    rig.agent.hold_queued(item.id, held=True)

    await rig.session.send_now(item_id=item.id)

    assert rig.queued == []


async def test_send_now_of_an_item_that_is_gone_stops_nothing() -> None:
    rig = Rig([text("part"), hang()])
    turn = start(rig.session.prompt("go"))
    await until(lambda: "message_update" in rig.types)

    await rig.session.send_now(item_id="gone")

    assert rig.session.is_running
    rig.session.abort()
    await turn


async def test_send_now_with_an_empty_queue_is_a_plain_abort() -> None:
    rig = Rig([text("part"), hang()], text("never asked"))
    turn = start(rig.session.prompt("go"))
    await until(lambda: "message_update" in rig.types)

    await rig.session.send_now()
    await turn

    assert rig.reasons == ["aborted"]


async def test_send_now_when_idle_prompts() -> None:
    rig = Rig(text("one"))

    await rig.session.send_now("hello")

    assert user_texts(rig.model.requests[0]) == ["hello"]


async def test_send_now_during_a_wait_for_a_retry_ends_the_wait() -> None:
    rig = Rig(fail("overloaded"), text("one"))
    rig.clock.sleeps_for_ever = True
    turn = start(rig.session.prompt("go"))
    await until(lambda: bool(rig.clock.slept))

    await asyncio.wait_for(rig.session.send_now("never mind"), 1)
    await turn

    assert user_texts(rig.model.requests[1]) == ["go", "never mind"]
    assert rig.retries == ["start:1", "end:false"]


async def test_send_now_while_a_tool_runs_answers_the_call_first() -> None:
    tool, started, _ = waiting_tool()
    rig = Rig(calls(call("wait")), text("one"), tools=[tool])
    turn = start(rig.session.prompt("go"))
    await started.wait()

    await rig.session.send_now("other plan")
    await turn

    roles = [message.role for message in rig.model.requests[1].messages]
    assert roles == ["user", "assistant", "tool_result", "user"]


async def test_empty_text_is_refused_and_nothing_is_stopped() -> None:
    rig = Rig([text("part"), hang()])
    turn = start(rig.session.prompt("go"))
    await until(lambda: "message_update" in rig.types)

    with pytest.raises(InvalidInputError):
        await rig.session.send_now("  ")

    assert rig.session.is_running
    rig.session.abort()
    await turn


async def test_a_second_prompt_is_refused_and_names_the_way_out() -> None:
    rig = Rig(fail("overloaded"))
    rig.clock.sleeps_for_ever = True
    turn = start(rig.session.prompt("go"))
    await until(lambda: bool(rig.clock.slept))

    with pytest.raises(AgentBusyError, match="steer"):
        await rig.session.prompt("me too")

    rig.session.abort()
    await turn


async def test_an_empty_prompt_leaves_no_trace() -> None:
    rig = Rig(text("one"))

    with pytest.raises(InvalidInputError):
        await rig.session.prompt("   ")

    assert rig.events == []
    assert not rig.session.is_running


ACTIONS = st.sampled_from(["steer", "follow", "now", "abort", "resume", "prompt", "pass", "stop"])


@settings(max_examples=120, deadline=None)
@given(
    actions=st.lists(ACTIONS, min_size=1, max_size=12),
    pauses=st.lists(st.integers(0, 6), min_size=12, max_size=12),
    policy=st.sampled_from(["hold", "send"]),
    failing=st.integers(0, 2),
)
def test_every_text_is_in_exactly_one_place(
    actions: list[str], pauses: list[int], policy: str, failing: int
) -> None:
    """G1: whatever is done and when, nothing is lost, doubled or out of order in its lane."""

    async def play() -> None:
        script = [fail("overloaded")] * failing + [calls(call("look"))]
        rig = Rig(*script, *[text("ok")] * 60, tools=[plain_tool("look")])
        rig.session.after_abort = policy  # type: ignore[assignment]
        said: list[str] = []
        turns: list[asyncio.Task[None]] = []
        for number, (action, wait) in enumerate(zip(actions, pauses, strict=False)):
            words = f"text {number}"
            match action:
                case "steer":
                    rig.session.steer(words)
                    said.append(words)
                case "follow":
                    rig.session.follow_up(words)
                    said.append(words)
                case "now":
                    turns.append(start(rig.session.send_now(words)))
                    await asyncio.sleep(0)
                    said.append(words)
                case "prompt" if not rig.session.is_running:
                    turns.append(start(rig.session.prompt(words)))
                    await asyncio.sleep(0)
                    said.append(words)
                case "resume" if not rig.session.is_running:
                    turns.append(start(rig.session.resume_queue()))
                    await asyncio.sleep(0)
                case "abort":
                    rig.session.abort()
                case "stop":
                    rig.session.stop_after_step()
            for _ in range(wait):
                await asyncio.sleep(0)
        await until(lambda: not rig.session.is_running)
        await asyncio.gather(*turns)
        heard = [m.text for m in rig.agent.state.messages if isinstance(m, UserMessage)]
        assert sorted(heard + rig.queued) == sorted(said)
        assert rig.session.queue_state == "active" or rig.queued

    asyncio.run(play())
