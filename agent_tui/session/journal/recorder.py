"""Events as entries: what happens is in the journal before anybody else hears of it."""

from __future__ import annotations

from typing import Any

from agent_tui.agent.agent import Agent
from agent_tui.agent.queues import QueuedItem
from agent_tui.core.events import (
    AgentEndEvent,
    AgentStartEvent,
    MessageEndEvent,
    TurnEndEvent,
    TurnStartEvent,
)
from agent_tui.core.messages import AssistantMessage
from agent_tui.session.events import (
    AgentSettledEvent,
    AnyEvent,
    AutoRetryStartEvent,
    CompactionEndEvent,
    FallbackEvent,
    QueueUpdateEvent,
)
from agent_tui.session.journal.journal import Journal

PENDING = "pending"
"""The `custom` entry that holds the queue."""


class Recorder:
    """Writes one agent's journal."""

    def __init__(self, journal: Journal, agent: Agent) -> None:
        self._journal = journal
        self._state = agent.state
        self._run_id: str | None = None
        self._queue = agent.queued()
        """The queue as it is."""
        self._recorded = self._queue
        """The queue as the journal has it."""

    def see(self, event: AnyEvent) -> None:
        """Write what an event means, if it means anything to a later time."""
        match event:
            case MessageEndEvent(message=message):
                self._journal.add_message(message)
                self._note_queue()
            case QueueUpdateEvent(items=items):
                self._queue_changed([*items])
            case AgentStartEvent():
                self._run_id = event.run_id
                self._note_messages()
                self.note_settings()
                self._journal.add("run", {"phase": "start", "run_id": event.run_id})
            case TurnStartEvent():
                self.note_settings()
            case TurnEndEvent():
                self._journal.sync()
            case AgentEndEvent():
                outcome = {"phase": "end", "run_id": self._run_id, "outcome": event.reason}
                self._journal.add("run", outcome)
                self._run_id = None
            case CompactionEndEvent():
                self._note_compaction(event)
            case AutoRetryStartEvent() | FallbackEvent():
                self.leave_failed_answer("retry")
            case AgentSettledEvent():
                self.note_settings()
                self._note_queue()
                self._journal.flush()

    def note_settings(self) -> None:
        """Write which model answers, and how hard it thinks, if that is new here."""
        tree, state = self._journal.tree, self._state
        for kind, field, value in (
            ("model_change", "model", state.model.key),
            ("thinking_change", "thinking_level", state.thinking_level),
        ):
            last = tree.last(kind)
            if last is None or last.data.get(field) != value:
                self._journal.add(kind, {field: value})

    def _note_messages(self) -> None:
        """Write messages that the agent had before its first run here."""
        if not self._journal.tree.has_messages:
            for message in self._state.messages:
                self._journal.add_message(message)

    def _note_compaction(self, event: CompactionEndEvent) -> None:
        spent = {"usage": event.usage, "model": event.model}
        if event.summary is None:
            if event.usage is not None:
                self._journal.add("usage", {"cause": "compaction", **spent})
            return
        self._note_messages()
        self._journal.add_summary(
            event.summary,
            {
                "first_kept_entry_id": event.first_kept_id,
                "pinned_entry_ids": list(event.pinned_ids),
                "details": dict(event.details),
                "reason": event.reason,
                **spent,
            },
        )

    def leave_answer(self, reason: str) -> None:
        """The answer at the end is no part of the way any more, failed or not."""
        path = self._journal.tree.path()
        last = next((entry for entry in reversed(path) if entry.message is not None), None)
        if last is not None and isinstance(last.message, AssistantMessage):
            self._journal.move(last.parent_id, reason)

    def leave_failed_answer(self, reason: str) -> None:
        """The answer at the end failed and is asked for again: the next one takes its place."""
        path = self._journal.tree.path()
        place = next((n for n in range(len(path) - 1, -1, -1) if path[n].message), None)
        if place is None:
            return
        message = path[place].message
        if isinstance(message, AssistantMessage) and message.error is not None:
            self._move(path[place].parent_id, reason)

    def take_back(self, message_id: str) -> None:
        """A prompt without an answer went back to the person: it is not on the way any more."""
        entry = self._journal.tree.get(message_id)
        if entry is not None:
            self._move(entry.parent_id, "taken back")

    def _move(self, target_id: str | None, reason: str) -> None:
        """Go to another place with the settings that are in use now."""
        self._journal.move(target_id, reason)
        self.note_settings()

    def _queue_changed(self, items: list[QueuedItem]) -> None:
        # What left the queue was delivered or removed. If it was delivered, its message is about to
        # be written: until then the journal keeps it as pending, so that a crash loses nothing.
        known = {item.id for item in self._recorded}
        self._queue = items
        left = known - {item.id for item in items}
        if not left or not self._run_id or any(item.id not in known for item in items):
            self._note_queue()

    def _note_queue(self) -> None:
        if self._queue == self._recorded:
            return
        self._recorded = self._queue
        if self._queue:
            self._journal.create()
        self._journal.add_custom(PENDING, {"items": [_as_data(item) for item in self._queue]})


def _as_data(item: QueuedItem) -> dict[str, Any]:
    return {
        "id": item.id,
        "kind": item.kind,
        "message": item.message,
        "enqueued_at": item.enqueued_at,
    }
