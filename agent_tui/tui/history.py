"""What was sent in a project, kept in a file, newest last, exactly as typed.

One JSON string a line. Every write happens under a lock file and at the end of the history file, so
that two programs may share it; only trimming replaces it, under the same lock.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from agent_tui.core.text import without_surrogates

try:
    import fcntl
except ImportError:  # Windows: appends are small and to the end of the file.
    fcntl = None  # type: ignore[assignment]


LIMIT_CHARACTERS = 4_000_000
"""How much all entries together may hold; the oldest go first."""
ENTRY_CHARACTERS = 1_000_000
"""A longer entry is remembered by this program but not written down."""


def history_path(home: Path, cwd: Path) -> Path:
    """The history file of the project at `cwd`, below `home`/history."""
    resolved = str(cwd.resolve())
    name = re.sub(r"[^\w.-]+", "-", cwd.resolve().name)[:40] or "root"
    digest = hashlib.sha256(os.fsencode(resolved)).hexdigest()[:12]
    return home / "history" / f"{name}-{digest}.jsonl"


class History:
    """The sent messages of one project. With `path` None they live in memory only.

    Two programs may share the file: each append is one write under a lock, and each sees what the
    other added.
    """

    problem: str | None = None
    """Why the file could not be read or written, as a sentence; entries stay in memory then."""

    def __init__(self, path: Path | None = None, *, limit: int = 1000) -> None:
        self._path = path
        self._limit = limit
        self._entries: list[str] = []
        self._read_bytes = -1
        self._appended = 0

    @property
    def entries(self) -> Sequence[str]:
        """Oldest first, at most `limit`; read anew when another program has added to the file."""
        self._read_if_grown()
        return self._entries

    def add(self, text: str) -> None:
        """Remember `text`, unless it is blank or the same as the newest."""
        text = without_surrogates(text)
        self._read_if_grown()
        if not text.strip() or (self._entries and self._entries[-1] == text):
            return
        self._entries = self._newest([*self._entries, text])
        if self._path is not None and self.problem is None and len(text) <= ENTRY_CHARACTERS:
            try:
                self._append(self._path, text)
            except OSError as error:
                self.problem = f"History is not saved: {error.strerror or error} ({self._path})."

    def search(self, words: str) -> list[str]:
        """The entries with every word of `words` in any case, newest first, each once."""
        wanted = words.casefold().split()
        hits = dict.fromkeys(reversed(self.entries))
        return [entry for entry in hits if all(word in entry.casefold() for word in wanted)]

    def _read_if_grown(self) -> None:
        if self._path is None or self.problem is not None:
            return
        try:
            size = self._path.stat().st_size
            if size != self._read_bytes:
                with _locked(self._path):
                    self._read(self._path)
        except FileNotFoundError:
            self._read_bytes = -1
        except OSError as error:
            self.problem = f"History cannot be read: {error.strerror or error} ({self._path})."

    def _read(self, path: Path) -> None:
        data = path.read_bytes()
        entries = [entry for line in data.splitlines() if (entry := _decoded(line)) is not None]
        self._entries = self._newest(entries)
        self._read_bytes = len(data)
        if len(entries) > 2 * self._limit or len(data) > 2 * LIMIT_CHARACTERS:
            self._read_bytes = _replace(path, self._entries)

    def _newest(self, entries: list[str]) -> list[str]:
        """As many of the last entries as the limits allow."""
        entries = entries[-self._limit :]
        room = LIMIT_CHARACTERS - sum(map(len, entries))
        first = 0
        while room < 0 and first < len(entries) - 1:
            room += len(entries[first])
            first += 1
        return entries[first:]

    def _append(self, path: Path, text: str) -> None:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        line = _encoded(text)
        with _locked(path):
            file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
            try:
                size = os.fstat(file).st_size
                os.write(file, line)
            finally:
                os.close(file)
        self._appended += 1
        if size == max(self._read_bytes, 0) and self._appended % self._limit:
            self._read_bytes = size + len(line)
        else:
            self._read_bytes = -1  # another program wrote, or the file may need trimming


def _encoded(text: str) -> bytes:
    return json.dumps(text, ensure_ascii=False).encode() + b"\n"


def _decoded(line: bytes) -> str | None:
    """The entry on `line`; None when the line is damaged."""
    try:
        entry = json.loads(line)
    except ValueError:
        return None
    return without_surrogates(entry) if isinstance(entry, str) else None


def _replace(path: Path, entries: Sequence[str]) -> int:
    """Write `entries` as the whole file, in one step; returns its size in bytes."""
    data = b"".join(_encoded(entry) for entry in entries)
    file, name = tempfile.mkstemp(dir=path.parent, prefix=path.name)
    with os.fdopen(file, "wb") as stream:
        stream.write(data)
    Path(name).replace(path)
    return len(data)


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold the lock file beside `path`, where the system has such locks."""
    if fcntl is None:
        yield
        return
    file = os.open(path.with_suffix(".lock"), os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
    finally:
        os.close(file)
