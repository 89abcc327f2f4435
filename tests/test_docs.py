"""The pages for users name what exists, and all of it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from agent_tui.config import Flags, load_settings
from agent_tui.session.usercode import load_tools
from agent_tui.tui.commands import COMMANDS, Command, find
from tests.tui.pty_program import running

DOCS = Path(__file__).parent.parent / "docs"


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_the_page_of_keys_has_every_command(command: Command) -> None:
    assert f"`/{command.name}" in (DOCS / "keys.md").read_text("utf-8")


@pytest.mark.parametrize("page", ["keys.md", "tour.md"])
def test_the_pages_name_only_commands_that_exist(page: str) -> None:
    named = set(re.findall(r"`/([a-z-]+)", (DOCS / page).read_text("utf-8")))

    assert named
    assert [name for name in named if find(name) is None] == []


def blocks(page: Path) -> list[str]:
    """The Python of a page."""
    return re.findall(r"```python\n(.*?)```", page.read_text("utf-8"), re.S)


@pytest.mark.parametrize("page", ["README.md", "docs/library.md"])
def test_the_five_lines_open_a_chat(page: str, tmp_path: Path) -> None:
    script = tmp_path / "five.py"
    script.write_text(blocks(DOCS.parent / page)[0])

    with running(str(script)) as program:
        program.wait_for(b"ctrl+d quit")
        program.send(b"\x04")
        program.wait()


def test_the_example_of_a_tool_is_one(tmp_path: Path) -> None:
    path = tmp_path / "mytools.py"
    path.write_text(blocks(DOCS / "own-tools.md")[0])

    [deploy] = load_tools(path)

    assert deploy.description == "Bring a version to a server."
    assert deploy.schema["properties"]["version"]["description"] == "like 1.2.3"


def test_the_example_of_hooks_can_be_read(tmp_path: Path) -> None:
    [example] = re.findall(r"```toml\n(.*?)```", (DOCS / "own-tools.md").read_text("utf-8"), re.S)
    (tmp_path / "config.toml").write_text(example)

    settings = load_settings(Flags(), {"AGENT_TUI_HOME": str(tmp_path)}, tmp_path)

    assert settings.problems == ()
    assert [hook.event for hook in settings.hooks] == ["before_tool", "after_tool", "turn_end"]
