"""The pages for users name what exists, and all of it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from agent_tui.tui.commands import COMMANDS, Command, find

DOCS = Path(__file__).parent.parent / "docs"


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_the_page_of_keys_has_every_command(command: Command) -> None:
    assert f"`/{command.name}" in (DOCS / "keys.md").read_text("utf-8")


@pytest.mark.parametrize("page", ["keys.md", "tour.md"])
def test_the_pages_name_only_commands_that_exist(page: str) -> None:
    named = set(re.findall(r"`/([a-z-]+)", (DOCS / page).read_text("utf-8")))

    assert named
    assert [name for name in named if find(name) is None] == []
