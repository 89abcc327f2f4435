"""The pending strip: what waits, when each item will be delivered, and the mode that edits it.

Selecting is a mode of the strip; the composer keeps the focus and the draft. Only the editing of
one item in place takes the focus, and gives it back.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from rich.cells import cell_len
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.widgets import Static, TextArea

from agent_tui.core.invocation import as_typed
from agent_tui.core.pictures import labels_of
from agent_tui.core.text import printable
from agent_tui.tui.keymap import Keymap
from agent_tui.tui.paint import painted_lines
from agent_tui.tui.pending import LANE_WORDS, PREVIEW_LINES, Queued, preview, text_of_item
from agent_tui.tui.status import Span, cut

NARROW = 60
KEYS = "alt+↑/↓ select · e edit · d delete · alt+shift+↑/↓ move · s lane · ctrl+s now"
KEYS_ON_HOLD = "enter sends all · alt+↑ select · e all as one draft · x discard all · d delete"

Row = list[Span]


@dataclass(frozen=True, slots=True)
class StripView:
    """What the strip draws."""

    items: Sequence[Queued]
    sentences: Sequence[str]
    selected: str | None = None
    editing: str | None = None
    on_hold: bool = False
    columns: int = 80
    rows: int = 8
    """How many rows it may have: a third of the screen, less where others need them."""
    keymap: Keymap = field(default_factory=Keymap)


def strip_rows(view: StripView) -> tuple[list[Row], list[Row]]:
    """The rows above and below the place where an item is edited; below is empty otherwise.

    Where there is little room previews get shorter, then items are left out and counted.
    """
    if view.rows < 3:
        key = view.keymap.shown("alt+↑ selects")
        return [[(f" {len(view.items)} pending · {key}", "quiet")]], []
    has_footer = view.rows >= 7
    keys = view.keymap.shown(KEYS_ON_HOLD if view.on_hold else KEYS, "strip")
    footer = [_rule(keys, view)] if has_footer else []
    header = [_rule("", view, title="Pending, on hold" if view.on_hold else "Pending")]
    space = view.rows - len(header) - len(footer)
    drawn = [_item_rows(view, index, PREVIEW_LINES) for index in range(len(view.items))]
    if sum(map(len, drawn)) > space:
        drawn = [_item_rows(view, index, 1) for index in range(len(view.items))]
    if sum(map(len, drawn)) > space:
        drawn = [rows[:1] for rows in drawn]
    first, last = _window(view, len(drawn), space)
    left_out = len(drawn) - (last - first)
    more: list[Row] = [[(f"  +{left_out} more", "quiet")]] if left_out else []
    place = next((n for n, item in enumerate(view.items) if item.id == view.editing), None)
    if place is None or not first <= place < last:
        return [*header, *(row for rows in drawn[first:last] for row in rows), *more, *footer], []
    above = [row for rows in drawn[first:place] for row in rows] + drawn[place][:1]
    below = [row for rows in drawn[place + 1 : last] for row in rows]
    return [*header, *above], [*below, *more, *footer]


def _window(view: StripView, count: int, space: int) -> tuple[int, int]:
    """Which items are shown when not all fit one row each: those around the selected one."""
    if count <= space:
        return 0, count
    shown = max(1, space - 1)
    ids = [item.id for item in view.items]
    at = ids.index(view.selected) if view.selected in ids else 0
    first = max(0, min(at - shown // 2, count - shown))
    return first, first + shown


def _item_rows(view: StripView, index: int, limit: int) -> list[Row]:
    item = view.items[index]
    is_selected = item.id == view.selected
    role = "selected" if is_selected else ""
    number = f"{'▸' if is_selected else ' '}{index + 1}"
    narrow = view.columns < NARROW
    lane = LANE_WORDS[item.kind]
    head = f" {number} {lane} · " if narrow else f" {number} {lane:<7}"
    sentence = view.sentences[index]
    if cell_len(head + sentence) > view.columns - 2:
        sentence = sentence.rpartition(", ")[2]  # which boundary matters more than after what
    rows = [cut([(head, role), (sentence, "quiet")], view.columns - 1)]
    indent = " " * (4 if narrow else len(head))
    lines = preview(printable(as_typed(text_of_item(item))), view.columns - len(indent) - 1, limit)
    lines += labels_of(getattr(item.message, "content", ""))
    return rows + [[(indent + line, role)] for line in lines]


def _rule(text: str, view: StripView, title: str = "") -> Row:
    width = view.columns - 3
    lead = f"{title} " if title else "── "
    tail = f"{text} " if text else ""
    while len(lead) + len(tail) > width and " · " in tail:
        tail = f"{tail.rpartition(' · ')[0]} "  # rather no hint than half of one
    rest = "─" * max(0, width - len(lead) - len(tail))
    return [(f" {lead}{tail}{rest}" if text or title else rest, "quiet")]


class ItemEditor(TextArea):
    """Edits one pending item in its place."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "store", "Store", priority=True),
        Binding("escape", "restore", "Keep the old text", priority=True),
        Binding("ctrl+j,shift+enter", "newline", "New line", priority=True),
    ]

    class Done(Message):
        """Editing is over; `text` is None if the old text stays."""

        def __init__(self, text: str | None) -> None:
            super().__init__()
            self.text = text

    def __init__(self, text: str) -> None:
        super().__init__(text, compact=True, soft_wrap=True)

    def on_mount(self) -> None:
        """Begin at the end of the text."""
        self.move_cursor(self.document.end)

    def action_store(self) -> None:
        """Take the new text."""
        self.post_message(self.Done(self.text))

    def action_restore(self) -> None:
        """Leave the item as it was."""
        self.post_message(self.Done(None))

    def action_newline(self) -> None:
        """Break the line."""
        self.insert("\n")


class PendingStrip(Static):
    """Draws the strip; hidden while nothing waits."""

    def __init__(self) -> None:
        super().__init__(id="pending")
        self.display = False
        self._editor: ItemEditor | None = None
        self._rest = Static(id="pending-rest")
        self._drawn: tuple[list[Row], list[Row]] = ([], [])

    @property
    def editor(self) -> ItemEditor | None:
        """The editor of the item that is being edited."""
        return self._editor

    @property
    def rows(self) -> list[Row]:
        """What is drawn."""
        return [*self._drawn[0], *self._drawn[1]]

    def show(self, view: StripView) -> None:
        """Draw; costs nothing when nothing has changed."""
        self.display = bool(view.items) or self._editor is not None
        above, below = strip_rows(view) if view.items else ([], [])
        if (above, below) == self._drawn:
            return
        self._drawn = (above, below)
        self.update(painted_lines(above))
        if self._editor is not None:
            self._rest.update(painted_lines(below))

    def open_editor(self, text: str) -> ItemEditor:
        """Put an editor in the place of the item that is being edited, and focus it."""
        self._editor = ItemEditor(text)
        self._rest = Static(id="pending-rest")
        self.screen.mount(self._editor, self._rest, after=self)
        self._editor.focus()
        return self._editor

    def close_editor(self) -> None:
        """Take the editor away."""
        if self._editor is not None:
            self._editor.remove()
            self._rest.remove()
            self._editor = None
            self._drawn = ([], [])
