"""The screens over the chat: help and viewer as text."""

from __future__ import annotations

from pathlib import Path

import pytest
from rich.cells import cell_len

from agent_tui.tui.commands import COMMANDS
from agent_tui.tui.screens.choice import Choice, matching
from agent_tui.tui.screens.help import KEYS, help_rows
from agent_tui.tui.screens.output import text_of_file, wrapped
from tests.tui.chat import as_text


@pytest.mark.parametrize("width", [114, 74, 34])
def test_the_help_names_every_key_and_command_and_fits(width: int) -> None:
    page = as_text(help_rows(width))

    assert all(key in page for key, _, _ in KEYS)
    assert all(command.usage in page for command in COMMANDS)
    assert all(cell_len(line) <= width for line in page.splitlines())


def test_the_viewer_shows_everything_without_escape_sequences() -> None:
    rows = wrapped("plain\n\x1b[31mred\x1b[0m\x1b]0;title\x07\n\tx\n" + "東" * 6, 5)

    assert rows == ["plain", "red", "     ", "   x", "東東", "東東", "東東"]


def test_the_list_is_narrowed_by_words_in_any_order() -> None:
    choices = [Choice("openai/gpt", "272k window"), Choice("demo/tour", "offline")]

    assert matching(choices, "window open") == choices[:1]
    assert matching(choices, "") == choices
    assert matching(choices, "nothing") == []


def test_a_long_file_is_shown_from_near_its_end(tmp_path: Path) -> None:
    long, gone = tmp_path / "long.txt", tmp_path / "gone.txt"
    long.write_bytes(b"x" * 9_000_000 + b"END")

    text = text_of_file(long)

    assert text is not None
    assert text.startswith("[the last 8 of 9 MB")
    assert text.endswith("END")
    assert text_of_file(gone) is None
