"""A list to pick from, with a line that narrows it down: what all such screens share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import ClassVar, Generic, TypeVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from agent_tui.tui.paint import painted
from agent_tui.tui.screens.page import Page
from agent_tui.tui.status import Span

Row = TypeVar("Row")
Result = TypeVar("Result")

MOST_SHOWN = 500
"""Longer lists are for narrowing, not for reading."""
LINES_AROUND = 8
"""Frame, title, line and foot."""


def fitting(rows: Sequence[Row], words: str, text_of: Callable[[Row], str]) -> list[Row]:
    """The rows whose text contains every word, in any case, in the order given."""
    wanted = words.lower().split()
    return [row for row in rows if all(word in text_of(row).lower() for word in wanted)]


class PickScreen(Page[Result | None], Generic[Row, Result]):
    """Gives what was picked; None when closed with Esc. The line keeps the keys throughout."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "close", "Close"),
        Binding("up", "move(-1)", "Up", priority=True),
        Binding("down", "move(1)", "Down", priority=True),
        Binding("pageup", "move(-10)", "Page up", priority=True),
        Binding("pagedown", "move(10)", "Page down", priority=True),
    ]

    def __init__(self, placeholder: str, title: str = "") -> None:
        super().__init__()
        self._placeholder = placeholder
        self._title = title
        self._rows: Sequence[Row] = ()
        self._marked: int | None = None
        """The place of the row that bears the mark."""

    def compose(self) -> ComposeResult:
        """Title, line, list, and what the keys do."""
        with Vertical(classes="pick"):
            if self._title:
                yield Static(Content(self._title))
            line = Input(placeholder=self._placeholder, compact=True)
            line.cursor_blink = False
            yield line
            yield OptionList(compact=True)
            foot = Static(classes="foot")
            foot.display = False
            yield foot

    def on_mount(self) -> None:
        """The line takes the keys."""
        self.query_one(Input).focus()
        self.fill("")

    def on_resize(self) -> None:
        """The list leaves room for the lines around it."""
        self.query_one(OptionList).styles.max_height = max(3, self.size.height - LINES_AROUND)

    # -- what each screen says ---------------------------------------------------------------

    @abstractmethod
    def fill(self, words: str) -> None:
        """Show, with `show_rows`, what fits these words."""

    @abstractmethod
    def draw_row(self, row: Row) -> list[Span]:
        """One line."""

    @abstractmethod
    def pick(self, row: Row) -> None:
        """Enter, or a click on this row."""

    def take_text(self, text: str) -> None:
        """Enter, with nothing in the list to pick."""

    def row_changed(self) -> None:
        """Another row is highlighted."""

    # -- what they share ---------------------------------------------------------------------

    @property
    def words(self) -> str:
        """What is in the line."""
        return self.query_one(Input).value

    @property
    def row(self) -> Row | None:
        """The row that is highlighted."""
        place = self.query_one(OptionList).highlighted
        return self._rows[place] if place is not None and place < len(self._rows) else None

    def show_rows(self, rows: Sequence[Row], highlighted: int = 0) -> None:
        """Fill the list; of a very long one, what is near the highlighted place."""
        cut = max(0, min(highlighted - MOST_SHOWN // 2, len(rows) - MOST_SHOWN))
        self._rows = rows[cut : cut + MOST_SHOWN]
        options = self.query_one(OptionList)
        options.clear_options()
        options.add_options([Option(self._line(row)) for row in self._rows])
        self._marked = None
        if rest := len(rows) - len(self._rows):
            more = f"  … and {rest} more: type to narrow the list"
            options.add_option(Option(painted([(more, "quiet")]), disabled=True))
        options.highlighted = min(highlighted - cut, len(self._rows) - 1) if rows else None
        self._point_at(options.highlighted)

    def _line(self, row: Row, mark: str = " ") -> Content:
        return painted([(f"{mark} ", ""), *self.draw_row(row)])

    def _point_at(self, place: int | None) -> None:
        """The highlighted row is told by more than its colour."""
        options = self.query_one(OptionList)
        for at, mark in ((self._marked, " "), (place, "▸")):
            if at is not None and at < len(self._rows):
                options.replace_option_prompt_at_index(at, self._line(self._rows[at], mark))
        self._marked = place

    def show_foot(self, spans: list[Span]) -> None:
        """What the keys do."""
        foot = self.query_one(".foot", Static)
        foot.update(painted(spans))
        foot.display = True

    def on_input_changed(self, event: Input.Changed) -> None:
        """Narrow the list."""
        self.fill(event.value)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Take the highlighted row, or the text if there is none."""
        if (row := self.row) is not None:
            self.pick(row)
        elif event.value.strip():
            self.take_text(event.value.strip())

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """A click."""
        if event.option_index < len(self._rows):
            self.pick(self._rows[event.option_index])

    def on_option_list_option_highlighted(self) -> None:
        """Another row is highlighted."""
        if (place := self.query_one(OptionList).highlighted) != self._marked:
            self._point_at(place)
        self.row_changed()

    def action_move(self, step: int) -> None:
        """Move the highlight."""
        options = self.query_one(OptionList)
        if self._rows:
            at = options.highlighted if options.highlighted is not None else -1
            options.highlighted = max(0, min(len(self._rows) - 1, at + step))

    def action_close(self) -> None:
        """Pick nothing."""
        self.dismiss(None)
