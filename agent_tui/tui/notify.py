"""Calling a person back who is looking elsewhere: finished, needs you, budget, stalled."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from agent_tui.core.text import printable

if TYPE_CHECKING:
    from agent_tui.config import NotifyBy, Settings
    from agent_tui.tui.app import ChatApp

Occasion = Literal["finished", "needs you", "budget", "stalled"]
OCCASIONS: Mapping[str, Occasion] = {
    "agent_settled": "finished",
    "approval_request": "needs you",
    "budget_request": "budget",
    "breakpoint": "needs you",
}
"""Event of the session → what it means to somebody who is away."""
STALLED_SECONDS = 120.0
"""A turn in which nothing at all happens for so long is worth a look."""
COMMAND_SECONDS = 10.0
MAX_CHARACTERS = 200
_PASSED_ON = (
    "PATH",
    "HOME",
    "USER",
    "LANG",
    "TMPDIR",
    "TERM",
    "TMUX",
    "DISPLAY",
    "WAYLAND_DISPLAY",
    "XDG_RUNTIME_DIR",
    "DBUS_SESSION_BUS_ADDRESS",
)
"""What a person's command gets of the environment; keys are not among it."""


@dataclass(frozen=True, slots=True)
class Way:
    """How to call somebody."""

    by: NotifyBy = "bell"
    command: str | None = None
    """A shell command; it finds `AGENT_TUI_OCCASION` and `AGENT_TUI_TEXT` in its environment."""


class Notifier:
    """Calls once for each occasion, and only while nobody looks."""

    def __init__(
        self,
        way: Way,
        environ: Mapping[str, str],
        *,
        write: Callable[[str], None],
        start: Callable[[Coroutine[Any, Any, None]], None],
        clock: Callable[[], float],
        words: Callable[[], str],
        is_seen: Callable[[], bool],
    ) -> None:
        """`write` reaches the terminal, `start` runs a coroutine on the loop.

        `words()` says what the chat is about now, `is_seen()` whether somebody looks.
        """
        self._way = way
        self._environ = {name: environ[name] for name in _PASSED_ON if name in environ}
        self._write = write
        self._start = start
        self._clock = clock
        self._words = words
        self._is_seen = is_seen
        self._heard_at: float | None = None
        """When the turn last gave a sign; None between turns, and once it was called stalled."""

    def hear(self, event_type: str) -> None:
        """An event of the session happened."""
        occasion = OCCASIONS.get(event_type)
        self._heard_at = None if occasion is not None else self._clock()
        if occasion is not None:
            self._call(occasion)

    def tick(self) -> None:
        """Time passed while a turn runs."""
        if self._heard_at is None or self._clock() - self._heard_at < STALLED_SECONDS:
            return
        self._heard_at = None
        self._call("stalled")

    def _call(self, occasion: Occasion) -> None:
        if self._is_seen():
            return
        words = printable(" ".join(self._words().split()))[:MAX_CHARACTERS]
        match self._way.by:
            case "bell":
                self._write("\x07")
            case "osc9":
                self._write(f"\x1b]9;agent-tui: {occasion}. {words}\x07")
            case "osc777":
                self._write(f"\x1b]777;notify;agent-tui: {occasion};{words.replace(';', ',')}\x07")
            case "off":
                pass
        if self._way.command is not None:
            self._start(self._run(self._way.command, occasion, words))

    async def _run(self, command: str, occasion: Occasion, text: str) -> None:
        process = await asyncio.create_subprocess_shell(
            command,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
            env={**self._environ, "AGENT_TUI_OCCASION": occasion, "AGENT_TUI_TEXT": text},
            start_new_session=True,
        )
        try:
            await asyncio.wait_for(process.wait(), COMMAND_SECONDS)
        except TimeoutError:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()


def notifier_of(app: ChatApp, settings: Settings | None, environ: Mapping[str, str]) -> Notifier:
    """The notifier of a chat, as its settings have it."""

    def words() -> str:
        return app.session.waiting_for() if app.session.is_running else app.presenter.title

    return Notifier(
        Way() if settings is None else Way(settings.notify, settings.notify_command),
        environ,
        write=app.write,
        start=app.start,
        clock=app.now,
        words=words,
        is_seen=lambda: app.app_focus,
    )
