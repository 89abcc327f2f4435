"""The file that a running session appends to.

Each entry is one `write()` of a whole line. What cannot be written waits and is written before
anything later is: nothing is dropped and nothing changes its place.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
from collections import deque
from pathlib import Path
from typing import IO

from agent_tui.core.errors import SessionError

_log = logging.getLogger(__name__)
RETRY_SECONDS = 2.0
"""After so long what could not be written is tried again, if nothing else happens before."""
_FILE_MODE, _FOLDER_MODE = 0o600, 0o700


class JournalFile:
    """Lines at the end of a file that one program at a time holds."""

    def __init__(self, path: Path, *, is_new: bool, durable: bool = True) -> None:
        """Take hold of an existing file; a new one is made by the first `create()`.

        With `durable`, `sync()` asks the disk to keep what was written.

        Raises:
            SessionError: Another program has the file (`locked`), or it cannot be opened (`io`).
        """
        self.path = path
        self.problem: str | None = None
        """Why something is not on disk yet; None while everything is."""
        self._durable = durable
        self._waiting: deque[bytes] = deque()
        self._is_wanted = not is_new
        """Something was said that is worth a file."""
        self._is_closed = False
        self._file: IO[bytes] | None = None
        self._syncing: set[asyncio.Future[None]] = set()
        if not is_new:
            try:
                self._open()
            except OSError as error:
                raise SessionError(f"{path}: {error.strerror}", code="io") from None

    def append(self, line: str) -> None:
        """Write one line, after everything that still waits."""
        self._waiting.append(line.encode("utf-8", "replace"))
        self.flush()

    def create(self) -> None:
        """From now on there is a file: what was appended so far is written."""
        self._is_wanted = not self._is_closed

    def flush(self) -> None:
        """Try to write what waits."""
        if not self._is_wanted or not self._waiting:
            return
        try:
            file = self._file or self._open()
            while self._waiting:
                _write_whole(file, self._waiting[0])
                self._waiting.popleft()
        except OSError as error:
            self._say(error.strerror or str(error))
        except SessionError as error:
            self._say(error.message)
        else:
            self.problem = None

    def sync(self) -> None:
        """Ask the disk to keep what was written, without waiting for it."""
        if not self._durable or self._file is None:
            return
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            _sync(self.path)
            return
        done = loop.run_in_executor(None, _sync, self.path)
        self._syncing.add(done)
        done.add_done_callback(self._syncing.discard)

    def close(self) -> None:
        """Write what waits and let go of the file; may be repeated."""
        self.flush()
        if self._file is not None:
            _unlock(self._file)
            self._file.close()
            self._file = None
        self._is_wanted, self._is_closed = False, True

    def _say(self, reason: str) -> None:
        if self.problem is None:
            _log.warning("the session is not saved: %s", reason)
        self.problem = reason
        with contextlib.suppress(RuntimeError):  # no loop: the next append tries again
            asyncio.get_running_loop().call_later(RETRY_SECONDS, self.flush)

    def _open(self) -> IO[bytes]:
        for folder in reversed([self.path.parent, self.path.parent.parent]):
            folder.mkdir(mode=_FOLDER_MODE, parents=True, exist_ok=True)
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_CLOEXEC", 0)
        file = os.fdopen(os.open(self.path, flags, _FILE_MODE), "ab", buffering=0)
        if not _lock(file):
            file.close()
            raise SessionError(
                f"the session {self.path.stem} is open in another program", code="locked"
            )
        self._file = file
        return file


def _write_whole(file: IO[bytes], line: bytes) -> None:
    """Write all of a line or nothing of it."""
    before = os.fstat(file.fileno()).st_size
    written = 0
    try:
        written = file.write(line)
        if written == len(line):
            return
    except OSError:
        _cut_back(file, before)
        raise
    _cut_back(file, before)
    raise OSError(28, "No space left on device")


def _cut_back(file: IO[bytes], size: int) -> None:
    with contextlib.suppress(OSError):
        os.ftruncate(file.fileno(), size)


def _sync(path: Path) -> None:
    # Not through the descriptor that holds the lock: it may be closed before the disk has answered.
    try:
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except OSError as error:
        _log.warning("fsync failed: %s", error.strerror)


def _lock(file: IO[bytes]) -> bool:
    """Hold the file against other programs until it is closed; False if one has it."""
    try:
        import fcntl
    except ImportError:  # Windows: there is no such lock
        return True
    try:
        fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks
        return True
    return True


def _unlock(file: IO[bytes]) -> None:
    """Let go of the lock at once: a descriptor that waits for the disk would hold it longer."""
    with contextlib.suppress(ImportError, OSError):
        import fcntl

        fcntl.flock(file.fileno(), fcntl.LOCK_UN)
