"""Untrusted text becomes harmless."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_tui.core.text import one_line, printable, with_colours_only, without_surrogates

PIECES = st.sampled_from(
    [
        "\x1b", "[", "]", "0", ";", "m", "31m", "\x1b[0m", "\x1b]8;;", "\x07", "\\", "P", "_", "X",
        "\x9b", "\x9d", "\x9c", "\x90", "\r", "\n", "\t", "\b", "\0", "a", "é", "👋", "\ud800",
        "\x1b[2J", "\x1b[?1049h", "\x7f", "\u2028", "$", "(", "c",
    ]
)  # fmt: skip
NASTY = st.one_of(st.text(max_size=40), st.lists(PIECES, max_size=14).map("".join))


@given(NASTY)
def test_printable_text_has_no_control_characters(text: str) -> None:
    shown = printable(text)

    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]", shown)
    assert printable(shown) == shown


@given(NASTY)
def test_coloured_text_has_no_sequences_but_colours(text: str) -> None:
    kept = with_colours_only(text)
    rest = re.sub(r"\x1b\[[\d;:]*m", "", kept)

    assert not re.search(r"[\x00-\x07\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]", rest)
    assert with_colours_only(kept) == kept


@given(st.text(st.characters(exclude_categories=["Cc", "Cs"]), max_size=40))
def test_plain_text_stays_as_it_is(text: str) -> None:
    assert printable(text) == text
    assert with_colours_only(text) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\nb\tc", "a\nb\tc"),
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b[2J\x1b[Hgone", "gone"),
        ("\x1b]0;title\x07x", "x"),
        ("\x1b]0;title\x1b\\x", "x"),
        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1b]52;c;c2VjcmV0\x07", ""),
        ("\x1bPq#0\x1b\\x", "x"),
        ("\x1b_Gdata\x1b\\x", "x"),
        ("\x9b31mred", "red"),
        ("\x9d0;title\x9cx", "x"),
        ("\x1b(0lqk\x1b(B", "lqk"),
        ("\x1bcreset", "reset"),
        ("50%\r100%", "50%100%"),
        ("bell\x07", "bell"),
        ("a\x7fb\x00c", "abc"),
        ("unfinished \x1b[", "unfinished "),
        ("unfinished \x1b]0;tit", "unfinished "),
        ("\ud83d", "\ufffd"),
    ],
)
def test_sequences_are_removed(text: str, shown: str) -> None:
    assert printable(text) == shown


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("\x1b[1;31mred\x1b[0m", "\x1b[1;31mred\x1b[0m"),
        ("\x1b[38:2::255:0:0mx", "\x1b[38:2::255:0:0mx"),
        ("\x1b[mx", "\x1b[mx"),
        ("\x9b31mred", "\x1b[31mred"),
        ("\x1b[2K50%\r100%", "50%\r100%"),
        ("a\b b", "a\b b"),
        ("\x1b[?25lx", "x"),
        ("\x1b[>4;1mx", "x"),
        ("\x1b]0;title\x07x", "x"),
    ],
)
def test_colours_stay_for_who_can_read_them(text: str, kept: str) -> None:
    assert with_colours_only(text) == kept


def test_text_with_lone_surrogates_can_be_encoded() -> None:
    assert without_surrogates("a\ud800b\udfff").encode() == "a\ufffdb\ufffd".encode()
    assert without_surrogates("👋") == "👋"


def test_white_space_is_joined_for_one_line_and_a_cut_is_marked() -> None:
    assert one_line("a\n  b\tc", 10) == "a b c"
    assert one_line("word " * 20, 10) == "word word…"
