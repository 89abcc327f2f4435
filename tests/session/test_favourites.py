"""Marked models survive the program, and a damaged file does not harm it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from agent_tui.session.favourites import Favourites


def test_marks_are_there_at_the_next_start_in_their_order(tmp_path: Path) -> None:
    file = tmp_path / "deep" / "favourites.json"

    assert Favourites(file).toggle("b/m")
    assert Favourites(file).toggle("a/m")

    assert Favourites(file).keys() == ["b/m", "a/m"]
    assert [path.name for path in file.parent.iterdir()] == ["favourites.json"]


def test_marking_twice_unmarks(tmp_path: Path) -> None:
    favourites = Favourites(tmp_path / "f.json")
    favourites.toggle("a/m")

    assert not favourites.toggle("a/m")
    assert favourites.keys() == []


@pytest.mark.parametrize("content", ["", "{}", "[1, null]", "nonsense", "\udcff"])
def test_a_damaged_file_has_no_marks(tmp_path: Path, content: str) -> None:
    file = tmp_path / "f.json"
    file.write_text(content, errors="surrogateescape")

    assert Favourites(file).keys() == []


@pytest.mark.skipif(sys.platform == "win32", reason="folders are files of another kind there")
def test_where_nothing_can_be_written_nothing_is_marked(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    assert not Favourites(tmp_path / "file" / "f.json").toggle("a/m")
