"""What a person is told until it has been done once: that one can type while the agent works."""

from __future__ import annotations

import contextlib
from pathlib import Path

from agent_tui.tui.keymap import Keymap

FILE = "has-steered"


class FirstHint:
    """Wanted until a message was sent into a running turn; a file remembers that it was."""

    def __init__(self, state: Path | None) -> None:
        """`state` is the folder for it; None: nothing is remembered, and nothing is said."""
        self._file = None if state is None else state / FILE

    def words(self, keymap: Keymap) -> str:
        """The hint; empty once it is not wanted any more."""
        if self._file is None or self._file.exists():
            return ""
        keys = keymap.shown("enter steers · alt+enter queues what comes next · esc stops")
        return f"Type while it works: {keys}. This is said until you have done it once."

    def done(self) -> None:
        """It was done; a folder that cannot be written to means that it is said again."""
        if self._file is None:
            return
        with contextlib.suppress(OSError):
            self._file.parent.mkdir(parents=True, exist_ok=True)
            self._file.touch()
        self._file = None
