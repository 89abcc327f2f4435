"""Budgets warn, then ask before the next model call; nothing that was paid for is lost."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from agent_tui.agent.hooks import NextTurn, TurnContext
from agent_tui.core.abort import AbortSignal
from agent_tui.core.errors import CancelledRunError, InvalidInputError, InvalidStateError
from agent_tui.core.events import ToolExecutionStartEvent, TurnEndEvent
from agent_tui.core.limits import LimitKind, Limits
from agent_tui.core.messages import ToolResultMessage
from agent_tui.core.model import Model, ModelCost
from agent_tui.core.tool import Tool, ToolContext
from agent_tui.core.usage import Usage
from agent_tui.session.budgets import BudgetRequest
from agent_tui.session.events import (
    AgentSettledEvent,
    ApprovalRequestEvent,
    AutoRetryEndEvent,
    BudgetAnswer,
    BudgetAnswerEvent,
    BudgetRequestEvent,
    BudgetWarningEvent,
)
from agent_tui.testing import Part, call, calls, end, fail, text
from tests.session.rig import Rig, plain_tool, reporting, start, until, user_texts

DOLLAR_A_TOKEN = ModelCost(1_000_000.0, 1_000_000.0)


def step(dollars: int) -> list[Part]:
    """An answer with a call."""
    return [calls(call("look")), end(usage=Usage(input=dollars))]


def last(dollars: int, words: str = "done") -> list[Part]:
    """An answer without one."""
    return [text(words), end(usage=Usage(input=dollars))]


def rig_of(
    *script: Any, turn: Limits | None = None, session: Limits | None = None, **options: Any
) -> Rig:
    usual: dict[str, Any] = {"prices": DOLLAR_A_TOKEN, "tools": [plain_tool("look")]}
    options = usual | options
    return Rig(*script, turn_limits=turn, session_limits=session, **options)


def answering(rig: Rig, *verdicts: BudgetAnswer) -> None:
    """Answer the questions to come, one after another."""
    left = list(verdicts)

    def answer(event: object, signal: object) -> None:
        if isinstance(event, BudgetRequestEvent):
            rig.session.budgets.answer(event.request.id, left.pop(0))

    rig.session.subscribe(answer)


async def asked(rig: Rig) -> BudgetRequest:
    """The question, once there is one."""
    await until(lambda: rig.session.budgets.pending is not None)
    pending = rig.session.budgets.pending
    assert pending is not None
    return pending


def questions(rig: Rig) -> list[str]:
    return [event.request.message for event in rig.told(BudgetRequestEvent)]


def warnings(rig: Rig) -> list[str]:
    return [event.message for event in rig.told(BudgetWarningEvent)]


def results(rig: Rig) -> list[str]:
    return [m.text for m in rig.agent.state.messages if isinstance(m, ToolResultMessage)]


# -- when it asks ----------------------------------------------------------------------------------


async def test_no_model_call_is_made_before_the_question_is_answered() -> None:
    rig = rig_of(step(6), last(1), turn=Limits(cost=5))
    turn = start(rig.session.prompt("go"))

    question = await asked(rig)

    assert question.message == "$6.00 of this turn's $5.00"
    assert len(rig.model.requests) == 1
    assert results(rig) == ["done"]
    assert rig.session.is_running
    rig.session.budgets.answer(question.id, "extend")
    await turn
    assert len(rig.model.requests) == 2
    assert rig.reasons == ["completed"]


async def test_a_turn_that_ends_by_itself_asks_nothing() -> None:
    rig = rig_of(last(6), turn=Limits(cost=5))

    await rig.session.prompt("go")

    assert questions(rig) == []


async def test_a_new_turn_has_its_whole_budget() -> None:
    rig = rig_of(step(3), last(1), step(3), last(1), turn=Limits(cost=5))

    await rig.session.prompt("go")
    await rig.session.prompt("go")

    assert questions(rig) == []


async def test_the_sessions_budget_is_that_of_all_turns() -> None:
    rig = rig_of(last(3), last(3), last(3), session=Limits(cost=5))
    answering(rig, "extend")

    await rig.session.prompt("one")
    await rig.session.prompt("two")
    await rig.session.prompt("three")

    assert questions(rig) == ["$6.00 of the session's $5.00"]
    assert len(rig.model.requests) == 3


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        (Limits(tokens=5), "6 of this turn's 5 tokens"),
        (Limits(iterations=1), "1 of this turn's 1 steps"),
        (Limits(cost=5, tokens=6), "$6.00 of this turn's $5.00 and 6 of this turn's 6 tokens"),
    ],
    ids=["tokens", "steps", "two-at-once"],
)
async def test_every_kind_of_budget_asks(limits: Limits, message: str) -> None:
    rig = rig_of(step(6), last(1), turn=limits)
    answering(rig, "stop")

    await rig.session.prompt("go")

    assert questions(rig) == [message]
    assert rig.reasons == ["stopped"]


def slow(rig_of_it: list[Rig], seconds: float) -> Tool:
    """A tool that takes its time by the session's clock."""

    async def execute(call_id: str, args: dict[str, Any], ctx: ToolContext) -> str:
        rig_of_it[0].clock.now += seconds
        return "waited"

    return Tool("look", "Waits.", {"type": "object"}, execute)


async def test_time_is_counted_too() -> None:
    rigs: list[Rig] = []
    rig = rig_of(step(1), last(1), turn=Limits(time=60), tools=[slow(rigs, 75.0)])
    rigs.append(rig)
    answering(rig, "stop")

    await rig.session.prompt("go")

    assert questions(rig) == ["1m15s of this turn's 1m00s"]


async def test_waiting_for_the_person_is_no_time() -> None:
    rig = rig_of(step(1), last(1), turn=Limits(time=60), mode="ask")
    turn = start(rig.session.prompt("go"))
    await until(lambda: bool(rig.told(ApprovalRequestEvent)))

    rig.clock.now += 3600
    rig.session.approvals.answer(rig.session.approvals.pending[0].id, "once")
    await turn

    assert questions(rig) == []
    assert rig.session.turn_seconds >= 3600


async def test_the_time_of_a_budget_question_is_no_time_either() -> None:
    rig = rig_of(step(1), step(1), last(1), turn=Limits(iterations=1, time=60))
    turn = start(rig.session.prompt("go"))
    question = await asked(rig)

    rig.clock.now += 3600
    rig.session.budgets.answer(question.id, "extend", 10)
    await turn

    assert len(questions(rig)) == 1


async def test_a_retry_is_a_model_call() -> None:
    failed = [text("on"), fail("overloaded")]
    rig = rig_of(step(6), failed, last(1), turn=Limits(iterations=1))
    answering(rig, "extend")

    await rig.session.prompt("go")

    assert questions(rig) == ["1 of this turn's 1 steps"]
    assert rig.retries == ["start:1", "end:true"]


async def test_a_failed_attempt_that_used_the_budget_up_is_asked_about_before_the_retry() -> None:
    rig = rig_of(fail("overloaded"), last(1), turn=Limits(tokens=5))
    rig.agent.stream_fn = reporting(rig.model, [Usage(input=6, total=6)])
    answering(rig, "stop")

    await rig.session.prompt("go")

    assert questions(rig) == ["≥6 of this turn's 5 tokens"]
    assert [event.final_error for event in rig.told(AutoRetryEndEvent)] == ["a budget is used up"]
    assert rig.settled == 1


async def test_a_queued_message_is_asked_about_before_it_is_delivered() -> None:
    rig = rig_of(last(6), last(1), turn=Limits(cost=5))
    rig.session.follow_up("and then")
    answering(rig, "stop")

    await rig.session.prompt("go")

    assert questions(rig) == ["$6.00 of this turn's $5.00"]
    assert rig.queued == ["and then"]
    assert rig.session.queue_state == "paused"
    assert rig.reasons == ["stopped"]


async def test_what_is_queued_at_the_last_moment_is_asked_about_too() -> None:
    rigs: list[Rig] = []

    def queue_late(ctx: TurnContext, signal: AbortSignal) -> bool:
        rigs[0].session.follow_up("late")
        return False

    rig = rig_of(last(6), last(1), turn=Limits(cost=5), should_stop_after_turn=queue_late)
    rigs.append(rig)
    answering(rig, "stop")

    await rig.session.prompt("go")

    assert len(rig.model.requests) == 1
    assert rig.queued == ["late"]
    assert rig.session.queue_state == "paused"


# -- the answers -----------------------------------------------------------------------------------


async def test_extend_allows_as_much_again_as_often_as_needed() -> None:
    rig = rig_of(step(12), last(1), turn=Limits(cost=5))
    turn = start(rig.session.prompt("go"))

    question = await asked(rig)
    rig.session.budgets.answer(question.id, "extend")
    await turn

    assert question.offer == "$15.00"
    assert rig.session.budgets.turn.cost == 15


async def test_extend_can_name_how_much_more() -> None:
    rig = rig_of(step(6), step(1), last(1), turn=Limits(cost=5))
    turn = start(rig.session.prompt("go"))
    rig.session.budgets.answer((await asked(rig)).id, "extend", 1)
    await until(lambda: len(questions(rig)) == 2)

    rig.session.budgets.answer((await asked(rig)).id, "extend", 1)
    await turn

    assert questions(rig)[1] == "$7.00 of this turn's $7.00"


async def test_an_extension_of_a_turn_ends_with_it_and_one_of_the_session_stays() -> None:
    rig = rig_of(step(6), last(1), last(1), turn=Limits(cost=5), session=Limits(cost=5))
    answering(rig, "extend")

    await rig.session.prompt("go")
    during = (rig.session.budgets.turn.cost, rig.session.budgets.session.cost)
    await rig.session.prompt("go")

    assert during == (10, 10)
    assert (rig.session.budgets.turn.cost, rig.session.budgets.session.cost) == (5, 10)


async def test_finish_lets_one_answer_follow_without_tools() -> None:
    rig = rig_of(step(6), last(1, "in short"), turn=Limits(cost=5))
    answering(rig, "finish")

    await rig.session.prompt("go")

    assert [len(request.tools) for request in rig.model.requests] == [1, 0]
    assert rig.reasons == ["completed"]
    assert rig.agent.state.messages[-1].text == "in short"  # type: ignore[union-attr]
    assert len(rig.agent.state.tools) == 1


async def test_a_model_that_calls_tools_all_the_same_has_had_its_last_word() -> None:
    rig = rig_of(step(6), step(1), last(1), turn=Limits(cost=5))
    answering(rig, "finish")

    await rig.session.prompt("go")

    assert len(rig.model.requests) == 2
    assert rig.reasons == ["stopped"]
    assert len(questions(rig)) == 1


async def test_a_last_answer_that_fails_is_tried_again_without_another_question() -> None:
    rig = rig_of(step(6), fail("overloaded"), last(1), last(1), turn=Limits(cost=5))
    rig.session.follow_up("q")
    answering(rig, "finish")

    await rig.session.prompt("go")

    assert [len(request.tools) for request in rig.model.requests] == [1, 0, 0]
    assert len(questions(rig)) == 1
    assert rig.queued == ["q"]
    assert len(rig.agent.state.tools) == 1


async def test_stop_ends_the_turn_with_everything_kept() -> None:
    rig = rig_of(step(6), last(1), turn=Limits(cost=5))
    answering(rig, "stop")

    await rig.session.prompt("go")

    assert rig.reasons == ["stopped"]
    assert results(rig) == ["done"]
    assert rig.session.totals.cost_usd == 6
    assert rig.session.budgets.refused is not None


async def test_a_stopped_turn_can_be_gone_on_from() -> None:
    rig = rig_of(step(6), last(1), turn=Limits(cost=5))
    answering(rig, "stop")
    await rig.session.prompt("go")

    await rig.session.continue_()

    assert rig.reasons == ["stopped", "completed"]
    assert rig.session.budgets.refused is None


async def test_stop_after_step_answers_the_question() -> None:
    rig = rig_of(step(6), last(1), turn=Limits(cost=5))
    turn = start(rig.session.prompt("go"))
    await asked(rig)

    rig.session.stop_after_step()
    await turn

    assert rig.reasons == ["stopped"]
    assert [event.verdict for event in rig.told(BudgetAnswerEvent)] == ["stop"]


async def test_a_turn_that_is_to_stop_after_its_step_is_not_asked_about() -> None:
    rig = rig_of(step(6), last(1), turn=Limits(cost=5))
    rig.when(ToolExecutionStartEvent, rig.session.stop_after_step)

    await rig.session.prompt("go")

    assert questions(rig) == []
    assert rig.reasons == ["stopped"]


async def test_an_abort_takes_the_question_off_the_table() -> None:
    rig = rig_of(step(6), last(1), turn=Limits(cost=5))
    turn = start(rig.session.prompt("go"))
    question = await asked(rig)

    rig.session.abort()
    await turn

    assert rig.reasons == ["aborted"]
    assert [event.verdict for event in rig.told(BudgetAnswerEvent)] == ["aborted"]
    assert not rig.session.budgets.answer(question.id, "extend")


async def test_steering_while_it_asks_is_delivered_after_the_answer() -> None:
    rig = rig_of(step(6), last(1), turn=Limits(cost=5))
    turn = start(rig.session.prompt("go"))
    question = await asked(rig)

    rig.session.steer("shorter, please")
    rig.session.budgets.answer(question.id, "finish")
    await turn

    assert user_texts(rig.model.requests[1]) == ["go", "shorter, please"]


async def test_sending_now_while_it_asks_asks_again_for_the_new_message() -> None:
    rig = rig_of(step(6), last(1), turn=Limits(cost=5))
    turn = start(rig.session.prompt("go"))
    await asked(rig)

    now = start(rig.session.send_now("instead"))
    await until(lambda: len(questions(rig)) == 2)
    rig.session.budgets.answer((await asked(rig)).id, "extend")
    await asyncio.gather(turn, now)

    assert user_texts(rig.model.requests[1]) == ["go", "instead"]


async def test_an_answer_to_another_question_changes_nothing() -> None:
    rig = rig_of(step(6), last(1), turn=Limits(cost=5))
    turn = start(rig.session.prompt("go"))
    question = await asked(rig)

    assert not rig.session.budgets.answer("other", "extend")
    assert rig.session.budgets.pending is question
    rig.session.abort()
    await turn


async def test_the_session_says_what_it_is_waiting_for() -> None:
    rig = rig_of(step(6), last(1), turn=Limits(cost=5))
    turn = start(rig.session.prompt("go"))
    await asked(rig)

    said = rig.session.waiting_for()
    rig.session.abort()
    await turn

    assert said == "an answer about the budget: $6.00 of this turn's $5.00"


# -- at the beginning of a turn --------------------------------------------------------------------


async def used_up(*script: Any) -> Rig:
    """A session whose budget is used up between two turns."""
    rig = rig_of(last(6), *script, session=Limits(cost=5))
    await rig.session.prompt("one")
    return rig


async def test_a_prompt_that_may_not_be_sent_is_given_back() -> None:
    rig = await used_up(last(1))
    answering(rig, "stop")

    with pytest.raises(InvalidStateError, match="budget is used up"):
        await rig.session.prompt("two")

    assert len(rig.model.requests) == 1
    assert [m.role for m in rig.agent.state.messages] == ["user", "assistant"]
    assert not rig.session.is_running
    assert len(rig.told(AgentSettledEvent)) == 2


async def test_a_prompt_that_is_stopped_while_it_asks_is_given_back() -> None:
    rig = await used_up(last(1))
    turn = start(rig.session.prompt("two"))
    await asked(rig)

    rig.session.abort()

    with pytest.raises((InvalidStateError, CancelledRunError)):
        await turn
    assert rig.session.budgets.pending is None
    assert not rig.session.is_running


async def test_what_was_queued_meanwhile_waits_on_hold() -> None:
    rig = await used_up(last(1))
    turn = start(rig.session.prompt("two"))
    question = await asked(rig)

    rig.session.steer("three")
    rig.session.budgets.answer(question.id, "stop")
    with pytest.raises(InvalidStateError):
        await turn

    assert rig.queued == ["three"]
    assert rig.session.queue_state == "paused"


async def test_a_prompt_may_be_answered_once_without_tools() -> None:
    rig = await used_up(last(1), last(1))
    answering(rig, "finish")

    await rig.session.prompt("two")

    assert rig.model.requests[1].tools == []
    assert len(rig.agent.state.tools) == 1
    assert rig.reasons == ["completed", "completed"]


async def test_tools_come_back_after_a_prompt_that_made_no_sense() -> None:
    rig = await used_up()
    answering(rig, "finish")

    with pytest.raises(InvalidInputError):
        await rig.session.prompt("  ")

    assert len(rig.agent.state.tools) == 1


async def test_an_extended_session_goes_on() -> None:
    rig = await used_up(last(1), last(1))
    answering(rig, "extend")

    await rig.session.prompt("two")
    await rig.session.prompt("three")

    assert len(questions(rig)) == 1
    assert len(rig.model.requests) == 3


# -- nobody there ----------------------------------------------------------------------------------


async def test_unattended_the_answer_is_stop() -> None:
    rig = rig_of(step(6), last(1), turn=Limits(cost=5))
    rig.session.budgets.unattended = True

    await rig.session.prompt("go")

    assert rig.reasons == ["stopped"]
    assert [event.verdict for event in rig.told(BudgetAnswerEvent)] == ["stop"]
    assert rig.session.budgets.refused is not None


# -- warnings --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "limit", "words"),
    [
        ("cost", 10.0, "80% of a budget is used: $8.00 of this turn's $10.00"),
        ("tokens", 10, "80% of a budget is used: 8 of this turn's 10 tokens"),
    ],
)
async def test_four_fifths_are_said_once(kind: LimitKind, limit: float, words: str) -> None:
    rig = rig_of(step(8), step(1), last(1), turn=Limits(**{kind: limit}))  # type: ignore[arg-type]

    await rig.session.prompt("go")

    assert warnings(rig) == [words]


async def test_a_warning_comes_after_the_message_that_caused_it() -> None:
    rig = rig_of(last(8), turn=Limits(cost=10))

    await rig.session.prompt("go")

    place = rig.types.index("budget_warning")
    assert rig.types[place - 1] == "message_end"


async def test_steps_warn_too() -> None:
    rig = rig_of(*[step(1)] * 4, last(1), turn=Limits(iterations=5))

    await rig.session.prompt("go")

    assert warnings(rig) == ["80% of a budget is used: 4 of this turn's 5 steps"]


async def test_an_extended_budget_warns_again() -> None:
    rig = rig_of(step(8), step(2), step(6), last(0), turn=Limits(cost=10))
    answering(rig, "extend")

    await rig.session.prompt("go")

    assert [words.partition(":")[0] for words in warnings(rig)] == ["80% of a budget is used"] * 2


async def test_an_unknown_price_is_said_before_anything_is_spent() -> None:
    rig = rig_of(step(6), last(1), turn=Limits(cost=5), prices=None)

    await rig.session.prompt("go")

    assert warnings(rig) == [
        "The price of test/m is unknown: the budget of $5.00 cannot be enforced, "
        "unless the server itself reports what it charges"
    ]
    assert rig.types.index("budget_warning") < rig.types.index("message_end")
    assert questions(rig) == []


async def test_an_unknown_price_is_no_matter_without_a_budget_of_money() -> None:
    rig = rig_of(last(6), turn=Limits(tokens=50), prices=None)

    await rig.session.prompt("go")

    assert warnings(rig) == []


async def test_a_switch_to_a_model_without_a_price_is_said() -> None:
    rig = rig_of(step(1), last(1), turn=Limits(cost=5))
    rig.when(TurnEndEvent, lambda: rig.session.set_model(Model("other", "n")))

    await rig.session.prompt("go")

    assert len(warnings(rig)) == 1
    assert "other/n" in warnings(rig)[0]


async def test_a_server_that_reports_what_it_charges_is_held_to_the_budget() -> None:
    charged = [calls(call("look")), end(usage=Usage(input=6, cost_usd=6.0))]
    rig = rig_of(charged, last(1), turn=Limits(cost=5), prices=None)
    answering(rig, "stop")

    await rig.session.prompt("go")

    assert questions(rig) == ["$6.00 of this turn's $5.00"]


async def test_a_server_that_counts_no_tokens_is_said_once() -> None:
    rig = rig_of(calls(call("look")), text("done"), turn=Limits(tokens=5))

    await rig.session.prompt("go")

    assert warnings(rig) == [
        "test/m does not report how many tokens it uses: the token budget cannot be enforced"
    ]


# -- beside other things ---------------------------------------------------------------------------


async def test_the_agents_own_hook_still_counts() -> None:
    def hook(ctx: TurnContext, signal: AbortSignal) -> NextTurn:
        return NextTurn(system_prompt="changed")

    rig = rig_of(step(6), last(1), turn=Limits(cost=5), prepare_next_turn=hook)
    answering(rig, "finish")

    await rig.session.prompt("go")

    assert rig.model.requests[1].system_prompt == "changed"
    assert rig.model.requests[1].tools == []


async def test_a_model_that_was_chosen_while_it_asked_answers_next() -> None:
    rig = rig_of(step(6), last(1), turn=Limits(cost=5))
    turn = start(rig.session.prompt("go"))
    question = await asked(rig)

    rig.session.set_model(Model("other", "n", cost=DOLLAR_A_TOKEN))
    rig.session.budgets.answer(question.id, "extend")
    await turn

    assert rig.agent.state.messages[-1].model == "n"  # type: ignore[union-attr]


async def test_closing_the_session_ends_a_question() -> None:
    rig = rig_of(step(6), last(1), turn=Limits(cost=5))
    turn = start(rig.session.prompt("go"))
    await asked(rig)

    rig.session.close()
    await turn

    assert rig.session.budgets.pending is None


def test_the_events_are_lines_of_json() -> None:
    request = BudgetRequest((), "$1 of $1", "$2", id="q")

    assert BudgetRequestEvent(request).to_json() == (
        '{"type":"budget_request","request":'
        '{"meters":[],"message":"$1 of $1","offer":"$2","id":"q"}}'
    )
    assert BudgetAnswerEvent("q", "stop").to_json() == (
        '{"type":"budget_answer","request_id":"q","verdict":"stop"}'
    )
