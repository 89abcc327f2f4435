"""Holding the loop from the keyboard: the card, its answers, edited arguments; nothing is lost."""

from __future__ import annotations

import pytest
from textual.widgets import Static, TextArea

from agent_tui.testing import call, calls, text
from agent_tui.tui.screens.arguments import ArgumentsScreen
from tests.tui.chat import Chat, Gate, chat

STEP = calls(call("bash", {"command": "echo [b]hi[/b]"}))


def shell() -> Gate:
    """A tool that answers at once."""
    gate = Gate()
    gate.open.set()
    return gate


async def held(c: Chat) -> None:
    await c.until(lambda: c.session.breakpoints.pending and c.app.card.display)


async def wait_for_the_guard(c: Chat) -> None:
    c.clock.time += 1
    await c.pilot.pause()


def card(c: Chat) -> str:
    return str(c.app.card.visual)


async def test_a_model_call_is_held_and_goes_on_by_key_or_step_by_step() -> None:
    async with chat(STEP, STEP, text("done"), tools=[shell().tool]) as c:
        await c.say("/break")
        await c.say("go")
        await held(c)
        assert "Held before the model call of step 1" in card(c)
        assert c.requests == []

        await wait_for_the_guard(c)
        await c.press("alt+t")
        await c.until(lambda: "step 2" in card(c))
        await c.say("be brief")
        assert c.queued == ["be brief"]
        await wait_for_the_guard(c)
        await c.press("alt+y")
        await c.idle()

        assert c.request(1) == ["go", "be brief"]
        assert len(c.requests) == 3


async def test_a_key_right_after_the_card_appeared_answers_nothing() -> None:
    async with chat(text("done")) as c:
        await c.say("/break")
        await c.say("go")
        await held(c)

        for key in ("alt+y", "alt+t", "alt+s"):
            await c.press(key)

        assert c.requests == []
        assert c.session.breakpoints.pending
        c.session.abort()
        await c.idle()


@pytest.mark.parametrize("size", [(80, 24), (40, 12)])
async def test_a_tool_call_is_held_named_and_edited_before_it_runs(size: tuple[int, int]) -> None:
    gate = shell()
    async with chat(STEP, text("done"), tools=[gate.tool], size=size) as c:
        await c.say("/break bash")
        await c.press(*"dra")
        c.app.send("go", "enter")
        await held(c)
        assert "bash is held before `echo [b]hi[/b]`" in card(c)
        assert "held" in c.panels[0]
        assert c.app.prompt.region.bottom <= size[1]

        await wait_for_the_guard(c)
        await c.press("alt+e")
        await c.until(lambda: isinstance(c.app.screen, ArgumentsScreen))
        editor = c.app.screen.query_one(TextArea)
        assert editor.text == '{\n  "command": "echo [b]hi[/b]"\n}'
        for broken, words in (("{", "no JSON"), ("[1]", "an object"), ('{"command": 1, }', "JSON")):
            editor.text = broken
            await c.press("ctrl+s")
            assert words in str(c.app.screen.query_one(".foot", Static).visual)
        editor.text = '{"command": "echo bye"}'
        await c.press("ctrl+s")
        await c.idle()

        assert gate.calls == [{"command": "echo bye"}]
        assert "echo bye (edited by you)" in c.panels[0].replace("\n", " ") or size[0] < 80
        assert c.draft == "dra"


async def test_leaving_the_editor_changes_nothing_and_stop_keeps_what_is_queued() -> None:
    gate = shell()
    async with chat(STEP, text("done"), tools=[gate.tool]) as c:
        await c.say("/break bash")
        await c.say("go")
        await held(c)
        await c.press("alt+e")
        await c.until(lambda: isinstance(c.app.screen, ArgumentsScreen))
        await c.press("escape")
        assert c.session.breakpoints.pending
        await c.say("later", "alt+enter")

        await c.say("/stop")
        await c.idle()

        assert gate.calls == []
        assert c.queued == ["later"]
        assert c.app.is_on_hold


async def test_what_is_held_is_listed_and_taken_back() -> None:
    async with chat(text("done")) as c:
        for line, words in (
            ("/break each", ["every model call"]),
            ("/break bash", ["every model call", "bash"]),
            ("/break bash", ["every model call"]),
            ("/break next", ["the next model call"]),
            ("/break off", []),
        ):
            await c.say(line)
            assert c.session.breakpoints.words == words
            assert ("breakpoint" in c.line("header")) == bool(words)


async def test_why_says_that_it_is_held_and_esc_stops_the_turn() -> None:
    async with chat(STEP, text("done"), tools=[shell().tool]) as c:
        await c.say("go on", "enter")
        await c.idle()
        await c.say("/break")
        await c.say("go")
        await held(c)
        await c.say("/why")
        assert "held before the model call of step 1" in c.line("hint")

        await c.press("escape")
        await c.idle()

        assert c.session.breakpoints.pending == []
