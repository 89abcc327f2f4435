"""Faults that editors like this one have had, with the bytes that terminals sent."""

from __future__ import annotations

import hashlib
import re

from tests.tui.composer import case_bytes, composer


async def test_a_pasted_text_with_newlines_is_one_block_and_not_sent() -> None:
    async with composer() as it:
        await it.gets(case_bytes("paste-multiline")[0])

        assert it.sent == []
        assert it.prompt.text == "north\neast\nsouth\n"


async def test_a_paste_after_typed_text_leaves_that_text_once() -> None:
    async with composer() as it:
        await it.gets(case_bytes("paste-after-text")[0])

        assert it.sent == []
        assert it.prompt.text == "Summarise: A\nB\nC!"


async def test_controls_in_a_paste_are_removed_and_never_act() -> None:
    async with composer() as it:
        await it.gets(case_bytes("paste-with-controls")[0])

        assert it.sent == []
        assert re.search("tab.*here.*nul.*bell.*red.*del ok", it.prompt.text, re.DOTALL)
        assert not set("\x1b\x00\x07\x7f") & set(it.prompt.text)

        await it.gets(b"\x1b[D" * len(it.prompt.text))
        assert it.prompt.cursor_location == (0, 0)


async def test_a_large_paste_is_sent_complete() -> None:
    data = case_bytes("paste-large")[0]
    pasted = data.removeprefix(b"\x1b[200~").partition(b"\x1b[201~")[0]

    async with composer() as it:
        await it.gets(data)
        await it.gets(b"\r")

        (text, _), *others = it.sent
        assert not others
        assert hashlib.sha256(text.encode()).digest() == hashlib.sha256(pasted).digest()


async def test_the_history_key_keeps_the_draft() -> None:
    first, then = case_bytes("arrow-up-keeps-draft")

    async with composer() as it:
        await it.gets(first)
        await it.gets(then)

        assert it.sent == [("first message", "enter")]
        assert it.prompt.text == "my long draft"


async def test_a_recalled_shell_line_has_its_mark() -> None:
    first, then = case_bytes("bang-recalled-with-its-mark")

    async with composer() as it:
        await it.gets(first)
        await it.gets(then)

        assert it.prompt.text == "!echo hi"


async def test_one_backspace_deletes_one_visible_character() -> None:
    async with composer() as it:
        await it.gets(case_bytes("grapheme-backspace")[0])

        assert it.prompt.text == "x"
        assert it.prompt.cursor_location == (0, 1)
        assert it.prompt.cursor_screen_offset.x - it.prompt.content_region.x == 1


async def test_half_a_character_on_the_input_becomes_a_mark() -> None:
    async with composer() as it:
        await it.gets(case_bytes("lone-surrogate-input")[0])

        ((text, lane),) = it.sent
        assert lane == "enter"
        assert text.encode()
        assert text.startswith("caf\ufffd ")
        assert text.endswith(" end")
        assert list(it.prompt.recall.entries) == [text]


async def test_a_message_that_begins_with_a_path_is_sent_and_remembered() -> None:
    async with composer() as it:
        await it.gets(case_bytes("slash-path-is-a-message")[0])

        text = "/usr/lib/python3/dist-packages is missing, why?"
        assert it.sent == [(text, "enter")]
        assert list(it.prompt.recall.entries) == [text]


async def test_a_mistyped_command_can_be_put_back() -> None:
    async with composer() as it:
        await it.gets(case_bytes("unknown-slash-keeps-text")[0])
        it.prompt.put_back(it.sent[0][0])

        assert it.prompt.text == "/modle gpt please"
        assert list(it.prompt.recall.entries) == ["/modle gpt please"]


async def test_a_space_while_typing_is_text() -> None:
    async with composer() as it:
        await it.gets(case_bytes("approval-space-while-typing")[0].replace(b"@OPEN_REASON@", b""))

        assert it.prompt.text == "please also check the docs "
