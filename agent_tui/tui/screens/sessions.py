"""Pick a session: what was said in it is searched while you type."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual.binding import Binding, BindingType

from agent_tui.tui.screens.pick import PickScreen
from agent_tui.tui.status import Span


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


class SessionScreen(PickScreen[SessionRow, str]):
    """Gives the id of what was picked; None when closed with Esc."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+a", "widen", "All folders", priority=True),
    ]

    def __init__(self, search: Search, current: str) -> None:
        """`current` is the id of the session that is open; it is not offered."""
        super().__init__("Session: type words that were said in it")
        self._search = search
        self._current = current
        self._everywhere = False

    def fill(self, words: str) -> None:
        """Search; the list follows when something is found."""
        self._draw_foot("looking…")
        self.run_worker(self._found(words), exclusive=True)

    def draw_row(self, row: SessionRow) -> list[Span]:
        """One line."""
        if row.problem:
            return [(f"{row.id}  ", "quiet"), (row.problem, "warning")]
        return [(f"{row.label}  ", ""), (row.detail, "quiet")]

    def pick(self, row: SessionRow) -> None:
        """Go on with it."""
        self.dismiss(row.id)

    def action_widen(self) -> None:
        """Look in all folders, or only in this one."""
        self._everywhere = not self._everywhere
        self.fill(self.words)

    async def _found(self, words: str) -> None:
        rows = await self._search(words, self._everywhere)
        if not self.is_current:  # closed before anything was found
            return
        rows = [row for row in rows if row.id != self._current]
        self.show_rows(rows)
        self._draw_foot(f"{len(rows)} found")

    def _draw_foot(self, words: str) -> None:
        where = "of all folders" if self._everywhere else "of this folder"
        spans: list[Span] = [(f"{words}, {where} · ", "quiet"), ("ctrl+a", "key")]
        spans += [(" this folder only" if self._everywhere else " all folders", "quiet")]
        spans += [(" · ", "quiet"), ("enter", "key"), (" go on with it", "quiet")]
        self.show_foot(spans)
