"""Keys that a person has chosen: they do it, they are named, and the usual ones do it no more."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from textual.widgets import Static

from agent_tui import Agent, Tool
from agent_tui.config import Folders, Settings
from agent_tui.session.session import Session
from agent_tui.testing import ScriptedModel, call, calls, hang, text
from agent_tui.tui.app import ChatApp
from agent_tui.tui.keymap import Keymap
from agent_tui.tui.screens.help import HelpScreen, help_rows
from agent_tui.tui.screens.keys import KeysScreen
from tests.tui.chat import Chat, Clock, Gate, as_text, chat

KEYS = {
    "why": ("f9",),
    "follow_up": ("ctrl+n",),
    "escape": ("f4",),
    "pending_up": ("alt+w",),
    "pending_delete": ("z",),
    "once": ("alt+o",),
    "interrupt": ("f12", "ctrl+c"),
    "newline": ("enter",),
    "enter": ("ctrl+j",),
}


class Rebound:
    """A chat with these keys."""

    def __init__(self, home: Path, *script: object, tools: Sequence[Tool] = ()) -> None:
        self.model, self.clock = ScriptedModel([*script]), Clock()  # type: ignore[list-item]
        agent = Agent("test/m", stream_fn=self.model, tools=[*tools])
        self.session = Session.open(agent, cwd=home, clock=self.clock)
        settings = Settings(cwd=home, folders=Folders(home, home), keys=KEYS)
        self.app = ChatApp(self.session, settings=settings, clock=self.clock, environ={})

    async def run(self, scene: object) -> None:
        async with self.app.run_test(size=(100, 30)) as pilot:
            c = Chat(self.app, pilot, self.model, self.session, self.clock)
            await c.until(lambda: self.app.is_ready)
            await scene(c)  # type: ignore[operator]


async def test_chosen_keys_do_it_and_the_usual_ones_do_it_no_more(tmp_path: Path) -> None:
    async def scene(c: Chat) -> None:
        await c.press(*"one", "enter", *"two")
        assert c.draft == "one\ntwo"
        await c.press("ctrl+j")
        await c.until(lambda: c.app.is_busy)
        assert c.said == ["one\ntwo"]
        await c.press("f3")
        assert "Waiting for" not in c.line("hint")
        await c.press("f9")
        assert "Waiting for" in c.line("hint")
        c.clock.time += 10
        await c.press(*"later", "ctrl+n")
        assert c.queued == ["later"]
        await c.press("alt+w", "d")
        assert c.queued == ["later"]
        assert c.draft == "d"
        await c.press("backspace", "alt+w", "z")
        assert c.queued == []
        await c.press("escape")
        assert c.app.is_busy
        await c.press("f4")
        await c.idle()

    await Rebound(tmp_path, hang()).run(scene)


async def test_the_usual_key_answers_no_question_when_another_does(tmp_path: Path) -> None:
    async def scene(c: Chat) -> None:
        await c.press(*"go", "ctrl+j")
        await c.until(lambda: c.app.card.display)
        c.clock.time += 1
        for data in (b"\x1by", b"\x1b[121;3u"):
            await c.gets(data)
            assert gate.calls == []
            assert c.draft == ""
        await c.gets(b"\x1bo")
        await c.until(lambda: len(gate.calls) == 1)
        gate.open.set()
        await c.idle()

    gate = Gate()
    asks = calls(call("bash", {"command": "touch ran.txt"}))
    await Rebound(tmp_path, asks, text("x"), tools=[gate.tool]).run(scene)


async def test_they_are_named_wherever_a_key_is(tmp_path: Path) -> None:
    async def scene(c: Chat) -> None:
        await c.press(*"go", "ctrl+j")
        await c.until(lambda: c.app.is_busy)
        assert "ctrl+j steer" in c.line("hint")
        assert "ctrl+n follow up" in c.line("hint")
        assert "f4 stop" in c.line("hint")
        await c.press(*"later", "ctrl+n")
        strip = as_text(c.app.strip.rows)
        assert "alt+w/alt+↓ select" in strip
        assert "z delete" in strip
        await c.press("f12")
        await c.idle()
        said = "\n".join(c.shown)
        assert "ctrl+j (empty composer)" in said
        assert "alt+w: select" in said
        await c.press("f1")
        await c.until(lambda: isinstance(c.app.screen, HelpScreen))

    await Rebound(tmp_path, hang()).run(scene)


def test_the_help_names_them() -> None:
    page = as_text(help_rows(114, (), Keymap(KEYS)))

    assert "f9" in page
    assert "alt+o/alt+a/alt+n/alt+e" in page
    assert "(f9)" in page
    assert "f3 " not in page


@pytest.mark.parametrize("words", ["alt+y once (/yes) · esc stop", "say `alt+y` · a f3b", ""])
def test_without_changes_nothing_is_renamed(words: str) -> None:
    assert Keymap().shown(words) == words


async def test_a_question_mark_shows_what_works_now_and_a_second_one_is_typed() -> None:
    async with chat(hang()) as c:
        await c.press("question_mark")
        await c.until(lambda: isinstance(c.app.screen, HelpScreen))
        page = str(c.app.screen.query_one(Static).visual)
        assert "enter send" in page[: page.index("Keys")]
        await c.press("question_mark")
        assert len(c.app.screen_stack) == 1
        assert c.draft == "?"
        await c.press("question_mark")
        assert c.draft == "??"
        await c.press("enter")
        await c.until(lambda: c.app.is_busy)
        await c.press("question_mark")
        page = str(c.app.screen.query_one(Static).visual)
        assert "enter steer" in page[: page.index("Keys")]
        await c.press("escape")
        assert c.app.is_busy
        await c.press("escape")
        await c.idle()


async def test_the_key_doctor_shows_what_came_and_what_it_does() -> None:
    async with chat(text("x")) as c:
        await c.say("/keys")
        await c.until(lambda: isinstance(c.app.screen, KeysScreen))
        for data in (b"\x1b[13;2u", b"\x1b\r", b"\x1b[1;3A", b"q"):
            await c.gets(data)
        page = str(c.app.screen.query_one(Static).visual)
        lines = {line.split()[0]: line for line in reversed(page.splitlines()) if line.strip()}

        assert "ESC [ 1 3 ; 2 u" in lines["shift+enter"]
        assert "newline" in lines["shift+enter"]
        assert "ESC ^M" in lines["alt+enter"]
        assert "pending_up" in lines["alt+↑"]
        assert "nothing of the chat's" in lines["q"]
        assert "protocol: kitty" in page
        await c.press("escape", "escape")
        assert len(c.app.screen_stack) == 1


async def test_the_key_doctor_says_what_a_key_does_on_a_narrow_screen_too() -> None:
    async with chat(text("x"), size=(40, 12)) as c:
        await c.say("/keys")
        await c.until(lambda: isinstance(c.app.screen, KeysScreen))
        await c.gets(b"\x1b[1;3A")
        page = str(c.app.screen.query_one(Static).visual)

        assert "alt+↑ pending_up" in page
        assert "shift+enter not yet else ctrl+j" in page
        assert "protocol: legacy" in page


def test_a_long_key_in_the_help_does_not_run_into_its_explanation() -> None:
    page = as_text(help_rows(114, (), Keymap(KEYS)))

    assert "alt+o/alt+a/alt+n/alt+e\n" in page
