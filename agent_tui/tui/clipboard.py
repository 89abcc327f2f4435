"""Copying out of the program: the desktop's clipboard, the terminal's, and always our own."""

from __future__ import annotations

from collections.abc import Callable, Mapping


class Clipboard:
    """Copies text by the best way there is. `write` sends a control sequence to the terminal."""

    text: str = ""
    """What was copied last, whatever became of it outside."""

    def __init__(self, environ: Mapping[str, str], write: Callable[[str], None]) -> None:
        raise NotImplementedError

    async def copy(self, text: str) -> str:
        """Copy, and say how: a tool's name, "terminal" (OSC 52), or "memory" when nothing else could."""
        raise NotImplementedError
