"""The approval card: shows all of a call, hides nothing, is not answered by accident."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from agent_tui.tui.approval import Guard, Row, body_rows, card_rows, visible_blanks

DIFF = "--- a/x.py\n+++ b/x.py\n@@ -1,2 +1,2 @@\n-the old word\n+the new word\n same\n"


@dataclass
class Asked:
    summary: str = "ls"
    detail: str = ""
    is_diff: bool = False
    tool_name: str = "bash"
    cwd: str = "/project"
    reason: str = "it runs a command"
    rule: str | None = "`ls` with any arguments"
    id: str = "q1"
    matches: str = ""
    scope: str = "project"


def text(rows: list[Row]) -> str:
    return "\n".join("".join(part for part, _ in row) for row in rows)


def card(request: Asked, *, width: int = 80, height: int = 12, offset: int = 0) -> str:
    return text(card_rows(request, (1, 1), width, height, offset)[0])


def test_the_card_names_tool_reason_command_folder_and_answers() -> None:
    assert card(Asked()).splitlines() == [
        "bash asks: it runs a command",
        "│ ls",
        "in /project",
        "alt+y once · alt+a always · alt+n decline · alt+e decline with a comment",
        "always would allow, in this project: `ls` with any arguments",
    ]


def test_several_open_questions_are_counted() -> None:
    rows, _ = card_rows(Asked(), (1, 3), 80, 12, 0)

    assert text(rows).startswith("1 of 3 · bash asks: it runs a command")


def test_blanks_cannot_push_a_command_out_of_sight() -> None:
    command = "echo hello" + " " * 300 + "; touch hidden.txt" + "\n" * 13 + "touch hidden2.txt"

    body = text(body_rows(Asked(detail=command), 74))

    assert "touch hidden.txt" in body.replace("\n", "")
    assert "touch hidden2.txt" in body
    assert "·····" in body


def test_a_cut_is_marked_and_the_rest_is_reached_by_scrolling() -> None:
    request = Asked(detail="\n".join(f"line {n}" for n in range(40)))

    top = card(request)
    bottom, offset = card_rows(request, (1, 1), 80, 12, 10_000)

    assert "more below (alt+pgup/pgdn)" in top
    assert "line 39" in text(bottom)
    assert 0 < offset < 40


def test_a_diff_is_coloured_by_its_signs() -> None:
    rows = body_rows(Asked("x.py", DIFF, is_diff=True, tool_name="edit"), 60)

    assert text(rows).split("\n") == [
        "x.py",
        "1 - the old word".ljust(60),
        "1 + the new word".ljust(60),
        "2   same".ljust(60),
    ]
    marked = [part for row in rows for part in row if part[1].endswith("word")]
    assert marked == [("old", "diff-remove-word"), ("new", "diff-add-word")]


def test_above_120_columns_a_diff_stands_side_by_side() -> None:
    rows = body_rows(Asked("x.py", DIFF, is_diff=True, tool_name="edit"), 119)

    assert [row.split() for row in text(rows).split("\n")] == [
        ["x.py"],
        ["1", "-", "the", "old", "word", "¦", "1", "+", "the", "new", "word"],
        ["2", "same", "│", "2", "same"],
    ]


def test_a_command_that_looks_like_a_diff_hides_nothing() -> None:
    body = text(body_rows(Asked(detail="--- $(touch hidden)\n" + DIFF), 60))

    assert "--- $(touch hidden)" in body
    assert "@@ -1,2 +1,2 @@" in body


def test_markup_and_escape_sequences_are_plain_text() -> None:
    body = text(body_rows(Asked(detail="echo [bold]x[/] \x1b]52;c;AAAA\x07\x1b[2J"), 60))

    assert body == "echo [bold]x[/] "


def test_on_a_narrow_screen_the_answers_stay() -> None:
    narrow = card(Asked(), width=40)
    tiny = card(Asked(), width=24)

    assert "alt+y once · alt+a always · alt+n no" in narrow
    assert "/yes · /always · /no" in tiny


@given(st.text(max_size=400), st.integers(10, 120), st.integers(5, 30))
def test_no_card_is_higher_than_its_room_and_no_text_is_lost(
    detail: str, width: int, height: int
) -> None:
    rows, _ = card_rows(Asked(detail=detail), (1, 1), width, height, 0)

    assert len(rows) <= max(height, 6)


def test_tabs_are_made_visible() -> None:
    assert visible_blanks("a  b    c\td") == "a  b····c→   d"


def test_keys_within_half_a_second_do_not_answer() -> None:
    time = [10.0]
    guard = Guard(lambda: time[0])

    unseen = guard.may_answer("q1")
    guard.shown("q1")
    time[0] += 0.4
    early = guard.may_answer("q1")
    guard.shown("q1")
    time[0] += 0.1
    later = guard.may_answer("q1")

    assert [unseen, early, later] == [False, False, True]


def test_a_very_long_token_is_drawn_at_once() -> None:
    rows = body_rows(Asked(detail="x" * 200_000), 80)

    assert len(rows) == 2500
