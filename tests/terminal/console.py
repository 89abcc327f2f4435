"""A person at a terminal: sees a screen, types keys."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyte

from tests.tui.pty_program import PATIENCE_SECONDS, PtyProgram

MODES = (1000, 1002, 1003, 1006, 1049, 2004, 1004)


class Console:
    """The program and the screen it draws."""

    def __init__(self, program: PtyProgram) -> None:
        self.program = program
        self._screen = pyte.Screen(80, 24)
        self._stream = pyte.ByteStream(self._screen)
        self._seen = 0

    @property
    def text(self) -> str:
        """The screen now."""
        self.program.read_some()
        # pyte 0.8.2 takes the private `CSI > … m` and `CSI < u` for colours and text.
        fresh = self.program.output[self._seen :]
        self._seen += len(fresh)
        self._stream.feed(fresh.replace(b"\x1b[>25u", b"").replace(b"\x1b[<u", b""))
        return "\n".join(line.rstrip() for line in self._screen.display)

    def sees(self, words: str) -> None:
        """Wait until the screen shows `words`."""
        until = time.monotonic() + PATIENCE_SECONDS
        while words not in (shown := self.text):
            assert time.monotonic() < until, f"no {words!r} in:\n{shown}"

    def types(self, keys: str) -> None:
        """Type."""
        self.program.send(keys.encode())

    def says(self, words: str) -> None:
        """Type words, see them, press Enter."""
        self.types(words)
        self.sees(words)
        self.types("\r")


@contextmanager
def chat(home: Path, *arguments: str, **environ: str) -> Iterator[Console]:
    """`agent-tui chat` with these arguments, ready for keys."""
    program = PtyProgram(
        "-m",
        "agent_tui",
        "chat",
        *arguments,
        environ={"AGENT_TUI_HOME": str(home), "COLORTERM": "truecolor", **environ},
    )
    console = Console(program)
    try:
        console.sees("enter send")
        yield console
    finally:
        program.close()
