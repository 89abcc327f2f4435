"""A program with a composer and nothing else, to be run in a terminal: `python -m … WAY_OUT`."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from pathlib import Path

from textual import events
from textual.app import App, ComposeResult
from textual.widgets import Static

from agent_tui.tui import terminal
from agent_tui.tui.driver import driver_class
from agent_tui.tui.prompt import Prompt
from agent_tui.tui.terminal import on_signals, title_sequence


class SmallChat(App[None]):
    """Logs keys with their time, and what the composer says, as JSON lines."""

    CSS = "Static { height: 1fr; }"

    def __init__(self, way_out: str, log: Path) -> None:
        super().__init__(driver_class=driver_class())
        self.way_out = way_out
        self.log_path = log
        self.ticks = 0

    def compose(self) -> ComposeResult:
        yield Static("READY")
        yield Prompt()

    def on_mount(self) -> None:
        self.query_one(Prompt).focus()
        self.undo = on_signals(self.ends, grace_seconds=1.0)
        assert self._driver is not None
        self._driver.write(title_sequence("small chat", "working"))
        if self.way_out == "busy":
            self.call_after_refresh(time.sleep, 60)
        if self.way_out == "ticks":
            self.set_interval(0.005, self.tick)

    def ends(self, number: int) -> None:
        if self.way_out != "hangs":
            self.exit(return_code=128 + number)

    def tick(self) -> None:
        self.ticks += 1
        self.note("tick", f"tick-{self.ticks}")
        self.query_one(Static).update(f"READY tick-{self.ticks}")

    def note(self, what: str, value: str) -> None:
        with self.log_path.open("a") as stream:
            stream.write(json.dumps([time.monotonic(), what, value]) + "\n")

    async def on_event(self, event: events.Event) -> None:
        if isinstance(event, events.Key) and not event.is_forwarded:
            self.note("key", event.key)
        await super().on_event(event)

    def on_prompt_notice(self, event: Prompt.Notice) -> None:
        self.note("notice", event.text)

    def on_prompt_quit_requested(self) -> None:
        self.exit()

    async def on_prompt_submitted(self, event: Prompt.Submitted) -> None:
        self.note("sent", event.text)
        match self.way_out:
            case "handler":
                raise RuntimeError("broken handler")
            case "task":
                self.call_later(self.broken)
            case "past textual":
                asyncio.get_running_loop().call_soon(sys.exit, 7)

    async def broken(self) -> None:
        raise RuntimeError("broken task")


def without_textual(way_out: str) -> None:
    """Hold the terminal as the driver does, and leave in a way that no framework sees."""
    terminal.hold(0, 2)
    os.write(2, b"\x1b[?1049h\x1b[?1000h\x1b[?25lREADY")
    if way_out == "uncaught":
        raise RuntimeError("nobody caught me")
    sys.exit(5)


if __name__ == "__main__":
    if sys.argv[1] in ("uncaught", "exit"):
        without_textual(sys.argv[1])
    app = SmallChat(sys.argv[1], Path(sys.argv[2]))
    app.run()
    sys.exit(app.return_code)
