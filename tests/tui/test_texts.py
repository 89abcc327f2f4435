"""Long texts: read from disk where they are looked at."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from agent_tui.tui.canvas import plain_canvas
from agent_tui.tui.texts import (
    BLOCK_BYTES,
    DiffText,
    FileText,
    LiveText,
    LongText,
    PlainText,
)


def whole(text: LongText) -> LongText:
    """The text, looked through to its end."""
    while text.extend():
        pass
    return text


def shown(text: LongText, number: int, width: int = 80, *, wraps: bool = True) -> list[str]:
    return [row.text for row in text.rows(number, plain_canvas(width), wraps=wraps)]


def found(text: LongText, words: str) -> list[int]:
    lines: list[int] = []
    looked = 0
    while looked < text.lines:
        some, looked = text.find(words, looked, 100_000)
        lines += some
    return lines


@given(
    lines=st.lists(
        st.sampled_from(["", "short", "é" * 300, "x" * 5_000, "y" * (BLOCK_BYTES - 1)]), max_size=40
    ),
    ends=st.booleans(),
)
def test_every_line_of_a_file_is_found_by_its_number(
    lines: list[str], ends: bool, tmp_path_factory: object
) -> None:
    path = Path(str(tmp_path_factory.getbasetemp())) / "lines.txt"  # type: ignore[attr-defined]
    content = "\n".join(lines) + "\n" * ends
    path.write_text(content)
    text = whole(FileText(path))
    expected = content.removesuffix("\n").split("\n") if content else []

    assert text.lines == len(expected)
    assert ["".join(shown(text, n, 100_000)) for n in range(text.lines)] == expected


def test_a_line_longer_than_a_block_is_shown_in_pieces(tmp_path: Path) -> None:
    path = tmp_path / "long.txt"
    path.write_text("é" * 100_000 + "END\nnext\n")
    text = whole(FileText(path))
    pieces = ["".join(shown(text, n, 100_000)) for n in range(text.lines)]

    assert "".join(pieces) == "é" * 100_000 + "ENDnext"
    assert pieces[-1] == "next"
    assert found(text, "end") == [text.lines - 2]


def test_a_hundred_megabytes_are_opened_at_once_and_searched_in_pieces(tmp_path: Path) -> None:
    path = tmp_path / "big.txt"
    line = b"a line of output that is like all the others\n"
    with path.open("wb") as stream:
        for _ in range(100):
            stream.write(line * (1_000_000 // len(line)))
        stream.write(b"the needle\n")
    text = FileText(path)
    text.extend()
    first, known = shown(text, 0), text.lines
    whole(text)
    _, looked = text.find("needle", 0, 4_000_000)

    assert first == [line.decode().strip()]
    assert known < text.lines / 5
    assert looked < text.lines / 5
    assert found(text, "NEEDLE") == [text.lines - 1]


def test_a_file_that_grows_is_followed(tmp_path: Path) -> None:
    path = tmp_path / "growing.txt"
    path.write_text("one\ntw")
    text = FileText(path)
    first = text.extend(), text.lines
    with path.open("a") as stream:
        stream.write("o\nthree\n")
    second = text.extend(), text.lines
    still = text.extend()

    assert first == (True, 2)
    assert second == (True, 3)
    assert text.stable == 0 or text.stable <= 1
    assert not still
    assert [shown(text, n) for n in range(3)] == [["one"], ["two"], ["three"]]


def test_a_file_that_vanished_is_an_empty_text(tmp_path: Path) -> None:
    text = FileText(tmp_path / "gone.txt")

    assert not text.extend()
    assert text.lines == 0
    assert text.tail(100) == ""


def test_colours_are_shown_and_nothing_else_of_an_escape_sequence() -> None:
    text = PlainText("plain\n\x1b[31mre\x1b[1md\x1b[0m\x1b]0;title\x07\n\tx\n50%\r100%")

    assert [shown(text, n) for n in range(4)] == [["plain"], ["red"], ["        x"], ["100%"]]
    assert text.find("red", 0, 100) == ([1], 4)
    assert text.tail(100) == "plain\nred\n        x\n100%"


def test_a_text_that_is_one_line_is_drawn_in_pieces() -> None:
    text = PlainText("x" * 200_000)

    assert text.lines == 4
    assert sum(len("".join(shown(text, n))) for n in range(4)) == 200_000


@given(st.text(max_size=200))
def test_no_text_can_command_the_terminal(anything: str) -> None:
    text = PlainText("\x1b]0;title\x07" + anything)
    drawn = "".join("".join(shown(text, n)) for n in range(text.lines))

    assert not set(drawn) & {"\x1b", "\x07", "\r", "\x08", "\x9b"}


def test_long_lines_wrap_or_are_cut() -> None:
    text = PlainText("abcdefghij" * 2)

    assert shown(text, 0, 12) == ["abcdefghijab", "cdefghij"]
    assert shown(text, 0, 12, wraps=False) == ["abcdefghija…"]


def test_a_running_tools_text_changes_to_its_file(tmp_path: Path) -> None:
    said, file = ["one"], [""]
    text = LiveText(lambda: said[0], lambda: file[0] or None)
    path = tmp_path / "all.txt"
    path.write_text("zero\none\ntwo\n")

    before = text.extend()
    said[0] = "one\ntwo"
    grown = text.extend(), text.lines
    file[0] = str(path)
    changed = text.extend(), text.lines

    assert not before
    assert grown == (True, 2)
    assert changed == (True, 3)
    assert shown(text, 0) == ["zero"]


def test_the_end_of_a_long_text_can_be_taken(tmp_path: Path) -> None:
    path = tmp_path / "long.txt"
    path.write_text("".join(f"line {n}\n" for n in range(50_000)))
    tail = whole(FileText(path)).tail(1_000)

    assert tail.endswith("line 49999")
    assert tail.startswith("line ")
    assert 900 < len(tail) <= 1_000


def test_diffs_stand_below_their_titles() -> None:
    text = DiffText([("a.txt", "@@ -1 +1 @@\n-old\n+new\n"), ("b.txt", "@@ -1 +1 @@\n-x\n+y\n")])
    text.draw(plain_canvas(60))

    assert [shown(text, n) for n in range(text.lines)] == [
        *(["a.txt"], ["1 - old"], ["1 + new"], [""], ["b.txt"], ["1 - x"], ["1 + y"])
    ]
    assert text.find("NEW", 0, 100) == ([2], 7)
