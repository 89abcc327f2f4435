"""Vim's keys: a machine over a text and a cursor, and the composer that has one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_tui.testing import hang, text
from agent_tui.tui.vim import Vim
from tests.tui.chat import chat


def typed(keys: str, before: str, *, vim: Vim | None = None) -> str:
    """The text after keys in NORMAL, a `|` where the cursor is."""
    vim = vim or Vim()
    vim.is_normal = True
    cursor = before.index("|")
    now = before.replace("|", "", 1)
    for key in keys:
        effect = vim.press(key, key, now, cursor)
        if effect is None:  # typed in INSERT
            now = now[:cursor] + key + now[cursor:]
            cursor += 1
            continue
        if effect.is_edit:
            now = now[: effect.start] + effect.text + now[effect.end :]
        if effect.cursor is not None:
            cursor = min(effect.cursor, len(now))
    return now[:cursor] + "|" + now[cursor:]


@pytest.mark.parametrize(
    ("keys", "before", "after"),
    [
        ("l", "|abc", "a|bc"),
        ("2l", "|abc", "ab|c"),
        ("9l", "|abc\nd", "abc|\nd"),
        ("h", "ab|c", "a|bc"),
        ("w", "|one, two", "one|, two"),
        ("2w", "|one, two", "one, |two"),
        ("w", "one |two", "one two|"),
        ("b", "one two|", "one |two"),
        ("e", "|one two", "on|e two"),
        ("0", "  ab|c", "|  abc"),
        ("^", "  ab|c", "  |abc"),
        ("$", "|abc\nd", "abc|\nd"),
        ("gg", "ab\nc|d", "|ab\ncd"),
        ("G", "|ab\ncd", "ab\ncd|"),
        ("fc", "|abcabc", "ab|cabc"),
        ("2fc", "|abcabc", "abcab|c"),
        ("tc", "|abc", "a|bc"),
        ("Fa", "abc|", "|abc"),
        ("fx", "|abc", "|abc"),
        ("x", "a|bc", "a|c"),
        ("3x", "a|bcde", "a|e"),
        ("X", "ab|c", "a|c"),
        ("D", "a|bc\nd", "a|\nd"),
        ("Cxy", "a|bc\nd", "axy|\nd"),
        ("dw", "one |two three", "one |three"),
        ("d2w", "|one two three", "|three"),
        ("2dw", "|one two three", "|three"),
        ("de", "|one two", "| two"),
        ("db", "one two|", "one |"),
        ("d$", "a|bc\nd", "a|\nd"),
        ("dd", "one\nt|wo\nthree", "one\n|three"),
        ("2dd", "o|ne\ntwo\nthree", "|three"),
        ("dd", "one\ntw|o", "|one"),
        ("dd", "on|e", "|"),
        ("dtx", "a|bcxd", "a|xd"),
        ("dfx", "a|bcxd", "a|d"),
        ("diw", "one t|wo three", "one | three"),
        ("daw", "one t|wo three", "one |three"),
        ("cwnew", "|old text", "new| text"),
        ("ccnew", "a\nol|d\nb", "a\nnew|\nb"),
        ("yyp", "on|e\ntwo", "one\n|one\ntwo"),
        ("yyP", "on|e", "|one\none"),
        ("ywP", "|one two", "one| one two"),
        ("xp", "|abc", "b|ac"),
        ("rx", "a|bc", "a|xc"),
        ("2rx", "a|bc", "ax|x"),
        ("~", "|aB", "A|B"),
        ("J", "on|e\n  two", "one| two"),
        ("ix", "a|b", "ax|b"),
        ("ax", "a|b", "abx|"),
        ("Ix", "  a|b", "  x|ab"),
        ("Ax", "|ab\nc", "abx|\nc"),
        ("ox", "a|b\nc", "ab\nx|\nc"),
        ("Ox", "a\nb|", "a\nx|\nb"),
        ("sx", "|abc", "x|bc"),
        ("qQ", "a|b", "a|b"),
        ("dq", "a|b", "a|b"),
    ],
)
def test_keys_do_what_they_do_in_vim(keys: str, before: str, after: str) -> None:
    assert typed(keys, before) == after


@given(
    keys=st.text("hlwbe0^$GgfFtTxXdDcCyYpPusrJ~iaAIoO123qz\n ", max_size=25),
    before=st.text("ab ,\n日", max_size=20),
    at=st.integers(0, 20),
)
def test_no_keys_leave_the_text(keys: str, before: str, at: int) -> None:
    at = min(at, len(before))

    after = typed(keys, f"{before[:at]}|{before[at:]}")

    assert "|" in after


async def test_the_composer_has_them_when_asked_and_esc_still_stops_a_turn() -> None:
    async with chat(text("ok"), hang()) as c:
        await c.say("/vim")
        assert "INSERT" in c.line("hint")
        await c.press(*"one two", "escape")
        assert "NORMAL" in c.line("hint")
        await c.press("b", "d", "w", "u")
        assert c.draft == "one two"
        await c.press("0", "d", "w", "i", *"a ")
        assert c.draft == "a two"
        await c.press("escape", "enter")
        await c.idle()
        assert c.said == ["a two"]
        assert "INSERT" in c.line("hint")

        await c.press(*"go", "enter")
        await c.until(lambda: c.app.is_busy)
        await c.press("escape")
        assert c.app.is_busy
        await c.press("escape")
        await c.idle()

        await c.say("/vim")
        assert "INSERT" not in c.line("hint")


async def test_a_command_can_be_begun_in_normal_mode_and_ctrl_c_never_changes() -> None:
    async with chat(hang()) as c:
        await c.say("/vim")
        await c.press("escape", *"/why", "enter")
        assert "Nothing is running" in c.line("hint")
        await c.press("escape", "i", *"go", "enter")
        await c.until(lambda: c.app.is_busy)
        await c.press("ctrl+c")
        await c.idle()
