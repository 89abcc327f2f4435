"""Pick a place in the conversation: to go back to, or out of the whole tree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from agent_tui.tui.paint import painted
from agent_tui.tui.screens.page import Page
from agent_tui.tui.status import Span

Act = Literal["go", "summary", "fork"]
"""Go there, go there with a summary of what is left, copy what is before it."""
MOST_SHOWN = 500
"""Longer lists are for narrowing, not for reading."""


@dataclass(frozen=True, slots=True)
class PointRow:
    """One place in the list."""

    id: str
    mark: str
    """Who speaks, in two cells."""
    text: str
    detail: str = ""
    depth: int = 0
    is_here: bool = False
    """It is part of the present conversation."""


@dataclass(frozen=True, slots=True)
class PickedPoint:
    """What was picked, and what for."""

    id: str
    act: Act


class PointScreen(Page[PickedPoint | None]):
    """Gives the place that was picked; None when closed with Esc."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "close", "Close"),
        Binding("up", "move(-1)", "Up", priority=True),
        Binding("down", "move(1)", "Down", priority=True),
        Binding("pageup", "move(-10)", "Page up", priority=True),
        Binding("pagedown", "move(10)", "Page down", priority=True),
        Binding("ctrl+s", "summary", "Go with a summary", priority=True),
        Binding("ctrl+f", "fork", "Fork", priority=True),
    ]

    def __init__(self, title: str, rows: Sequence[PointRow], start: int) -> None:
        """`start` is the row that is highlighted first."""
        super().__init__()
        self._title = title
        self._rows = rows
        self._start = start
        self._shown: list[PointRow] = []

    def compose(self) -> ComposeResult:
        """Line, list, and what the keys do."""
        with Vertical(id="points"):
            yield Input(placeholder=f"{self._title}: type to narrow", compact=True)
            yield OptionList(compact=True)
            yield Static(id="points-foot")

    def on_mount(self) -> None:
        """The line takes the keys."""
        keys: list[Span] = [("enter", "key"), (" go there · ", "quiet")]
        keys += [("ctrl+s", "key"), (" with a summary of what you leave · ", "quiet")]
        keys += [("ctrl+f", "key"), (" a new session up to there", "quiet")]
        self.query_one("#points-foot", Static).update(painted(keys))
        self.query_one(Input).focus()
        self._fill("", self._start)

    def on_input_changed(self, event: Input.Changed) -> None:
        """Narrow the list."""
        self._fill(event.value, 0 if event.value.strip() else self._start)

    def on_input_submitted(self) -> None:
        """Go to the highlighted place."""
        self._pick("go")

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """A click."""
        if event.option_index < len(self._shown):
            self.dismiss(PickedPoint(self._shown[event.option_index].id, "go"))

    def action_move(self, step: int) -> None:
        """Move the highlight while the line keeps the focus."""
        options = self.query_one(OptionList)
        if self._shown:
            at = options.highlighted if options.highlighted is not None else -1
            options.highlighted = max(0, min(len(self._shown) - 1, at + step))

    def action_fork(self) -> None:
        """A new session up to the highlighted place."""
        self._pick("fork")

    def action_close(self) -> None:
        """Pick nothing."""
        self.dismiss(None)

    def action_summary(self) -> None:
        """Go to the highlighted place with a summary of what is left."""
        self._pick("summary")

    def _pick(self, act: Act) -> None:
        place = self.query_one(OptionList).highlighted
        if place is not None and place < len(self._shown):
            self.dismiss(PickedPoint(self._shown[place].id, act))

    def _fill(self, words: str, highlighted: int) -> None:
        wanted = words.lower().split()
        fitting = [row for row in self._rows if all(word in row.text.lower() for word in wanted)]
        cut = max(0, min(highlighted - MOST_SHOWN // 2, len(fitting) - MOST_SHOWN))
        self._shown = fitting[cut : cut + MOST_SHOWN]
        options = self.query_one(OptionList)
        options.clear_options()
        options.add_options([Option(painted(_row(row))) for row in self._shown])
        options.highlighted = min(highlighted - cut, len(self._shown) - 1) if self._shown else None


def _row(row: PointRow) -> list[Span]:
    indent = "│ " * row.depth
    mark = "" if row.is_here else "quiet"
    return [(indent, "quiet"), (f"{row.mark}{row.text}", mark), (f"  {row.detail}", "quiet")]
