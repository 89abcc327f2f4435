"""From the bytes of a session file to its entries, and what has to be put right in it.

Reading changes nothing. What a crash can leave (a torn last line, two lines glued together) is read
with a notice and put right before the first write; other damage is refused with the line's number.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from agent_tui.core.errors import SessionError
from agent_tui.session.journal.entries import Entry, Header

_DECODER = json.JSONDecoder()


@dataclass(slots=True)
class SessionFile:
    """A session file as it was read."""

    path: Path
    header: Header
    entries: list[Entry] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)
    """What was not as it should be, as sentences."""
    size: int = 0
    """Bytes up to the end of the last whole line."""
    torn: bytes = b""
    """What a crash left behind that."""
    lacks_newline: bool = False
    """The last line is whole but for its newline."""
    needs_rewrite: bool = False
    """Lines are glued together; the original is kept when the file is written anew."""


def read_session(path: Path) -> SessionFile | None:
    """Read a session file; None if it is empty.

    Raises:
        SessionError: It cannot be read (`io`), or it is damaged or no session (`corrupt`, with the
            line if there is one).
    """
    data = _bytes_of(path)
    if not data.strip():
        return None
    lines = data.split(b"\n")
    file = SessionFile(path, _header(path, lines[0]))
    reading = _Reading(file)
    last = max((number for number, line in enumerate(lines, 1) if line.strip()), default=0)
    for number, line in enumerate(lines[:-1], 1):
        if number > 1 and line.strip():
            reading.take(number, line, is_last=number == last)
        if not file.torn:
            file.size += len(line) + 1
    if lines[-1]:
        reading.take_unfinished(len(lines), lines[-1])
    return file


def read_header(path: Path) -> Header | None:
    """Only the first line; None if the file is no session."""
    try:
        with path.open("rb") as file:
            return Header.of(_object(file.readline()) or {})
    except OSError:
        return None


class _Reading:
    """Puts entries into a file, one line after the other."""

    def __init__(self, file: SessionFile) -> None:
        self._file = file
        self._known: set[str] = set()

    def take(self, number: int, line: bytes, *, is_last: bool) -> None:
        """A line that ended with a newline."""
        record = _object(line)
        if record is not None:
            self._add(number, record)
            return
        records = _glued(line)
        if records:
            for record in records:
                if record.get("id") not in self._known:
                    self._add(number, record)
            self._file.needs_rewrite = True
            self._say(
                number, "holds more than one record, or the rest of one; what is whole is read"
            )
        elif is_last:
            self._file.torn = line + b"\n"
            self._say(number, "was cut by a crash; it is left out")
        else:
            raise self._damaged(number, "is no record")

    def take_unfinished(self, number: int, line: bytes) -> None:
        """What stands behind the last newline."""
        record = _object(line)
        if record is not None and (number == 1 or "type" in record):
            if number > 1:
                self._add(number, record)
            self._file.size += len(line)
            self._file.lacks_newline = True
        elif len(records := _glued(line)) > 1 or (records and not line.startswith(b'{"type"')):
            self.take(number, line, is_last=True)
            self._file.size += len(line)
        else:
            self._file.torn = line
            self._say(number, "was cut by a crash; it is left out")

    def _add(self, number: int, record: dict[str, Any]) -> None:
        if not isinstance(record.get("type"), str):
            raise self._damaged(number, "has no type")
        if not isinstance(record.get("id"), str):
            return  # of a later version, or somebody else's: kept in the file, and not ours to use
        if not isinstance(record.get("parent_id"), str | None):
            raise self._damaged(number, "follows nothing that can be named")
        try:
            entry = Entry.of(record)
        except ValueError:
            raise self._damaged(number, "holds a message that is not whole") from None
        if entry.id in self._known:
            raise self._damaged(number, f"has the id {entry.id} of an earlier one")
        if entry.parent_id is not None and entry.parent_id not in self._known:
            entry = replace(entry, parent_id=self._file.entries[-1].id if self._known else None)
            self._say(number, "follows an entry that is gone; it is read behind the one before it")
        self._known.add(entry.id)
        self._file.entries.append(entry)

    def _say(self, number: int, words: str) -> None:
        self._file.notices.append(f"{self._file.path.name}: line {number} {words}")

    def _damaged(self, number: int, words: str) -> SessionError:
        path = self._file.path
        return SessionError(
            f"{path}: line {number} {words}; agent-tui chat --resume {path.stem} --recover opens a "
            "new session with everything that can be read",
            code="corrupt",
            path=str(path),
            line=number,
        )


def recover(path: Path) -> tuple[list[Entry], list[str]]:
    """Every entry of a damaged file that can be read, each behind the last one before it.

    Raises:
        SessionError: The file cannot be read at all (`io`).
    """
    entries: list[Entry] = []
    notices: list[str] = []
    known: set[str] = set()
    for number, line in enumerate(_bytes_of(path).split(b"\n"), 1):
        record = _object(line)
        records = [record] if record is not None else _glued(line)
        if not records and line.strip():
            notices.append(f"line {number} could not be read")
        for one in records:
            if one.get("type") == "session" or not isinstance(one.get("id"), str):
                continue
            if one["id"] in known:
                continue
            try:
                entry = Entry.of(one)
            except (ValueError, KeyError, TypeError):
                notices.append(f"line {number} could not be read")
                continue
            if not isinstance(entry.parent_id, str) or entry.parent_id not in known:
                entry = replace(entry, parent_id=entries[-1].id if entries else None)
            known.add(entry.id)
            entries.append(entry)
    return entries, notices


def _bytes_of(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise SessionError(f"{path}: {error.strerror}", code="io", path=str(path)) from None


def _header(path: Path, line: bytes) -> Header:
    header = Header.of(_object(line) or {})
    if header is None:
        raise SessionError(f"{path} is no session file", code="corrupt", path=str(path), line=1)
    return header


def _object(line: bytes) -> dict[str, Any] | None:
    try:
        record = json.loads(line)
    except ValueError:  # bad UTF-8 included
        return None
    return record if isinstance(record, dict) else None


def _glued(line: bytes) -> list[dict[str, Any]]:
    """The whole records in a line that is none; what is torn between them is left out."""
    return list(_records(line.decode("utf-8", "replace")))


def _records(text: str) -> Iterator[dict[str, Any]]:
    position = text.find('{"type"')
    while position >= 0:
        try:
            record, end = _DECODER.raw_decode(text, position)
        except ValueError:
            end = position + 1
        else:
            yield record
        position = text.find('{"type"', end)
