"""How much of an output a model sees, and where the whole of it is kept.

Two limits, the first that is hit wins: lines and bytes. Only whole lines are shown, except a single
line that is longer than the limit, which is cut between characters. Memory stays bounded whatever a
command prints: the end is kept, everything goes to a file that is made when it is needed.
"""

from __future__ import annotations

import codecs
import os
import re
import secrets
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from agent_tui.core.text import printable, with_colours_only

LIMIT_LINES = 2000
LIMIT_BYTES = 50 * 1024
LIVE_LINES = 40
LIVE_BYTES = 8 * 1024
SAVED_BYTES = 256 * 1024 * 1024
"""A saved output ends here: a command that never stops printing must not fill the disk."""

_KEPT_BYTES = 2 * LIMIT_BYTES
_PLAIN = bytes(range(0x20, 0x7F)) + b"\n\t"
_COLOUR = re.compile(r"\x1b\[[\d;:]*m")
_UTF8 = codecs.getincrementaldecoder("utf-8")


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A part of a text."""

    text: str
    """Without a newline at its end."""
    lines: int
    """How many lines it shows."""
    left_out: int
    """How many lines it does not show."""
    cut: bool
    """True if its only line is itself shortened."""


def head(text: str, limit_lines: int = LIMIT_LINES, limit_bytes: int = LIMIT_BYTES) -> Excerpt:
    """The first whole lines of `text` within both limits; an over-long first line is cut."""
    lines = _lines(text)
    shown, size = 0, -1
    for line in lines[:limit_lines]:
        size += 1 + len(line.encode())
        if size > limit_bytes:
            break
        shown += 1
    if shown or not lines:
        return Excerpt("\n".join(lines[:shown]), shown, len(lines) - shown, False)
    start = lines[0].encode()[:limit_bytes]
    return Excerpt(_UTF8("replace").decode(start), 1, len(lines) - 1, True)


def tail(text: str, limit_lines: int = LIMIT_LINES, limit_bytes: int = LIMIT_BYTES) -> Excerpt:
    """The last whole lines of `text` within both limits; an over-long last line loses its start."""
    lines = _lines(text)
    shown, size = 0, -1
    for line in reversed(lines[-limit_lines:]):
        size += 1 + len(line.encode())
        if size > limit_bytes:
            break
        shown += 1
    left_out = len(lines) - shown
    if shown or not lines:
        return Excerpt("\n".join(lines[left_out:]), shown, left_out, False)
    end = from_character(lines[-1].encode()[-limit_bytes:])
    return Excerpt(end.decode("utf-8", "replace"), 1, len(lines) - 1, True)


def from_character(data: bytes) -> bytes:
    """`data` without the rest of a UTF-8 character that began before it."""
    start = 0
    while start < min(3, len(data)) and data[start] & 0xC0 == 0x80:
        start += 1
    return data[start:]


def for_model(data: bytes) -> str:
    """Output as text: no escape sequences or controls, progress lines in their last state.

    The number of lines stays the same. Bytes that are no UTF-8 become U+FFFD.
    """
    if not data.translate(None, _PLAIN):
        return data.decode("ascii")
    text = data.decode("utf-8", "replace")
    return "\n".join(map(_settled, text.split("\n")))


def _settled(line: str) -> str:
    if line.isprintable():
        return line
    # Each line by itself: an unfinished sequence swallows the rest of its line, not of the output.
    line = _COLOUR.sub("", with_colours_only(line))
    if "\b" in line:
        line = _rubbed_out(line)
    states = map(printable, reversed(line.split("\r")))
    return next(filter(None, states), "")


def _rubbed_out(line: str) -> str:
    kept: list[str] = []
    for character in line:
        if character != "\b":
            kept.append(character)
        elif kept:
            kept.pop()
    return "".join(kept)


def _lines(text: str) -> list[str]:
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    return lines


class OutputLog:
    """Everything a command has printed: counted, its end in memory, the whole on disk.

    `folder` holds the file, made with mode 0600 as soon as the output is more than a model is
    shown; None means a new folder in the system's temporary one.
    """

    def __init__(self, folder: Path | None, name: str = "bash") -> None:
        """`name` begins the name of the file."""
        self._folder = folder
        self._name = name
        self._recent = bytearray()
        self._newlines = 0
        self._ends_in_newline = True
        self._file: BinaryIO | None = None
        self.bytes = 0
        """All bytes so far."""
        self.path: Path | None = None
        """The file with the whole output; None while there is none."""
        self.trouble: str | None = None
        """Why the file is not complete, if it is not."""

    @property
    def lines(self) -> int:
        """All lines so far; a newline at the end is not an extra line."""
        return self._newlines + (not self._ends_in_newline)

    def add(self, chunk: bytes) -> None:
        """Take the next bytes, in the order they came."""
        if not chunk:
            return
        self.bytes += len(chunk)
        self._newlines += chunk.count(b"\n")
        self._ends_in_newline = chunk.endswith(b"\n")
        self._recent += chunk
        if self.path is not None:
            self._save(chunk)
        elif self.bytes - self._ends_in_newline > LIMIT_BYTES or self.lines > LIMIT_LINES:
            self.keep()
        if len(self._recent) > 2 * _KEPT_BYTES:
            del self._recent[:-_KEPT_BYTES]

    def keep(self) -> Path | None:
        """Make the file now, with what there is; its path, None if that cannot be done."""
        if self.path is not None or self.trouble is not None:
            return self.path
        try:
            self.path, self._file = _new_file(self._folder, self._name)
        except OSError as error:
            self.trouble = error.strerror or str(error)
            return None
        self._save(bytes(self._recent))
        return self.path

    def result(self) -> Excerpt:
        """What the model is shown: the end, within the limits."""
        recent = self._whole_lines(_KEPT_BYTES)
        part = tail(for_model(recent))
        cut = part.cut or (len(recent) < self.bytes and b"\n" not in recent[:-1])
        return Excerpt(part.text, part.lines, self.lines - part.lines, cut)

    def live(self) -> str:
        """The last lines as they came, colours and all, for a panel that is redrawn often.

        A character whose last bytes have not come yet is left out.
        """
        recent = self._whole_lines(LIVE_BYTES)
        return tail(_UTF8("replace").decode(recent), LIVE_LINES, LIVE_BYTES).text

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def _whole_lines(self, limit: int) -> bytes:
        recent = bytes(self._recent[-limit:])
        if len(recent) == self.bytes:
            return recent
        start = recent.find(b"\n", 0, -1)
        return recent[start + 1 :] if start >= 0 else from_character(recent)

    def _save(self, chunk: bytes) -> None:
        if self._file is None:
            return
        room = SAVED_BYTES - self._file.tell()
        try:
            self._file.write(chunk[:room])
            # What was printed is on disk when the result names the file.
            self._file.flush()
        except OSError as error:
            self.trouble = error.strerror or str(error)
        if len(chunk) > room:
            self.trouble = f"it ends after {SAVED_BYTES // 1024**2} MiB"
        if self.trouble is not None:
            self.close()


def _new_file(folder: Path | None, name: str) -> tuple[Path, BinaryIO]:
    if folder is None:
        folder = Path(tempfile.mkdtemp(prefix="agent-tui-"))
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = folder / f"{name}-{secrets.token_hex(6)}.txt"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
    return path, os.fdopen(os.open(path, flags, 0o600), "wb")
