"""Reading the person's Markdown files: bounded, regular files only, and not through odd links."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path

from agent_tui.tools import Refused, judge


@dataclass(frozen=True, slots=True)
class Text:
    """What was read of a file."""

    text: str
    size: int
    """Bytes of the whole file."""
    is_cut: bool
    """Only the first lines are here."""


def read_text(path: Path, limit_bytes: int, *, inside: Path | None = None) -> Text | str | None:
    """The text of a file; a clause that says why it is not read; None if there is none.

    With `inside`, a link that leads out of that folder, or to credentials, is not followed.
    """
    try:
        info = path.stat()
        if not stat.S_ISREG(info.st_mode):
            return None if stat.S_ISDIR(info.st_mode) else "is no regular file"
        if inside is not None and (reason := _astray(path, inside)) is not None:
            return reason
        with path.open("rb") as file:
            data = file.read(limit_bytes + 1)
    except FileNotFoundError:
        return None
    except OSError as error:
        return f"cannot be read: {error.strerror}"
    is_cut = len(data) > limit_bytes
    if is_cut:
        data = data[:limit_bytes]
        data = data[: data.rfind(b"\n") + 1] or data
    text = data.decode("utf-8", "replace").removeprefix("\ufeff").replace("\r\n", "\n")
    return Text(text.replace("\0", "\ufffd").strip(), info.st_size, is_cut)


def stamp_of(path: Path) -> tuple[int, int] | None:
    """What changes with the file: its time in nanoseconds and its size; None without a file."""
    try:
        info = os.stat(path)  # noqa: PTH116 - the cheapest way
    except OSError:
        return None
    return info.st_mtime_ns, info.st_size


def _astray(path: Path, inside: Path) -> str | None:
    try:
        reach = judge(str(path), inside)
    except Refused:
        return "cannot be resolved"
    if not reach.inside:
        return f"is a link that leads to {reach.path}, outside of {inside}"
    return f"leads to {reach.guarded}" if reach.guarded else None
