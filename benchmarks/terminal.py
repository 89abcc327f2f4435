"""A program in a pseudo-terminal: sees the text that it paints, types keys, counts its CPU time.

Text is found in the bytes as they come, without their escape sequences: a screen is not kept, since
an emulator would cost more than the program.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
from collections.abc import Iterator
from pathlib import Path

import psutil

ROOT = Path(__file__).parent.parent
ROWS, COLUMNS = 40, 120
READY = "Say something"
"""What the empty composer says."""
PATIENCE_SECONDS = 60.0
_SEQUENCE = re.compile(
    rb"\x1b(?:\[[0-9;:?<=>$]*[@-~]|[\]P_^X][^\x07\x1b]*(?:\x07|\x1b\\)|[@-OQ-WYZ\\])"
)
_KEPT = 1 << 18
_SYNC_QUERY, _SYNC_ANSWER = b"\x1b[?2026$p", b"\x1b[?2026;2$y"


class NotSeenError(Exception):
    """The program ended, or did not paint what was waited for."""


class Terminal:
    """One program and the terminal it runs in."""

    def __init__(self, *arguments: str, cwd: Path, environ: dict[str, str]) -> None:
        self._fd, other = pty.openpty()
        fcntl.ioctl(other, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        self.process = subprocess.Popen(
            [sys.executable, *arguments],
            stdin=other,
            stdout=other,
            stderr=other,
            cwd=cwd,
            env=environ,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )
        os.close(other)
        os.set_blocking(self._fd, False)
        self.written = 0
        """Bytes that the program has written."""
        self.read_at = time.monotonic()
        """When something was read last."""
        self._carry = b""
        self._text = b""
        self._gone = 0

    @property
    def position(self) -> int:
        """How much text has been painted so far; for `see(…, after=…)`."""
        return self._gone + len(self._text)

    def see(self, words: str, *, after: int = 0, seconds: float = PATIENCE_SECONDS) -> float:
        """Wait until `words` are painted; when that was, on the monotonic clock."""
        wanted, until = words.encode(), time.monotonic() + seconds
        start = after
        while (found := self._text.find(wanted, max(0, start - self._gone))) < 0:
            start = max(start, self.position - len(wanted))
            if time.monotonic() > until:
                raise NotSeenError(f"{words!r} was not painted within {seconds:g} s")
            self.read(0.05)
        assert found >= 0
        return self.read_at

    def read(self, seconds: float) -> int:
        """Read what the program writes, waiting at most so long for it; how many bytes came."""
        if not select.select([self._fd], [], [], seconds)[0]:
            return 0
        try:
            data = os.read(self._fd, 1 << 16)
        except BlockingIOError:
            return 0
        except OSError:
            data = b""
        self.read_at = time.monotonic()
        if not data:
            raise NotSeenError(f"the program has ended: {self._last_words()}")
        if _SYNC_QUERY in data:
            self.type(_SYNC_ANSWER)
        self.written += len(data)
        self._take(data)
        return len(data)

    def _last_words(self) -> str:
        """The last line that was painted, without the folders of this machine."""
        lines = self._text.decode("utf-8", "replace").split("\n")
        line = next((line.strip() for line in reversed(lines) if line.strip()), "")
        return re.sub(r"/(?:[^\s/'\"()]+/)+", "…/", line)[:300]

    def _take(self, data: bytes) -> None:
        data = self._carry + data
        cut = data.rfind(b"\x1b", max(0, len(data) - 64))
        if cut < 0 or _SEQUENCE.match(data, cut):
            cut = len(data)
        self._carry = data[cut:]
        text = self._text + _SEQUENCE.sub(b"", data[:cut])
        self._gone += max(0, len(text) - _KEPT)
        self._text = text[-_KEPT:]

    def rest(self, seconds: float) -> None:
        """Read for so long."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            self.read(left)

    def settle(self, seconds: float = 0.5) -> None:
        """Read until nothing has been painted for so long."""
        until = time.monotonic() + PATIENCE_SECONDS
        while self.read(seconds) and time.monotonic() < until:
            pass

    def type(self, keys: str | bytes) -> None:
        """Press keys."""
        os.write(self._fd, keys.encode() if isinstance(keys, str) else keys)

    def ask(self, words: str) -> tuple[float, float]:
        """Type words, see them, press Enter; the time and the program's CPU time at that moment."""
        before = self.position
        self.type(words)
        self.see(words.split()[-1], after=before)
        self.settle(0.25)
        began = time.monotonic(), self.cpu()
        self.type("\r")
        return began

    def cpu(self) -> float:
        """CPU seconds of the program so far, without those of the commands it runs."""
        return cpu_seconds(self.process.pid)

    def commands_cpu(self) -> float:
        """CPU seconds of the commands that have ended; 0 where the system does not tell (macOS)."""
        times = psutil.Process(self.process.pid).cpu_times()
        return float(times.children_user + times.children_system)

    def memory(self) -> float:
        """Resident memory in MB (of 2^20 bytes)."""
        return float(psutil.Process(self.process.pid).memory_info().rss / 2**20)

    def close(self) -> None:
        """End the program, and what runs in its terminal."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGTERM)
        until = time.monotonic() + 3
        while self.process.poll() is None and time.monotonic() < until:
            with contextlib.suppress(NotSeenError):
                self.read(0.02)
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        os.close(self._fd)


def cpu_seconds(pid: int) -> float:
    """CPU seconds of a process and its threads, without its children."""
    if sys.platform == "linux":
        # The number that clock_getcpuclockid(3) gives: nanoseconds, where /proc has 10 ms.
        return time.clock_gettime((~pid << 3) | 2)
    times = psutil.Process(pid).cpu_times()
    return float(times.user + times.system)


def environment(home: Path, **more: str) -> dict[str, str]:
    """What the programs inherit: nothing of the person's own settings and keys."""
    kept = ("PATH", "LANG", "LC_ALL", "TMPDIR")
    return {
        **{name: os.environ[name] for name in kept if name in os.environ},
        "HOME": str(home),
        "AGENT_TUI_HOME": str(home / "settings"),
        "PYTHONPATH": str(ROOT),
        "TERM": "xterm-256color",
        "COLORTERM": "truecolor",
        **more,
    }


@contextlib.contextmanager
def folder() -> Iterator[Path]:
    """A temporary folder, with a project in it."""
    with tempfile.TemporaryDirectory(prefix="agent-tui-bench-") as name:
        place = Path(name).resolve()
        (place / "project").mkdir()
        (place / "project" / "README.md").write_text("# A project\n")
        yield place


@contextlib.contextmanager
def running(place: Path, *arguments: str, **environ: str) -> Iterator[Terminal]:
    """A Python program in a terminal, in the project of `place`."""
    cwd, env = place / "project", environment(place, **environ)
    terminal = Terminal(*arguments, cwd=cwd, environ=env)
    try:
        yield terminal
    finally:
        terminal.close()


@contextlib.contextmanager
def chat(place: Path, url: str | None = None) -> Iterator[Terminal]:
    """The chat with its composer ready, on a server or on the demonstration model."""
    server = ("--base-url", url, "--model", "bench") if url else ()
    with running(place, "-m", "agent_tui", "chat", "--mode", "full-auto", *server) as terminal:
        terminal.see(READY)
        terminal.settle()
        yield terminal
