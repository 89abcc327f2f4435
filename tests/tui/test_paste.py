"""Pasted text: made harmless, and folded when it is long."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_tui.tui.paste import Chips, clean


@pytest.mark.parametrize(
    ("pasted", "cleaned"),
    [
        pytest.param("a\r\nb\rc\nd", "a\nb\nc\nd", id="every newline is the same"),
        pytest.param("a\u2028b\u2029c\x85d", "a\nb\nc\nd", id="rare newlines too"),
        pytest.param("tab\there", "tab\there", id="tabs stay"),
        pytest.param("n\x00u\x07l\x7f", "nul", id="controls go"),
        pytest.param("\x1b[31mred\x1b[0m", "red", id="colours go"),
        pytest.param("x\x1b]0;title\x07y", "xy", id="titles go with their text"),
        pytest.param("x\x9b31my", "xy", id="one-byte sequences go"),
        pytest.param("x\x1b]52;c;AAAA\nnext line", "x\nnext line", id="open ends at its line"),
        pytest.param("half \ud83d", "half \ufffd", id="half characters are marked"),
        pytest.param("日本 e\u0301 👨‍👩‍👧", "日本 e\u0301 👨‍👩‍👧", id="joined characters stay"),
    ],
)
def test_a_paste_keeps_its_text_and_loses_what_could_steer(pasted: str, cleaned: str) -> None:
    assert clean(pasted) == cleaned


@given(st.text())
def test_nothing_but_tab_and_newline_is_left_to_steer(pasted: str) -> None:
    cleaned = clean(pasted)

    assert cleaned.encode().decode() == cleaned
    assert not {c for c in cleaned if ord(c) < 32 or 127 <= ord(c) < 160} - {"\t", "\n"}
    assert clean(cleaned) == cleaned


@pytest.mark.parametrize(
    ("text", "label"),
    [
        pytest.param("x\n" * 11, "[paste #1 · 11 lines]", id="eleven lines"),
        pytest.param("x\n" * 1316, "[paste #1 · 1,316 lines]", id="many lines"),
        pytest.param("x" * 2001, "[paste #1 · 2,001 characters]", id="one long line"),
    ],
)
def test_a_long_paste_folds_into_a_chip_that_says_how_long(text: str, label: str) -> None:
    assert Chips().fold_if_long(text) == label


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("x\n" * 10, id="ten lines"),
        pytest.param("x" * 2000, id="two thousand characters"),
    ],
)
def test_a_short_paste_stays_text(text: str) -> None:
    assert Chips().fold_if_long(text) == text


def test_chips_expand_where_they_stand_and_nowhere_else() -> None:
    chips = Chips()
    first = chips.fold("one\n" * 20 + "[paste #2 · 20 lines]")
    second = chips.fold("two\n" * 20)

    text = f"a {second} b {first} [paste #9 · 3 lines]"

    assert chips.expand(text) == (
        "a " + "two\n" * 20 + " b " + "one\n" * 20 + "[paste #2 · 20 lines] [paste #9 · 3 lines]"
    )


def test_a_chip_is_found_in_its_line() -> None:
    chips = Chips()
    label = chips.fold("x\n" * 20)

    assert chips.spans(f"see {label}!") == [(4, 4 + len(label))]
    assert chips.text_of(label) == "x\n" * 20
    assert Chips().spans(f"see {label}!") == []
