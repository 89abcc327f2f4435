"""What programs print, made showable."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.color import Color
from textual.style import Style

from agent_tui.tui.ansi import LONGEST_LINE, carried_by, decode, plain_line
from agent_tui.tui.canvas import PLAIN
from tests.tui.drawing import case

PIECES = st.sampled_from(
    ["\x1b[", "31", ";", "m", "38;5;", "38;2;", "48:2::", ":", "999999999999", "\x1b[0m", "\r",
     "\b", "\t", "a", "東", "\x1b]0;t\x07", "\x1b[2K", "\x9b1m", "\ud800", "\x1bP", "\x00"]
)  # fmt: skip


def shown(line: str, carried: Style = PLAIN) -> str:
    return "".join(run.text for run in decode(line, carried).runs)


def lines_of(output: str) -> list[str]:
    return [text for line in output.split("\n") if (text := shown(line).rstrip())]


@given(st.lists(PIECES, max_size=20).map("".join))
def test_nothing_but_printable_text_comes_out(line: str) -> None:
    assert shown(line).isprintable()


def test_colours_are_kept_and_their_codes_are_not_shown() -> None:
    runs = decode(case("sgr-colours.ansi").rstrip("\n")).runs

    assert [(run.text, run.style) for run in runs] == [
        ("error", Style(foreground=Color(0, 0, 0, ansi=1), bold=True)),
        (": ", PLAIN),
        ("warn", Style(foreground=Color(255, 135, 0))),
        (" ", PLAIN),
        ("curly", Style(underline=True)),
        (" plain", PLAIN),
    ]


@pytest.mark.parametrize(
    ("codes", "style"),
    [
        pytest.param("1;2;3", Style(bold=True, dim=True, italic=True), id="several at once"),
        pytest.param("1;22", Style(bold=False, dim=False), id="taken back"),
        pytest.param("31;0", PLAIN, id="reset"),
        pytest.param("31;39", PLAIN, id="default colour"),
        pytest.param("41;49", PLAIN, id="default background"),
        pytest.param("92", Style(foreground=Color(0, 0, 0, ansi=10)), id="bright"),
        pytest.param("104", Style(background=Color(0, 0, 0, ansi=12)), id="bright background"),
        pytest.param("38;5;3", Style(foreground=Color(0, 0, 0, ansi=3)), id="one of 16"),
        pytest.param("38;2;1;2;3;1", Style(foreground=Color(1, 2, 3), bold=True), id="and more"),
        pytest.param("38:2::1:2:3", Style(foreground=Color(1, 2, 3)), id="true colour with colons"),
        pytest.param("48;2;300;2;3", Style(background=Color(255, 2, 3)), id="too large a value"),
        pytest.param("4:0", Style(underline=False, underline2=False), id="no underline"),
        pytest.param("5", PLAIN, id="nothing blinks"),
        pytest.param("8", PLAIN, id="nothing hides"),
        pytest.param("38;5", PLAIN, id="colour without a number"),
        pytest.param("38;5;900", PLAIN, id="colour that does not exist"),
        pytest.param("38", PLAIN, id="half a colour"),
        pytest.param("9" * 3_000, PLAIN, id="an endless number"),
    ],
)  # fmt: skip
def test_colour_codes_mean_what_terminals_mean(codes: str, style: Style) -> None:
    assert decode(f"\x1b[{codes}mx").carried == style


def test_a_colour_goes_on_in_the_next_line() -> None:
    first = decode("\x1b[31mred")
    second = decode("still\x1b[0m plain", first.carried)

    assert second.runs[0].style == first.runs[0].style
    assert (second.runs[1].text, second.runs[1].style) == (" plain", PLAIN)


@pytest.mark.parametrize(
    ("text", "style"),
    [
        ("plain\n", PLAIN),
        ("\x1b[1mbold\n", Style(bold=True)),
        ("\x1b[1mbold\x1b[m\n", PLAIN),
        ("\x1b[1m\x1b[0m\x1b[3mitalic\n", Style(italic=True)),
    ],
)
def test_what_is_above_decides_how_a_line_begins(text: str, style: Style) -> None:
    assert carried_by(text) == style


def test_progress_is_shown_in_its_last_state() -> None:
    assert lines_of(case("progress-carriage-returns.ansi")) == [
        "Enumerating objects: 5, done.",
        "Counting objects: 100% (5/5), done.",
        "Writing: 100%",
        "Total 3",
    ]


def test_terminal_commands_are_dropped() -> None:
    text = [" ".join(line.split()) for line in lines_of(case("osc-and-friends.ansi"))]

    assert text == ["before A B click me C D E FGH"]


@pytest.mark.parametrize(
    ("line", "text"),
    [
        pytest.param("50%\r100%\r", "100%", id="return at the end"),
        pytest.param("\x1b[31m50%\r100%", "100%", id="colour from the overwritten part"),
        pytest.param("N\bNA\bA", "NA", id="overstrike"),
        pytest.param("ab\x1b[1m\bc", "abc", id="backspace behind a colour"),
        pytest.param("\b\bx", "x", id="nothing to take back"),
        pytest.param("a\tb", "a       b", id="tab"),
        pytest.param("東\t\x1b[1mb\tc", "東      b       c", id="tabs behind wide characters"),
    ],
)
def test_a_line_looks_as_in_a_terminal(line: str, text: str) -> None:
    assert shown(line) == text


def test_a_very_long_line_is_cut_with_a_mark() -> None:
    text = shown("x" * 100_000)

    assert text == "x" * LONGEST_LINE + "… 96,000 more characters"


def test_one_line_joins_white_space_after_the_escapes_are_gone() -> None:
    assert plain_line(case("ansi-collapsed-whitespace.ansi")) == "Executing tools next"
