"""Where the visible characters of a line begin and end."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_tui.tui import graphemes


@pytest.mark.parametrize(
    ("line", "stops"),
    [
        pytest.param("", (0,), id="nothing"),
        pytest.param("abc", (0, 1, 2, 3), id="plain letters"),
        pytest.param("e\u0301x", (0, 2, 3), id="an accent belongs to its letter"),
        pytest.param("a👨‍👩‍👧b", (0, 1, 6, 7), id="a joined family is one"),
        pytest.param("👍🏽!", (0, 2, 3), id="a skin tone belongs to the hand"),
        pytest.param("👨\u200db", (0, 2, 3), id="a joiner does not join a letter"),
        pytest.param("❤️‍🔥", (0, 4), id="a heart on fire is one"),
        pytest.param("🇩🇪🇫🇷", (0, 2, 4), id="flags are pairs"),
        pytest.param("x〽️y", (0, 1, 3, 4), id="a variation selector is part"),
        pytest.param("1️⃣", (0, 3), id="a keycap is one"),
        pytest.param("日本", (0, 1, 2), id="wide characters are one each"),
        pytest.param("\u1112\u1161\u11ab", (0, 3), id="a syllable of three letters is one"),
    ],
)
def test_the_cursor_may_stand_only_between_visible_characters(
    line: str, stops: tuple[int, ...]
) -> None:
    assert graphemes.boundaries(line) == stops


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"])))
def test_boundaries_cover_any_line_in_order(line: str) -> None:
    stops = graphemes.boundaries(line)

    assert stops[0] == 0
    assert stops[-1] == len(line)
    assert list(stops) == sorted(set(stops))


def test_neighbours_of_a_column_stay_inside_the_line() -> None:
    stops = graphemes.boundaries("a👨‍👩‍👧b")

    assert [graphemes.before(stops, column) for column in (0, 1, 6, 7)] == [0, 0, 1, 6]
    assert [graphemes.after(stops, column) for column in (0, 1, 6, 7)] == [1, 6, 7, 7]
    assert graphemes.at_or_before(stops, 3) == 1
    assert graphemes.at_or_after(stops, 3) == 6
