"""Searching the transcript: all of it, while a turn runs, without touching the draft."""

from __future__ import annotations

import asyncio

from agent_tui.testing import call, calls, text
from agent_tui.tui.blocks import AssistantBlock, Block, NoticeBlock, ThoughtBlock, UserBlock
from agent_tui.tui.finding import Finder, Hit, Words
from agent_tui.tui.screens.output import OutputScreen
from agent_tui.tui.transcript import Transcript
from tests.tui.chat import Chat, Gate, chat


def reversed_in(transcript: Transcript) -> list[str]:
    """What is shown in reverse video, top to bottom."""
    return [
        segment.text
        for y in range(transcript.size.height)
        for segment in transcript.render_line(y)
        if segment.style is not None and segment.style.reverse
    ]


def found_row(transcript: Transcript) -> str:
    """The row with the mark of what was gone to."""
    rows = [transcript.render_line(y).text.rstrip() for y in range(transcript.size.height)]
    return next((row for row in rows if row.startswith("▸")), "")


def answer(source: str) -> AssistantBlock:
    block = AssistantBlock()
    block.append(source)
    return block


async def fill(c: Chat, *blocks: Block) -> None:
    c.app.transcript.clear()
    c.app.transcript.append(*blocks)
    await c.pilot.pause()


async def says(c: Chat, words: str) -> None:
    await c.until(lambda: words in c.line("hint"), f"{words!r} is not in {c.line('hint')!r}")


# -- the sources -------------------------------------------------------------------------------


def test_words_are_found_in_any_case_across_any_white_space() -> None:
    words = Words(" Big  dog ")

    assert words.spans("a big\n dog, a BIG\tDOG, a bigdog") == [(2, 10), (14, 21)]


async def test_a_block_is_read_again_only_when_it_has_changed() -> None:
    reads: list[Block] = []

    class Read(NoticeBlock):
        def source(self) -> str:
            reads.append(self)
            return super().source()

    blocks = [Read("needle"), Read("hay")]
    finder = Finder(Words("needle"), lambda: blocks)
    await finder.look()
    blocks[1].change("needle needle")
    await finder.look()

    assert reads == [*blocks, blocks[1]]
    assert finder.total == 3


async def test_other_things_happen_while_a_long_transcript_is_searched() -> None:
    blocks = [answer(f"{n} needle " + "hay " * 1_000) for n in range(1_000)]
    finder = Finder(Words("needle"), lambda: blocks)
    beats = 0

    async def beat() -> None:
        nonlocal beats
        while True:
            beats += 1
            await asyncio.sleep(0)

    beating = asyncio.create_task(beat())
    await finder.look()
    beating.cancel()

    assert finder.total == 1_000
    assert beats >= 4


async def test_places_follow_each_other_round_the_ends() -> None:
    first, second, third = blocks = [NoticeBlock("a x x"), NoticeBlock("none"), NoticeBlock("x")]
    finder = Finder(Words("x"), lambda: blocks)
    await finder.look()
    down: list[Hit | None] = [Hit(first, 0)]
    up: list[Hit | None] = [Hit(first, 0)]
    for _ in range(3):
        down.append(finder.after(down[-1] or Hit(second, 0)))
        up.append(finder.before(up[-1] or Hit(second, 0)))

    assert down == [Hit(first, 0), Hit(first, 1), Hit(third, 0), Hit(first, 0)]
    assert up == down[::-1]
    assert [finder.number_of(hit) for hit in down if hit] == [1, 2, 3, 1]
    assert finder.first_from(second) == Hit(third, 0)


async def test_what_was_said_last_is_found_from_below_it() -> None:
    blocks = [NoticeBlock("x"), NoticeBlock("x x"), NoticeBlock("end")]
    finder = Finder(Words("x"), lambda: blocks)
    await finder.look()

    assert finder.first_from(blocks[2]) == Hit(blocks[1], 1)


# -- on the screen -----------------------------------------------------------------------------


async def test_find_goes_through_ten_thousand_messages() -> None:
    async with chat() as c:
        blocks = [answer(f"message {n}" + " **Needle**" * (n % 1_000 == 7)) for n in range(10_000)]
        await fill(c, *blocks)
        await c.say("/find needle")
        await says(c, "10 of 10 “needle”")
        last = found_row(c.app.transcript), c.app.transcript.cursor
        await c.press("n")
        await says(c, "1 of 10")
        first = found_row(c.app.transcript), c.app.transcript.cursor
        await c.press("N")
        await says(c, "10 of 10")

        assert last == ("▸  message 9007 Needle", blocks[9_007])
        assert first == ("▸  message 7 Needle", blocks[7])


async def test_what_is_found_is_reversed_also_where_it_is_wrapped() -> None:
    async with chat(size=(40, 12)) as c:
        await fill(c, answer("aaaa " * 6 + "two words are here"))
        await c.say("/find two words")
        await says(c, "1 of 1")

        assert reversed_in(c.app.transcript) == ["two", "words"]


async def test_marking_loses_nothing_behind_characters_that_belong_together() -> None:
    family = "\N{WOMAN}\u200d\N{PERSONAL COMPUTER}"
    async with chat() as c:
        await fill(c, answer(f"a {family} needle {family} end"))
        await c.say("/find needle")
        await says(c, "1 of 1")

        assert found_row(c.app.transcript) == f"▸  a {family} needle {family} end"
        assert reversed_in(c.app.transcript) == ["needle"]


async def test_slash_on_the_block_cursor_opens_a_line_and_the_draft_stays() -> None:
    async with chat() as c:
        await fill(c, UserBlock("find me"), UserBlock("not this"))
        c.app.prompt.set_text("my draft")
        await c.press("f6", "slash", *"ME", "x", "backspace")
        typed = c.line("hint")
        await c.press("enter")
        await says(c, "1 of 1 “ME”")
        await c.press("escape")

        assert "find: ME" in typed
        assert c.draft == "my draft"
        assert reversed_in(c.app.transcript) == []
        assert c.app.transcript.cursor is None


async def test_what_is_pasted_goes_into_the_line() -> None:
    async with chat() as c:
        await fill(c, UserBlock("find me"))
        await c.press("f6", "slash")
        await c.gets(b"\x1b[200~find\nme\x1b[201~")

        assert "find: find me" in c.line("hint")
        assert c.draft == ""


async def test_escape_closes_the_line_and_what_was_found_stays() -> None:
    async with chat() as c:
        await fill(c, UserBlock("one two"))
        await c.say("/find one")
        await says(c, "1 of 1")
        await c.press("slash", *"tw", "escape")
        await says(c, "1 of 1 “one”")
        await c.press("slash", *"tw", "enter")
        await says(c, "1 of 1 “tw”")


async def test_nothing_found_is_said() -> None:
    async with chat() as c:
        await fill(c, UserBlock("hay"))
        await c.say("/find needle")
        await says(c, "no “needle”")


async def test_what_hides_a_place_opens() -> None:
    async with chat() as c:
        thought = ThoughtBlock()
        thought.append("first\n\nthe needle\n\nlast")
        thought.finish()
        await fill(c, thought)
        await c.say("/find needle")
        await says(c, "1 of 1")

        assert thought.expanded
        assert found_row(c.app.transcript) == "▸  the needle"


async def test_every_place_of_a_long_answer_is_gone_to_however_high_it_is_between_them() -> None:
    code = ["```\n" + "\n" * (7 * n % 40) + "```" for n in range(60)]
    parts = [f"# {n}\n\nthe needle **{n}**\n\n{code[n]}\n\n{'wide ' * 9 * n}" for n in range(60)]
    async with chat() as c:
        await fill(c, answer("\n\n".join(parts)), NoticeBlock("end"))
        await c.say("/find the needle")
        await says(c, "60 of 60")
        rows = []
        for n in range(60):
            await c.press("n")
            await says(c, f"{n + 1} of 60")
            rows.append(found_row(c.app.transcript))

        assert rows == [f"▸  the needle {n}" for n in range(60)]


async def test_what_cannot_be_seen_is_said_to_be_hidden() -> None:
    async with chat() as c:
        await fill(c, answer("```needle.example\n1\n```"), NoticeBlock("end"))
        await c.say("/find needle.example")
        await says(c, "1 of 1 “needle.example”")

        assert "hidden: enter shows it" in c.line("hint")


async def test_what_arrives_meanwhile_is_counted_and_the_view_stays() -> None:
    gate = Gate()
    needles = [text("a needle\n\n" + "hay\n\n" * 40), calls(call("bash", {"command": "x"}))]
    async with chat(needles[0], needles[1], text("a needle again"), tools=[gate.tool]) as c:
        await c.say("one")
        await c.idle()
        await c.say("two")
        await c.until(lambda: gate.running)
        await c.say("/find needle")
        await says(c, "1 of 1")
        row = found_row(c.app.transcript)
        gate.open.set()
        await c.idle()
        stays = found_row(c.app.transcript)
        await c.press("n")
        await says(c, "2 of 2")

        assert row == stays == "▸  a needle"


async def test_after_another_width_the_mark_is_where_it_was() -> None:
    async with chat() as c:
        await fill(c, answer("hay " * 40 + "needle"))
        await c.say("/find needle")
        await says(c, "1 of 1")
        await c.pilot.resize_terminal(40, 12)
        await c.until(lambda: c.app.transcript.size.width == 40)
        await c.pilot.pause()

        assert "needle" in found_row(c.app.transcript)


async def test_the_viewer_searches_for_the_same() -> None:
    async with chat() as c:
        await fill(c, answer("hay\n\nneedle"))
        await c.say("/find needle")
        await says(c, "1 of 1")
        await c.press("enter")
        await c.until(lambda: isinstance(c.app.screen, OutputScreen))
        hint = c.app.screen.query_one("#output-hint")
        await c.until(lambda: "1 of 1 lines with “needle”" in str(hint.render()))
