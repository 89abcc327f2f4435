"""What sessions there are, found by what was said in them.

The files are the truth. An index in SQLite beside them makes looking quick; it is brought up to
date from what has changed since, and made anew when it is missing or broken.
"""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from agent_tui.core.errors import AgentError, SessionError
from agent_tui.core.invocation import as_typed
from agent_tui.core.messages import AssistantMessage, UserMessage
from agent_tui.session.journal.entries import Entry
from agent_tui.session.journal.file import JournalFile
from agent_tui.session.journal.reading import read_session
from agent_tui.session.journal.store import SessionStore
from agent_tui.session.journal.tree import SessionTree

INDEX_NAME = "index.db"
TITLE_CHARACTERS = 200
TEXT_CHARACTERS = 200_000
"""How much of a session can be found by its words."""
_SCHEMA = """
CREATE TABLE IF NOT EXISTS sessions (
    number INTEGER PRIMARY KEY, path TEXT UNIQUE, id TEXT, cwd TEXT, name TEXT, title TEXT,
    created INTEGER, changed INTEGER, size INTEGER, messages INTEGER, model TEXT, cost REAL,
    problem TEXT
);
CREATE VIRTUAL TABLE IF NOT EXISTS words USING fts5(said, tokenize="trigram");
PRAGMA user_version = 2;
"""
"""Words have the number of their session: by its path they could only be found by reading all."""
_VERSION = 2
_COLUMNS = "path, id, cwd, name, title, created, changed, size, messages, model, cost, problem"


@dataclass(frozen=True, slots=True)
class SessionItem:
    """One session, as a list shows it."""

    path: Path
    id: str
    cwd: str
    name: str | None
    title: str
    """The beginning of the first message."""
    created: int
    """Milliseconds since the epoch."""
    changed: int
    """Likewise; when something was last written."""
    size: int
    """Bytes."""
    messages: int
    """Of the person and the model, on all branches."""
    model: str | None
    cost: float | None
    """US dollars, as far as known; None if nothing is."""
    problem: str | None
    """Why it cannot be opened as it is."""

    @property
    def label(self) -> str:
        """The name that the person gave it, else how it began."""
        return self.name or self.title or "(nothing said)"


class SessionCatalogue:
    """Looks for sessions of a project, or of all."""

    def __init__(self, store: SessionStore) -> None:
        self._store = store
        self._index = store.root / INDEX_NAME

    def items(self, words: str = "", *, everywhere: bool = False) -> list[SessionItem]:
        """The sessions that hold every word, last changed first.

        Raises:
            SessionError: The folder cannot be read.
        """
        with self._open() as index:
            self._renew(index)
            return _find(index, words.split(), None if everywhere else self._store.folder)

    def obstacle(self, beginning: str) -> str | None:
        """Why the session whose id begins so cannot be opened now; None if it can."""
        try:
            path = self._store.find(beginning)
            read_session(path)
            JournalFile(path, is_new=False).close()
        except AgentError as error:
            return error.message
        return None

    def forget(self, item: SessionItem) -> None:
        """Delete a session and everything beside it.

        Raises:
            SessionError: It could not be deleted.
        """
        try:
            for path in item.path.parent.glob(f"{item.path.stem}.*"):
                path.unlink()
            shutil.rmtree(self._store.checkpoints_of(item.path), ignore_errors=True)
        except OSError as error:
            raise SessionError(f"{item.path}: {error.strerror}", code="io") from None

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        try:
            self._store.root.mkdir(mode=0o700, parents=True, exist_ok=True)
            with closing(self._connect()) as index:
                yield index
        except OSError as error:
            raise SessionError(f"{self._store.root}: {error.strerror}", code="io") from None

    def _connect(self) -> sqlite3.Connection:
        """The index; a broken one, and one in a folder that cannot be written, is made anew."""
        try:
            return _prepared(sqlite3.connect(self._index, timeout=5))
        except sqlite3.Error:
            pass
        try:
            self._index.unlink(missing_ok=True)
            return _prepared(sqlite3.connect(self._index, timeout=5))
        except (sqlite3.Error, OSError):
            return _prepared(sqlite3.connect(":memory:"))

    def _renew(self, index: sqlite3.Connection) -> None:
        """Read what is new or has changed, forget what is gone."""
        known = {
            row[0]: (row[1], row[2])
            for row in index.execute("SELECT path, changed, size FROM sessions")
        }
        for path in self._store.files(everywhere=True):
            try:
                status = path.stat()
            except OSError:
                continue
            present = (status.st_mtime_ns // 1_000_000, status.st_size)
            if known.pop(str(path), None) != present:
                _put(index, *_read(path, *present))
        for gone in known:
            _drop(index, gone)
        index.commit()


def _prepared(index: sqlite3.Connection) -> sqlite3.Connection:
    (version,) = index.execute("PRAGMA user_version").fetchone()
    if version not in (0, _VERSION):
        raise sqlite3.DatabaseError("an index of another version")
    index.executescript(_SCHEMA)
    index.execute("SELECT count(*) FROM sessions").fetchone()
    return index


def _read(path: Path, changed: int, size: int) -> tuple[SessionItem, str]:
    """A session and what was said in it."""
    try:
        file = read_session(path)
    except SessionError as error:
        item = SessionItem(
            path, path.stem, "", None, "", changed, changed, size, 0, None, None, error.message
        )
        return item, ""
    if file is None:
        item = SessionItem(
            path, path.stem, "", None, "", changed, changed, size, 0, None, None, "it is empty"
        )
        return item, ""
    said = [text for entry in file.entries if (text := _said(entry))]
    names = [e.data.get("name") for e in file.entries if e.type == "session_info"]
    change = SessionTree(file.entries).last("model_change")
    costs = [
        entry.message.usage.cost_usd
        for entry in file.entries
        if isinstance(entry.message, AssistantMessage) and entry.message.usage.cost_usd is not None
    ]
    first = next((e.message.text for e in file.entries if isinstance(e.message, UserMessage)), "")
    item = SessionItem(
        path=path,
        id=file.header.id,
        cwd=file.header.cwd,
        name=names[-1] if names else None,
        title=" ".join(as_typed(first).split())[:TITLE_CHARACTERS],
        created=file.header.created_at,
        changed=changed,
        size=size,
        messages=len(said),
        model=None if change is None else change.data.get("model"),
        cost=sum(costs) if costs else None,
        problem=None,
    )
    return item, "\n".join([item.name or "", *said])[:TEXT_CHARACTERS]


def _said(entry: Entry) -> str:
    message = entry.message
    return message.text if isinstance(message, UserMessage | AssistantMessage) else ""


def _put(index: sqlite3.Connection, item: SessionItem, said: str) -> None:
    _drop(index, str(item.path))
    values = [
        str(item.path),
        item.id,
        item.cwd,
        item.name,
        item.title,
        item.created,
        item.changed,
        item.size,
        item.messages,
        item.model,
        item.cost,
        item.problem,
    ]
    marks = ", ".join("?" * len(values))
    sql = f"INSERT INTO sessions ({_COLUMNS}) VALUES ({marks})"
    number = index.execute(sql, _storable(values)).lastrowid
    index.execute("INSERT INTO words (rowid, said) VALUES (?, ?)", _storable([number, said]))


def _storable(values: Sequence[object]) -> list[object]:
    """SQLite holds UTF-8: lone surrogates are replaced."""
    return [
        value.encode("utf-8", "replace").decode() if isinstance(value, str) else value
        for value in values
    ]


def _drop(index: sqlite3.Connection, path: str) -> None:
    for (number,) in index.execute("SELECT number FROM sessions WHERE path = ?", [path]).fetchall():
        index.execute("DELETE FROM words WHERE rowid = ?", [number])
        index.execute("DELETE FROM sessions WHERE number = ?", [number])


def _find(
    index: sqlite3.Connection, words: Sequence[str], folder: Path | None
) -> list[SessionItem]:
    conditions: list[str] = []
    values: list[object] = []
    for word in words:
        pattern = "%" + word.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_") + "%"
        said = "number IN (SELECT rowid FROM words WHERE said LIKE ? ESCAPE '\\')"
        conditions.append(f"({said} OR id LIKE ? ESCAPE '\\')")
        values += [pattern, pattern]
    if folder is not None:
        conditions.append("substr(path, 1, ?) = ?")
        values += [len(str(folder)) + 1, f"{folder}/"]
    where = f"WHERE {' AND '.join(conditions)}" if conditions else ""
    rows = index.execute(f"SELECT {_COLUMNS} FROM sessions {where} ORDER BY changed DESC", values)
    return [SessionItem(Path(row[0]), *row[1:]) for row in rows]
