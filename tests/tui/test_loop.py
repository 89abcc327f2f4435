"""The loop inspector: what each step sent, got, ran and cost; live and afterwards."""

from __future__ import annotations

import json

import pytest
from rich.cells import cell_len
from textual.widgets import OptionList

from agent_tui.core.usage import Usage
from agent_tui.testing import call, calls, end, fail, text, think
from agent_tui.tui.loop_rows import details, step_rows
from agent_tui.tui.screens.loop import LoopScreen
from agent_tui.tui.screens.output import OutputScreen
from tests.tui.chat import Chat, Gate, as_text, chat

USAGE = Usage(input=900, cache_read=100, output=50)


def rows(c: Chat) -> list[str]:
    options = c.app.screen.query_one(OptionList)
    return [str(option.prompt) for option in options.options]


async def opened(c: Chat) -> LoopScreen:
    await c.press("f2")
    await c.until(lambda: isinstance(c.app.screen, LoopScreen))
    assert isinstance(c.app.screen, LoopScreen)
    return c.app.screen


async def test_a_step_says_what_it_sent_what_came_back_and_what_it_took() -> None:
    gate = Gate()
    gate.open.set()
    first = [think("hm"), text("I look."), calls(call("bash", {"command": "ls [x]"}))]
    async with chat([*first, end(usage=USAGE)], text("Done."), tools=[gate.tool]) as c:
        await c.say("go")
        await c.idle()
        await opened(c)

        one, two = rows(c)
        assert "turn 1 step 1" in one
        assert "1 message, 1 tool, all new" in one
        assert "thoughts 2 · text 7 · bash ls [x] ✓" in one
        assert "↑1k (10% cached) · ↓50" in one
        assert "+1 tool result" in two
        assert "text 5 · stop" in two
        assert two.startswith("▸")


async def test_it_follows_a_turn_that_runs_and_shows_where_it_is() -> None:
    gate = Gate()
    async with chat(
        calls(call("bash", {"command": "make"})), text("Done."), tools=[gate.tool]
    ) as c:
        await c.say("go")
        await c.until(lambda: gate.running)
        screen = await opened(c)
        assert len(rows(c)) == 1
        assert "bash make …" in rows(c)[0]

        gate.open.set()
        await c.until(lambda: len(rows(c)) == 2 and "stop" in rows(c)[1])

        assert screen.step is not None
        assert screen.step.step == 2
        assert "✓" in rows(c)[0]


async def test_failed_tries_and_what_is_unknown_are_named() -> None:
    async with chat([text("half"), fail("auth", "no [key]")]) as c:
        await c.say("go")
        await c.idle()
        await opened(c)

        assert "failed" in rows(c)[0]
        assert "1 failed try" in rows(c)[0]
        await c.press("enter")
        await c.until(lambda: isinstance(c.app.screen, OutputScreen))


async def test_enter_shows_details_r_the_request_and_y_copies_it_without_a_key() -> None:
    async with chat(text("Hi.")) as c:
        await c.say("say [red]hi[/]")
        await c.idle()
        await opened(c)
        await c.press("r")
        await c.until(lambda: isinstance(c.app.screen, OutputScreen))
        await c.press("escape", "y")
        await c.until(lambda: c.app.copier.text)

        request = json.loads(c.app.copier.text)
        assert "say [red]hi[/]" in json.dumps(request)


async def test_page_keys_move_while_lines_are_drawn_anew() -> None:
    async with chat(*[text("Hi.")] * 8, size=(40, 12)) as c:
        for number in range(8):
            await c.say(f"say {number}")
            await c.idle()
        screen = await opened(c)
        await c.pilot.resize_terminal(24, 6)

        for keys, place in ((("pageup",), 3), (("pageup", "pageup"), 1), (("k", "pagedown"), 6)):
            await c.press(*keys)
            assert screen.step is not None
            assert screen.step.number == place


async def test_b_holds_the_next_model_call_and_takes_it_back() -> None:
    async with chat(text("Hi.")) as c:
        await opened(c)
        for words in (["the next model call"], []):
            await c.press("b")
            assert c.session.breakpoints.words == words
        await c.press("escape")
        assert len(c.app.screen_stack) == 1


@pytest.mark.parametrize("width", [120, 40])
async def test_details_hold_everything_and_nothing_that_a_terminal_acts_on(width: int) -> None:
    gate = Gate()
    gate.open.set()
    evil = "ls \x1b]0;owned\x07 [b]"
    async with chat(
        calls(call("bash", {"command": evil})), text("Done \x1b[2J."), tools=[gate.tool]
    ) as c:
        await c.say("go")
        await c.idle()
        steps = c.session.loop_record.steps
        pages = [details(step, 0.0) for step in steps]
        lines = [as_text(step_rows(step, 0.0)) for step in steps]

        assert "SENT" in pages[1]
        assert "CAME BACK" in pages[1]
        assert "Done ." in pages[1]
        assert not any("\x1b" in page for page in pages)
        assert all(cell_len(line) for line in lines)
