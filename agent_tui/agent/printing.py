"""What a tool prints is its output: shown live, and never written into the screen.

While a call runs that wants it, `sys.stdout` and `sys.stderr` are routers: what is printed in the
call's own context (its thread, its tasks) becomes an update of that call. What anybody else prints
in that time goes to the stderr that was there before.
"""

from __future__ import annotations

import asyncio
import io
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TextIO

from agent_tui.core.text import printable

KEPT_CHARACTERS = 50_000
"""Of what a call printed, the end is kept."""
PACE_SECONDS = 0.05
_target: ContextVar[Printed | None] = ContextVar("printed", default=None)
_lock = threading.Lock()
_open: list[Printed] = []
_replaced: list[tuple[TextIO, TextIO]] = []


class Printed:
    """What one call has printed; `tell` gets all that is kept, on the loop, now and then."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        self._tell = tell
        self._loop = asyncio.get_running_loop()
        self._lock = threading.Lock()
        self._parts: deque[str] = deque()
        self._size = 0
        self._is_cut = False
        self._will_tell = False

    @property
    def text(self) -> str:
        """All that is kept."""
        with self._lock:
            kept = "".join(self._parts)[-KEPT_CHARACTERS:]
            return f"[Only the end of what was printed]\n{kept}" if self._is_cut else kept

    @property
    def plain_text(self) -> str:
        """The same for a model: progress lines in their last state, nothing for a terminal."""
        lines = self.text.replace("\r\n", "\n").split("\n")
        return printable("\n".join(line.rstrip("\r").rpartition("\r")[2] for line in lines))

    def write(self, text: str) -> None:
        """Add to it; safe from any thread."""
        if not text:
            return
        with self._lock:
            self._parts.append(text[-KEPT_CHARACTERS:])
            self._size += len(text)
            while self._size - len(self._parts[0]) > KEPT_CHARACTERS:
                self._size -= len(self._parts.popleft())
                self._is_cut = True
            will_tell, self._will_tell = self._will_tell, True
        if not will_tell and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._loop.call_later, PACE_SECONDS, self._tell_now)

    def _tell_now(self) -> None:
        self._will_tell = False
        self._tell(self.text)


class _Router(io.TextIOBase):
    """Stands in for a standard stream."""

    encoding = "utf-8"

    def __init__(self, elsewhere: TextIO | None) -> None:
        super().__init__()
        self._elsewhere = elsewhere

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        printed = _target.get()
        if printed is not None:
            printed.write(text)
        elif self._elsewhere is not None:
            self._elsewhere.write(text)
        return len(text)

    def flush(self) -> None:
        """Nothing is held back."""


@contextmanager
def prints_of_call(tell: Callable[[str], None]) -> Iterator[Printed]:
    """Within the block, and in what it starts, printing goes to what this gives."""
    printed = Printed(tell)
    with _lock:
        if not _open:
            _replaced.append((sys.stdout, sys.stderr))
            sys.stdout, sys.stderr = _Router(sys.stderr), _Router(sys.stderr)
        _open.append(printed)
    token = _target.set(printed)
    try:
        yield printed
    finally:
        _target.reset(token)
        with _lock:
            _open.remove(printed)
            if not _open:
                out, err = _replaced.pop()
                if isinstance(sys.stdout, _Router):
                    sys.stdout = out
                if isinstance(sys.stderr, _Router):
                    sys.stderr = err
