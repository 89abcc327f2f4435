"""Walking and searching through what was sent."""

from __future__ import annotations

from pathlib import Path

from agent_tui.tui.history import History
from tests.tui.composer import composer

UP, DOWN, CTRL_R = b"\x1b[A", b"\x1b[B", b"\x12"


def history(*texts: str) -> History:
    found = History()
    for text in texts:
        found.add(text)
    return found


async def test_up_walks_back_and_down_returns_to_the_draft() -> None:
    async with composer(history("one", "two", "three")) as it:
        await it.gets(b"draft\x1b[D")
        seen = []
        for key in (UP, UP, UP, UP, DOWN, DOWN, DOWN, DOWN):
            await it.gets(key)
            seen.append(it.prompt.text)

        assert seen == ["three", "two", "one", "one", "two", "three", "draft", "draft"]
        assert it.prompt.cursor_location == (0, 4)


async def test_a_folded_draft_comes_back_folded_and_whole() -> None:
    async with composer(history("one")) as it:
        await it.pastes("x\n" * 30)
        await it.gets(UP + DOWN)

        assert it.prompt.text == "[paste #1 · 30 lines]"
        assert it.text == "x\n" * 30


async def test_what_was_changed_on_the_way_is_there_again() -> None:
    async with composer(history("one", "two")) as it:
        await it.gets(UP + b" changed" + UP + DOWN)

        assert it.prompt.text == "two changed"


async def test_a_draft_comes_back_after_an_old_message_was_sent_again() -> None:
    async with composer(history("one")) as it:
        await it.gets(b"draft" + UP + b"\r")

        assert it.sent == [("one", "enter")]
        assert it.prompt.text == "draft"


async def test_inside_of_several_lines_up_and_down_move_the_cursor() -> None:
    async with composer(history("one")) as it:
        await it.gets(b"first\nsecond" + UP)
        assert (it.prompt.text, it.prompt.cursor_location) == ("first\nsecond", (0, 5))

        await it.gets(DOWN)
        assert it.prompt.cursor_location[0] == 1

        await it.gets(UP + UP)
        assert it.prompt.text == "one"


async def test_up_in_a_wrapped_line_stays_in_the_text() -> None:
    async with composer(history("one"), size=(20, 12)) as it:
        await it.gets(b"word " * 8 + UP)

        assert it.prompt.text == "word " * 8


async def test_messages_of_several_lines_are_walked_in_one_direction() -> None:
    async with composer(history("a1\na2", "b1\nb2", "c1\nc2")) as it:
        await it.gets(UP + UP + UP)
        assert it.prompt.text == "a1\na2"

        await it.gets(b"\x1b[F" + DOWN + DOWN + DOWN)
        assert it.prompt.text == "c1\nc2"


async def test_what_is_sent_is_recalled_by_another_program(tmp_path: Path) -> None:
    path = tmp_path / "h.jsonl"
    async with composer(History(path)) as it:
        await it.pastes("x\n" * 30)
        await it.gets(b"\r!ls -l\r")

    async with composer(History(path)) as other:
        await other.gets(UP)
        assert other.prompt.text == "!ls -l"

        await other.gets(UP)
        assert other.text == "x\n" * 30


async def test_a_huge_old_message_comes_back_folded_and_whole() -> None:
    huge = "x" * 30_000
    async with composer(history(huge)) as it:
        await it.gets(UP)
        assert it.prompt.text == "[paste #1 · 30,000 characters]"

        await it.gets(b"\r")
        assert it.sent == [(huge, "enter")]


async def test_a_search_narrows_while_typing_and_goes_further_back() -> None:
    async with composer(history("run tests", "fix parser", "run linter", "hello")) as it:
        await it.gets(CTRL_R + b"run")
        assert it.prompt.text == "run linter"

        await it.gets(CTRL_R)
        assert it.prompt.text == "run tests"

        await it.gets(b" tests")
        assert it.prompt.text == "run tests"
        assert it.prompt.searching


async def test_enter_takes_what_was_found_without_sending_it() -> None:
    async with composer(history("run tests", "other")) as it:
        await it.gets(b"draft" + CTRL_R + b"tests\r")
        assert (it.prompt.text, it.sent, it.prompt.searching) == ("run tests", [], False)

        await it.gets(DOWN + DOWN)
        assert it.prompt.text == "draft"


async def test_other_keys_take_what_was_found_and_act() -> None:
    async with composer(history("run tests")) as it:
        await it.gets(CTRL_R + b"run\x1b[D!")

        assert it.prompt.text == "run test!s"


async def test_esc_ends_a_search_and_brings_the_draft_back() -> None:
    async with composer(history("run tests")) as it:
        await it.gets(b"draft" + CTRL_R + b"run")
        await it.gets(b"\x1b")

        assert it.prompt.text == "draft"
        assert it.app.keys_left_over == []


async def test_a_search_without_a_hit_shows_the_draft() -> None:
    async with composer(history("run tests")) as it:
        await it.gets(b"draft" + CTRL_R + b"nothing")
        assert it.prompt.text == "draft"

        await it.gets(b"\x7f" * 7 + b"run")
        assert it.prompt.text == "run tests"


async def test_a_text_that_arrives_during_a_search_loses_no_draft() -> None:
    async with composer(history("run tests")) as it:
        await it.gets(b"draft" + CTRL_R + b"run")
        it.prompt.set_text("from elsewhere")
        await it.gets(DOWN)

        assert it.prompt.text == "draft"
