"""A program in a terminal of its own: a pseudo-terminal whose other end the test holds."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil

ROOT = Path(__file__).parent.parent.parent
PATIENCE_SECONDS = 20.0


class PtyProgram:
    """What the program writes is collected in `output`; `settings_before` are the terminal's."""

    def __init__(self, *arguments: str, environ: dict[str, str] | None = None) -> None:
        self.terminal, other = pty.openpty()
        self.resize(80, 24)
        self.settings_before = self.settings()
        self.output = b""
        self._process = subprocess.Popen(
            [sys.executable, *arguments],
            stdin=other,
            stdout=other,
            stderr=other,
            cwd=ROOT,
            env={**os.environ, "TERM": "xterm-256color", **(environ or {})},
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )
        self._other = other
        self._gone = False

    @property
    def is_running(self) -> bool:
        """It has not ended yet."""
        return self._process.poll() is None

    def settings(self) -> list[Any]:
        """The line settings of the terminal now."""
        return termios.tcgetattr(self.terminal)

    def send(self, data: bytes) -> None:
        """Type."""
        os.write(self.terminal, data)

    def resize(self, columns: int, rows: int) -> None:
        """Change the size of the terminal's window."""
        fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def signal(self, number: int) -> None:
        """Send a signal to the program alone."""
        self._process.send_signal(number)

    def hang_up(self) -> None:
        """Close the terminal's window."""
        os.close(self._other)
        os.close(self.terminal)
        self._gone = True

    def wait_until_stopped(self) -> None:
        """Read until a stop signal has taken effect."""
        until = time.monotonic() + PATIENCE_SECONDS
        while psutil.Process(self._process.pid).status() != psutil.STATUS_STOPPED:
            assert time.monotonic() < until, "still runs"
            self._read(0.05)
        while self._read(0.05):
            pass

    def wait_for(self, text: bytes, after: int = 0) -> None:
        """Read until the program has written `text`, `after` so many bytes."""
        until = time.monotonic() + PATIENCE_SECONDS
        while text not in self.output[after:]:
            assert time.monotonic() < until, f"{text!r} not in {self.output[-3000:]!r}"
            self._read(0.05)

    def read_some(self) -> None:
        """Read what has been written, waiting a moment for it."""
        while self._read(0.02):
            pass

    def wait(self) -> int:
        """Read until the program has ended; its exit code."""
        until = time.monotonic() + PATIENCE_SECONDS
        while self.is_running:
            assert time.monotonic() < until, f"still runs: {self.output[-3000:]!r}"
            self._read(0.05)
        while self._read(0.05):
            pass
        return self._process.returncode

    def close(self) -> None:
        """End what is left."""
        if self.is_running:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        if not self._gone:
            os.close(self.terminal)
            os.close(self._other)

    def _read(self, seconds: float) -> bool:
        if self._gone:
            time.sleep(seconds)
            return False
        if not select.select([self.terminal], [], [], seconds)[0]:
            return False
        try:
            data = os.read(self.terminal, 65_536)
        except OSError:
            return False
        self.output += data
        return bool(data)


@contextlib.contextmanager
def running(*arguments: str, environ: dict[str, str] | None = None) -> Iterator[PtyProgram]:
    program = PtyProgram(*arguments, environ=environ)
    try:
        yield program
    finally:
        program.close()


def modes_left_on(output: bytes, modes: tuple[int, ...]) -> list[int]:
    """Those of `modes` that were switched on, or never, but not off at the end."""
    return [
        mode
        for mode in modes
        if output.rfind(b"\x1b[?%dl" % mode) <= output.rfind(b"\x1b[?%dh" % mode)
    ]
