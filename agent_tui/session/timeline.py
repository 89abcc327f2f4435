"""The order in which an agent changed files, and where in it the person's messages stand."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Version:
    """What a file held at a time."""

    digest: str | None
    """SHA-256 of the content in hex; None if there was no file."""
    mode: int | None
    """Its permission bits; None if they are not known."""
    problem: str | None = None
    """Why the content was not kept, as a clause; None if it was."""


@dataclass(frozen=True, slots=True)
class Change:
    """One change of one file."""

    path: Path
    before: Version
    after: Version


class Timeline:
    """Changes and messages in order, in memory and in `timeline.jsonl`, which only grows.

    A position is a number of changes: what was made before it. Nothing is written before the first
    change. What cannot be written is still known as long as the program runs.
    """

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder
        self._changes: list[Change] = []
        self._position_by_message: dict[str, int] = {}
        self._unwritten: list[dict[str, Any]] = []
        self._read()

    @property
    def length(self) -> int:
        """How many changes there are."""
        return len(self._changes)

    @property
    def messages(self) -> list[str]:
        """The ids of all messages, in order."""
        return [*self._position_by_message]

    def begin(self, message_id: str) -> None:
        """This message stands after all changes so far; one that is known stays where it is."""
        if message_id not in self._position_by_message:
            self._position_by_message[message_id] = self.length
            self._unwritten.append({"message": message_id})
            if self._changes:
                self._write()

    def add(self, change: Change) -> None:
        """The next change."""
        self._changes.append(change)
        self._unwritten.append(_as_data(change))
        self._write()

    def position_of(self, message_id: str | None) -> int:
        """Where a message stands: None at the beginning, an unknown one at the end."""
        if message_id is None:
            return 0
        return self._position_by_message.get(message_id, self.length)

    def since(self, position: int) -> dict[Path, list[Change]]:
        """The changes from a position on, by file."""
        by_path: dict[Path, list[Change]] = {}
        for change in self._changes[position:]:
            by_path.setdefault(change.path, []).append(change)
        return by_path

    def _write(self) -> None:
        if self.folder is None:
            return
        lines = "".join(f"{json.dumps(data)}\n" for data in self._unwritten)
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
            descriptor = os.open(self.folder / "timeline.jsonl", flags, 0o600)
            try:
                os.write(descriptor, lines.encode())
            finally:
                os.close(descriptor)
        except OSError:
            return  # tried again with the next change
        self._unwritten.clear()

    def _read(self) -> None:
        if self.folder is None:
            return
        try:
            lines = (self.folder / "timeline.jsonl").read_bytes().split(b"\n")
        except OSError:
            return
        for data in _readable(lines):
            if "message" in data:
                self._position_by_message.setdefault(str(data["message"]), self.length)
            else:
                self._changes.append(_from_data(data))
        if lines[-1]:
            # A crash cut the last line: what comes next must not be glued to it.
            self._unwritten.append({"cut": True})


def _readable(lines: Iterable[bytes]) -> Iterable[Mapping[str, Any]]:
    for line in lines:
        try:
            data = json.loads(line)
        except ValueError:
            continue
        if isinstance(data, dict) and ("message" in data or "path" in data):
            yield data


def _as_data(change: Change) -> dict[str, Any]:
    return {
        "path": os.fspath(change.path),
        "before": _as_list(change.before),
        "after": _as_list(change.after),
    }


def _as_list(version: Version) -> list[Any]:
    return [version.digest, version.mode, version.problem]


def _from_data(data: Mapping[str, Any]) -> Change:
    return Change(Path(data["path"]), Version(*data["before"]), Version(*data["after"]))
