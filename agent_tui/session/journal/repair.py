"""Putting a session file right before it is written to, and making new files from old ones."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterable
from pathlib import Path

from agent_tui.core.errors import SessionError
from agent_tui.session.journal.entries import Entry, Header
from agent_tui.session.journal.reading import SessionFile


def repair(file: SessionFile) -> None:
    """Make the file end with a whole line; what is taken away is kept beside it.

    Raises:
        SessionError: It cannot be written (`io`).
    """
    try:
        if file.needs_rewrite:
            shutil.copyfile(file.path, _beside(file.path, ".bak"))
            write_session(file.path, file.header, file.entries)
        elif file.torn:
            with _beside(file.path, ".torn").open("ab") as kept:
                kept.write(file.torn.rstrip(b"\n") + b"\n")
            os.truncate(file.path, file.size)
        elif file.lacks_newline:
            with file.path.open("ab") as open_file:
                open_file.write(b"\n")
    except OSError as error:
        raise SessionError(
            f"{file.path}: {error.strerror}", code="io", path=str(file.path)
        ) from None


def write_session(path: Path, header: Header, entries: Iterable[Entry]) -> None:
    """Write a whole session file: it is there completely, or not at all.

    Raises:
        OSError: It could not be written.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    staged = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        descriptor = os.open(staged, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8", errors="replace", newline="\n") as out:
            out.write(header.to_line())
            out.writelines(entry.to_line() for entry in entries)
            out.flush()
            os.fsync(out.fileno())
        staged.replace(path)
    finally:
        with contextlib.suppress(OSError):
            staged.unlink()


def _beside(path: Path, suffix: str) -> Path:
    return path.with_name(path.name + suffix)
