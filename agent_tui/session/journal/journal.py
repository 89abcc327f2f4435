"""A session's journal: its tree in memory, and the same on disk unless nothing is to be kept."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from agent_tui.core.errors import SessionError
from agent_tui.core.ids import new_id, now_ms
from agent_tui.core.messages import AgentMessage, BranchSummaryMessage, CompactionSummaryMessage
from agent_tui.session.journal.entries import Entry, Header
from agent_tui.session.journal.file import JournalFile
from agent_tui.session.journal.reading import SessionFile, read_header, read_session, recover
from agent_tui.session.journal.repair import repair, write_session
from agent_tui.session.journal.tree import SessionTree


@dataclass(frozen=True, slots=True)
class Drafts:
    """What a person was writing: the text in the composer, and texts put aside."""

    text: str = ""
    stash: tuple[str, ...] = ()


class Journal:
    """Entries are added at the leaf; each is in the file before `add` returns."""

    def __init__(
        self,
        header: Header,
        tree: SessionTree,
        file: JournalFile | None,
        notices: Sequence[str] = (),
    ) -> None:
        self.header = header
        self.tree = tree
        self.notices = tuple(notices)
        """What was found wrong when the file was opened, as sentences."""
        self._file = file

    # -- beginning ---------------------------------------------------------------------------

    @classmethod
    def new(cls, path: Path | None, cwd: Path, *, durable: bool = True) -> Journal:
        """A journal of a new session; with a path, the first user message makes its file.

        The session's id is the name of the file.
        """
        session_id = new_id() if path is None else path.stem
        header = Header(session_id, str(cwd), now_ms())
        file = None if path is None else JournalFile(path, is_new=True, durable=durable)
        journal = cls(header, SessionTree(), file)
        journal._write(header.to_line())
        return journal

    @classmethod
    def open(cls, path: Path, cwd: Path, *, durable: bool = True) -> Journal:
        """The journal in a file, which is put right if a crash has torn it.

        A file that is not there, or empty, is a new session's.

        Raises:
            SessionError: It is damaged (`corrupt`), another program has it (`locked`), or it cannot
                be read (`io`).
        """
        if not path.exists() or not path.stat().st_size:
            return cls.new(path, cwd, durable=durable)
        file = JournalFile(path, is_new=False, durable=durable)
        try:
            found = read_session(path)
            if found is not None and file.problem is None:
                file = _put_right(found, file, durable)
        except BaseException:
            file.close()
            raise
        if found is None:
            file.close()
            raise SessionError(f"{path} is no session file", code="corrupt", path=str(path))
        return cls(found.header, SessionTree(found.entries), file, found.notices)

    @property
    def path(self) -> Path | None:
        """The file; None if nothing is kept. It is there from the first user message on."""
        return None if self._file is None else self._file.path

    @property
    def problem(self) -> str | None:
        """Why something is not on disk yet; None while everything is."""
        return None if self._file is None else self._file.problem

    # -- writing -----------------------------------------------------------------------------

    def add(self, kind: str, data: Mapping[str, Any] | None = None) -> Entry:
        """Add an entry of a type at the leaf."""
        return self._add(Entry(kind, data or {}, self.tree.leaf))

    def add_custom(self, custom_type: str, data: Any) -> Entry:
        """Add state of some part of the program; it is no part of the context."""
        return self.add("custom", {"custom_type": custom_type, "data": data})

    def add_message(self, message: AgentMessage) -> Entry:
        """Add a message; the first of the person's own makes the file."""
        entry = Entry("message", {}, self.tree.leaf, message.id, message.timestamp, message)
        if message.role in ("user", "bash_execution"):
            self.create()
        self._add(entry)
        if message.role == "user":
            self.sync()
        return entry

    def add_summary(self, summary: CompactionSummaryMessage, data: Mapping[str, Any]) -> Entry:
        """Add a summary of what came before; `data` says what stays beside it."""
        fields = {"summary": summary.summary, "tokens_before": summary.tokens_before, **data}
        return self._add(Entry("compaction", fields, self.tree.leaf, summary.id, summary.timestamp))

    def add_branch_summary(self, summary: str, from_id: str | None) -> Entry:
        """Add, at the place that was gone to, what the branch that ended in `from_id` was about."""
        message = BranchSummaryMessage(summary=summary, from_id=from_id or "")
        fields = {"summary": summary, "from_id": from_id}
        place = (self.tree.leaf, message.id, message.timestamp)
        return self._add(Entry("branch_summary", fields, *place, message))

    def move(self, target_id: str | None, reason: str) -> None:
        """Go to another place: what is added next follows `target_id`; None is the beginning."""
        if target_id == self.tree.leaf:
            return
        data = {"target_id": target_id, "reason": reason}
        self._add(Entry("leaf", data, self.tree.leaf))

    def create(self) -> None:
        """Something of the person's own is about to be added: from now on there is a file."""
        if self._file is not None:
            self._file.create()

    def sync(self) -> None:
        """Ask the disk to keep what was written."""
        if self._file is not None:
            self._file.sync()

    def flush(self) -> None:
        """Try again to write what could not be written."""
        if self._file is not None:
            self._file.flush()

    def close(self) -> None:
        """Let go of the file; may be repeated."""
        if self._file is not None:
            self._file.close()

    def _add(self, entry: Entry) -> Entry:
        self._write(entry.to_line())
        self.tree.add(entry)
        return entry

    def _write(self, line: str) -> None:
        if self._file is not None:
            self._file.append(line)

    # -- the name ----------------------------------------------------------------------------

    @property
    def name(self) -> str | None:
        """What the person called the session."""
        return self.tree.name

    @name.setter
    def name(self, name: str | None) -> None:
        self.add("session_info", {"name": name})

    # -- drafts ------------------------------------------------------------------------------

    @property
    def drafts(self) -> Drafts:
        """What was being written when the session was last open."""
        if (path := self._drafts_path) is None:
            return Drafts()
        try:
            data = json.loads(path.read_text("utf-8"))
            return Drafts(str(data["text"]), tuple(map(str, data["stash"])))
        except (OSError, ValueError, KeyError, TypeError):
            return Drafts()

    @drafts.setter
    def drafts(self, drafts: Drafts) -> None:
        path = self._drafts_path
        if path is None:
            return
        with contextlib.suppress(OSError):  # the composer still has it
            if drafts == Drafts():
                path.unlink(missing_ok=True)
                return
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            staged = path.with_name(f".{path.name}.tmp")
            descriptor = os.open(staged, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with os.fdopen(descriptor, "w", encoding="utf-8", errors="replace") as out:
                json.dump({"text": drafts.text, "stash": drafts.stash}, out, ensure_ascii=False)
            staged.replace(path)

    def keep_draft(self, text: str) -> None:
        """Have this in the composer when the session is opened."""
        self.drafts = Drafts(text)

    @property
    def _drafts_path(self) -> Path | None:
        path = self.path
        return None if path is None else path.with_suffix(".draft")


def fork_session(
    source: Path, target: Path, *, to: str | None = None, durable: bool = True
) -> Journal:
    """A new session with the entries of another one up to `to` (None: up to where it is).

    The source is not changed and need not be free.

    Raises:
        SessionError: The source cannot be read, or the new file not be written.
    """
    found = read_session(source)
    if found is None:
        raise SessionError(f"{source} is empty", code="corrupt", path=str(source))
    tree = SessionTree(found.entries)
    path = tree.path(to)
    copied = {entry.id for entry in path}
    labels = [
        replace(entry, parent_id=path[-1].id if path else None)
        for entry in tree
        if entry.type == "label"
        and entry.id not in copied
        and entry.data.get("target_id") in copied
    ]
    header = Header(target.stem, found.header.cwd, now_ms(), parent_session=found.header.id)
    return _made(target, header, [*path, *_in_a_row(labels)], durable)


def recover_session(source: Path, target: Path, *, durable: bool = True) -> Journal:
    """A new session with everything of a damaged one that can be read.

    Raises:
        SessionError: The new file cannot be written.
    """
    entries, notices = recover(source)
    old = read_header(source)
    cwd = "" if old is None else old.cwd
    header = Header(target.stem, cwd, now_ms(), parent_session=source.stem)
    journal = _made(target, header, entries, durable)
    journal.notices = (f"{len(entries)} entries of {source.name} were read", *notices)
    return journal


def _made(target: Path, header: Header, entries: Sequence[Entry], durable: bool) -> Journal:
    try:
        write_session(target, header, entries)
    except OSError as error:
        raise SessionError(f"{target}: {error.strerror}", code="io", path=str(target)) from None
    return Journal.open(target, Path(header.cwd), durable=durable)


def _in_a_row(entries: Sequence[Entry]) -> list[Entry]:
    """Each behind the one before it."""
    row: list[Entry] = []
    for entry in entries:
        row.append(replace(entry, parent_id=row[-1].id) if row else entry)
    return row


def _put_right(found: SessionFile, file: JournalFile, durable: bool) -> JournalFile:
    """Repair a file that is held; a file that was written anew is taken hold of again."""
    repair(found)
    if not found.needs_rewrite:
        return file
    file.close()
    return JournalFile(found.path, is_new=False, durable=durable)
