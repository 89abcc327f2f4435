"""Pick a place in the conversation: to go back to, or out of the whole tree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from textual.binding import Binding, BindingType

from agent_tui.tui.screens.pick import PickScreen, fitting
from agent_tui.tui.status import Span

Act = Literal["go", "summary", "fork"]
"""Go there, go there with a summary of what is left, copy what is before it."""


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


class PointScreen(PickScreen[PointRow, PickedPoint]):
    """Gives the place that was picked; None when closed with Esc."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s", "summary", "Go with a summary", priority=True),
        Binding("ctrl+f", "fork", "Fork", priority=True),
    ]

    def __init__(self, title: str, rows: Sequence[PointRow], start: int) -> None:
        """`start` is the row that is highlighted first."""
        super().__init__(f"{title}: type to narrow")
        self._points = rows
        self._start = start

    def on_mount(self) -> None:
        """Say what the keys do."""
        keys: list[Span] = [("enter", "key"), (" go there · ", "quiet")]
        keys += [("ctrl+s", "key"), (" with a summary of what you leave · ", "quiet")]
        keys += [("ctrl+f", "key"), (" a new session up to there", "quiet")]
        self.show_foot(keys)

    def fill(self, words: str) -> None:
        """Show the places with these words."""
        shown = fitting(self._points, words, lambda row: row.text)
        self.show_rows(shown, 0 if words.strip() else self._start)

    def draw_row(self, row: PointRow) -> list[Span]:
        """One line, behind the lines of its branches."""
        indent = "│ " * row.depth
        said = (f"{row.mark}{row.text}", "" if row.is_here else "quiet")
        return [(indent, "quiet"), said, (f"  {row.detail}", "quiet")]

    def pick(self, row: PointRow) -> None:
        """Go there."""
        self.dismiss(PickedPoint(row.id, "go"))

    def action_summary(self) -> None:
        """Go to the highlighted place with a summary of what is left."""
        self._leave("summary")

    def action_fork(self) -> None:
        """A new session up to the highlighted place."""
        self._leave("fork")

    def _leave(self, act: Act) -> None:
        if self.row is not None:
            self.dismiss(PickedPoint(self.row.id, act))
