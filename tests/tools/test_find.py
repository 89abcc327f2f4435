from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from agent_tui.core.tool import Tool
from tests.tools.calls import named, run


@pytest.fixture
def find(tmp_path: Path) -> Tool:
    for path in ("src/app.py", "src/deep/test_app.py", "readme.md", "node_modules/x/index.py"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).touch()
    return named("find", tmp_path)


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("*.py", "src/app.py\nsrc/deep/test_app.py"),
        ("src/*.py", "src/app.py"),
        ("src/**/*.py", "src/app.py\nsrc/deep/test_app.py"),
        ("**/test_*", "src/deep/test_app.py"),
        ("deep", "src/deep/"),
        ("*.{md,txt}", "readme.md"),
        ("[a-r]*.??", "readme.md\nsrc/app.py"),
        ("nothing", "Nothing found."),
        ("../*", "Nothing found."),
    ],
)
async def test_a_pattern_finds(find: Tool, pattern: str, found: str) -> None:
    result = await run(find, pattern=pattern)

    assert not result.is_error
    assert result.text == found


async def test_paths_start_at_the_working_directory(find: Tool) -> None:
    result = await run(find, pattern="*.py", path="src/deep")

    assert result.text == "src/deep/test_app.py"
    assert result.details == {"path": "src/deep", "found": 1}


async def test_a_folder_outside_is_shown_with_its_whole_path(
    find: Tool, tmp_path_factory: pytest.TempPathFactory
) -> None:
    outside = tmp_path_factory.mktemp("outside")
    (outside / "a.py").touch()

    result = await run(find, pattern="*.py", path=str(outside))

    assert result.text == f"{outside}/a.py"


async def test_a_folder_that_programs_fill_is_searched_when_named(find: Tool) -> None:
    result = await run(find, pattern="*.py", path="node_modules")

    assert result.text == "node_modules/x/index.py"


async def test_git_says_what_is_worth_finding(find: Tool, tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    (tmp_path / ".gitignore").write_text("deep\nnode_modules\n")
    subprocess.run(["git", "-C", tmp_path, "add", "readme.md"], check=True)
    (tmp_path / "readme.md").unlink()

    result = await run(find, pattern="*")

    assert result.text == ".gitignore\nsrc/\nsrc/app.py"


async def test_repositories_within_are_looked_into(find: Tool, tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    subprocess.run(["git", "init", "-q", tmp_path / "src/deep"], check=True)

    result = await run(find, pattern="test_*")

    assert result.text == "src/deep/test_app.py"


async def test_a_repository_cannot_name_a_program_to_run(find: Tool, tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    hook = tmp_path / ".git/hook"
    hook.write_text(f"#!/bin/sh\ntouch {tmp_path}/pwned\n")
    hook.chmod(0o755)
    subprocess.run(["git", "-C", tmp_path, "config", "core.fsmonitor", hook], check=True)

    result = await run(find, pattern="pwned")

    assert result.text == "Nothing found."
    assert not (tmp_path / "pwned").exists()


async def test_many_results_are_cut_and_said(find: Tool, tmp_path: Path) -> None:
    (tmp_path / "many").mkdir()
    for number in range(1001):
        (tmp_path / f"many/{number:04}").touch()

    result = await run(find, pattern="many/*")

    assert result.text.endswith(
        "many/0999\n\n[The first 1000 results; there are more, narrow the search]"
    )


async def test_a_newline_in_a_name_is_not_another_result(find: Tool, tmp_path: Path) -> None:
    (tmp_path / "two\nlines").touch()

    result = await run(find, pattern="two*")

    assert result.text == r"'two\nlines'"


async def test_a_name_that_is_no_utf8_is_found(find: Tool, tmp_path: Path) -> None:
    os.close(os.open(os.fsencode(tmp_path) + b"/caf\xe9", os.O_CREAT | os.O_WRONLY))

    result = await run(find, pattern="caf*")

    assert result.text.encode()


@pytest.mark.parametrize(
    ("path", "sentence"),
    [
        ("readme.md", "readme.md is not a directory."),
        ("sr", "sr does not exist. There is src."),
    ],
)
async def test_only_directories_are_searched(find: Tool, path: str, sentence: str) -> None:
    result = await run(find, pattern="*", path=path)

    assert result.is_error
    assert result.text == sentence


async def test_a_pattern_with_endless_alternatives_is_refused(find: Tool) -> None:
    result = await run(find, pattern="{a,b}" * 10)

    assert result.is_error
    assert result.text == "The pattern has more than 64 alternatives."
