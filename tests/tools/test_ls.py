from __future__ import annotations

import os
from pathlib import Path

import pytest

from agent_tui.core.tool import Tool
from tests.tools.calls import named, run


@pytest.fixture
def ls(tmp_path: Path) -> Tool:
    return named("ls", tmp_path)


async def test_entries_say_what_they_are(ls: Tool, tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / ".hidden").touch()
    (tmp_path / "Readme").write_bytes(bytes(3_500))
    (tmp_path / "link").symlink_to("/elsewhere")
    os.mkfifo(tmp_path / "pipe")

    result = await run(ls)

    assert result.text == (
        ".hidden  0 bytes\nlink -> /elsewhere\npipe  (named pipe)\nReadme  3.4 KiB\nsrc/"
    )
    assert result.details == {"path": ".", "entries": 5}


async def test_an_empty_directory_has_words(ls: Tool, tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()

    result = await run(ls, path="src")

    assert result.text == "src is empty."


async def test_many_entries_are_cut_and_said(ls: Tool, tmp_path: Path) -> None:
    for number in range(1001):
        (tmp_path / f"{number:04}").touch()

    result = await run(ls)

    assert result.text.endswith("[The first 1000 of 1001 entries; use find to search]")


async def test_a_newline_in_a_name_is_not_another_entry(ls: Tool, tmp_path: Path) -> None:
    (tmp_path / "two\nlines").touch()

    result = await run(ls)

    assert result.text == r"'two\nlines'  0 bytes"


@pytest.mark.parametrize(
    ("path", "sentence"),
    [
        ("file", "file is a file, not a directory."),
        ("fil", "fil does not exist. There is file."),
    ],
)
async def test_what_is_no_directory_is_told(
    ls: Tool, tmp_path: Path, path: str, sentence: str
) -> None:
    (tmp_path / "file").touch()

    result = await run(ls, path=path)

    assert result.is_error
    assert result.text == sentence
