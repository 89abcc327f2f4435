"""Taking in what a command prints: large pieces, short rests, and never a command left hanging.

A wake-up of the event loop costs more than the bytes it brings, so after every read the pipe may
fill for a moment. What outlives its shell is read on by a thread: a process whose pipe has no
reader dies at its next word.
"""

from __future__ import annotations

import asyncio
import fcntl
import os
import threading
import time
from collections.abc import Callable
from contextlib import suppress

from agent_tui.tools.output import OutputLog

READ_BYTES = 1024 * 1024
LARGE_BYTES = 64 * 1024
SHORTEST_REST = 0.001
LONGEST_REST = 0.03
FLOOD_BYTES = 16 * 1024 * 1024
FLOOD_REST = 0.01
"""Rest between large reads of an output longer than that: the screen needs the time more."""
_SET_PIPE_SIZE: int | None = getattr(fcntl, "F_SETPIPE_SZ", None)


class Intake:
    """The reading end of a command's output; owns the descriptor, calls `changed` after reads."""

    def __init__(self, descriptor: int, log: OutputLog, changed: Callable[[], None]) -> None:
        self._descriptor = descriptor
        self._log = log
        self._changed = changed
        self._loop = asyncio.get_running_loop()
        self._end = asyncio.Event()
        self._pause: asyncio.TimerHandle | None = None
        self._rest = SHORTEST_REST
        self._is_open = True
        os.set_blocking(descriptor, False)
        if _SET_PIPE_SIZE is not None:
            with suppress(OSError):  # the system's limit for all pipes of one user
                fcntl.fcntl(descriptor, _SET_PIPE_SIZE, READ_BYTES)

    @property
    def ended(self) -> bool:
        """True once nobody can print into the pipe any more."""
        return self._end.is_set()

    def start(self) -> None:
        """Begin to read."""
        self._loop.add_reader(self._descriptor, self._readable)

    async def rest(self, seconds: float) -> None:
        """Take in what is there now, and wait up to `seconds` for the end."""
        self._resume()
        for _ in range(2):  # the pipe's content; more is printed by what runs on
            if not self._read():
                break
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._end.wait()

    def close(self) -> None:
        """Stop reading on the loop; if somebody can still print, a thread reads on into the log."""
        if not self._is_open:
            return
        self._is_open = False
        self._stop()
        if self.ended:
            os.close(self._descriptor)
            self._log.close()
            return
        os.set_blocking(self._descriptor, True)
        arguments = (self._descriptor, self._log)
        threading.Thread(target=_read_on, args=arguments, daemon=True, name="output").start()

    def _stop(self) -> None:
        self._loop.remove_reader(self._descriptor)
        if self._pause is not None:
            self._pause.cancel()
            self._pause = None

    def _resume(self) -> None:
        self._pause = None
        if not self.ended:
            self._loop.add_reader(self._descriptor, self._readable)

    def _readable(self) -> None:
        size = self._read()
        if self.ended:
            return
        if size < LARGE_BYTES:
            self._rest = min(2 * self._rest, LONGEST_REST)
        else:
            self._rest = SHORTEST_REST if self._log.bytes < FLOOD_BYTES else FLOOD_REST
        self._loop.remove_reader(self._descriptor)
        self._pause = self._loop.call_later(self._rest, self._resume)

    def _read(self) -> int:
        """Read once; the number of bytes, 0 if there are none now or ever."""
        if self.ended:
            return 0
        try:
            chunk = os.read(self._descriptor, READ_BYTES)
        except BlockingIOError:
            return 0
        if not chunk:
            self._stop()
            self._end.set()
            return 0
        self._log.add(chunk)
        self._changed()
        return len(chunk)


def _read_on(descriptor: int, log: OutputLog) -> None:
    try:
        while chunk := os.read(descriptor, READ_BYTES):
            log.add(chunk)
            time.sleep(LONGEST_REST)
    finally:
        os.close(descriptor)
        log.close()
