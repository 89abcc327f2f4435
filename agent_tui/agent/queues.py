"""The two queues: what a person said while the agent works, and who has it at this instant.

A poll *reserves* items; each leaves the queue for good only when it is *accepted*, right before its
delivery. In between an edit still wins: a cancelled, held, or moved item is not delivered by that
poll. Reserved items never change their place, so giving a reservation up restores the order.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

from agent_tui.agent.calling import add_listener
from agent_tui.core.ids import now_ms
from agent_tui.core.messages import AgentMessage

QueueKind = Literal["steer", "follow_up"]
QueueMode = Literal["one-at-a-time", "all"]
CancelOutcome = Literal["cancelled", "already_delivered", "unknown"]


@dataclass(frozen=True, slots=True)
class QueuedItem:
    """One waiting message; its id is the message's id."""

    id: str
    kind: QueueKind
    message: AgentMessage
    enqueued_at: int
    """Milliseconds since the epoch."""
    held: bool = False
    """Keeps its place but is not delivered: somebody is editing it."""


_log = logging.getLogger(__name__)
QueueListener = Callable[[list[QueuedItem]], None]


class MessageQueues:
    """Steering and follow-ups, each in delivery order."""

    def __init__(self) -> None:
        self._lanes: dict[QueueKind, list[QueuedItem]] = {"steer": [], "follow_up": []}
        self._reserved: set[str] = set()
        self._delivered: set[str] = set()
        self._listeners: list[tuple[QueueListener]] = []
        self._complained: set[int] = set()

    def items(self) -> list[QueuedItem]:
        """Everything that waits: steering first, then follow-ups, reserved ones included."""
        return [*self._lanes["steer"], *self._lanes["follow_up"]]

    def has_deliverable(self, kind: QueueKind | None = None) -> bool:
        """Whether a poll of this lane (None: of either) would find something."""
        kinds: tuple[QueueKind, ...] = ("steer", "follow_up") if kind is None else (kind,)
        return any(not item.held for lane in kinds for item in self._lanes[lane])

    def on_change(self, listener: QueueListener) -> Callable[[], None]:
        """Call `listener` with all items after each change; returns how to unregister."""
        return add_listener(self._listeners, listener)

    def add(self, kind: QueueKind, message: AgentMessage) -> str:
        """Put `message` at the end of a lane."""
        self._lanes[kind].append(QueuedItem(message.id, kind, message, now_ms()))
        self._changed()
        return message.id

    # -- delivery ----------------------------------------------------------------------------

    def poll(self, kind: QueueKind, mode: QueueMode) -> list[AgentMessage]:
        """Reserve the oldest deliverable message, or all of them, and return what was reserved."""
        free = [i for i in self._lanes[kind] if not i.held and i.id not in self._reserved]
        taken = free[:1] if mode == "one-at-a-time" else free
        self._reserved.update(item.id for item in taken)
        return [item.message for item in taken]

    def accept(self, message: AgentMessage) -> AgentMessage | None:
        """Take a reserved message out for good; None if it was withdrawn meanwhile."""
        item = self._find(message.id)
        if item is None or message.id not in self._reserved:
            return None
        self._remove(item)
        self._delivered.add(item.id)
        self._changed()
        return item.message

    def release(self) -> None:
        """Give up every reservation; the items are where they were."""
        self._reserved.clear()

    # -- editing -----------------------------------------------------------------------------

    def cancel(self, item_id: str) -> CancelOutcome:
        """Remove one item, wherever it waits."""
        item = self._find(item_id)
        if item is None:
            return "already_delivered" if item_id in self._delivered else "unknown"
        self._remove(item)
        self._changed()
        return "cancelled"

    def replace(self, item_id: str, message: AgentMessage) -> bool:
        """Put another message in an item's place; it takes over the item's id."""
        item = self._find(item_id)
        if item is None:
            return False
        renamed = message.model_copy(update={"id": item_id})
        self._substitute(item, replace(item, message=renamed))
        return True

    def hold(self, item_id: str, held: bool) -> bool:
        """Hold an item back, or let it go again; False if it is not queued."""
        item = self._find(item_id)
        if item is None:
            return False
        if held:
            self._reserved.discard(item_id)
        self._substitute(item, replace(item, held=held))
        return True

    def move(self, item_id: str, index: int | None, kind: QueueKind | None) -> bool:
        """Put an item at place `index` (None: the end) of a lane (None: its own)."""
        item = self._find(item_id)
        if item is None:
            return False
        self._remove(item)
        target = kind or item.kind
        lane = self._lanes[target]
        lane.insert(len(lane) if index is None else index, replace(item, kind=target))
        self._changed()
        return True

    def pop_last(self) -> QueuedItem | None:
        """Take back the newest follow-up, else the newest steering message."""
        lane = self._lanes["follow_up"] or self._lanes["steer"]
        if not lane:
            return None
        item = lane[-1]
        self._remove(item)
        self._changed()
        return item

    def clear(self, kind: QueueKind | None = None) -> list[QueuedItem]:
        """Empty one lane or both and return what was in it."""
        taken = [item for item in self.items() if kind in (None, item.kind)]
        for item in taken:
            self._remove(item)
        if taken:
            self._changed()
        return taken

    # -- inside ------------------------------------------------------------------------------

    def _find(self, item_id: str) -> QueuedItem | None:
        return next((item for item in self.items() if item.id == item_id), None)

    def _remove(self, item: QueuedItem) -> None:
        self._lanes[item.kind].remove(item)
        self._reserved.discard(item.id)

    def _substitute(self, old: QueuedItem, new: QueuedItem) -> None:
        lane = self._lanes[old.kind]
        lane[lane.index(old)] = new
        self._changed()

    def _changed(self) -> None:
        items = self.items()
        for (listener,) in list(self._listeners):
            try:
                listener(items)
            except Exception:  # a listener is foreign code and must not lose a message
                if id(listener) not in self._complained:
                    self._complained.add(id(listener))
                    _log.exception("a queue listener failed")
