"""What waits to be delivered: when each item will be, in words, and how the list is edited.

Pure: the strip on the screen (`strip.py`) draws what this module decides. The truth is the engine's
queue; nothing here remembers an item that the queue no longer holds, except to undo.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, Protocol

from rich.cells import cell_len

from agent_tui.core.text import one_line
from agent_tui.tui.figures import clip, clock, countdown

if TYPE_CHECKING:
    from agent_tui.core.messages import AgentMessage

Lane = Literal["steer", "follow_up"]
Mode = Literal["one-at-a-time", "all"]
Phase = Literal["waiting", "answering", "tools", "asking", "retrying", "stopping", "idle"]

NAME_CHARACTERS = 24
"""Of a command in a delivery sentence: with it, the sentence fits 80 columns."""
PREVIEW_LINES = 3
LANE_WORDS: dict[Lane, str] = {"steer": "steer", "follow_up": "next"}


class Queued(Protocol):
    """An item of the engine's queue."""

    @property
    def id(self) -> str:
        """The id of its message."""

    @property
    def kind(self) -> Lane:
        """Its lane."""

    @property
    def message(self) -> AgentMessage:
        """What will be delivered."""

    @property
    def held(self) -> bool:
        """Not deliverable for now."""


class Queue(Protocol):
    """The editing calls of the engine's queue."""

    def queued(self) -> Sequence[Queued]:
        """Steering first, then follow-ups, each in delivery order."""

    def steer(self, message: AgentMessage) -> str:
        """Add to the steering lane; returns the id."""

    def follow_up(self, message: AgentMessage) -> str:
        """Add to the follow-up lane; returns the id."""

    def cancel_queued(self, id: str) -> str:
        """Remove an item: `cancelled`, `already_delivered` or `unknown`."""

    def replace_queued(self, id: str, message: AgentMessage) -> bool:
        """Put another message in the item's place."""

    def move_queued(self, id: str, *, index: int | None = None, kind: Lane | None = None) -> bool:
        """Move to a place of a lane."""

    def hold_queued(self, id: str, held: bool = True) -> bool:
        """Hold an item back, or let it go."""


@dataclass(frozen=True, slots=True)
class Moment:
    """Where the loop is right now, as far as deliveries depend on it."""

    phase: Phase = "idle"
    step: int = 0
    """The step under way, counted from 1; 0 before the first."""
    max_steps: int | None = None
    tools: tuple[tuple[str, float], ...] = ()
    """Running tools: what a person calls them, and for how many seconds they have run."""
    asking: str = ""
    """The command or path that waits for an answer."""
    retry_in: float | None = None
    """Seconds until the next try."""
    on_hold: bool = False
    """The queue is paused: nothing is delivered until the person says so."""


def text_of_item(item: Queued) -> str:
    """The words of a queued message."""
    from agent_tui.core.messages import text_of

    message = item.message
    return text_of(getattr(message, "content", ""))


def with_text(message: AgentMessage, text: str) -> AgentMessage:
    """A copy of a user message that says `text`; its pictures stay."""
    from agent_tui.core.messages import ImageBlock, TextBlock, UserMessage

    if not isinstance(message, UserMessage):
        return UserMessage(content=text)
    if isinstance(message.content, str):
        return message.model_copy(update={"content": text})
    images = [block for block in message.content if isinstance(block, ImageBlock)]
    return message.model_copy(update={"content": [TextBlock(text=text), *images]})


def delivery_sentences(
    items: Sequence[Queued],
    moment: Moment,
    *,
    steering_mode: Mode = "one-at-a-time",
    follow_up_mode: Mode = "one-at-a-time",
    editing: str | None = None,
    held_at_step: int | None = None,
    commands: Collection[str] = (),
) -> list[str]:
    """One sentence for each item, in the order given: when it will reach the model.

    `editing` is the item that a person edits, and `held_at_step` the step at which that began: a
    later step means that its boundary has passed meanwhile. `commands` are the items that run as
    commands; what stands behind one waits for it.
    """
    places: dict[Lane, int] = {"steer": 0, "follow_up": 0}
    modes: dict[Lane, Mode] = {"steer": steering_mode, "follow_up": follow_up_mode}
    command = ""
    sentences: list[str] = []
    for item in items:
        if item.id == editing:
            sentences.append(_held(item, moment, held_at_step))
            continue
        place = places[item.kind]
        places[item.kind] += 1
        if moment.on_hold or moment.phase in ("idle", "stopping"):
            first = place == 0 and (item.kind == "steer" or not places["steer"])
            sentences.append(_on_hold(moment, first=first))
        elif item.kind == "steer":
            sentences.append(_steer(moment, place if modes["steer"] == "one-at-a-time" else 0))
        elif item.id in commands:
            sentences.append(
                "runs when this turn ends" if not place else "runs after the one above"
            )
        elif command:
            sentences.append(f"after {command}")
        else:
            sentences.append(_follow_up(place if modes["follow_up"] == "one-at-a-time" else 0))
        if item.id in commands and item.kind == "follow_up":
            command = one_line(text_of_item(item), 30)
    return sentences


def _held(item: Queued, moment: Moment, held_at_step: int | None) -> str:
    if moment.phase == "idle" or held_at_step is None:
        return "held while you edit it"
    if item.kind == "steer" and moment.step > held_at_step:
        return (
            f"step {held_at_step + 1} began without it; once stored, before step {moment.step + 1}"
        )
    return "held while you edit it; keeps its place"


def _on_hold(moment: Moment, *, first: bool) -> str:
    if moment.phase == "stopping":
        return "on hold once this turn has stopped"
    if not moment.on_hold:
        return "next" if first else "then"
    return "on hold · enter (empty composer) sends it first" if first else "on hold · then this"


def _steer(moment: Moment, place: int) -> str:
    before = moment.step + 1 + place
    if moment.max_steps is not None and before > moment.max_steps:
        return f"on hold after step {moment.max_steps}, the last one allowed"
    if place:
        return f"one step later, before step {before}"
    if moment.phase == "tools" and moment.tools:
        name, seconds = moment.tools[0]
        more = f" and {len(moment.tools) - 1} more" if len(moment.tools) > 1 else ""
        command = one_line(name, NAME_CHARACTERS)
        return f"after `{command}`{more} (running {clock(seconds)}), before step {before}"
    if moment.phase == "asking":
        question = one_line(moment.asking, NAME_CHARACTERS)
        return f"after your answer to `{question}`, before step {before}"
    if moment.phase == "retrying":
        wait = f" {countdown(moment.retry_in)}" if moment.retry_in is not None else ""
        return f"with the next try{wait}"
    if moment.phase == "answering":
        return f"after this answer and its tools, before step {before}"
    return f"before step {before}"


def _follow_up(place: int) -> str:
    return "when this turn ends" if place == 0 else "after the one above is answered"


def preview(text: str, width: int, limit: int = PREVIEW_LINES) -> list[str]:
    """The first lines of `text` for the strip, at most `limit`; the last ends in `…` if cut."""
    lines = [line.rstrip() for line in text.strip().splitlines() if line.strip()]
    shown = [clip(line, width) for line in lines[:limit]]
    if len(lines) > limit:
        last = shown[-1].removesuffix("…")
        shown[-1] = (last if cell_len(last) < width else clip(last, width - 1)).removesuffix(
            "…"
        ) + "…"
    return shown


@dataclass(frozen=True, slots=True)
class _Removed:
    message: AgentMessage
    kind: Lane
    index: int


@dataclass(frozen=True, slots=True)
class _Moved:
    id: str
    kind: Lane
    index: int


@dataclass(slots=True)
class PendingList:
    """The queue as a list with a selection, editing verbs and undo."""

    queue: Queue
    selected: str | None = None
    """The selected item's id; None while the strip is not in selection mode."""
    editing: str | None = None
    """The id of the item that is being edited and therefore held."""
    _undo: list[_Removed | _Moved] = field(default_factory=list)

    @property
    def items(self) -> Sequence[Queued]:
        """Steering first, then follow-ups, each in delivery order."""
        return self.queue.queued()

    def settle(self) -> None:
        """Forget a selection whose item was delivered; the one that took its place is selected."""
        ids = [item.id for item in self.items]
        if self.editing is not None and self.editing not in ids:
            self.editing = None
        if self.selected is not None and self.selected not in ids:
            self.selected = ids[0] if ids else None

    def select(self, step: int) -> bool:
        """Move the selection, or begin one: upwards from the end, downwards from the start."""
        ids = [item.id for item in self.items]
        if not ids:
            self.selected = None
            return False
        if self.selected not in ids:
            self.selected = ids[-1] if step < 0 else ids[0]
        else:
            place = ids.index(self.selected) + step
            self.selected = ids[max(0, min(len(ids) - 1, place))]
        return True

    def current(self) -> Queued | None:
        """The selected item."""
        return next((item for item in self.items if item.id == self.selected), None)

    def delete(self) -> bool:
        """Take the selected item out of the queue; `undo` brings it back to its place."""
        if (item := self.current()) is None:
            return False
        kind, index = self._place(item.id)
        after = [other.id for other in self.items]
        if self.queue.cancel_queued(item.id) != "cancelled":
            return False
        self._undo.append(_Removed(item.message, kind, index))
        place = after.index(item.id)
        rest = [id_ for id_ in after if id_ != item.id]
        self.selected = rest[min(place, len(rest) - 1)] if rest else None
        return True

    def move(self, step: int) -> bool:
        """Move the selected item up or down within its lane."""
        if (item := self.current()) is None:
            return False
        kind, index = self._place(item.id)
        size = sum(other.kind == kind for other in self.items)
        target = max(0, min(size - 1, index + step))
        if target == index or not self.queue.move_queued(item.id, index=target):
            return False
        self._undo.append(_Moved(item.id, kind, index))
        return True

    def switch_lane(self) -> bool:
        """Turn the selected follow-up into a steering message, or the other way round."""
        if (item := self.current()) is None:
            return False
        kind, index = self._place(item.id)
        other: Lane = "follow_up" if kind == "steer" else "steer"
        if not self.queue.move_queued(item.id, kind=other):
            return False
        self._undo.append(_Moved(item.id, kind, index))
        return True

    def undo(self) -> bool:
        """Take back the last deletion, move or change of lane that can still be taken back."""
        while self._undo:
            change = self._undo.pop()
            if isinstance(change, _Removed):
                self._restore(change)
                return True
            if self.queue.move_queued(change.id, index=change.index, kind=change.kind):
                self.selected = change.id
                return True
        return False

    @property
    def can_undo(self) -> bool:
        """Whether something was removed or moved that can be taken back."""
        return bool(self._undo)

    def take_all(self) -> list[AgentMessage]:
        """Remove everything, in delivery order; `undo` brings the items back one by one."""
        taken: list[AgentMessage] = []
        for item in list(self.items):
            kind, index = self._place(item.id)
            if self.queue.cancel_queued(item.id) == "cancelled":
                taken.append(item.message)
                self._undo.append(_Removed(item.message, kind, index))
        self.selected = None
        return taken

    def forget_undo(self) -> None:
        """What was removed lives elsewhere now: it must not come back a second time."""
        self._undo.clear()

    def begin_edit(self) -> Queued | None:
        """Hold the selected item while it is edited; None if it is gone."""
        item = self.current()
        if item is None or not self.queue.hold_queued(item.id, True):
            return None
        self.editing = item.id
        return item

    def end_edit(self, text: str | None) -> bool:
        """Store the edited text, or with None keep the old one, and let the item go again.

        Empty text deletes the item. False if the item is gone: the text has no home then.
        """
        item_id, self.editing = self.editing, None
        item = next((item for item in self.items if item.id == item_id), None)
        if item is None:
            return text is None
        if text is not None and not text.strip():
            self.selected = item.id
            return self.delete()
        if text is not None and text != text_of_item(item):
            self.queue.replace_queued(item.id, with_text(item.message, text))
        return self.queue.hold_queued(item.id, False)

    def _restore(self, change: _Removed) -> None:
        add = self.queue.steer if change.kind == "steer" else self.queue.follow_up
        self.selected = add(change.message)
        self.queue.move_queued(self.selected, index=change.index, kind=change.kind)

    def _place(self, item_id: str) -> tuple[Lane, int]:
        kind = next(item.kind for item in self.items if item.id == item_id)
        lane = [item.id for item in self.items if item.kind == kind]
        return kind, lane.index(item_id)
