"""Lists of hosted servers on disk: a day fresh, and harmless when damaged."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_tui.config import Folders
from agent_tui.core.model import Model
from agent_tui.session.saved_lists import FRESH_SECONDS, SavedLists

MODEL = Model("groq", "a/b", name="B", context_window=9, reasoning=True)


def lists(tmp_path: Path, time: float = 1e9) -> SavedLists:
    return SavedLists(Folders(tmp_path, tmp_path), lambda: time)


def test_what_was_kept_is_there_at_the_next_start(tmp_path: Path) -> None:
    lists(tmp_path).put("groq", [MODEL])

    again = lists(tmp_path)

    assert again.facts("groq/a/b") == {"name": "B", "context_window": 9, "reasoning": True}
    assert list(again.named()) == ["groq/a/b"]
    assert again.facts("groq/other") is None
    assert again.facts("xai/a/b") is None


def test_a_list_is_fresh_for_a_day(tmp_path: Path) -> None:
    lists(tmp_path).put("groq", [MODEL])

    assert lists(tmp_path, 1e9 + FRESH_SECONDS - 1).is_fresh("groq")
    assert not lists(tmp_path, 1e9 + FRESH_SECONDS).is_fresh("groq")
    assert not lists(tmp_path).is_fresh("xai")


@pytest.mark.parametrize(
    "content",
    ["", "[]", '{"m": 7}', '{"m": {"context_window": "9", "reasoning": 1, "cost": {}}}'],
)
def test_a_damaged_list_says_nothing_wrong(tmp_path: Path, content: str) -> None:
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "groq.json").write_text(content)

    assert lists(tmp_path).facts("groq/m") in (None, {})


def test_a_name_cannot_lead_out_of_the_folder(tmp_path: Path) -> None:
    (tmp_path / "outside.json").write_text('{"m": {}}')
    (tmp_path / "models").mkdir()

    assert lists(tmp_path).facts("../outside/m") is None


def test_where_nothing_can_be_written_nothing_is_kept(tmp_path: Path) -> None:
    (tmp_path / "models").touch()

    lists(tmp_path).put("groq", [MODEL])

    assert lists(tmp_path).facts("groq/a/b") is None
