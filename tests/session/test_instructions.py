"""Instruction files: which, in what order, how much of them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from agent_tui.session.instructions import ALL_BYTES, FILE_BYTES, Instructions, find_instructions


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "config").mkdir()
    (tmp_path / "repo" / ".git").mkdir(parents=True)
    (tmp_path / "repo" / "a" / "b").mkdir(parents=True)
    return tmp_path


def put(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def found(home: Path, cwd: str = "repo/a/b") -> Instructions:
    return find_instructions(home / cwd, home / "config", home)


def test_the_users_comes_first_then_from_the_root_down(home: Path) -> None:
    put(home / "AGENTS.md", "above the repository")
    put(home / "config" / "AGENTS.md", "user")
    put(home / "repo" / "AGENTS.md", "root")
    put(home / "repo" / "a" / "b" / "AGENTS.md", "here\n")

    files = found(home).files

    assert [file.text for file in files] == ["user", "root", "here"]
    assert files[1].path == home / "repo" / "AGENTS.md"
    assert files[0].tokens == 1


def test_without_a_repository_it_looks_up_to_the_home_folder(home: Path) -> None:
    (home / "work" / "x").mkdir(parents=True)
    put(home / "AGENTS.md", "home")
    put(home / "work" / "AGENTS.md", "work")

    assert [file.text for file in found(home, "work/x").files] == ["home", "work"]


def test_outside_of_home_only_the_folder_itself_counts(home: Path, tmp_path: Path) -> None:
    (home / "work" / "x").mkdir(parents=True)
    put(home / "work" / "AGENTS.md", "work")
    put(home / "work" / "x" / "AGENTS.md", "x")

    files = find_instructions(home / "work" / "x", home / "config", home / "elsewhere").files

    assert [file.text for file in files] == ["x"]


def test_a_folder_without_agents_may_have_claude(home: Path) -> None:
    put(home / "repo" / "CLAUDE.md", "root")
    put(home / "repo" / "a" / "AGENTS.md", "a")
    put(home / "repo" / "a" / "CLAUDE.md", "not this")
    put(home / "config" / "CLAUDE.md", "nor this")

    assert [file.text for file in found(home).files] == ["root", "a"]


def test_a_long_file_is_cut_at_a_line_and_that_is_said(home: Path) -> None:
    put(home / "repo" / "AGENTS.md", "line\n" * 10_000)

    result = found(home)

    assert len(result.files[0].text) <= FILE_BYTES
    assert result.files[0].text.endswith("line")
    assert "only the first 32.0 KiB of 48.8 KiB" in result.notices[0]


def test_the_nearest_files_are_kept_when_there_is_too_much(home: Path) -> None:
    deep = home / "repo"
    for name in "abcdef":
        deep = deep / name
        deep.mkdir(exist_ok=True)
        put(deep / "AGENTS.md", name * (FILE_BYTES - 1))

    result = find_instructions(deep, home / "config", home)

    assert [file.text[0] for file in result.files][-3:] == ["d", "e", "f"]
    assert sum(len(file.text) for file in result.files) <= ALL_BYTES
    assert any("is left out" in notice or "only the first" in notice for notice in result.notices)


def test_a_link_that_leads_out_is_not_followed(home: Path) -> None:
    secret = put(home / "secret", "the key")
    (home / "repo" / "AGENTS.md").symlink_to(secret)

    result = found(home)

    assert result.files == []
    assert "outside" in result.notices[0]


def test_a_link_to_credentials_is_not_followed(home: Path) -> None:
    put(home / "repo" / ".env", "KEY=1")
    (home / "repo" / "AGENTS.md").symlink_to(".env")

    result = found(home)

    assert result.files == []
    assert "credentials" in result.notices[0]


def test_a_link_to_a_file_that_is_used_already_is_not_used_twice(home: Path) -> None:
    put(home / "repo" / "AGENTS.md", "root")
    (home / "repo" / "a" / "AGENTS.md").symlink_to("../AGENTS.md")

    assert len(found(home).files) == 1


def test_a_pipe_is_not_waited_for(home: Path) -> None:
    os.mkfifo(home / "repo" / "AGENTS.md")

    result = found(home)

    assert result.files == []
    assert "no regular file" in result.notices[0]


def test_bytes_that_are_no_text_are_replaced(home: Path) -> None:
    (home / "repo" / "AGENTS.md").write_bytes(b"\xef\xbb\xbfa\xff\r\nb\0")

    assert found(home).files[0].text == "a\ufffd\nb\ufffd"


def test_an_empty_file_is_nothing(home: Path) -> None:
    put(home / "repo" / "AGENTS.md", " \n")

    assert (found(home).files, found(home).notices) == ([], [])
