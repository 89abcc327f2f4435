"""Running one hook: a JSON object in, what it says out, and an end in bounded time.

It is a process group of its own. At its time limit, and when the waiting is cancelled, the whole
group is killed. Of what it prints a bounded part is kept, the rest is read and dropped.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from agent_tui.agent.threads import in_daemon_thread
from agent_tui.config import HookSettings
from agent_tui.core.text import printable
from agent_tui.tools.environment import find_shell
from agent_tui.tools.process import kill_tree_now

KEPT_BYTES = 1_000_000
LATE_SECONDS = 0.5
"""How long after its end something that it left running may hold its output open."""
_TOLD_CHARACTERS = 400
BLOCKS = 2
"""The exit code that means no."""


@dataclass(frozen=True, slots=True)
class Said:
    """What a hook said."""

    answer: Mapping[str, Any]
    """Its JSON object; empty if it printed nothing."""
    refusal: str | None = None
    """Its stderr, if it ended with exit code 2."""
    problem: str | None = None
    """What went wrong with it, as a clause."""


async def ask_hook(
    hook: HookSettings, question: Mapping[str, Any], cwd: Path, environ: Mapping[str, str]
) -> Said:
    """Run the hook; cancelling this kills it at once."""
    running = _Running(hook, question, cwd, environ)
    try:
        return await in_daemon_thread(running.run)
    except asyncio.CancelledError:
        running.kill()
        raise


class _Running:
    """One run of a hook, in a thread."""

    def __init__(
        self,
        hook: HookSettings,
        question: Mapping[str, Any],
        cwd: Path,
        environ: Mapping[str, str],
    ) -> None:
        self._hook = hook
        self._line = json.dumps(question, ensure_ascii=False, default=str).encode() + b"\n"
        self._cwd = cwd
        self._environ = dict(environ)
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._is_killed = False

    def kill(self) -> None:
        """Kill it and what it started; it does not begin any more if it has not yet."""
        with self._lock:
            self._is_killed = True
            if self._process is not None and self._process.poll() is None:
                kill_tree_now(self._process.pid)

    def run(self) -> Said:
        """Run it to its end."""
        try:
            process = self._start()
        except OSError as error:
            return Said({}, problem=f"could not be started: {error.strerror or error}")
        if process is None:
            return Said({}, problem="was stopped")
        out, err = _Kept(process.stdout), _Kept(process.stderr)
        _daemon(_write, process.stdin, self._line)
        try:
            code = process.wait(self._hook.timeout)
        except subprocess.TimeoutExpired:
            self.kill()
            process.wait()
            return Said({}, problem=f"did not end within {self._hook.timeout:g} s and was killed")
        return _said(code, out.bytes(), err.bytes())

    def _start(self) -> subprocess.Popen[bytes] | None:
        command = self._hook.command
        words = [find_shell(), "-c", command] if isinstance(command, str) else [*command]
        with self._lock:
            if self._is_killed:
                return None
            self._process = subprocess.Popen(
                words,
                cwd=self._cwd,
                env=self._environ,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
            return self._process


class _Kept:
    """The beginning of what is printed into a pipe; all of it is read."""

    def __init__(self, pipe: IO[bytes] | None) -> None:
        assert pipe is not None
        self._pipe = pipe
        self._parts: list[bytes] = []
        self._thread = _daemon(self._read)

    def bytes(self) -> bytes:
        """What there is once the pipe has ended, or shortly after the hook has."""
        self._thread.join(LATE_SECONDS)
        return b"".join([*self._parts])[:KEPT_BYTES]

    def _read(self) -> None:
        size = 0
        with self._pipe as pipe, suppress(OSError, ValueError):
            while part := pipe.read1(65536):  # type: ignore[attr-defined]  # it is buffered
                if size < KEPT_BYTES:
                    self._parts.append(part)
                    size += len(part)


def _write(pipe: IO[bytes] | None, data: bytes) -> None:
    assert pipe is not None
    with suppress(OSError, ValueError), pipe:  # it need not read
        pipe.write(data)


def _daemon(target: Any, *arguments: Any) -> threading.Thread:
    thread = threading.Thread(target=target, args=arguments, daemon=True, name="hook")
    thread.start()
    return thread


def _said(code: int, out: bytes, err: bytes) -> Said:
    told = _short(err)
    if code == BLOCKS:
        return Said({}, refusal=told or "it gave no reason")
    if code != 0:
        how = f"ended with exit code {code}" if code > 0 else f"was killed by signal {-code}"
        return Said({}, problem=f"{how}: {told}" if told else how)
    text = out.decode("utf-8", "replace").strip()
    if not text:
        return Said({})
    try:
        answer = json.loads(text)
    except ValueError:
        return Said({}, problem=f"did not answer with one JSON object but with: {_short(out)}")
    if not isinstance(answer, dict):
        return Said({}, problem=f"did not answer with a JSON object but with: {_short(out)}")
    return Said(answer)


def _short(data: bytes) -> str:
    text = " ".join(printable(data[: 4 * _TOLD_CHARACTERS].decode("utf-8", "replace")).split())
    return text if len(text) <= _TOLD_CHARACTERS else f"{text[: _TOLD_CHARACTERS - 1]}…"
