"""Failed requests: which are tried again, when, and what everybody is told."""

from __future__ import annotations

import asyncio

import pytest

from agent_tui.core.errors import BAD_TOOL_CALL, ErrorInfo
from agent_tui.core.events import AgentEndEvent, MessageEndEvent, TurnStartEvent
from agent_tui.core.messages import AssistantMessage, UserMessage
from agent_tui.core.usage import Usage
from agent_tui.session.events import (
    AgentSettledEvent,
    AutoRetryEndEvent,
    AutoRetryStartEvent,
)
from agent_tui.session.retry import Retries, RetryPolicy
from agent_tui.testing import call, calls, fail, hang, text
from tests.session.rig import Rig, plain_tool, reporting, start, until

TOKENS = Usage(input=100, output=10, total=110, cost_usd=0.01)


async def test_transient_failures_are_retried_until_the_answer_comes() -> None:
    """S81."""
    rig = Rig(fail("overloaded"), fail("network"), text("here"))

    await rig.session.prompt("go")

    assert rig.retries == ["start:1", "start:2", "end:true"]
    assert len(rig.model.requests) == 3
    assert rig.clock.slept == [2.0, 4.0]


async def test_listeners_see_will_retry_on_the_end_of_each_failed_run() -> None:
    rig = Rig(fail("overloaded"), text("here"))

    await rig.session.prompt("go")

    assert [event.will_retry for event in rig.told(AgentEndEvent)] == [True, False]
    assert rig.settled == 1
    assert rig.types[-1] == "agent_settled"


async def test_after_three_retries_the_failure_is_final() -> None:
    """S82."""
    rig = Rig(*[fail("overloaded", "busy")] * 4)

    await rig.session.prompt("go")

    assert [event.will_retry for event in rig.told(AgentEndEvent)] == [True, True, True, False]
    assert rig.clock.slept == [2.0, 4.0, 8.0]
    assert rig.told(AutoRetryEndEvent)[-1] == AutoRetryEndEvent(False, 3, "busy")


async def test_a_call_that_the_server_could_not_read_is_asked_for_once_more() -> None:
    rig = Rig(*[fail(BAD_TOOL_CALL, "bad call", retryable=True)] * 4)

    await rig.session.prompt("go")

    assert len(rig.model.requests) == 2
    assert [event.max_attempts for event in rig.told(AutoRetryStartEvent)] == [1]
    assert rig.told(AutoRetryEndEvent)[-1] == AutoRetryEndEvent(False, 1, "bad call")


async def test_the_final_failure_stays_in_the_transcript() -> None:
    rig = Rig(*[fail("overloaded", "busy")] * 4)

    await rig.session.prompt("go")

    assert [m.role for m in rig.agent.state.messages] == ["user", "assistant"]


async def test_an_abort_ends_the_wait_at_once_and_leaves_a_transcript_to_continue() -> None:
    """S83."""
    rig = Rig(fail("overloaded"), text("later"))
    rig.clock.sleeps_for_ever = True
    turn = start(rig.session.prompt("go"))
    await until(lambda: bool(rig.clock.slept))

    rig.session.abort()
    await asyncio.wait_for(turn, 1)

    assert rig.retries == ["start:1", "end:false"]
    assert len(rig.model.requests) == 1
    assert [m.role for m in rig.agent.state.messages] == ["user"]

    await rig.session.continue_()

    assert rig.reasons[-1] == "completed"


async def test_stop_after_step_ends_the_wait_too() -> None:
    rig = Rig(fail("overloaded"), text("never asked"))
    rig.clock.sleeps_for_ever = True
    turn = start(rig.session.prompt("go"))
    await until(lambda: bool(rig.clock.slept))

    rig.session.stop_after_step()
    await asyncio.wait_for(turn, 1)

    assert len(rig.model.requests) == 1


async def test_the_session_runs_while_it_waits_for_a_retry() -> None:
    rig = Rig(fail("rate_limit", retry_after=12), text("here"))
    rig.clock.sleeps_for_ever = True
    turn = start(rig.session.prompt("go"))
    await until(lambda: bool(rig.clock.slept))

    assert rig.session.is_running
    assert rig.session.waiting_for() == "rate limited, next try in 12 s"

    rig.session.abort()
    await turn

    assert not rig.session.is_running


@pytest.mark.parametrize(
    "code", ["quota", "auth", "content_policy", "context_overflow", "provider"]
)
async def test_what_a_wait_cannot_cure_is_not_retried(code: str) -> None:
    """S84."""
    rig = Rig(fail(code, "no"))

    await rig.session.prompt("go")

    assert rig.retries == []
    assert rig.reasons == ["error"]


async def test_a_delay_that_the_server_asks_for_is_kept_exactly() -> None:
    """S85."""
    rig = Rig(fail("rate_limit", retry_after=30), text("here"))

    await rig.session.prompt("go")

    assert rig.clock.slept == [30]
    assert rig.told(AutoRetryStartEvent)[0].delay == 30


async def test_a_delay_above_a_minute_fails_at_once_and_is_named() -> None:
    """S85."""
    rig = Rig(fail("rate_limit", "Slow down.", retry_after=300))

    await rig.session.prompt("go")

    failure = rig.told(AgentEndEvent)[0]
    assert rig.clock.slept == []
    assert failure.error is not None
    assert failure.error.message.startswith("Slow down: ")
    assert "300 s" in failure.error.message


async def test_a_long_delay_in_a_series_ends_the_series() -> None:
    rig = Rig(fail("overloaded"), fail("rate_limit", "Slow down.", retry_after=61))

    await rig.session.prompt("go")

    last = rig.told(AutoRetryEndEvent)[0]
    assert (last.success, last.attempt) == (False, 1)
    assert "61 s" in (last.final_error or "")


async def test_a_failure_after_partial_text_is_retried() -> None:
    """S90: the model never sees the partial answer."""
    rig = Rig([text("half an ans"), fail("network")], text("whole"))

    await rig.session.prompt("go")

    roles = [message.role for message in rig.model.requests[1].messages]
    ended = [event.message for event in rig.told(MessageEndEvent)]
    assert roles == ["user"]
    assert [m.text for m in ended if isinstance(m, AssistantMessage)] == ["half an ans", "whole"]
    assert [m.role for m in rig.agent.state.messages] == ["user", "assistant"]


async def test_the_totals_hold_what_failed_attempts_reported() -> None:
    rig = Rig([text("ha"), fail("network")], text("whole"))
    rig.agent.stream_fn = reporting(rig.model, [TOKENS, TOKENS])

    await rig.session.prompt("go")

    assert rig.session.totals.input == 200
    assert rig.session.turn_totals.cost_usd == pytest.approx(0.02)
    assert rig.session.turn_steps == 1
    assert rig.session.turn_spent.requests == 2


async def test_the_repetitions_of_a_request_are_one_step() -> None:
    rig = Rig(
        fail("overloaded"),
        fail("overloaded"),
        calls(call("look")),
        fail("network"),
        text("here"),
        tools=[plain_tool("look")],
    )
    seen: list[int] = []
    rig.session.subscribe(
        lambda event, signal: (
            seen.append(rig.session.turn_steps) if isinstance(event, TurnStartEvent) else None
        )
    )

    await rig.session.prompt("go")

    assert seen == [1, 1, 1, 2, 2]


async def test_an_answer_starts_the_count_anew() -> None:
    rig = Rig(
        fail("overloaded"),
        fail("overloaded"),
        calls(call("look")),
        fail("overloaded"),
        text("here"),
        tools=[plain_tool("look")],
    )

    await rig.session.prompt("go")

    assert rig.retries == ["start:1", "start:2", "end:true", "start:1", "end:true"]


async def test_no_tool_runs_twice_when_the_request_after_it_is_repeated() -> None:
    rig = Rig(calls(call("look")), fail("overloaded"), text("here"), tools=[plain_tool("look")])

    await rig.session.prompt("go")

    roles = [message.role for message in rig.agent.state.messages]
    assert roles == ["user", "assistant", "tool_result", "assistant"]


async def test_the_step_limit_counts_over_retries() -> None:
    rig = Rig(
        calls(call("look")),
        fail("overloaded"),
        calls(call("look", {"again": 1})),
        text("one too many"),
        tools=[plain_tool("look")],
        max_iterations=2,
    )

    await rig.session.prompt("go")

    assert rig.reasons == ["error", "max_iterations"]
    assert rig.agent.max_iterations == 2


async def test_an_abort_while_the_repeated_request_streams_ends_the_series() -> None:
    rig = Rig(fail("overloaded"), [text("slow"), hang()])
    turn = start(rig.session.prompt("go"))
    await until(lambda: len(rig.model.requests) == 2 and "message_update" in rig.types)

    rig.session.abort()
    await turn

    assert rig.retries == ["start:1", "end:false"]
    assert rig.reasons == ["error", "aborted"]


async def test_an_abort_by_a_listener_of_the_failed_run_prevents_the_retry() -> None:
    rig = Rig(fail("overloaded"), text("never asked"))
    rig.when(AgentEndEvent, rig.session.abort)

    await rig.session.prompt("go")

    assert len(rig.model.requests) == 1
    assert rig.settled == 1


async def test_steering_that_waits_is_delivered_by_the_retry() -> None:
    rig = Rig(fail("overloaded"), text("here"))
    rig.when(AutoRetryStartEvent, lambda: rig.session.steer("and use tabs"))

    await rig.session.prompt("go")

    sent = [m.text for m in rig.model.requests[1].messages if isinstance(m, UserMessage)]
    assert sent == ["go", "and use tabs"]
    assert rig.session.queue_state == "active"


async def test_cancelling_the_caller_during_a_wait_settles_the_session() -> None:
    rig = Rig(fail("overloaded"), text("never asked"))
    rig.clock.sleeps_for_ever = True
    turn = start(rig.session.prompt("go"))
    await until(lambda: bool(rig.clock.slept))

    turn.cancel()
    with pytest.raises(asyncio.CancelledError):
        await turn

    assert rig.retries == ["start:1", "end:false"]
    assert isinstance(rig.events[-1], AgentSettledEvent)
    assert not rig.session.is_running


def test_jitter_shifts_a_wait_but_never_above_the_cap() -> None:
    busy = ErrorInfo(code="overloaded", message="busy", retryable=True)
    retries = Retries(RetryPolicy(max_retries=9), lambda: 1.25)

    waits = [retries.plan(busy).delay for _ in range(9)]

    assert waits == [2.5, 5.0, 10.0, 20.0, 40.0, 60.0, 60.0, 60.0, 60.0]


def test_a_policy_of_two_retries_gives_up_at_the_third_failure() -> None:
    """S82 with the numbers of its source."""
    busy = ErrorInfo(code="overloaded", message="busy", retryable=True)
    retries = Retries(RetryPolicy(max_retries=2), lambda: 1.0)

    goes_on = [retries.plan(busy).delay is not None for _ in range(3)]

    assert goes_on == [True, True, False]
