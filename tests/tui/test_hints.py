"""The hint line and the header: what the keys do right now, and where the chat is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agent_tui.tui.hints import Heading, Situation, git_branch, header_line, hint_line, short_folder

HEADING = Heading("fix the tests", "~/code/project", "main", "qwen-3", "high", "ask")


def hint(width: int = 120, **situation: Any) -> str:
    line = hint_line(Situation(**situation), width)
    return "".join(text for text, _ in line)


def test_while_a_turn_runs_the_three_ways_of_sending_are_named() -> None:
    assert hint(running=True).startswith(
        "enter steer · alt+enter follow up · ctrl+s stop and send · esc stop"
    )


@pytest.mark.parametrize(
    ("situation", "begins"),
    [
        ({}, "enter send"),
        ({"has_draft": True}, "enter send"),
        ({"running": True, "stopping": True}, "enter sends once stopped · ctrl+c kill"),
        ({"pending": 2}, "enter sends the pending"),
        ({"can_continue": True}, "enter goes on"),
        ({"place": "strip"}, "alt+↑↓ select"),
        ({"place": "editor"}, "enter stores"),
        ({"place": "cursor"}, "ctrl+↑↓ move"),
        ({"place": "chord"}, "s stop after this step"),
    ],
)
def test_the_line_says_what_enter_does_now(situation: dict[str, Any], begins: str) -> None:
    assert hint(**situation).startswith(begins)


def test_on_forty_columns_stopping_and_steering_stay() -> None:
    assert hint(40, running=True) == "enter steer · esc stop"


def test_output_below_the_view_is_announced_first() -> None:
    assert hint(unseen=True).startswith("↓ new output below (end)")


def test_the_header_fills_the_width_and_keeps_the_model() -> None:
    wide = "".join(text for text, _ in header_line(HEADING, 80))
    narrow = "".join(text for text, _ in header_line(HEADING, 24))

    assert len(wide) == 78
    assert wide.startswith("fix the tests · ~/code/project (main)")
    assert wide.endswith("qwen-3 · thinking high · ask")
    assert "qwen-3" in narrow


def test_full_auto_is_a_warning() -> None:
    line = header_line(Heading("t", "~", None, "m", "off", "full-auto"), 80)

    assert line[-1] == ("full-auto", "warning")


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ("/home/me", "~"),
        ("/home/me/code", "~/code"),
        ("/home/me/a/b/c/d", "~/…/c/d"),
        ("/srv", "/srv"),
        ("/srv/a/b/c", "…/b/c"),
    ],
)
def test_a_folder_is_shown_short(path: str, shown: str) -> None:
    assert short_folder(Path(path), Path("/home/me")) == shown


def test_the_branch_is_read_from_git(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "HEAD").write_text("ref: refs/heads/feature/x\n")
    (tmp_path / "deep").mkdir()

    assert git_branch(tmp_path / "deep") == "feature/x"


def test_a_detached_head_and_a_worktree_are_understood(tmp_path: Path) -> None:
    git, tree = tmp_path / "git", tmp_path / "tree"
    git.mkdir()
    tree.mkdir()
    (git / "HEAD").write_text("0123456789abcdef\n")
    (tree / ".git").write_text(f"gitdir: {git}\n")

    assert git_branch(tree) == "01234567"


def test_a_folder_without_git_has_no_branch(tmp_path: Path) -> None:
    assert git_branch(tmp_path) is None
