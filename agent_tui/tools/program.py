"""Running a small program for a file tool: its output record by record, ended when the call is."""

from __future__ import annotations

import os
import select
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from agent_tui.core.abort import AbortSignal
from agent_tui.tools.slots import check

_POLL_MS = 50
_READ_BYTES = 256 * 1024


class Program:
    """A running program. `overdue` tells that its time was up, `code` is its exit status."""

    def __init__(
        self, process: subprocess.Popen[bytes], deadline: float, signal: AbortSignal
    ) -> None:
        self._process = process
        self._deadline = deadline
        self._signal = signal
        self.overdue = False

    @property
    def code(self) -> int | None:
        """The exit status once all records were read; None if its time was up."""
        return None if self.overdue else self._process.wait()

    def records(self, separator: bytes) -> Iterator[bytes]:
        """What it prints between separators, until it ends or its time is up.

        Raises `Refused` when the call should end.
        """
        rest = b""
        for piece in self._pieces():
            *whole, rest = (rest + piece).split(separator)
            yield from whole
        if rest:
            yield rest

    def _pieces(self) -> Iterator[bytes]:
        assert self._process.stdout is not None
        descriptor = self._process.stdout.fileno()
        ready = select.poll()
        ready.register(descriptor)
        while True:
            check(self._signal)
            if time.monotonic() > self._deadline:
                self.overdue = True
                return
            if ready.poll(_POLL_MS):
                piece = os.read(descriptor, _READ_BYTES)
                if not piece:
                    return
                yield piece


@contextmanager
def program(
    command: Sequence[str],
    cwd: Path,
    signal: AbortSignal,
    *,
    seconds: float,
    stdin: IO[bytes] | None = None,
) -> Iterator[Program]:
    """Start `command` in `cwd`; it is killed when the block is left, or after `seconds`.

    Raises `OSError` if it cannot be started. What it says on stderr is dropped.
    """
    process = subprocess.Popen(
        command,
        cwd=cwd,
        stdin=subprocess.DEVNULL if stdin is None else stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    with process:
        try:
            yield Program(process, time.monotonic() + seconds, signal)
        finally:
            process.kill()
