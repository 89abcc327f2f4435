"""A unified diff as rows."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from textual.color import Color
from textual.style import Style

from agent_tui.tools.diff import unified
from agent_tui.tui.canvas import Canvas, Line, Run
from agent_tui.tui.diff import diff_lines, diff_spans
from agent_tui.tui.diff_reading import read_diff
from tests.effort import calls_of
from tests.tui.drawing import roles_canvas, rows, styled_rows

DIFF = """\
--- a/src/app.py
+++ b/src/app.py
@@ -9,4 +9,5 @@ def main():
 same
-value = old_name(1)
+value = new_name(1)
+added
 \tother
@@ -98,2 +99,1 @@
-gone
 end
"""


class Drawn:
    """A diff as something that can be drawn."""

    def __init__(self, text: str, lead: Sequence[Run] = (), limit: int | None = None) -> None:
        self._text = text
        self._lead = lead
        self._limit = limit

    def lines(self, canvas: Canvas) -> list[Line]:
        return diff_lines(self._text, canvas, lead=self._lead, limit=self._limit)


def test_rows_have_numbers_and_signs() -> None:
    assert rows(Drawn(DIFF)) == [
        " 9   same",
        "10 - value = old_name(1)",
        "10 + value = new_name(1)",
        "11 + added",
        "12       other",
        "  ⋯",
        "98 - gone",
        "99   end",
    ]


def test_words_that_differ_are_marked_where_lines_were_replaced_one_by_one() -> None:
    diff = "@@ -1,2 +1,2 @@\n-value = old_name(1)\n+value = new_name(1)\n"

    assert styled_rows(Drawn(diff)) == [
        [
            ("1", "diff-number"),
            ("-", "diff-remove-sign"),
            ("value =", "diff-remove"),
            ("old_name", "diff-remove-word"),
            ("(1)", "diff-remove"),
        ],
        [
            ("1", "diff-number"),
            ("+", "diff-add-sign"),
            ("value =", "diff-add"),
            ("new_name", "diff-add-word"),
            ("(1)", "diff-add"),
        ],
    ]


def test_lines_that_have_little_in_common_are_not_marked() -> None:
    lines = read_diff("@@ -1 +1 @@\n-import os\n+class Cache(dict[str, int]): ...\n")

    assert [line.marks for line in lines] == [[], [], []]


def test_of_two_lines_for_one_the_one_more_like_it_is_marked() -> None:
    lines = read_diff("@@ -1 +1,2 @@\n-    call(a, b)\n+    first = 1\n+    call(a, c)\n")

    assert [line.marks for line in lines] == [[], [(12, 13)], [], [(12, 13)]]


def test_partners_stand_side_by_side_though_lines_were_added_between() -> None:
    diff = "@@ -1,2 +1,3 @@\n-v = old(1)\n-say(one, two)\n+v = new(1)\n+w = v\n+say(one, three)\n"

    assert [row.split() for row in rows(Drawn(diff), 120)] == [
        ["1", "-", "v", "=", "old(1)", "¦", "1", "+", "v", "=", "new(1)"],
        ["│", "2", "+", "w", "=", "v"],
        ["2", "-", "say(one,", "two)", "¦", "3", "+", "say(one,", "three)"],
    ]


def test_long_lines_wrap_below_their_text() -> None:
    drawn = Drawn("@@ -1 +1 @@\n+" + "abcdefgh" * 2, lead=[Run("| ")])

    assert rows(drawn, 16) == ["| 1 + abcdefghab", "|     cdefgh"]


def test_reading_a_diff_costs_no_more_per_line_when_it_is_long() -> None:
    def calls(count: int) -> int:
        lines = "".join(f"+line {n}\n" for n in range(count))
        return calls_of(lambda: read_diff(f"@@ -0,0 +1,{count} @@\n{lines}"))

    assert calls(20_000) < 11 * calls(2_000)


def test_a_limit_says_what_is_left_out() -> None:
    assert rows(Drawn(DIFF, limit=3))[-1] == "… 6 more lines"


def test_in_a_wide_room_old_and_new_stand_side_by_side() -> None:
    drawn = rows(Drawn(DIFF), 120)

    assert [row.split() for row in drawn] == [
        ["9", "same", "│", "9", "same"],
        ["10", "-", "value", "=", "old_name(1)", "¦", "10", "+", "value", "=", "new_name(1)"],
        ["│", "11", "+", "added"],
        ["11", "other", "│", "12", "other"],
        ["⋯"],
        ["98", "-", "gone", "│"],
        ["99", "end", "│", "99", "end"],
    ]


def test_a_new_file_needs_no_second_column() -> None:
    assert rows(Drawn("@@ -0,0 +1,2 @@\n+one\n+two\n"), 120) == ["1 + one", "2 + two"]


def test_a_long_line_wraps_in_its_column() -> None:
    drawn = rows(Drawn("@@ -1 +1 @@\n-" + "a" * 70 + "\n+" + "b" * 10), 120)

    assert [row.split() for row in drawn] == [
        ["1", "-", "a" * 54, "¦", "1", "+", "b" * 10],
        ["a" * 16, "¦"],
    ]


def test_side_by_side_marks_words_and_says_where_no_newline_is() -> None:
    diff = "@@ -1 +1 @@\n-a b c\n\\ No newline at end of file\n+a x c\n"
    shown = [part for row in styled_rows(Drawn(diff), 120) for part in row]

    assert ("b", "diff-remove-word") in shown
    assert ("x", "diff-add-word") in shown
    assert [row.split() for row in rows(Drawn(diff), 120)][1] == [
        *["No", "newline", "at", "end", "of", "file", "│"]
    ]


def test_side_by_side_words_are_tinted_as_they_are_below_each_other() -> None:
    tints = {"diff-add": Color(0, 255, 0, 0.1), "diff-add-word": Color(0, 255, 0, 0.4)}
    base = Style(background=Color(0, 0, 0), foreground=Color(255, 255, 255))

    def word(width: int) -> object:
        canvas = Canvas(width, base, lambda role: Style(background=tints.get(role)))
        lines = diff_lines("@@ -1 +1 @@\n-a b c\n+a x c\n", canvas)
        segments = [segment for line in lines for segment in line.strip]
        [style] = [segment.style for segment in segments if segment.text == "x"]
        assert style is not None
        return style.bgcolor

    assert word(120) == word(60)


LINES = st.lists(st.sampled_from(["", "a", "b", "a b", "a c", "\tx", "x" * 90]), max_size=12)


@given(old=LINES, new=LINES, width=st.sampled_from([30, 80, 120, 150]))
def test_what_is_shown_applied_to_the_old_text_gives_the_new_one(
    old: list[str], new: list[str], width: int
) -> None:
    before, after = ("".join(f"{line}\n" for line in lines) for lines in (old, new))
    lines = read_diff(unified(before, after, "a.txt").text)
    shown = [line for line in lines if line.kind in ("add", "same", "remove")]
    wide = [line.expandtabs(4) for line in old]
    result: list[str] = []
    place = 0
    for line in shown:
        at = (line.number or 0) if line.kind == "remove" else (line.old_number or place + 1)
        result += wide[place : at - 1]
        place = max(place, at - 1)
        if line.kind != "remove":
            result.append(line.text)
        if line.kind != "add":
            assert wide[place] == line.text
            place += 1
    result += wide[place:]
    drawn = "".join("".join(rows(Drawn(unified(before, after, "a").text), width)).split())

    assert result == [line.expandtabs(4) for line in new]
    assert all(line.text[:20].strip().replace(" ", "") in drawn for line in shown)


@given(text=st.text(max_size=300), width=st.integers(1, 140))
def test_any_text_can_be_drawn_as_a_diff(text: str, width: int) -> None:
    canvas = roles_canvas(width)

    assert all(
        line.strip.cell_length == width for line in Drawn("@@ -1 +1 @@\n" + text).lines(canvas)
    )
    assert all(
        sum(cell_len(part) for part, _ in row) <= max(width, 4)
        for row in diff_spans("@@ -1 +1 @@\n" + text, width, 50)
    )


def test_text_that_is_no_diff_is_shown_as_it_is() -> None:
    assert rows(Drawn("Binary files differ\x1b[2J\n")) == ["   Binary files differ"]


def test_a_missing_newline_is_a_note() -> None:
    lines = read_diff("@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n")

    assert [(line.kind, line.text) for line in lines[1:]] == [
        ("remove", "a"),
        ("note", "No newline at end of file"),
        ("add", "a"),
    ]


def test_code_cannot_smuggle_control_characters() -> None:
    assert rows(Drawn("@@ -1 +1 @@\n+a\x1b]0;t\x07b\rc\td")) == ["1 + abc d"]
