"""What a server says beside its answers: the end of it in memory, more in a file."""

from __future__ import annotations

import os
import time
from collections import deque
from pathlib import Path

from agent_tui.core.text import printable

KEPT_LINES = 200
LINE_CHARACTERS = 500
FILE_BYTES = 1_000_000
"""A log file that is longer begins anew; the one before is kept beside it."""


class Journal:
    """The log of one server. A file that cannot be written is done without."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._lines: deque[str] = deque(maxlen=KEPT_LINES)
        self._size: int | None = None

    def add(self, text: str, source: str = "") -> None:
        """Take a line that the server, or this program about it, has to say."""
        line = " ".join(printable(text).split("\n")).rstrip()[:LINE_CHARACTERS]
        if not line:
            return
        line = f"{source}: {line}" if source else line
        self._lines.append(line)
        self._write(f"{time.strftime('%Y-%m-%d %H:%M:%S')} {line}\n")

    def tail(self, count: int = KEPT_LINES) -> list[str]:
        """The last lines, oldest first."""
        return list(self._lines)[-count:]

    def _write(self, line: str) -> None:
        if self._path is None:
            return
        data = line.encode("utf-8", "replace")
        try:
            if self._size is None:
                self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                self._size = self._path.stat().st_size if self._path.exists() else 0
            if self._size + len(data) > FILE_BYTES:
                self._path.replace(self._path.with_suffix(".1.log"))
                self._size = 0
            flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW
            descriptor = os.open(self._path, flags, 0o600)
            try:
                os.write(descriptor, data)
            finally:
                os.close(descriptor)
            self._size += len(data)
        except OSError:
            self._path = None
