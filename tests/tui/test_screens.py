"""The screens over the chat: help and viewer as text."""

from __future__ import annotations

import asyncio

import pytest
from rich.cells import cell_len
from textual.widgets import OptionList

from agent_tui.tui.commands import COMMANDS
from agent_tui.tui.screens.choice import Choice, ChoiceScreen, matching
from agent_tui.tui.screens.help import KEYS, help_rows
from agent_tui.tui.screens.models import ModelChoice, ModelScreen, Renewed
from tests.tui.chat import as_text, chat


@pytest.mark.parametrize("width", [114, 74, 34])
def test_the_help_names_every_key_and_command_and_fits(width: int) -> None:
    page = as_text(help_rows(width))

    assert all(key in page for key, _, _ in KEYS)
    assert all(command.usage in page for command in COMMANDS)
    assert all(cell_len(line) <= width for line in page.splitlines())


def test_the_list_is_narrowed_by_words_in_any_order() -> None:
    choices = [Choice("openai/gpt", "272k window"), Choice("demo/tour", "offline")]

    assert matching(choices, "window open") == choices[:1]
    assert matching(choices, "") == choices
    assert matching(choices, "nothing") == []


@pytest.mark.parametrize("presses", [("escape", "escape"), ("enter", "enter"), ("enter", "escape")])
async def test_keys_after_the_one_that_closed_a_page_do_nothing(presses: tuple[str, str]) -> None:
    chosen: list[str | None] = []
    async with chat() as c:
        c.app.push_screen(ChoiceScreen("Pick", [Choice("one"), Choice("two")]), chosen.append)
        await c.pilot.pause()
        screen = c.app.screen
        assert isinstance(screen, ChoiceScreen)
        for key in presses:  # both before the page has gone
            screen.dismiss("one" if key == "enter" else None)
        await c.until(lambda: len(c.app.screen_stack) == 1)

        assert chosen == ["one" if presses[0] == "enter" else None]


async def test_the_highlighted_row_bears_a_mark_and_no_other_does() -> None:
    async with chat() as c:
        c.app.push_screen(ChoiceScreen("Pick", [Choice("one"), Choice("two"), Choice("three")]))
        await c.pilot.pause()
        options = c.app.screen.query_one(OptionList)

        for presses in ((), ("down", "down"), ("up",), ("t",)):
            await c.press(*presses)
            lines = [str(option.prompt) for option in options.options]
            marked = [place for place, line in enumerate(lines) if line.startswith("▸")]
            assert marked == [options.highlighted]


async def test_servers_that_answer_after_the_list_was_closed_do_no_harm() -> None:
    answered, asked = asyncio.Event(), asyncio.Event()

    async def renew(hosted: bool) -> Renewed:
        asked.set()
        await answered.wait()
        return [ModelChoice("a/b")], []

    async with chat() as c:
        screen = ModelScreen([], "x/y", "off", mark=lambda key: False, renew=renew)
        c.app.push_screen(screen)
        await c.until(asked.is_set)
        screen.dismiss(None)
        answered.set()
        await c.until(lambda: len(c.app.screen_stack) == 1)
        await c.pilot.pause()

        assert c.app.is_running
