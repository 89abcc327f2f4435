"""Tool panels as text, from the first token of a call to its result."""

from __future__ import annotations

import json

import pytest

from agent_tui.tui.tool_block import ToolBlock, ToolStatus
from tests.tui.drawing import case, rows, styled_rows

DIFF = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-old\n+new\n"


def running(*, output: str = "", lines: int | None = None, seconds: float = 14.0) -> ToolBlock:
    block = ToolBlock("call_1", "bash", "pytest -q tests/")
    block.start(100.0)
    if output:
        block.update(output, lines=lines, now=100.0 + seconds)
    block.tick(100.0 + seconds)
    return block


def finished(
    status: ToolStatus, text: str = "", *, name: str = "bash", **more: object
) -> ToolBlock:
    block = ToolBlock("call_1", name, "target")
    block.start(0.0)
    block.finish(status, text=text, now=1.2, **more)  # type: ignore[arg-type]
    return block


def header(block: ToolBlock, width: int = 80) -> str:
    """The first row, its blanks joined."""
    return " ".join(rows(block, width)[0].split())


def numbered(count: int) -> str:
    return "".join(f"line {n}\n" for n in range(count))


def test_a_panel_is_there_from_the_first_token() -> None:
    block = ToolBlock("", "bash")

    block.arguments('{"comm')

    assert rows(block, 40) == ["○ bash                         preparing"]


def test_a_long_argument_can_be_expanded_while_it_is_written() -> None:
    raw = json.dumps({"path": "a.py", "content": "".join(f"x = {n}\n" for n in range(40))})
    block = ToolBlock("", "write", "a.py")
    block.arguments(raw[:-4])
    folded = block.is_expandable, len(rows(block))
    block.toggle()
    expanded = rows(block)
    block.start(0.0)

    assert folded == (True, 6)
    assert expanded[1] == "  │ x = 0"
    assert len(expanded) == 41
    assert block.written.startswith("x = 0\n")
    assert not block.expanded


def test_a_long_argument_can_be_read_while_it_is_written() -> None:
    raw = json.dumps({"path": "a.py", "content": "".join(f"x = {n}\n" for n in range(40))})
    block = ToolBlock("", "write", "a.py")

    block.arguments(raw[:-4])

    assert header(block) == "○ write a.py preparing · 40 lines ▸"
    assert rows(block)[1:] == [
        "  │ x = 35",
        "  │ x = 36",
        "  │ x = 37",
        "  │ x = 38",
        "  │ x = 39",
    ]


def test_a_call_can_wait_for_the_person() -> None:
    block = ToolBlock("", "bash", "make")

    block.wait("waiting for your answer")
    waiting = header(block)
    block.start(0.0)

    assert waiting == "○ bash make waiting for your answer"
    assert "running · 0 s" in rows(block, 60)[0]


def test_a_running_tool_shows_its_time_and_its_last_lines() -> None:
    block = running(output=numbered(20), lines=214)

    assert rows(block, 64)[1:] == [f"  │ line {n}" for n in range(15, 20)]
    assert header(block)[1:] == " bash pytest -q tests/ running · 14 s · 214 lines"


def test_silence_is_mentioned_after_five_seconds() -> None:
    block = running(output="x\n")

    block.tick(118.9)
    before = rows(block, 80)[0]
    block.tick(119.0)

    assert "last output" not in before
    assert rows(block, 80)[0].endswith("running · 19 s · 1 line · last output 5 s ago")


def test_a_tool_that_never_printed_says_so() -> None:
    assert rows(running(seconds=7.0), 80)[0].endswith("running · 7 s · no output yet")


def test_the_spinner_turns_with_the_clock() -> None:
    block = running()

    glyphs = []
    for quarter in range(4):
        block.tick(200.0 + quarter / 4)
        glyphs.append(rows(block)[0][0])

    assert len(set(glyphs)) == 4


def test_progress_is_collapsed_and_colours_end_with_the_panel() -> None:
    block = running(output="\x1b[31m" + case("progress-carriage-returns.ansi"))

    assert rows(block)[1:] == [
        "  │ Enumerating objects: 5, done.",
        "  │ Counting objects: 100% (5/5), done.",
        "  │ Writing: 100%",
        "  │ Total 3",
    ]


@pytest.mark.parametrize(
    ("status", "summary", "said"),
    [
        ("ok", "120 lines", "✓ bash target done · 120 lines · 1.2 s"),
        ("failed", "exit 1", "✗ bash target failed · exit 1 · 1.2 s"),
        ("declined", '"no"', '⊘ bash target declined: "no"'),
        ("declined", "", "⊘ bash target declined"),
        ("killed", "", "■ bash target killed · 1.2 s"),
    ],
)
def test_the_header_says_how_it_ended_in_a_glyph_and_a_word(
    status: ToolStatus, summary: str, said: str
) -> None:
    assert header(finished(status, summary=summary)) == said


@pytest.mark.parametrize(("name", "shown"), [("bash", 3), ("read", 0), ("write", 0), ("mytool", 3)])
def test_a_finished_tool_shows_a_tail_by_its_kind(name: str, shown: int) -> None:
    block = finished("ok", numbered(20), name=name)

    assert rows(block)[1:] == [f"  │ line {n}" for n in range(20 - shown, 20)]


def test_a_failed_tool_shows_fifteen_lines() -> None:
    block = finished("failed", numbered(20))

    assert rows(block)[1:3] == ["  │ … 5 earlier lines", "  │ line 5"]
    assert len(rows(block)) == 17


def test_an_expanded_panel_shows_everything_and_says_so() -> None:
    block = finished("ok", numbered(20))

    collapsed = rows(block)[0]
    block.toggle()

    assert collapsed.endswith("▸")
    assert rows(block)[0].endswith("▾")
    assert rows(block)[1:] == [f"  │ line {n}" for n in range(20)]


def test_a_panel_with_nothing_hidden_cannot_be_expanded() -> None:
    block = finished("ok", numbered(3))

    assert not block.is_expandable
    assert not rows(block)[0].endswith("▸")


def test_a_flood_is_bounded_in_the_panel() -> None:
    block = finished("ok", numbered(100_000))
    block.toggle()

    assert len(rows(block)) == 202
    assert rows(block)[1] == "  │ … 99,800 earlier lines"


def test_a_diff_is_shown_when_the_panel_is_expanded() -> None:
    block = finished("ok", name="edit", summary="+1 −1", details={"diff": DIFF})

    collapsed = header(block)
    block.toggle()

    assert collapsed == "✓ edit target done · +1 −1 · 1.2 s ▸ diff"
    assert rows(block, 60)[1:] == ["  │ 1 - old", "  │ 1 + new"]


def test_output_is_red_only_where_it_said_so() -> None:
    block = finished("ok", "\x1b[31mred\nstill red\x1b[0m plain\n")

    styled = styled_rows(block)[1:]

    assert [[text for text, _ in row] for row in styled] == [
        ["│", "red"],
        ["│", "still red", "plain"],
    ]
    assert {role for row in styled for text, role in row if text != "│"} == {"tool-output"}


def test_a_narrow_window_gets_two_header_rows() -> None:
    assert rows(running(output="x\n"), 36) == [
        f"{rows(running())[0][0]} bash   pytest -q tests/",
        "  running · 14 s · 1 line",
        "  │ x",
    ]


def test_of_a_path_the_end_is_kept_of_a_command_the_beginning() -> None:
    path = ToolBlock("", "read", "packages/server/src/module.py")
    command = ToolBlock("", "bash", "python -m pytest tests/unit --maxfail 1")

    assert rows(path, 42)[0] == "○ read   …/server/src/module.py  preparing"
    assert rows(command, 42)[0] == "○ bash   python -m pytest test…  preparing"


def test_a_very_long_token_is_cut_with_a_mark() -> None:
    block = ToolBlock("", "bash", case("long-token-line.txt"))

    assert rows(block, 60)[0] == ("○ bash   printf %s CzBVep/E6Q4zWH2ix+wRNluApcrvF…  preparing")


def test_a_copy_has_the_output_without_colours() -> None:
    block = finished("ok", "\x1b[31mred\x1b[0m\n50%\r100%\n")

    assert block.source() == "bash target\nred\n100%"
    assert finished("ok", details={"diff": DIFF}).source() == f"bash target\n{DIFF}".rstrip()


def test_names_and_targets_are_shown_in_one_harmless_line() -> None:
    block = ToolBlock("", "ba\x1b[31msh\n", "a\x1b]0;t\x07\n  b[red]")

    assert block.title == "bash a b[red]"
