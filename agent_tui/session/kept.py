"""What of a session outlasts the program: its journal, and what a screen does with it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent_tui.core.errors import InvalidInputError, SessionError
from agent_tui.core.messages import AgentMessage, AssistantMessage
from agent_tui.session.journal.entries import Entry
from agent_tui.session.journal.journal import Drafts
from agent_tui.session.journal.resume import Resumed
from agent_tui.session.journal.tree import SessionTree, summary_of
from agent_tui.session.parts import Parts

if TYPE_CHECKING:
    from agent_tui.session.branches import Branches


class Kept(Parts):
    """The part of a session that is about its journal."""

    resumed: Resumed | None
    """What was found, if the session was opened again; None for a new one."""

    @property
    def branches(self) -> Branches:
        """Going back, going another way."""
        from agent_tui.session.branches import Branches

        return Branches(self)

    def forget_context(self) -> None:
        """The transcript is another: its size is to be counted anew."""
        self._context_tokens = None

    @property
    def id(self) -> str:
        """Names the session."""
        return self.journal.header.id

    @property
    def path(self) -> Path | None:
        """The session's file; None if it is not kept. The first message of the person makes it."""
        return self.journal.path

    @property
    def is_saved(self) -> bool:
        """There is a file to come back to."""
        return self.path is not None and self.path.exists()

    @property
    def unsaved(self) -> str | None:
        """Why something is not on disk; None while everything is, or nothing is to be kept."""
        return self.journal.problem

    @property
    def tree(self) -> SessionTree:
        """Everything that was said, with all branches."""
        return self.journal.tree

    @property
    def name(self) -> str | None:
        """What the person called it."""
        return self.journal.name

    @name.setter
    def name(self, name: str | None) -> None:
        self.journal.name = name

    @property
    def drafts(self) -> Drafts:
        """What was being written when the session was last open."""
        return self.journal.drafts

    def keep_drafts(self, text: str, stash: Iterable[str]) -> None:
        """Keep what is being written for the next time, also after a crash."""
        self.journal.drafts = Drafts(text, tuple(stash))

    def export(self, target: Path) -> None:
        """Write the session as what `target` ends in: `.md`, `.html` or `.jsonl`.

        Raises:
            InvalidInputError: It ends in something else, is there already, or cannot be written.
            SessionError: The session is not on disk.
        """
        from agent_tui.session.exporting import FORMATS, write_export

        form = next((known for known in FORMATS if target.suffix == f".{known}"), None)
        if form is None:
            raise InvalidInputError(f"{target.name}: a name that ends in .md, .html or .jsonl")
        if self.path is None:
            raise SessionError("the session is not on disk", code="io")
        write_export(self.path, target, form)

    def record(self, kind: str, data: Mapping[str, Any]) -> Entry:
        """Add an entry of a type; `custom` has the fields `custom_type` and `data`."""
        return self.journal.add(kind, data)

    def history(self, to: str | None = None) -> list[AgentMessage]:
        """Every message on the way here, or to an entry; those in a summary included."""
        found: list[AgentMessage] = []
        for entry in self.tree.path(to):
            if entry.type == "compaction":
                found.append(summary_of(entry))
            elif entry.message is not None:
                found.append(entry.message)
        return found or [*self.agent.state.messages]

    def take_back(self, message_id: str) -> bool:
        """Take the last prompt out of an idle transcript, if nothing but empty answers follow it.

        For a turn that was stopped before any output: the text is the caller's again.
        """
        messages = self.agent.state.messages
        place = next((n for n, known in enumerate(messages) if known.id == message_id), None)
        if place is None or not all(map(_is_empty, messages[place + 1 :])):
            return False
        self.agent.state.messages = messages[:place]
        self._recorder.take_back(message_id)
        return True

    def forget_failed_answer(self) -> None:
        """A failed answer at the end of an idle transcript is none: it can be asked for again."""
        messages = self.agent.state.messages
        if messages and isinstance(messages[-1], AssistantMessage) and messages[-1].error:
            self.agent.state.messages = messages[:-1]
            self._recorder.leave_failed_answer("continued")


def _is_empty(message: AgentMessage) -> bool:
    return isinstance(message, AssistantMessage) and not message.tool_calls and not message.text
