"""What the terminal can do, as far as it says or its environment tells: for `agent-tui doctor`."""

from __future__ import annotations

import os
import re
import select
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, TextIO

from agent_tui.tui.clipboard import Clipboard
from agent_tui.tui.terminal import size_reason, unfit_reason

try:
    import termios
    import tty
except ImportError:  # Windows: its console cannot be asked like this.
    termios = None  # type: ignore[assignment]

Colours = Literal["none", "16", "256", "16 million"]
QUESTION = b"\x1b[?u\x1b[?2026$p\x1b[c"
"""Keyboard flags, synchronised output, and at last who it is, which every terminal answers."""
ANSWER_SECONDS = 0.3

_KEYBOARD = re.compile(rb"\x1b\[\?\d+u")
_SYNCHRONISED = re.compile(rb"\x1b\[\?2026;([0-4])\$y")
_END = re.compile(rb"\x1b\[\?[\d;]*c")


@dataclass(frozen=True, slots=True)
class Abilities:
    """Plain facts; None is unknown."""

    name: str
    unfit: str | None
    """Why the chat cannot run here, as a sentence."""
    columns: int | None
    lines: int | None
    colours: Colours
    encoding: str
    inside: str | None
    """A multiplexer or a remote shell between the program and the person."""
    copies_by: str
    tells_keys_apart: bool | None
    """The kitty keyboard protocol: Shift+Enter and Ctrl+Enter arrive as themselves."""
    paints_at_once: bool | None
    """Synchronised output: no half-drawn screens."""

    def rows(self) -> list[tuple[str, str]]:
        """The facts for people: what they are about, and a sentence."""
        size = f"{self.columns}×{self.lines}" if self.columns else "size unknown"
        what = [self.name, size, f"{self.colours} colours", self.encoding]
        if self.inside:
            what.append(f"inside {self.inside}")
        keys = {
            True: "Shift+Enter and Ctrl+Enter arrive as themselves",
            False: "Shift+Enter arrives as Enter: Ctrl+J makes a new line",
            None: "whether Shift+Enter arrives as itself is unknown",
        }
        painting = {True: "in one piece", False: "as it comes", None: "unknown"}
        copies = "the terminal (OSC 52)" if self.copies_by == "terminal" else self.copies_by
        return [
            ("chat", self.unfit or "can run here"),
            ("terminal", " · ".join(what)),
            ("keys", keys[self.tells_keys_apart]),
            ("painting", painting[self.paints_at_once]),
            ("copying", f"by {copies}"),
        ]


def terminal_abilities(
    stdin: TextIO,
    stderr: TextIO,
    environ: Mapping[str, str],
    ask: Callable[[TextIO, TextIO], bytes] | None = None,
) -> Abilities:
    """What is known; `ask` sends `QUESTION` and gives the answer, by default over the streams."""
    unfit = unfit_reason(stdin, stderr, stderr, environ)
    size = _size(stderr)
    if unfit is None and size is not None:
        unfit = size_reason(*size)
    answer = (ask or _ask)(stdin, stderr) if stdin.isatty() and stderr.isatty() else b""
    synchronised = _SYNCHRONISED.search(answer)
    has_answered = _END.search(answer) is not None
    return Abilities(
        name=" · ".join(n for n in (environ.get("TERM_PROGRAM"), environ.get("TERM")) if n) or "?",
        unfit=unfit,
        columns=size[0] if size else None,
        lines=size[1] if size else None,
        colours=_colours(environ),
        encoding=(stderr.encoding or "?").lower(),
        inside=_inside(environ),
        copies_by=Clipboard(environ, lambda _: None).way,
        tells_keys_apart=bool(_KEYBOARD.search(answer)) if has_answered else None,
        paints_at_once=(
            synchronised is not None and synchronised[1] in (b"1", b"2") if has_answered else None
        ),
    )


def _size(stream: TextIO) -> tuple[int, int] | None:
    try:
        size = os.get_terminal_size(stream.fileno())
    except (OSError, ValueError):
        return None
    return (size.columns, size.lines) if size.columns and size.lines else None


def _colours(environ: Mapping[str, str]) -> Colours:
    term = environ.get("TERM", "")
    if environ.get("NO_COLOR") or term in ("", "dumb", "unknown"):
        return "none"
    if environ.get("COLORTERM", "").lower() in ("truecolor", "24bit") or "direct" in term:
        return "16 million"
    return "256" if "256color" in term else "16"


def _inside(environ: Mapping[str, str]) -> str | None:
    signs = {"tmux": "TMUX", "screen": "STY", "zellij": "ZELLIJ", "ssh": "SSH_CONNECTION"}
    found = [name for name, variable in signs.items() if environ.get(variable)]
    return ", ".join(found) or None


def _ask(stdin: TextIO, stderr: TextIO) -> bytes:
    """The terminal's answer to `QUESTION`, empty or cut off if it does not come in time."""
    if termios is None:
        return b""
    keys, screen = stdin.fileno(), stderr.fileno()
    before = termios.tcgetattr(keys)
    answer = b""
    deadline = time.monotonic() + ANSWER_SECONDS
    try:
        tty.setcbreak(keys, termios.TCSAFLUSH)
        os.write(screen, QUESTION)
        while not _END.search(answer) and (left := deadline - time.monotonic()) > 0:
            ready, _, _ = select.select([keys], [], [], left)
            if ready:
                answer += os.read(keys, 1024)
    finally:
        termios.tcsetattr(keys, termios.TCSAFLUSH, before)
    return answer
