"""The entries of a session as a tree: branches, where we are, and the context there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from agent_tui.core.messages import AgentMessage, CompactionSummaryMessage
from agent_tui.session.journal.entries import Entry

UNDONE = "compactions_undone"
"""The `custom` entry with the ids of summaries that the person took back."""


class SessionTree:
    """Grows by `add`; entries are never changed or removed."""

    def __init__(self, entries: Iterable[Entry] = ()) -> None:
        self._entries: dict[str, Entry] = {}
        self._children: dict[str | None, list[Entry]] = {}
        self.leaf: str | None = None
        """The entry behind which the next one comes; None before the first."""
        self._last: dict[str, Entry | None] = {}
        """Answers of `last` that hold for the leaf."""
        self.has_messages = False
        self.name: str | None = None
        """What the person called the session."""
        for entry in entries:
            self.add(entry)

    def add(self, entry: Entry) -> None:
        """Take an entry in; the leaf is behind it, or where it says."""
        self._entries[entry.id] = entry
        self.has_messages = self.has_messages or entry.message is not None
        if entry.type == "session_info":
            name = entry.data.get("name")
            self.name = name if isinstance(name, str) else None
        if entry.type == "leaf":
            target = entry.data.get("target_id")
            if target is None or target in self._entries:
                self.leaf = target
                self._last.clear()
            return
        if entry.parent_id != self.leaf:
            self._last.clear()
        self._last[entry.type] = entry
        self._children.setdefault(entry.parent_id, []).append(entry)
        self.leaf = entry.id

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[Entry]:
        """Every entry, in the order in which it was written."""
        return iter(self._entries.values())

    def get(self, entry_id: str | None) -> Entry | None:
        """The entry of that id."""
        return None if entry_id is None else self._entries.get(entry_id)

    def children(self, entry_id: str | None) -> Sequence[Entry]:
        """What follows an entry, oldest first; of None: the beginnings."""
        return self._children.get(entry_id, ())

    def path(self, to: str | None = None) -> list[Entry]:
        """From the first entry to `to`, or to the leaf."""
        found: list[Entry] = []
        entry = self.get(self.leaf if to is None else to)
        while entry is not None:
            found.append(entry)
            entry = self.get(entry.parent_id)
        found.reverse()
        return found

    def context(self, to: str | None = None) -> list[AgentMessage]:
        """The messages that a model would see there: the newest summary for what it stands for."""
        path = self.path(to)
        place = _compaction_on(path)
        if place is None:
            return [entry.message for entry in path if entry.message is not None]
        data = path[place].data
        kept = data.get("first_kept_entry_id")
        start = next((n for n, entry in enumerate(path) if entry.id == kept), place)
        pinned = _ids(data.get("pinned_entry_ids"))
        stays = [entry for entry in path[:start] if entry.id in pinned] + path[start:]
        messages = [entry.message for entry in stays if entry.message is not None]
        return [summary_of(path[place]), *messages]

    def compaction(self) -> Entry | None:
        """The summary that the context begins with, undone ones not counted; None without one."""
        path = self.path()
        place = _compaction_on(path)
        return None if place is None else path[place]

    def last(self, kind: str) -> Entry | None:
        """The last entry of a type on the way to the leaf."""
        if kind not in self._last:
            entry = self.get(self.leaf)
            while entry is not None and entry.type != kind:
                entry = self.get(entry.parent_id)
            self._last[kind] = entry
        return self._last[kind]

    def models(self) -> set[str]:
        """The models that answered anywhere, as `provider/id`."""
        changes = (entry for entry in self._entries.values() if entry.type == "model_change")
        return {key for entry in changes if isinstance(key := entry.data.get("model"), str)}

    def newest(self, custom_type: str) -> Any:
        """The data of the newest `custom` entry of that kind, wherever it stands; None if none."""
        for entry in reversed(self._entries.values()):
            if entry.type == "custom" and entry.data.get("custom_type") == custom_type:
                return entry.data.get("data")
        return None

    def spent(self) -> Iterator[tuple[AgentMessage, list[AgentMessage]]]:
        """Every message of the file with those before it on its branch.

        The list grows from one to the next: it holds its own messages only until then.
        """
        before: list[AgentMessage] = []
        previous: str | None = None
        for entry in self._entries.values():
            if entry.type == "leaf":
                continue
            if entry.parent_id != previous:
                path = self.path(entry.parent_id) if entry.parent_id is not None else []
                before = [known.message for known in path if known.message is not None]
            previous = entry.id
            if entry.message is not None:
                yield entry.message, before
                before.append(entry.message)


def _compaction_on(path: Sequence[Entry]) -> int | None:
    """Where the newest summary of this path stands that nobody has undone."""
    undone: set[str] = set()
    for place in range(len(path) - 1, -1, -1):
        entry = path[place]
        if entry.type == "custom" and entry.data.get("custom_type") == UNDONE:
            undone |= _ids(entry.data.get("data"))
        elif entry.type == "compaction" and entry.id not in undone:
            return place
    return None


def _ids(value: Any) -> set[str]:
    """The ids in a list that a file may hold."""
    found = value if isinstance(value, list | tuple) else []
    return {item for item in found if isinstance(item, str)}


def summary_of(entry: Entry) -> CompactionSummaryMessage:
    """The message that stands for what a `compaction` entry has summarised."""
    return CompactionSummaryMessage(
        id=entry.id,
        timestamp=entry.timestamp,
        summary=str(entry.data.get("summary", "")),
        tokens_before=int(entry.data.get("tokens_before") or 0),
    )
