"""G1, G7 and G8 against a monkey: any keys, pastes, clicks, sizes and events on the real app."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterator

import pytest
from rich.cells import cell_len
from textual.widget import Widget

from agent_tui import Tool, ToolContext
from agent_tui.testing import Part, call, calls, fail, pause, text, think
from tests.tui.chat import Chat, chat

KEYS = [
    "\r", "\r", "\r", "\x1b\r", "\t", "\n", "\x13", "\x1b", "\x1b", "\x03", "\x18", "\x18s",
    "\x0f", "\x14", "\x0c", "\x10", "\x12", "\x1a", "\x19", "\x01", "\x15", "\x0b", "\x17", "\x7f",
    "\x1b[Z", "\x1b[A", "\x1b[B", "\x1b[C", "\x1b[D", "\x1b[H", "\x1b[F", "\x1b[5~", "\x1b[6~",
    "\x1b[3~", "\x1b[1;3A", "\x1b[1;3B", "\x1b[1;4A", "\x1b[1;4B", "\x1b[1;5A", "\x1b[1;5B",
    "\x1b[1;2D", "\x1bOP", "\x1bOQ", "\x1bOR", "\x1b[17~", "\x1by", "\x1ba", "\x1bn", "\x1be",
    "\x1bx", "\x1bl", "\x1bs", "\x1b[27u", "\x1b[13;5u", "\x1b[13;2u", "\x1b[115;5u", "\x1b[I",
    "\x1b[O", "e", "d", "s", "x", "k", "y", "f", "g", "G", "/", "?", "n", " ", "@", "!",
    "日本", "👨‍👩‍👧", "e\u0301",
]  # fmt: skip
COMMANDS = [
    "/queue", "/why", "/usage", "/context", "/expand", "/thinking", "/stop", "/help", "/mode",
    "/tools", "/loop", "/blocks", "/copy", "/nothing", "/now", "/follow-up", "/no because", "/yes",
    "/usr/bin is a place",
]  # fmt: skip
PASTES = [
    "one line",
    "two\r\nlines",
    "row\r" * 30,
    "wide " * 600,
    "\x1b[31mred\x1b]0;owned\x07\x00",
]
SIZES = [(80, 24), (40, 12), (120, 40), (100, 8), (24, 30), (8, 4), (1, 1)]
ROOM = (24, 8)
"""Columns and rows from which on the composer is always in view."""
HOSTILE = [
    "plain words and **marks** with `code`.\n\n- one\n- two\n",
    "[bold red]markup[/] \x1b[31mred\x1b[0m \x1b]0;owned\x07\x1b[2J\x1b[H gone?",
    "```py\nx = '\x1b]52;c;b3duZWQ=\x07'\n```\n| a | b |\n|---|---|\n| 1 | [x](javascript:1) |\n",
    "\u202eevil\u202c \u200bzero\u2066 日本語 👩‍👩‍👧‍👦 " + "long" * 80,
    "line\rover\x08\x08\x9b31m\x90dcs\x9c end",
]
CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
LOOKS_EVERY = 4


async def _hostile(call_id: str, args: dict[str, object], ctx: ToolContext) -> str:
    for piece in HOSTILE:
        ctx.on_update(piece)
    return "\n".join(HOSTILE)


TOOLS = [
    Tool(
        name, "prints", {"type": "object", "properties": {"command": {"type": "string"}}}, _hostile
    )
    for name in ("bash", "read")
]


def responses(chooser: random.Random) -> Iterator[list[Part]]:
    """Answers of every kind; now and then the model fails."""
    while True:
        said = chooser.choice(HOSTILE)
        yield chooser.choice(
            [
                [text(said, chunk=chooser.randint(1, 9))],
                [think(said), pause(0.01), text(said, chunk=5)],
                [text("look"), calls(call("bash", {"command": said}), call("read", {}))],
                [calls(call("bash", {"command": "x"})), pause(0.01)],
                [text("half"), fail("auth", said)],
            ]
        )


class Monkey:
    """Chooses what happens next, and checks after each act."""

    def __init__(self, c: Chat, chooser: random.Random) -> None:
        self.c = c
        self.chooser = chooser
        self.words = 0
        self.safe: set[str] = set()
        """Words of messages that were accepted."""

    async def act(self) -> None:
        c, choose = self.c, self.chooser
        was_editing = c.app.strip.editor is not None
        was_picking = c.app.modes.mode == "strip" or len(c.app.screen_stack) > 1
        before = self._accepted()
        match choose.randrange(12):
            case 0:
                await c.pilot.resize_terminal(*choose.choice(SIZES))
            case 1 | 2 | 3:
                self.words += 1
                await c.gets(f"w{self.words:03} ".encode())
            case 4:
                await c.gets(b"\x1b[200~" + choose.choice(PASTES).encode() + b"\x1b[201~")
            case 5:
                if c.app.prompt.is_blank and len(c.app.screen_stack) == 1:
                    await c.gets(f"{choose.choice(COMMANDS)}\r".encode())
            case 6:
                size = c.app.size
                column, row = choose.randint(1, size.width), choose.randint(1, size.height)
                button = choose.choice([0, 2, 64, 65])
                for end in "Mm":
                    await c.gets(f"\x1b[<{button};{column};{row}{end}".encode())
            case 7:
                c.clock.time += choose.choice([0.1, 0.6, 2.5])
                await c.pilot.pause(0.01)
            case _:
                await c.gets(choose.choice(KEYS).encode())
        is_editing = c.app.strip.editor is not None
        self._check(before, may_delete=was_editing or is_editing or was_picking)

    def _accepted(self) -> set[str]:
        """The words in messages that wait or were delivered, on any branch."""
        entries = [*self.c.session.journal.tree]
        sent = [str(entry.message) for entry in entries if entry.message is not None]
        return _words([*self.c.queued, *self.c.said, *sent])

    def _check(self, before: set[str], *, may_delete: bool) -> None:
        c = self.c
        kept = self._accepted() | _words([c.draft, *c.app.prompt.stashed])
        if not may_delete:
            assert before <= kept, f"lost {before - kept}"
        ids = [item.message.id for item in c.session.agent.queued()]
        ids += [message.id for message in c.session.agent.state.messages]
        assert [identity for identity, count in Counter(ids).items() if count > 1] == []

    async def look(self) -> None:
        """What is on the screen now fits, and nothing in it could act on a terminal."""
        screen = self.c.app.screen
        for widget in screen.walk_children(Widget):
            region = widget.region
            if not region.area or not widget.display:
                continue
            for strip in widget.render_lines(widget.size.region):
                assert cell_len(strip.text) == strip.cell_length
                assert not CONTROLS.search(strip.text), repr(strip.text)
                assert not any(segment.control for segment in strip)
        await self.c.until(self._is_composer_in_view, "the composer is out of view")

    def _is_composer_in_view(self) -> bool:
        """Once everything is laid out; a screen on top, or one without room, may hide it."""
        app = self.c.app
        if len(app.screen_stack) > 1 or not _has_room(app.size):
            return True
        region = app.prompt.region
        return region.height > 0 and app.screen.region.contains_region(region)


def _has_room(size: tuple[int, int]) -> bool:
    return size[0] >= ROOM[0] and size[1] >= ROOM[1]


def _words(texts: list[str]) -> set[str]:
    return {word for item in texts for word in re.findall(r"\bw\d{3}\b", item)}


@pytest.mark.parametrize("mode", ["ask", "full-auto"])
@pytest.mark.parametrize("seed", range(4))
async def test_whatever_a_monkey_does_nothing_is_lost_forged_or_broken(
    seed: int, mode: str
) -> None:
    chooser = random.Random(seed)
    answers = responses(random.Random(seed + 100))
    script = [next(answers) for _ in range(300)]

    async with chat(*script, tools=TOOLS, mode=mode) as c:  # type: ignore[arg-type]
        monkey = Monkey(c, chooser)
        for number in range(250):
            await monkey.act()
            if number % LOOKS_EVERY == 0:
                await monkey.look()
        c.session.abort()
        await c.idle()
        await monkey.look()
        assert monkey.words > 30
        assert c.requests
