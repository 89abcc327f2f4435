"""The screens over the chat: help and viewer as text."""

from __future__ import annotations

import pytest
from rich.cells import cell_len

from agent_tui.tui.commands import COMMANDS
from agent_tui.tui.screens.choice import Choice, matching
from agent_tui.tui.screens.help import KEYS, help_rows
from tests.tui.chat import as_text


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
