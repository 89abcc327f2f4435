"""Stopping, switching, waiting, listening, closing."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from agent_tui.agent.agent import Agent
from agent_tui.agent.hooks import BeforeToolCall, NextTurn
from agent_tui.core.abort import AbortSignal
from agent_tui.core.errors import InvalidInputError
from agent_tui.core.events import (
    AgentEndEvent,
    MessageEndEvent,
    ToolExecutionStartEvent,
    TurnStartEvent,
)
from agent_tui.core.model import Model
from agent_tui.core.usage import Usage
from agent_tui.session import Session as PublicSession
from agent_tui.session.events import AgentSettledEvent, AnyEvent
from agent_tui.testing import ScriptedModel, call, calls, fail, hang, text
from tests.session.rig import Rig, plain_tool, start, until, waiting_tool


async def test_the_public_name_opens_a_session_without_asking_a_model(tmp_path: Path) -> None:
    model = ScriptedModel([text("one")])

    session = PublicSession.open(Agent("test/m", stream_fn=model), tmp_path / "a.jsonl")

    assert model.requests == []
    assert (session.queue_state, session.totals) == ("active", Usage())
    assert not session.is_running
    session.close()


# -- stop after this step ----------------------------------------------------------------------


async def test_stop_after_step_lets_the_tools_finish_and_asks_the_model_no_more() -> None:
    tool, started, let_go = waiting_tool()
    rig = Rig(calls(call("wait")), text("never asked"), tools=[tool])
    turn = start(rig.session.prompt("go"))
    await started.wait()

    rig.session.stop_after_step()
    assert rig.session.stop_requested
    let_go.set()
    await turn

    assert rig.reasons == ["stopped"]
    assert rig.agent.state.messages[-1].role == "tool_result"
    assert not rig.session.stop_requested


async def test_stop_after_step_in_the_last_answer_changes_nothing() -> None:
    rig = Rig(text("one"))
    rig.when(TurnStartEvent, rig.session.stop_after_step)

    await rig.session.prompt("go")

    assert rig.reasons == ["completed"]


async def test_stop_after_step_keeps_what_is_queued_on_hold() -> None:
    rig = Rig(text("one"), text("never asked"))
    rig.session.follow_up("q1")
    rig.when(TurnStartEvent, rig.session.stop_after_step)

    await rig.session.prompt("go")

    assert rig.queued == ["q1"]
    assert rig.session.queue_state == "paused"


async def test_stop_after_step_holds_back_what_is_queued_at_the_very_end() -> None:
    rig = Rig(text("one"), text("never asked"))
    rig.when(TurnStartEvent, rig.session.stop_after_step)
    rig.when(AgentEndEvent, lambda: rig.session.follow_up("late"))

    await rig.session.prompt("go")

    assert len(rig.model.requests) == 1
    assert rig.session.queue_state == "paused"


async def test_a_stop_holds_for_one_turn_only() -> None:
    rig = Rig(calls(call("look")), calls(call("look")), text("done"), tools=[plain_tool("look")])
    rig.when(TurnStartEvent, rig.session.stop_after_step)
    await rig.session.prompt("go")

    await rig.session.continue_()

    assert rig.reasons == ["stopped", "completed"]


# -- hooks of the agent's owner ------------------------------------------------------------------


async def test_the_owners_hooks_still_count() -> None:
    seen: list[str] = []

    def before(ctx: Any, signal: AbortSignal) -> BeforeToolCall | None:
        seen.append("before")
        return BeforeToolCall(args={"changed": True})

    def prepare(ctx: Any, signal: AbortSignal) -> NextTurn | None:
        seen.append("prepare")
        return None

    def stop(ctx: Any, signal: AbortSignal) -> bool:
        seen.append("stop")
        return True

    rig = Rig(
        calls(call("look")),
        tools=[plain_tool("look")],
        before_tool_call=before,
        prepare_next_turn=prepare,
        should_stop_after_turn=stop,
    )

    await rig.session.prompt("go")

    assert seen == ["before", "prepare", "stop"]
    assert rig.reasons == ["stopped"]


async def test_closing_gives_the_agent_its_hooks_back() -> None:
    rig = Rig(text("one"))
    told = len(rig.events)

    rig.session.close()
    rig.session.close()
    await rig.agent.prompt("go")

    assert rig.agent.before_tool_call is None
    assert rig.agent.prepare_next_turn is None
    assert rig.agent.should_stop_after_turn is None
    assert len(rig.events) == told


async def test_closing_ends_a_running_turn() -> None:
    rig = Rig([text("part"), hang()], text("never asked"))
    turn = start(rig.session.prompt("go"))
    await until(lambda: "message_update" in rig.types)
    rig.session.follow_up("q1")

    rig.session.close()
    await asyncio.wait_for(turn, 2)

    assert len(rig.model.requests) == 1
    assert rig.queued == ["q1"]


# -- model and thinking --------------------------------------------------------------------------


async def test_a_model_set_while_running_is_used_from_the_next_step() -> None:
    tool, started, let_go = waiting_tool()
    rig = Rig(calls(call("wait")), text("one"), text("two"), tools=[tool])
    turn = start(rig.session.prompt("go"))
    await started.wait()

    rig.session.set_model(Model("test", "other"))
    rig.session.set_thinking("high")
    let_go.set()
    await turn
    await rig.session.prompt("again")

    assert [model.id for model in rig.model.models] == ["m", "other", "other"]
    assert [options.thinking_level for options in rig.model.options] == ["off", "high", "high"]


async def test_a_model_set_during_a_wait_serves_the_retry() -> None:
    rig = Rig(fail("overloaded"), text("one"))
    rig.clock.sleeps_for_ever = True
    turn = start(rig.session.prompt("go"))
    await until(lambda: bool(rig.clock.slept))

    rig.session.set_model(Model("test", "other"))
    await rig.session.send_now("try that one")
    await turn

    assert [model.id for model in rig.model.models] == ["m", "other"]


async def test_an_unknown_model_is_refused_with_what_is_known() -> None:
    rig = Rig(text("one"))

    with pytest.raises(InvalidInputError, match="known"):
        rig.session.set_model("nobody/nothing")

    assert rig.agent.state.model.key == "test/m"


async def test_an_unknown_thinking_level_is_refused_with_what_is_known() -> None:
    rig = Rig(text("one"))

    with pytest.raises(InvalidInputError, match="minimal, low, medium"):
        rig.session.set_thinking("very hard")  # type: ignore[arg-type]


# -- what is waited for --------------------------------------------------------------------------


async def test_a_session_at_rest_waits_for_nothing() -> None:
    rig = Rig(text("one"))

    assert rig.session.waiting_for() == "idle"


async def test_it_waits_for_the_first_token_of_a_step() -> None:
    rig = Rig(calls(call("look")), hang(), tools=[plain_tool("look")])
    turn = start(rig.session.prompt("go"))
    await until(lambda: len(rig.model.requests) == 2)

    assert rig.session.waiting_for() == "first token of step 2"

    rig.session.abort()
    await turn


async def test_it_waits_for_the_rest_of_an_answer() -> None:
    rig = Rig([text("part"), hang()])
    turn = start(rig.session.prompt("go"))
    await until(lambda: "message_update" in rig.types)

    assert rig.session.waiting_for() == "rest of the answer of step 1"

    rig.session.abort()
    assert rig.session.waiting_for() == "rest of the answer of step 1, stopping"
    await turn


async def test_it_waits_for_the_oldest_tool() -> None:
    tool, started, let_go = waiting_tool("bash")
    rig = Rig(
        calls(call("bash", {"command": "pytest\n -q"}), call("bash", {"command": "b"})),
        text("done"),
        tools=[tool],
    )
    turn = start(rig.session.prompt("go"))
    await started.wait()
    rig.clock.now += 14

    assert rig.session.waiting_for() == "tool `pytest -q` (14 s) and 1 more"

    let_go.set()
    await turn


# -- listeners -----------------------------------------------------------------------------------


async def test_every_listener_gets_the_same_events_in_the_same_order() -> None:
    rig = Rig(fail("overloaded"), text("one"))
    slow: list[AnyEvent] = []

    async def listen(event: AnyEvent, signal: AbortSignal) -> None:
        await asyncio.sleep(0)
        slow.append(event)

    rig.session.subscribe(listen)
    rig.session.follow_up("q1")

    await rig.session.prompt("go")

    assert slow == rig.events
    assert isinstance(slow[-1], AgentSettledEvent)


async def test_an_event_caused_by_a_listener_comes_after_the_one_it_reacts_to() -> None:
    rig = Rig(text("one"), text("two"))
    order: list[str] = []
    rig.when(TurnStartEvent, lambda: rig.session.steer("s"))
    rig.session.subscribe(lambda event, signal: order.append(event.type))

    await rig.session.prompt("go")

    assert order[:3] == ["agent_start", "turn_start", "queue_update"]
    assert order == rig.types


async def test_a_raising_listener_disturbs_nobody(caplog: pytest.LogCaptureFixture) -> None:
    rig = Rig(text("one"))

    def broken(event: AnyEvent, signal: AbortSignal) -> None:
        raise RuntimeError("listener at fault")

    rig.session.subscribe(broken)
    later: list[str] = []
    rig.session.subscribe(lambda event, signal: later.append(event.type))

    await rig.session.prompt("go")

    assert later == rig.types
    assert "listener at fault" in caplog.text


async def test_unsubscribing_ends_the_events_and_may_be_repeated() -> None:
    rig = Rig(text("one"))
    heard: list[str] = []
    leave = rig.session.subscribe(lambda event, signal: heard.append(event.type))

    leave()
    leave()
    await rig.session.prompt("go")

    assert heard == []


async def test_a_run_that_the_agents_owner_started_is_reported_but_not_retried() -> None:
    rig = Rig(fail("overloaded"))

    await rig.agent.prompt("go")

    assert rig.types[-1] == "agent_end"
    assert rig.told(AgentEndEvent)[0].will_retry is False
    assert not rig.session.is_running


# -- cancellation --------------------------------------------------------------------------------


async def test_cancelling_the_caller_aborts_the_turn_and_settles() -> None:
    tool, started, _ = waiting_tool()
    rig = Rig(calls(call("wait")), tools=[tool])
    turn = start(rig.session.prompt("go"))
    await started.wait()

    turn.cancel()
    with pytest.raises(asyncio.CancelledError):
        await turn

    assert rig.reasons == ["aborted"]
    assert rig.types[-1] == "agent_settled"
    assert not rig.session.is_running


async def test_every_event_has_one_line_of_json() -> None:
    rig = Rig(
        fail("overloaded"),
        calls(call("look", {"at": "ü\n"})),
        text("é"),
        tools=[plain_tool("look")],
    )
    rig.session.follow_up("q1")

    await rig.session.prompt("go")

    lines = [event.to_json() for event in rig.events]
    assert not [line for line in lines if "\n" in line or not line.startswith('{"type":')]


async def test_the_clock_of_a_turn_runs_until_it_is_settled() -> None:
    rig = Rig(fail("rate_limit", retry_after=7), calls(call("look")), tools=[plain_tool("look")])
    rig.when(ToolExecutionStartEvent, lambda: setattr(rig.clock, "now", rig.clock.now + 5))

    await rig.session.prompt("go")
    rig.clock.now += 100

    assert rig.session.turn_seconds == 12


async def test_the_context_is_estimated_from_the_transcript() -> None:
    rig = Rig(text("x" * 400))
    before = rig.session.context_tokens

    await rig.session.prompt("y" * 400)

    assert before is None
    assert rig.session.context_tokens == 200
    assert len(rig.told(MessageEndEvent)) == 2
