"""Writing, pasting and sending in the composer."""

from __future__ import annotations

import pytest

from tests.tui.composer import composer

FAMILY = "👨‍👩‍👧"


@pytest.mark.parametrize(
    ("keys", "lane"),
    [
        pytest.param(b"\r", "enter", id="Enter"),
        pytest.param(b"\x1b\r", "follow_up", id="Alt+Enter, plain terminal"),
        pytest.param(b"\x1b[13;3u", "follow_up", id="Alt+Enter, kitty"),
        pytest.param(b"\t", "follow_up", id="Tab"),
    ],
)
async def test_each_sending_key_has_its_lane(keys: bytes, lane: str) -> None:
    async with composer() as it:
        await it.gets(b"hello" + keys)

        assert it.sent == [("hello", lane)]
        assert it.prompt.text == ""


@pytest.mark.parametrize(
    "keys",
    [
        pytest.param(b"\n", id="Ctrl+J"),
        pytest.param(b"\x1b[13;2u", id="Shift+Enter, kitty"),
        pytest.param(b"\x1b[27;2;13~", id="Shift+Enter, xterm"),
        pytest.param(b"\\\r", id="backslash and Enter"),
    ],
)
async def test_each_newline_key_begins_a_line(keys: bytes) -> None:
    async with composer() as it:
        await it.gets(b"one" + keys + b"two")

        assert it.sent == []
        assert it.prompt.text == "one\ntwo"


async def test_an_escaped_backslash_is_sent() -> None:
    async with composer() as it:
        await it.gets(b"C:\\\\\r")

        assert it.sent == [("C:\\\\", "enter")]


async def test_keys_in_one_burst_act_in_the_order_of_typing() -> None:
    async with composer() as it:
        await it.gets(b"helloo\x7f wrld\x1b[D\x1b[D\x1b[Do\x1b[F!\rnext\x1b[13;3ulast")

        assert it.sent == [("hello world!", "enter"), ("next", "follow_up")]
        assert it.prompt.text == "last"


async def test_enter_on_nothing_is_told_and_blanks_are_not_sent() -> None:
    async with composer() as it:
        await it.gets(b"\r")
        await it.gets(b"  \n \r")
        await it.gets(b"\x1b\r\t")

        assert it.sent == [("", "enter"), ("", "enter")]
        assert it.prompt.text == "  \n "


async def test_ctrl_s_sends_now_while_a_turn_runs() -> None:
    async with composer() as it:
        it.prompt.turn_running = True

        await it.gets(b"stop that\x13")
        await it.gets(b"\x13")

        assert it.sent == [("stop that", "now")]
        assert it.app.keys_left_over == ["ctrl+s"]


async def test_ctrl_s_stashes_and_unstashes_otherwise() -> None:
    async with composer() as it:
        await it.gets(b"first\x13")
        await it.gets(b"second\x13")
        assert it.prompt.text == ""
        assert list(it.prompt.stashed) == ["first", "second"]

        await it.gets(b"\x13")
        assert it.prompt.text == "second"
        assert list(it.prompt.stashed) == ["first"]
        assert it.sent == []


async def test_a_stash_keeps_what_is_folded() -> None:
    async with composer() as it:
        await it.pastes("x\n" * 50)
        await it.gets(b"\x13")
        await it.pastes("y\n" * 50)
        it.prompt.unstash()

        assert it.text == "x\n" * 50 + "\n" + "y\n" * 50


async def test_ctrl_d_asks_to_quit_only_when_empty() -> None:
    async with composer() as it:
        await it.gets(b"ab\x1b[D\x04")
        assert (it.prompt.text, it.app.quits) == ("a", 0)

        await it.gets(b"\x7f\x04")
        assert it.app.quits == 1


async def test_put_back_restores_the_draft_as_it_was() -> None:
    async with composer() as it:
        await it.gets(b"look: ")
        await it.pastes("log\n" * 30)
        shown = it.prompt.text
        await it.gets(b"\x1b[H\r")

        it.prompt.put_back(it.sent[0][0])

        assert it.prompt.text == shown
        assert it.prompt.cursor_location == (0, 0)


async def test_put_back_comes_before_what_was_typed_since() -> None:
    async with composer() as it:
        await it.gets(b"first\rsecond")

        it.prompt.put_back("first")

        assert it.prompt.text == "first\nsecond"


@pytest.mark.parametrize(
    "key",
    [
        pytest.param(b"\x1by", id="Alt+Y, plain terminal"),
        pytest.param(b"\x1b[121;3u", id="Alt+Y, kitty"),
        pytest.param(b"\x1b.", id="Alt and a mark"),
        pytest.param(b"\x0f", id="Ctrl+O"),
        pytest.param(b"\x18", id="Ctrl+X with nothing selected"),
        pytest.param(b"\x03", id="Ctrl+C with nothing selected"),
        pytest.param(b"\x1b", id="Esc with nothing open"),
        pytest.param(b"\x1b[17~", id="F6"),
        pytest.param(b"\x1b[1;5A", id="Ctrl+Up"),
        pytest.param(b"\x1b[5~", id="Page up"),
    ],
)
async def test_keys_of_the_app_type_nothing_and_reach_the_app(key: bytes) -> None:
    async with composer() as it:
        await it.gets(b"draft" + key)

        assert it.prompt.text == "draft"
        assert len(it.app.keys_left_over) == 1


# Characters


@pytest.mark.parametrize(
    "typed",
    [
        pytest.param(FAMILY, id="a joined emoji"),
        pytest.param("a\u3000b", id="the wide space"),
        pytest.param("a\u00a0b", id="the no-break space"),
        pytest.param("\U0001fae9", id="an emoji newer than Python's tables"),
        pytest.param("e\u0301", id="a combining accent"),
        pytest.param("日本語", id="wide characters"),
        pytest.param("\ue0b0", id="a private glyph"),
    ],
)
async def test_every_visible_character_can_be_typed(typed: str) -> None:
    async with composer() as it:
        await it.gets(typed)

        assert it.prompt.text == typed


@pytest.mark.parametrize(
    "character",
    [
        pytest.param(FAMILY, id="a joined emoji"),
        pytest.param("🇩🇪", id="a flag"),
        pytest.param("👍🏽", id="a skin tone"),
        pytest.param("e\u0301", id="a combining accent"),
        pytest.param("日", id="a wide character"),
    ],
)
async def test_the_cursor_and_both_deletes_take_whole_characters(character: str) -> None:
    async with composer() as it:
        await it.gets(f"a{character}b")
        await it.gets(b"\x1b[D\x1b[D")
        assert it.prompt.cursor_location == (0, 1)

        await it.gets(b"\x1b[C")
        assert it.prompt.cursor_location == (0, 1 + len(character))

        await it.gets(b"\x7f")
        assert it.prompt.text == "ab"

        await it.gets(f"{character}\x1b[D\x1b[3~")
        assert it.prompt.text == "ab"


async def test_a_character_is_drawn_in_one_piece_under_the_cursor() -> None:
    async with composer() as it:
        await it.gets(f"a{FAMILY}b\x1b[D\x1b[D")

        pieces = [segment.text for segment in it.prompt.render_line(0)]

        assert FAMILY in pieces


async def test_up_and_down_never_stop_inside_a_character() -> None:
    async with composer() as it:
        await it.gets(f"a{FAMILY}{FAMILY}b\nabcdefghijk")
        stops = set()
        for _ in range(12):
            await it.gets(b"\x1b[A")
            stops.add(it.prompt.cursor_location)
            await it.gets(b"\x1b[B\x1b[D")

        assert stops <= {(0, column) for column in (0, 1, 6, 11, 12)}


# Pastes


async def test_a_long_paste_becomes_a_chip_and_is_sent_whole() -> None:
    async with composer() as it:
        await it.gets(b"see ")
        await it.pastes("line\r\n" * 214)
        assert it.prompt.text == "see [paste #1 · 214 lines]"

        await it.gets(b" ok?\r")
        assert it.sent == [("see " + "line\n" * 214 + " ok?", "enter")]


async def test_a_chip_is_one_character_to_every_key() -> None:
    async with composer() as it:
        await it.gets(b"a ")
        await it.pastes("x\n" * 20)
        chip = len(it.prompt.text) - 2
        await it.gets(b" b\x1b[D\x1b[D\x1b[D")
        assert it.prompt.cursor_location == (0, 2)

        await it.gets(b"\x1b[C")
        assert it.prompt.cursor_location == (0, 2 + chip)

        await it.gets(b"\x7f")
        assert it.prompt.text == "a  b"

        await it.gets(b"\x1a")
        assert it.text == "a " + "x\n" * 20 + " b"


@pytest.mark.parametrize(
    "keys",
    [
        pytest.param(b"\x17", id="word left"),
        pytest.param(b"\x15", id="to the start"),
        pytest.param(b"\x1b[H\x1bd\x1bd", id="word right"),
        pytest.param(b"\x1b[H\x1b[1;6C\x1b[1;6C\x7f", id="selected by words"),
    ],
)
async def test_no_deletion_leaves_half_a_chip(keys: bytes) -> None:
    async with composer() as it:
        await it.gets(b"a ")
        await it.pastes("x\n" * 20)

        await it.gets(keys)

        assert "paste" not in it.prompt.text
        assert "#" not in it.prompt.text


async def test_a_chip_expands_in_place_and_back() -> None:
    async with composer() as it:
        await it.gets(b"a ")
        await it.pastes("x\n" * 12 + "end")
        await it.gets(b"\x1bv")
        assert it.prompt.text == "a " + "x\n" * 12 + "end"

        await it.gets(b"\x1a")
        assert it.prompt.text == "a [paste #1 · 13 lines]"


async def test_what_is_cut_with_a_chip_comes_back_whole() -> None:
    async with composer() as it:
        await it.pastes("x\n" * 12)
        await it.gets(b"\x1b[1;2H\x18")
        assert it.prompt.text == ""

        await it.gets(b"\x16")
        assert it.text == "x\n" * 12


async def test_chips_of_a_sent_message_are_forgotten() -> None:
    async with composer() as it:
        await it.pastes("x\n" * 12)
        await it.gets(b"\r")
        await it.gets("[paste #1 · 12 lines]\r")

        assert it.sent[1] == ("[paste #1 · 12 lines]", "enter")


async def test_a_megabyte_lands_whole_and_the_next_key_too() -> None:
    text = "a line of a log that somebody pastes\n" * 28_000

    async with composer() as it:
        await it.pastes(text)
        await it.gets(b"x")

        assert it.text == text + "x"


# Editing


async def test_undo_and_redo() -> None:
    async with composer() as it:
        await it.gets(b"one")
        await it.pastes(" two")
        await it.gets(b"\x1a")
        assert it.prompt.text == "one"

        await it.gets(b"\x19")
        assert it.prompt.text == "one two"


async def test_the_editor_grows_to_a_third_of_the_height_and_shows_the_cursor() -> None:
    async with composer(size=(40, 24)) as it:
        assert it.prompt.size.height == 1

        await it.gets(b"a\nb\nc")
        assert it.prompt.size.height == 3

        await it.gets(b"\n" * 30)
        assert it.prompt.size.height == 8
        assert it.prompt.cursor_screen_offset.y == 23


async def test_long_lines_wrap() -> None:
    async with composer(size=(40, 24)) as it:
        await it.gets("word " * 20)

        assert it.prompt.size.height == 3
        assert it.prompt.document.line_count == 1


async def test_nothing_blinks() -> None:
    async with composer() as it:
        assert it.prompt.cursor_blink is False


@pytest.mark.parametrize("size", [(80, 24), (40, 12), (10, 4), (2, 2)])
async def test_any_size_of_window_takes_text(size: tuple[int, int]) -> None:
    async with composer(size=size) as it:
        await it.gets(f"some words {FAMILY} 日本語日本語 and\nmore")
        await it.pastes("x\n" * 20)
        await it.gets(b"\x1b[A\x1b[D\r")

        assert it.sent[0][0].endswith("x\n" * 20)
