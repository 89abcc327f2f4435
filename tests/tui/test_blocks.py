"""Messages, thoughts and notices as text."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from agent_tui.core.invocation import skill_message
from agent_tui.tui.blocks import (
    AssistantBlock,
    Block,
    NoticeBlock,
    SummaryBlock,
    ThoughtBlock,
    UserBlock,
)
from agent_tui.tui.canvas import plain_canvas
from agent_tui.tui.tool_block import ToolBlock
from tests.tui.drawing import case, rows


def answer(text: str, **ending: str) -> AssistantBlock:
    block = AssistantBlock()
    block.append(text)
    block.finish("aborted" if ending else "stop", ending.get("note"))
    return block


def thought(text: str) -> ThoughtBlock:
    block = ThoughtBlock()
    block.append(text)
    return block


def failed(text: str) -> ToolBlock:
    block = ToolBlock("id", text, text)
    block.finish("failed", summary=text, text=text)
    return block


def test_what_the_person_said_stands_behind_a_mark() -> None:
    block = UserBlock("first\nsecond line", mark="↳ steered before step 8")

    assert rows(block, 12) == [
        "  ↳ steered",
        "  before",
        "  step 8",
        "❯ first",
        "  second",
        "  line",
    ]


def test_a_long_message_is_collapsed_and_copied_whole() -> None:
    text = "\n".join(f"line {n}" for n in range(300))
    block = UserBlock(text)

    collapsed = rows(block)
    block.toggle()
    expanded = rows(block)

    assert collapsed[-2:] == ["  line 11", "  ▸ 288 more lines"]
    assert expanded[-2:] == ["  line 299", "  ▾ all lines"]
    assert len(expanded) == 301
    assert block.source() == text


def test_a_message_in_one_endless_line_is_collapsed_too() -> None:
    block = UserBlock("x" * 1_000_000)

    assert len(rows(block)) < 400
    assert len(block.source()) == 1_000_000


def test_an_answer_is_markdown_below_the_text_of_the_person() -> None:
    assert rows(answer("Use **this**:\n\n- a")) == ["  Use this:", "", "  • a"]


def test_an_answer_that_was_stopped_says_so() -> None:
    assert rows(answer("Half", note="interrupted")) == ["  Half", "", "  ■ interrupted"]


def test_an_answer_without_text_takes_no_room() -> None:
    assert rows(AssistantBlock()) == []


def test_what_is_finished_of_an_answer_stays_the_same_object() -> None:
    block = answer("one\n\ntwo\n\nthree")
    before = block.pieces()

    block.append(" more\n\nfour")

    assert len(before) > 1
    assert all(old is new for old, new in zip(before[:-1], block.pieces(), strict=False))


def test_a_thought_shows_its_end_while_it_goes_on_and_folds_when_it_is_over() -> None:
    block = thought("one\n\ntwo\n\nthree")

    live = rows(block)
    block.finish()

    assert live == ["✻ Thinking … ▸", "  two", "", "  three"]
    assert rows(block) == ["✻ Thought 5 lines ▸"]


def test_an_expanded_thought_is_there_in_full() -> None:
    block = thought("one **two**\n\nthree")
    block.finish()

    block.toggle()

    assert rows(block) == ["✻ Thought 3 lines ▾", "  one two", "", "  three"]


@pytest.mark.parametrize(
    ("kind", "first"), [("info", "· "), ("warning", "! "), ("error", "✗ "), ("stopped", "■ ")]
)
def test_notices_tell_their_kind_by_a_glyph(kind: str, first: str) -> None:
    block = NoticeBlock("Something\nhappened", kind)  # type: ignore[arg-type]

    assert rows(block) == [f"{first}Something", "  happened"]


def test_the_line_after_a_turn_is_wrapped_where_it_must() -> None:
    assert rows(SummaryBlock("7 steps · 1m12s"), 12) == ["  7 steps ·", "  1m12s"]


Make = Callable[[str], Block]
HOSTILE = [
    pytest.param(UserBlock, id="user"),
    pytest.param(answer, id="answer"),
    pytest.param(thought, id="thought"),
    pytest.param(NoticeBlock, id="notice"),
    pytest.param(SummaryBlock, id="summary"),
    pytest.param(failed, id="tool"),
]


@pytest.mark.parametrize("make", HOSTILE)
def test_terminal_commands_are_dropped_everywhere(make: Make) -> None:
    block = make(case("osc-and-friends.ansi"))

    text = "".join(line.strip.text for line in block.lines(plain_canvas()))

    assert text.isprintable()
    assert "owned title" not in text
    assert "before A B click me" in " ".join(text.split())


@pytest.mark.parametrize("make", HOSTILE)
def test_brackets_are_shown_and_mean_nothing(make: Make) -> None:
    text = case("markup-like-text.txt").strip()
    block = make(text)

    shown = "".join(row.replace("\\", "") for row in rows(block, 400))

    assert text.replace("\\", "") in shown
    assert "@click=app.quit" in shown


@pytest.mark.parametrize("make", HOSTILE)
@pytest.mark.parametrize("width", [1, 2, 5, 12, 23, 40])
def test_every_row_is_as_wide_as_the_window(make: Make, width: int) -> None:
    block = make(
        "東京 **bold** [link](http://a.b)\n\n```py\nx = '👩‍💻'\n```\n\n|a|b|\n|-|-|\n|1|東|"
    )

    lines = block.lines(plain_canvas(width))

    assert {line.strip.cell_length for line in lines} <= {width}


@pytest.mark.parametrize("make", HOSTILE)
def test_half_characters_and_controls_do_no_harm(make: Make) -> None:
    block = make("a\ud800b\x00c\r\n" + case("tabs-and-controls.txt"))

    text = "".join(line.strip.text for line in block.lines(plain_canvas()))

    assert text.isprintable()
    assert "bell" in text
    assert text.rstrip().endswith("end") or "end" in text


def test_a_skill_that_was_called_is_shown_as_it_was_typed_and_opens() -> None:
    message = skill_message("haiku", "/s/SKILL.md", "/s", "Seventeen\nsyllables.", "about rain")
    block = UserBlock(message)

    assert [row.rstrip() for row in rows(block)] == [
        "❯ /skill:haiku about rain",
        "  ▸ 7 more lines",
    ]
    block.toggle()
    assert any("syllables." in row for row in rows(block))
    assert block.source() == message
