"""How file tools run: in worker threads, at most two at a time, one writer per file.

More threads would make the screen wait for the interpreter lock. Waiting ends when the call does.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias

from agent_tui.core.abort import AbortSignal
from agent_tui.core.tool import Execute, ToolContext, ToolResult
from agent_tui.tools.paths import Refused

Work: TypeAlias = Callable[[dict[str, Any], AbortSignal], ToolResult]
NamedWork: TypeAlias = Callable[[str, dict[str, Any], AbortSignal], ToolResult]
_POLL_SECONDS = 0.05


class Slots:
    """Shared by all file tools of one agent."""

    def __init__(self, count: int = 2) -> None:
        self._free = threading.BoundedSemaphore(count)
        self._table = threading.Lock()
        self._lock_by_path: dict[Path, tuple[threading.Lock, int]] = {}

    def run(self, work: Work) -> Execute:
        """The `execute` of a tool that does `work` in a slot.

        `work` returns the result or raises `Refused` or `OSError`, which become error results.
        """
        return self.run_named(lambda call_id, args, signal: work(args, signal))

    def run_named(self, work: NamedWork) -> Execute:
        """The same for work that is told the id of the call."""

        def execute(call_id: str, args: dict[str, Any], ctx: ToolContext) -> ToolResult:
            try:
                with _held(self._free, ctx.signal):
                    return work(call_id, args, ctx.signal)
            except Refused as refusal:
                return ToolResult(str(refusal), is_error=True)
            except OSError as error:
                return ToolResult(sentence_of(error), is_error=True)

        return execute

    @contextmanager
    def writing(self, real: Path, signal: AbortSignal) -> Iterator[None]:
        """Keep every other writer away from the file; `real` is its path without links."""
        with self._table:
            lock, users = self._lock_by_path.get(real, (threading.Lock(), 0))
            self._lock_by_path[real] = (lock, users + 1)
        try:
            with _held(lock, signal):
                yield
        finally:
            with self._table:
                lock, users = self._lock_by_path.pop(real)
                if users > 1:
                    self._lock_by_path[real] = (lock, users - 1)


def check(signal: AbortSignal) -> None:
    """Raise `Refused` if the call should end."""
    if signal.aborted:
        raise Refused("Aborted before it was done; nothing was changed.")


def sentence_of(error: OSError) -> str:
    """What the system said, with the file it spoke of."""
    reason = error.strerror or str(error) or type(error).__name__
    return f"{error.filename}: {reason}." if error.filename else f"{reason}."


@contextmanager
def _held(lock: threading.Lock | threading.Semaphore, signal: AbortSignal) -> Iterator[None]:
    check(signal)
    while not lock.acquire(timeout=_POLL_SECONDS):
        check(signal)
    try:
        yield
    finally:
        lock.release()
