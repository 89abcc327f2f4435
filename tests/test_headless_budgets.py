"""Budgets without a screen: nobody is asked, the run stops with code 3 and says why."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

from agent_tui.agent.agent import Agent
from agent_tui.core.limits import Limits
from agent_tui.core.model import Model, ModelCost
from agent_tui.core.tool import Tool
from agent_tui.core.usage import Usage
from agent_tui.headless import run_prompt
from agent_tui.session.approvals import Approvals
from agent_tui.session.session import Session
from agent_tui.testing import Part, ScriptedModel, call, calls, end, text

DOLLAR_A_TOKEN = ModelCost(1_000_000.0, 1_000_000.0)
LOOK = Tool("look", "Looks.", {"type": "object"}, lambda call_id, args, ctx: "seen")
STEP: list[Part] = [text("so far"), calls(call("look")), end(usage=Usage(input=6))]
LAST: list[Part] = [text("done"), end(usage=Usage(input=1))]


def run(
    *script: list[Part],
    limits: Limits,
    prices: ModelCost | None = DOLLAR_A_TOKEN,
    as_json: bool = False,
) -> tuple[int, str, str]:
    """Exit code, standard output, standard error."""
    model = Model("test", "m", cost=prices)
    agent = Agent(model, stream_fn=ScriptedModel(list(script)), tools=[LOOK])
    approvals = Approvals("full-auto", Path("/"), unattended=True)
    session = Session(agent, approvals, session_limits=limits)
    out, err = io.StringIO(), io.StringIO()
    code = run_prompt(session, "go", as_json=as_json, out=out, err=err)
    return code, out.getvalue(), err.getvalue()


@pytest.mark.parametrize(
    ("limits", "used"),
    [
        (Limits(cost=5), "$6.00 of the session's $5.00"),
        (Limits(tokens=5), "6 of the session's 5 tokens"),
        (Limits(iterations=1), "1 of the session's 1 steps"),
    ],
    ids=["cost", "tokens", "steps"],
)
def test_a_budget_that_is_used_up_is_code_3_and_keeps_the_newest_text(
    limits: Limits, used: str
) -> None:
    code, out, err = run(STEP, LAST, limits=limits)

    assert (code, out) == (3, "so far\n")
    assert used in err
    assert "--max-" in err


def test_an_answer_that_uses_the_budget_up_is_done() -> None:
    assert run(LAST, limits=Limits(cost=1))[:2] == (0, "done\n")


def test_four_fifths_are_said_on_standard_error() -> None:
    code, _, err = run(STEP, LAST, limits=Limits(cost=7.5))

    assert code == 0
    assert err == "agent-tui: 80% of a budget is used: $6.00 of the session's $7.50\n"


def test_an_unknown_price_is_said_and_stops_nothing() -> None:
    code, _, err = run(STEP, LAST, limits=Limits(cost=5), prices=None)

    assert code == 0
    assert "cannot be enforced" in err


def test_json_tells_the_question_and_its_answer() -> None:
    code, out, _ = run(STEP, LAST, limits=Limits(cost=5), as_json=True)

    events: list[dict[str, Any]] = [json.loads(line) for line in out.splitlines()]
    [asked] = [event for event in events if event["type"] == "budget_request"]
    [answer] = [event for event in events if event["type"] == "budget_answer"]
    assert code == 3
    assert asked["request"]["meters"][0] == {
        "scope": "session",
        "kind": "cost",
        "used": 6.0,
        "limit": 5,
        "is_partial": False,
    }
    assert answer["verdict"] == "stop"
    assert [e["reason"] for e in events if e["type"] == "agent_end"] == ["stopped"]
