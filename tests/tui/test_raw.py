"""Messages as they were written: each by itself, all of them, while they grow."""

from __future__ import annotations

import pytest

from agent_tui.testing import text, think
from agent_tui.tui.blocks import AssistantBlock, ThoughtBlock
from agent_tui.tui.raw import PIECE_CHARACTERS
from tests.effort import calls_of
from tests.tui.chat import Chat, chat
from tests.tui.drawing import rows

SOURCE = "# Head\n\n- *one*\n\n| a | b |\n|---|---|\n| `x` | y |\n"


def raw(source: str) -> AssistantBlock:
    block = AssistantBlock()
    block.show_raw(True)
    block.append(source)
    return block


def view(c: Chat) -> list[str]:
    transcript = c.app.transcript
    lines = [transcript.render_line(y).text.strip() for y in range(transcript.size.height)]
    return [line for line in lines if line]


def test_every_character_is_shown_as_it_came() -> None:
    head, *shown = rows(raw(SOURCE))

    assert head == "  as it was written"
    assert shown == ["  " + line if line else "" for line in SOURCE.split("\n")]


def test_no_escape_sequence_gets_through() -> None:
    assert rows(raw("a\x1b]0;title\x07b\x1b[2J\tc"))[1:] == ["  ab      c"]


@pytest.mark.parametrize("step", [1, 7, 1000])
def test_however_it_arrives_it_looks_the_same(step: int) -> None:
    source = "".join(f"line {n} *of* some length\n" for n in range(1_500))
    whole, growing = raw(source), raw("")
    for start in range(0, len(source), step):
        growing.append(source[start : start + step])
        if start % 97 == 0:
            growing.pieces()

    assert rows(growing) == rows(whole)


def test_a_long_text_is_not_drawn_again_when_it_grows() -> None:
    short, long = raw("x\n" * 10), raw("some words\n" * 20_000)

    def grow(block: AssistantBlock) -> int:
        drawn = [*block.pieces()]
        versions = [piece.version for piece in drawn]
        block.append("more\n")
        return calls_of(block.pieces) + sum(
            piece.version != version
            for piece, version in zip(block.pieces(), versions, strict=False)
        )

    assert len(long.pieces()) > 200_000 // PIECE_CHARACTERS
    assert grow(long) <= grow(short) + 10


async def test_r_on_the_block_cursor_turns_one_block() -> None:
    async with chat(text("**one**"), text("**two**")) as c:
        for word in ("a", "b"):
            await c.say(word)
            await c.idle()
        await c.press("f6", "f6", "r")
        turned = view(c)
        await c.press("r")
        back = view(c)

        assert "▌  **two**" in turned
        assert "one" in turned
        assert "▌  two" in back


async def test_r_on_what_is_shown_as_it_was_written_says_so() -> None:
    async with chat(text("ok")) as c:
        await c.say("**hello**")
        await c.idle()
        await c.press("f6", "f6", "f6", "r")

        assert "It is shown as it was written." in c.line("hint")


async def test_raw_means_all_messages_and_those_to_come() -> None:
    async with chat(text("**one**"), (think("*hm*"), text("**two**")), text("**3**")) as c:
        await c.say("a")
        await c.idle()
        await c.say("/raw")
        first = view(c)
        await c.say("b")
        await c.idle()
        second = view(c)
        await c.say("/raw")
        third = view(c)

        assert "**one**" in first
        assert "**two**" in second
        assert "one" in third
        assert "two" in third


def test_a_thought_is_shown_as_it_was_written_too() -> None:
    block = ThoughtBlock()
    block.append("*hm*")
    block.finish()
    block.toggle()
    block.show_raw(True)

    assert rows(block)[1:] == ["  as it was written", "  *hm*"]
