"""A composer on a screen of its own, fed with the bytes that a terminal sends."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from textual.app import App, ComposeResult
from textual.pilot import Pilot
from textual.widgets import Static

from agent_tui.tui.history import History
from agent_tui.tui.keys import InputReader
from agent_tui.tui.prompt import Prompt

CASES = Path(__file__).parent.parent / "cases" / "input"


class ComposerApp(App[None]):
    """Nothing but a transcript's place and a composer; remembers what the composer says."""

    CSS = "Static { height: 1fr; }"

    def __init__(self, history: History | None = None) -> None:
        super().__init__()
        self.prompt = Prompt(history=history)
        self.sent: list[tuple[str, str]] = []
        self.said: list[str] = []
        self.quits = 0
        self.keys_left_over: list[str] = []

    def compose(self) -> ComposeResult:
        yield Static()
        yield self.prompt

    def on_mount(self) -> None:
        self.prompt.focus()

    def on_key(self, event: object) -> None:
        self.keys_left_over.append(getattr(event, "key", ""))

    def on_prompt_submitted(self, event: Prompt.Submitted) -> None:
        self.sent.append((event.text, event.lane))

    def on_prompt_quit_requested(self) -> None:
        self.quits += 1

    def on_prompt_notice(self, event: Prompt.Notice) -> None:
        self.said.append(event.text)


class Composer:
    """The composer as a person at a terminal has it."""

    def __init__(self, app: ComposerApp, pilot: Pilot[None]) -> None:
        self.app = app
        self.prompt = app.prompt
        self.pilot = pilot

    @property
    def text(self) -> str:
        return self.prompt.expanded_text

    @property
    def sent(self) -> list[tuple[str, str]]:
        return self.app.sent

    async def gets(self, data: bytes | str) -> None:
        """The terminal sends `data` in one piece and then nothing for a while."""
        reader = InputReader()
        found = reader.feed(data.encode() if isinstance(data, str) else data)
        for event in [*found, *reader.expire()]:
            self.app.post_message(event)
        await self.settles()

    async def pastes(self, text: str) -> None:
        await self.gets(f"\x1b[200~{text}\x1b[201~")

    async def settles(self) -> None:
        await self.app.workers.wait_for_complete()
        await self.pilot.pause()
        await self.app.workers.wait_for_complete()
        await self.pilot.pause()


@asynccontextmanager
async def composer(
    history: History | None = None, size: tuple[int, int] = (80, 24)
) -> AsyncIterator[Composer]:
    app = ComposerApp(history)
    async with app.run_test(size=size) as pilot:
        yield Composer(app, pilot)


def case_bytes(name: str) -> list[bytes]:
    """The bytes of a case, cut where the program is to become idle first."""
    return (CASES / f"{name}.keys").read_bytes().split(b"@WAIT_IDLE@")
