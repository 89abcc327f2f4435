"""Pick a session: what was said in it is searched while you type."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from agent_tui.tui.paint import painted
from agent_tui.tui.screens.page import Page
from agent_tui.tui.status import Span

MOST_SHOWN = 200
"""Longer lists are for narrowing, not for reading."""


@dataclass(frozen=True, slots=True)
class SessionRow:
    """One session in the list."""

    id: str
    label: str
    detail: str
    """When, how much, which model, where."""
    problem: str = ""
    """Why it cannot be opened as it is; empty if it can."""


Search = Callable[[str, bool], Awaitable[Sequence[SessionRow]]]
"""Finds the sessions that hold all words, of this folder or, with True, of all."""


class SessionScreen(Page[str | None]):
    """Gives the id of what was picked; None when closed with Esc."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "close", "Close"),
        Binding("up", "move(-1)", "Up", priority=True),
        Binding("down", "move(1)", "Down", priority=True),
        Binding("pageup", "move(-10)", "Page up", priority=True),
        Binding("pagedown", "move(10)", "Page down", priority=True),
        Binding("ctrl+a", "widen", "All folders", priority=True),
    ]

    def __init__(self, search: Search, current: str) -> None:
        """`current` is the id of the session that is open; it is not offered."""
        super().__init__()
        self._search = search
        self._current = current
        self._everywhere = False
        self._shown: list[SessionRow] = []

    def compose(self) -> ComposeResult:
        """Line, list, and what the keys do."""
        with Vertical(id="sessions"):
            yield Input(placeholder="Session: type words that were said in it", compact=True)
            yield OptionList(compact=True)
            yield Static(id="sessions-foot")

    def on_mount(self) -> None:
        """The line takes the keys."""
        self.query_one(Input).focus()
        self._look()

    def on_input_changed(self) -> None:
        """Search for what is typed."""
        self._look()

    def on_input_submitted(self) -> None:
        """Take the highlighted entry."""
        place = self.query_one(OptionList).highlighted
        if place is not None and place < len(self._shown):
            self.dismiss(self._shown[place].id)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """A click."""
        if event.option_index < len(self._shown):
            self.dismiss(self._shown[event.option_index].id)

    def action_move(self, step: int) -> None:
        """Move the highlight while the line keeps the focus."""
        options = self.query_one(OptionList)
        if self._shown:
            at = options.highlighted if options.highlighted is not None else -1
            options.highlighted = max(0, min(len(self._shown) - 1, at + step))

    def action_widen(self) -> None:
        """Look in all folders, or only in this one."""
        self._everywhere = not self._everywhere
        self._look()

    def action_close(self) -> None:
        """Pick nothing."""
        self.dismiss(None)

    def _look(self) -> None:
        self._draw_foot("looking…")
        self.run_worker(self._found(self.query_one(Input).value), exclusive=True)

    async def _found(self, words: str) -> None:
        rows = await self._search(words, self._everywhere)
        if not self.is_current:  # closed before anything was found
            return
        rows = [row for row in rows if row.id != self._current]
        self._shown = rows[:MOST_SHOWN]
        options = self.query_one(OptionList)
        options.clear_options()
        options.add_options([Option(painted(_row(row))) for row in self._shown])
        options.highlighted = 0 if self._shown else None
        hidden = len(rows) - len(self._shown)
        self._draw_foot(f"{len(rows)} found" + (", type to narrow" if hidden else ""))

    def _draw_foot(self, words: str) -> None:
        where = "of all folders" if self._everywhere else "of this folder"
        spans: list[Span] = [(f"{words}, {where} · ", "quiet"), ("ctrl+a", "key")]
        spans += [(" this folder only" if self._everywhere else " all folders", "quiet")]
        spans += [(" · ", "quiet"), ("enter", "key"), (" go on with it", "quiet")]
        self.query_one("#sessions-foot", Static).update(painted(spans))


def _row(row: SessionRow) -> list[Span]:
    if row.problem:
        return [(f"{row.id}  ", "quiet"), (row.problem, "warning")]
    return [(f"{row.label}  ", ""), (row.detail, "quiet")]
