"""Where text breaks."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len, get_character_cell_size

from agent_tui.tui.wrap import clip, clip_start, expand_tabs, is_narrow, width_of, wrap

SIGNS = ("a", "b", " ", "  ", "é", "e\u0301", "東", "👩‍💻", "❤️", "🇳🇴", "…", "ไ", "-")
TEXT = st.lists(st.sampled_from(SIGNS), max_size=50).map("".join)


@given(TEXT, st.integers(1, 20), st.booleans())
def test_no_character_gets_lost_and_no_row_is_too_wide(text: str, width: int, words: bool) -> None:
    parts = wrap(text, width, words=words)

    together = "".join(text[part.start : part.end] + part.joint for part in parts)
    assert together.rstrip() == text.rstrip()
    assert all(cell_len(text[part.start : part.end].rstrip()) <= max(2, width) for part in parts)


@given(st.text(max_size=60))
def test_the_width_is_that_of_the_terminal(text: str) -> None:
    printable = "".join(character for character in text if character.isprintable())

    assert width_of(printable) == cell_len(printable)


def test_characters_taken_for_narrow_are_one_cell_wide() -> None:
    narrow = [chr(code) for code in range(0x20, 0x3000) if is_narrow(chr(code))]

    assert {get_character_cell_size(character) for character in narrow} == {1}
    assert len(narrow) > 1_500


@pytest.mark.parametrize(
    ("text", "width", "rows"),
    [
        pytest.param("one two three", 7, ["one two", "three"], id="at blanks"),
        pytest.param("one   two", 4, ["one", "two"], id="several blanks"),
        pytest.param("a abcdefgh", 4, ["a", "abcd", "efgh"], id="a long word"),
        pytest.param("  indented text", 10, ["  indented", "text"], id="indentation stays"),
        pytest.param("東京は広い", 4, ["東京", "は広", "い"], id="wide characters"),
        pytest.param("👩‍💻👩‍💻", 3, ["👩‍💻", "👩‍💻"], id="joined emoji stay whole"),
        pytest.param("", 4, [""], id="nothing"),
    ],
)
def test_rows(text: str, width: int, rows: list[str]) -> None:
    parts = wrap(text, width)

    assert [text[part.start : part.end].rstrip() for part in parts] == rows


def test_code_breaks_at_the_edge_and_keeps_its_blanks() -> None:
    parts = wrap("ab  cd  ef", 4, words=False)

    assert ["ab  cd  ef"[part.start : part.end] for part in parts] == ["ab  ", "cd  ", "ef"]


@given(TEXT, st.integers(0, 12))
def test_a_clipped_text_fits_and_shows_that_it_was_cut(text: str, width: int) -> None:
    for cut in (clip(text, width), clip_start(text, width)):
        assert cell_len(cut) <= width or cut == text
        assert cut == text or "…" in cut or width < 1


def test_of_a_path_the_end_is_kept() -> None:
    assert clip_start("src/package/module.py", 12) == "…e/module.py"


def test_tabs_reach_the_next_stop_from_where_the_text_stands() -> None:
    assert expand_tabs("a\tb", 4) == "a   b"
    assert expand_tabs("東\tb", 4) == "東  b"
    assert expand_tabs("\tb", 4, column=3) == " b"
    assert re.sub(" ", "", expand_tabs("\t\t\t", 8)) == ""
