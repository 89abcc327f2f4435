"""Going back in a session and going another way: rewind, redo, fork, and the tree to look at."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from agent_tui.core.errors import AgentBusyError, InvalidInputError, SessionError
from agent_tui.core.ids import new_id
from agent_tui.core.invocation import as_typed
from agent_tui.core.messages import AgentMessage, AssistantMessage, ToolResultMessage, UserMessage
from agent_tui.session.checkpoints import RestoreReport
from agent_tui.session.journal.entries import Entry
from agent_tui.session.journal.journal import fork_session
from agent_tui.session.journal.tree import SessionTree, summary_of
from agent_tui.session.kept import Kept

PointKind = Literal["user", "answer", "summary", "other"]
REWIND, REDO = "rewind", "redo"
RESTORED = "restored"
"""The `custom` entry that says what was done with the files."""


@dataclass(frozen=True, slots=True)
class Point:
    """A place in the tree that one can go to."""

    entry_id: str
    kind: PointKind
    text: str
    """How it begins, on one line."""
    timestamp: int
    """Milliseconds since the epoch."""
    depth: int
    """How many times the way to it has forked."""
    is_on_the_way: bool
    """It is part of the present conversation."""


class Branches:
    """The branches of one session. Nothing here works while a turn runs."""

    def __init__(self, session: Kept) -> None:
        self._session = session

    @property
    def _tree(self) -> SessionTree:
        return self._session.journal.tree

    def prompts(self) -> list[Point]:
        """What the person said on the way here, newest first."""
        found = [point for point in self.points() if point.is_on_the_way and point.kind == "user"]
        return found[::-1]

    def points(self) -> list[Point]:
        """Everything that was said, as a tree: each branch below the message it leaves from."""
        here = {entry.id for entry in self._tree.path()}
        return list(self._points(None, 0, here))

    def first_left(self, entry_id: str) -> str | None:
        """The first message of the person's on the way here that going there leaves behind."""
        left = self._left(entry_id)
        return next((one.id for one in left if isinstance(one.message, UserMessage)), None)

    def left(self, entry_id: str) -> list[AgentMessage]:
        """Everything on the way here that going there leaves behind, summaries included."""
        left = self._left(entry_id)
        messages = (summary_of(one) if one.type == "compaction" else one.message for one in left)
        return [message for message in messages if message is not None]

    def _left(self, entry_id: str) -> list[Entry]:
        entry = self._tree.get(entry_id)
        if entry is None:
            return []
        is_prompt = isinstance(entry.message, UserMessage)
        kept = {one.id for one in self._tree.path(entry_id)} - ({entry_id} if is_prompt else set())
        return [one for one in self._tree.path() if one.id not in kept]

    def rewind(
        self, entry_id: str, report: RestoreReport | None = None, summary: str | None = None
    ) -> str:
        """Go back: to before a message of the person's own, whose text is returned, or to another.

        `report` is what was done with the files, so that `restored` knows it later;
        `summary` tells the model what the branch was about that is left.

        Raises:
            AgentBusyError: A turn is running.
            InvalidInputError: There is no such place.
        """
        self._refuse_if_busy()
        entry = self._tree.get(entry_id)
        if entry is None:
            raise InvalidInputError("there is no such place in this session")
        text = as_typed(entry.message.text) if isinstance(entry.message, UserMessage) else ""
        target = entry.parent_id if isinstance(entry.message, UserMessage) else entry_id
        self._go(target, REWIND, summary)
        if report is not None:
            files = [str(path) for path in report.restored]
            self._session.journal.add_custom(
                RESTORED, {"position": report.position, "files": files}
            )
        return text

    @property
    def restored(self) -> RestoreReport | None:
        """What the last `rewind` did with the files; None if it left them alone."""
        move = self._last_move()
        for entry in reversed([*self._tree] if move is not None else []):
            if entry is move:
                return None
            if entry.type == "custom" and entry.data.get("custom_type") == RESTORED:
                data = entry.data["data"]
                return RestoreReport(tuple(map(Path, data["files"])), (), int(data["position"]))
        return None

    @property
    def can_redo(self) -> bool:
        """The last thing that happened was going back."""
        return self._last_move() is not None

    def redo(self) -> bool:
        """Take the last `rewind` back; False if something was said since.

        Raises:
            AgentBusyError: A turn is running.
        """
        self._refuse_if_busy()
        move = self._last_move()
        if move is None:
            return False
        self._go(move.parent_id, REDO)
        return True

    def fork(self, entry_id: str | None = None) -> Path:
        """A new session that holds this one up to a place, None: all of it; returns its file.

        At a message of the person's own it ends before that, and the text is its draft.

        Raises:
            InvalidInputError: There is no such place.
            SessionError: This session is not on disk, or the new one cannot be written.
        """
        source = self._session.path
        if source is None or not self._session.is_saved:
            raise SessionError(
                "this session is not on disk, so there is nothing to copy", code="io"
            )
        entry = self._tree.get(self._tree.leaf if entry_id is None else entry_id)
        if entry is None:
            raise InvalidInputError("there is no such place in this session")
        is_prompt = entry_id is not None and isinstance(entry.message, UserMessage)
        to = entry.parent_id if is_prompt else entry.id
        target = source.with_name(f"{new_id()}.jsonl")
        copy = fork_session(source, target, to=to)
        if is_prompt and isinstance(entry.message, UserMessage):
            copy.keep_draft(as_typed(entry.message.text))
        copy.close()
        return target

    def _go(self, target: str | None, reason: str, summary: str | None = None) -> None:
        session = self._session
        left = self._tree.leaf
        session.journal.move(target, reason)
        if summary is not None:
            session.journal.add_branch_summary(summary, left)
        session.agent.state.messages = self._tree.context()
        session.forget_context()

    def _last_move(self) -> Entry | None:
        """The `rewind` behind which nothing was said yet."""
        for entry in reversed([*self._tree]):
            if entry.type == "leaf":
                return entry if entry.data.get("reason") == REWIND else None
            if entry.message is not None and entry.type == "message":
                return None
        return None

    def _refuse_if_busy(self) -> None:
        if self._session.is_running:
            raise AgentBusyError("a turn is running: stop it, or wait until it is over")

    def _points(self, parent: str | None, depth: int, here: set[str]) -> Iterator[Point]:
        waiting = [(parent, depth)]
        while waiting:
            entry_id, depth = waiting.pop()
            entry = self._tree.get(entry_id)
            if entry is not None and (point := _point(entry, depth, entry.id in here)) is not None:
                yield point
            following = [child for child in self._tree.children(entry_id) if self._says(child)]
            deeper = depth + (len(following) > 1)
            # The way that was gone first comes first; the others hang below it.
            waiting += [(child.id, deeper) for child in reversed(following)]

    def _says(self, entry: Entry) -> bool:
        """Whether anything was said there or behind it."""
        seen = [entry]
        while seen:
            one = seen.pop()
            if one.message is not None or one.type == "compaction":
                return True
            seen += self._tree.children(one.id)
        return False


def _point(entry: Entry, depth: int, is_on_the_way: bool) -> Point | None:
    if entry.type == "compaction":
        message: AgentMessage = summary_of(entry)
    elif entry.message is not None and not isinstance(entry.message, ToolResultMessage):
        message = entry.message
    else:
        return None
    kind, text = _words(message)
    line = " ".join(text.split())[:200]
    return Point(entry.id, kind, line, entry.timestamp, depth, is_on_the_way)


def _words(message: AgentMessage) -> tuple[PointKind, str]:
    match message:
        case UserMessage():
            return "user", as_typed(message.text)
        case AssistantMessage():
            calls = ", ".join(call.name for call in message.tool_calls)
            return "answer", message.text or (f"[{calls}]" if calls else f"({message.stop_reason})")
        case _ if message.role in ("compaction_summary", "branch_summary"):
            return "summary", getattr(message, "summary", "")
        case _:
            return "other", str(getattr(message, "command", "") or getattr(message, "content", ""))
