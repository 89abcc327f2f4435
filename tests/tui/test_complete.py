"""Which commands and files are offered, and in which order."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from agent_tui.tui.complete import CommandHint, Completer, FileIndex, rank
from tests.tui.test_prompt_menu import HINTS


def make(root: Path, *names: str) -> None:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("")


def git(root: Path, *arguments: str) -> None:
    quiet = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    subprocess.run(["git", *arguments], cwd=root, check=True, capture_output=True, env=quiet)


async def labels(completer: Completer, text: str) -> list[str]:
    return [item.label for item in await completer(text, len(text))]


async def test_git_decides_what_is_ignored(tmp_path: Path) -> None:
    git(tmp_path, "init")
    make(tmp_path, "kept.py", "src/new.py", "build.log", "target/kept.bin", ".hidden")
    (tmp_path / ".gitignore").write_text("*.log\n")
    git(tmp_path, "add", "kept.py")
    make(tmp_path, "gone.py")
    git(tmp_path, "add", "gone.py")
    (tmp_path / "gone.py").unlink()

    found = await FileIndex(tmp_path).search("")

    assert set(found) == {
        "kept.py", "src/", "src/new.py", "target/", "target/kept.bin", ".gitignore", ".hidden",
    }  # fmt: skip


async def test_inside_of_a_repository_paths_are_those_of_the_folder(tmp_path: Path) -> None:
    git(tmp_path, "init")
    make(tmp_path, "top.py", "sub/inner.py")

    assert await FileIndex(tmp_path / "sub").search("") == ["inner.py"]


async def test_a_hook_of_the_repository_is_not_run(tmp_path: Path) -> None:
    git(tmp_path, "init")
    hook = tmp_path / "hook.sh"
    hook.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    hook.chmod(0o755)
    git(tmp_path, "config", "core.fsmonitor", str(hook))

    await FileIndex(tmp_path).search("")

    assert not (tmp_path / "ran").exists()


async def test_without_git_build_folders_and_hidden_ones_are_left_out(tmp_path: Path) -> None:
    make(tmp_path, "a.py", "sub/b.py", "node_modules/x.js", ".venv/y.py", "__pycache__/z.pyc")

    assert set(await FileIndex(tmp_path).search("")) == {"a.py", "sub/", "sub/b.py"}


async def test_a_name_with_a_control_character_is_not_offered(tmp_path: Path) -> None:
    git(tmp_path, "init")
    make(tmp_path, "good.py", "evil\x1b[31m.py", "two\nlines.py")

    assert await FileIndex(tmp_path).search("") == ["good.py"]


async def test_new_files_are_found_once_the_list_is_old(tmp_path: Path) -> None:
    now = 0.0
    index = FileIndex(tmp_path, clock=lambda: now)
    make(tmp_path, "first.py")
    assert await index.search("") == ["first.py"]

    make(tmp_path, "second.py")
    now = 10.0
    await index.search("")
    await index.settle()

    assert set(await index.search("")) == {"first.py", "second.py"}


@pytest.mark.parametrize(
    ("query", "best"),
    [
        pytest.param("app", "src/app.py", id="the name begins with it"),
        pytest.param("APP", "src/app.py", id="case counts not"),
        pytest.param("happ", "docs/happy.md", id="the name contains it"),
        pytest.param("src/a", "src/app.py", id="the path begins with it"),
        pytest.param("srcapp", "src/app.py", id="the letters in order"),
        pytest.param("tstapp", "tests/test_app.py", id="letters over folders"),
    ],
)
def test_the_best_match_comes_first(query: str, best: str) -> None:
    names = [
        "tests/test_app.py",
        "docs/happy.md",
        "src/other.py",
        "src/app.py",
        "src/application.py",
    ]

    assert rank(query, names, 10)[0] == best


def test_a_folder_that_begins_so_comes_before_one_that_ends_so() -> None:
    names = ["agent_tui/providers/", "agent_tui/tui/prompt.py"]

    assert rank("tui/pr", names, 10) == ["agent_tui/tui/prompt.py", "agent_tui/providers/"]


def test_what_does_not_match_is_left_out() -> None:
    assert rank("xyz", ["src/app.py", "zyx"], 10) == []


def test_marks_in_the_query_are_letters() -> None:
    assert rank("[a]^.", ["[a]^.py", "plain.py"], 10) == ["[a]^.py"]


def test_the_best_of_very_many_names_comes_first() -> None:
    names = [f"package_{n % 97}/module_{n % 1009}/file_{n}.py" for n in range(50_000)]

    found = rank("file_49999", names, 50)

    assert found == ["package_44/module_558/file_49999.py"]


async def test_commands_are_offered_by_their_names(tmp_path: Path) -> None:
    completer = Completer(tmp_path, lambda: HINTS)

    assert await labels(completer, "/") == ["/help", "/model", "/quit"]
    assert await labels(completer, "/mo") == ["/model"]
    assert await labels(completer, "/model ") == ["demo/tour", "x/y"]
    assert await labels(completer, "/model to") == ["demo/tour"]
    assert await labels(completer, "/help x") == []


@pytest.mark.parametrize("text", ["/usr/bin", "say /help", "a@b.c", "two\n/help", "/help\n", ""])
async def test_nothing_is_offered_where_nothing_begins(text: str, tmp_path: Path) -> None:
    make(tmp_path, "b.c")

    assert await labels(Completer(tmp_path, lambda: HINTS), text) == []


async def test_a_choice_says_what_it_replaces(tmp_path: Path) -> None:
    make(tmp_path, "my file.py")
    completer = Completer(tmp_path, lambda: [CommandHint("x", "y")])

    (item,) = await completer('see @"my', 8)

    assert (item.start, item.end, item.insert, item.sends) == (4, 8, '@"my file.py" ', False)
