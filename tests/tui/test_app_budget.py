"""A budget that is used up: asked on the screen, answered on purpose only, nothing is lost."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agent_tui.core.limits import Limits
from agent_tui.core.model import ModelCost
from agent_tui.core.usage import Usage
from agent_tui.testing import call, calls, end, text
from tests.tui.chat import Chat, Gate, as_text, chat

DOLLAR_A_TOKEN = ModelCost(1_000_000.0, 1_000_000.0)
STEP = [calls(call("look")), end(usage=Usage(input=6))]
LAST = [text("done"), end(usage=Usage(input=1))]
TURN: dict[str, Any] = {"prices": DOLLAR_A_TOKEN, "turn_limits": Limits(cost=5)}
SESSION: dict[str, Any] = {"prices": DOLLAR_A_TOKEN, "session_limits": Limits(cost=5)}


def look() -> Gate:
    """A tool that answers at once."""
    gate = Gate("look")
    gate.open.set()
    return gate


async def asked(c: Chat) -> None:
    await c.say("go")
    await shown(c)


async def shown(c: Chat) -> None:
    await c.until(lambda: c.app.card.display)
    await c.pilot.pause()


def card(c: Chat) -> str:
    """The text of the card."""
    return str(c.app.card.visual)


async def test_the_card_says_what_is_used_up_and_how_to_answer() -> None:
    async with chat(STEP, LAST, tools=[look().tool], **TURN) as c:
        await asked(c)

        said = card(c)

        assert "The budget is used up: $6.00 of this turn's $5.00" in said
        assert "alt+x extend to $10.00" in said
        assert len(c.requests) == 1
        assert "needs your answer" in c.line("status")
        assert c.app.chrome.window_title() == ("go", "needs you")


@pytest.mark.parametrize("size", [(80, 24), (40, 12)])
async def test_the_ways_to_answer_are_in_sight_on_small_screens(size: tuple[int, int]) -> None:
    async with chat(STEP, LAST, tools=[look().tool], size=size, **TURN) as c:
        await asked(c)

        assert "extend" in card(c)
        assert "stop" in card(c)
        assert c.app.card.region.bottom <= c.app.prompt.region.y
        assert c.app.prompt.region.bottom <= size[1]


@pytest.mark.parametrize(
    ("key", "requests", "tools"),
    [("alt+x", 2, 1), ("alt+l", 2, 0), ("alt+s", 1, 1)],
    ids=["extend", "finish", "stop"],
)
async def test_a_key_answers_half_a_second_after_the_card_appeared(
    key: str, requests: int, tools: int
) -> None:
    async with chat(STEP, LAST, tools=[look().tool], **TURN) as c:
        await asked(c)

        await c.press(key)
        too_early = c.session.budgets.pending is not None
        c.clock.time += 0.6
        await c.press(key)
        await c.idle()

        assert too_early
        assert len(c.requests) == requests
        assert len(c.requests[-1].tools) == tools
        assert not c.app.card.display


@pytest.mark.parametrize(
    ("command", "requests", "tools"),
    [("/extend", 2, 1), ("/extend 2.50", 2, 1), ("/finish", 2, 0), ("/stop", 1, 1)],
)
async def test_a_command_answers_at_once(command: str, requests: int, tools: int) -> None:
    async with chat(STEP, LAST, tools=[look().tool], **TURN) as c:
        await asked(c)

        await c.say(command)
        await c.idle()

        assert len(c.requests) == requests
        assert len(c.requests[-1].tools) == tools
        assert c.said == ["go"]


async def test_letters_are_typed_and_enter_steers() -> None:
    async with chat(STEP, LAST, tools=[look().tool], **TURN) as c:
        await asked(c)
        c.clock.time += 5

        await c.press(*"xls", "enter")

        assert c.session.budgets.pending is not None
        assert c.queued == ["xls"]


async def test_a_stop_key_ends_the_turn_and_the_question() -> None:
    async with chat(STEP, LAST, tools=[look().tool], **TURN) as c:
        await asked(c)

        await c.press("escape")
        await c.idle()

        assert not c.app.card.display
        assert c.session.budgets.pending is None
        assert len(c.requests) == 1


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        ("/extend much", "dollars more"),
        ("/extend -1", "dollars more"),
        ("/extend inf", "dollars more"),
    ],
)
async def test_an_amount_that_makes_no_sense_is_refused(command: str, reason: str) -> None:
    async with chat(STEP, LAST, tools=[look().tool], **TURN) as c:
        await asked(c)

        await c.say(command)

        assert c.session.budgets.pending is not None
        assert reason in c.line("hint")
        assert c.draft == command


@pytest.mark.parametrize("command", ["/extend", "/finish"])
async def test_without_a_question_the_commands_say_so(command: str) -> None:
    async with chat() as c:
        await c.say(command)

        assert "No budget asks for an answer." in c.line("hint")
        assert c.draft == ""


async def test_an_answer_to_a_call_is_not_taken_for_one_about_money() -> None:
    gate = Gate()
    ask = calls(call("bash", {"command": "touch ran.txt"}))
    async with chat(ask, LAST, tools=[gate.tool], mode="ask", **TURN) as c:
        await asked(c)
        c.clock.time += 1

        await c.press("alt+x", "alt+l", "alt+s")

        assert len(c.session.approvals.pending) == 1
        await c.press("escape")
        await c.idle()


async def test_the_answer_keys_of_a_call_do_nothing_here() -> None:
    async with chat(STEP, LAST, tools=[look().tool], **TURN) as c:
        await asked(c)
        c.clock.time += 1

        await c.press("alt+y", "alt+a", "alt+n", "alt+e")

        assert c.session.budgets.pending is not None
        assert c.draft == ""


async def test_a_prompt_that_may_not_be_sent_comes_back_to_the_composer() -> None:
    async with chat([text("one"), end(usage=Usage(input=6))], LAST, **SESSION) as c:
        await c.say("first")
        await c.idle()
        await c.say("second")
        await shown(c)

        await c.say("/stop")
        await c.idle()

        assert c.draft == "second"
        assert c.said == ["first"]
        assert not any("second" in line for line in c.shown)
        assert not c.app.card.display


async def test_a_prompt_that_is_stopped_at_the_question_comes_back_too() -> None:
    async with chat([text("one"), end(usage=Usage(input=6))], LAST, **SESSION) as c:
        await c.say("first")
        await c.idle()
        await c.say("second")
        await shown(c)

        await c.press("escape")
        await c.idle()

        assert c.draft == "second"
        assert c.said == ["first"]


async def test_after_a_stop_enter_asks_again_as_often_as_one_likes() -> None:
    async with chat(STEP, LAST, tools=[look().tool], **SESSION) as c:
        await asked(c)
        await c.say("/stop")
        await c.idle()

        await c.press("enter")
        await shown(c)
        await c.say("/stop")
        await c.idle()
        await c.press("enter")
        await shown(c)
        await c.say("/extend")
        await c.idle()

        assert len(c.requests) == 2
        assert "assistant: done" in c.shown


async def test_a_warning_stands_in_the_transcript() -> None:
    async with chat([text("one"), end(usage=Usage(input=4))], **TURN) as c:
        await c.say("go")
        await c.idle()

        assert "notice: 80% of a budget is used: $4.00 of this turn's $5.00" in c.shown
        assert "$4.00/$5.00" in c.line("status")


async def test_the_chats_step_limit_is_a_question() -> None:
    async with chat(STEP, LAST, tools=[look().tool], turn_limits=Limits(iterations=1)) as c:
        await asked(c)

        assert "1 of this turn's 1 steps" in card(c)
        assert "step 1/1" in c.line("status")
        await c.say("/extend 4")
        await c.idle()
        assert "step 2/5" in c.line("status")


async def test_usage_opens_a_table() -> None:
    async with chat(STEP, LAST, tools=[look().tool], prices=DOLLAR_A_TOKEN) as c:
        await c.say("go")
        await c.idle()

        await c.say("/usage")
        await c.pilot.pause()

        assert type(c.app.screen).__name__ == "OutputScreen"
        await c.press("escape")
        assert len(c.app.screen_stack) == 1


async def test_usage_exports_a_file(tmp_path: Path) -> None:
    async with chat(LAST, cwd=tmp_path) as c:
        await c.say("go")
        await c.idle()

        await c.say("/usage export spent.csv")

        assert (tmp_path / "spent.csv").read_text().startswith("row,turn,step,model")
        assert "spent.csv" in c.line("hint")


async def test_usage_says_that_nothing_has_been_spent_and_is_done(tmp_path: Path) -> None:
    async with chat(cwd=tmp_path, size=(200, 24)) as c:
        await c.say("/usage")

        assert "Nothing has been spent yet." in as_text(c.app.chrome.rows("hint"))
        assert c.draft == ""


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        ("/usage export", "/usage takes nothing, or `export FILE.csv`."),
        ("/usage all", "/usage takes nothing, or `export FILE.csv`."),
        ("/usage export no/such/file.csv", "cannot be written"),
    ],
)
async def test_usage_says_why_it_shows_nothing(tmp_path: Path, command: str, reason: str) -> None:
    async with chat(cwd=tmp_path, size=(200, 24)) as c:
        await c.say(command)

        assert reason in as_text(c.app.chrome.rows("hint"))
        assert c.draft == command
