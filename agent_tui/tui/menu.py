"""The list of completions above the composer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from rich.cells import cell_len
from textual.content import Content
from textual.reactive import reactive
from textual.widget import Widget

from agent_tui.core.text import printable
from agent_tui.tui.complete import Completion
from agent_tui.tui.room import MOST_MENU_ROWS


class CompletionMenu(Widget):
    """Shows what `Prompt.MenuChanged` says; takes no focus and no keys."""

    can_focus = False
    DEFAULT_CSS = """
    CompletionMenu {
        height: auto;
        display: none;
        background: $surface;
        color: $text-muted;
        & > .menu--chosen { color: $text; background: $boost; text-style: bold; }
    }
    """
    COMPONENT_CLASSES: ClassVar[set[str]] = {"menu--chosen"}

    rows: reactive[int] = reactive(MOST_MENU_ROWS, layout=True)
    """How many entries may be in view."""
    _items: Sequence[Completion] = ()
    _index = -1

    @property
    def wanted_rows(self) -> int:
        """How many entries there are."""
        return len(self._items)

    def show(self, items: Sequence[Completion], index: int) -> None:
        """Show `items`, `index` chosen (-1 for none); no items hide the list."""
        self._items, self._index = items, index
        self.display = bool(items)
        self.refresh(layout=True)

    def render(self) -> Content:
        """The entries in view, one a line: a mark on the chosen one, name, explanation."""
        rows = self.rows
        first = min(max(self._index - rows // 2, 0), max(len(self._items) - rows, 0))
        shown = self._items[first : first + rows]
        width = max((cell_len(printable(item.label)) for item in shown), default=0)
        lines = [
            self._line(item, width, is_chosen=first + row == self._index)
            for row, item in enumerate(shown)
        ]
        return Content("\n").join(lines)

    def _line(self, item: Completion, width: int, *, is_chosen: bool) -> Content:
        label = printable(item.label)
        gap = " " * (width - cell_len(label) + 2)
        text = f" {'▸' if is_chosen else ' '} {label}{gap}{printable(item.detail)}"
        line = Content(text)
        if room := self.size.width:
            line = line.truncate(room, ellipsis=True, pad=True)
        return line.stylize(self.get_visual_style("menu--chosen")) if is_chosen else line
