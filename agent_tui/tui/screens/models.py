"""Pick a model: search, favourites, and how hard it shall think."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from textual.binding import Binding, BindingType

from agent_tui.tui.screens.pick import PickScreen, fitting
from agent_tui.tui.status import Span


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """One model in the list."""

    key: str
    detail: str = ""
    levels: tuple[str, ...] = ("off",)
    """The thinking levels that make a difference; only `off` if it does not think."""
    lacks: str = ""
    """What must be set before it can be used; empty if nothing is missing."""
    is_favourite: bool = False


@dataclass(frozen=True, slots=True)
class Picked:
    """What was picked. `level` is None if nobody chose one."""

    key: str
    level: str | None = None


def found_in(choices: Sequence[ModelChoice], words: str) -> list[ModelChoice]:
    """The entries that contain every word, in the order given."""
    return fitting(choices, words, lambda choice: f"{choice.key} {choice.detail}")


Renewed = tuple[Sequence[ModelChoice], Sequence[str]]
"""The list as it is now, and a sentence for each server that should have answered."""


class ModelScreen(PickScreen[ModelChoice, Picked]):
    """Gives what was picked, None when closed with Esc; with nothing that fits, the typed text."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+f", "mark", "Favourite", priority=True),
        Binding("ctrl+t", "think", "Thinking", priority=True),
        Binding("ctrl+r", "ask", "Ask the servers", priority=True),
    ]

    def __init__(
        self,
        choices: Sequence[ModelChoice],
        current: str,
        level: str,
        *,
        mark: Callable[[str], bool],
        renew: Callable[[bool], Awaitable[Renewed]] | None = None,
    ) -> None:
        """`mark` marks or unmarks a key and says which it is now.

        `renew` asks servers what they serve: those near by, with True also the hosted ones.
        """
        super().__init__("Model: type to narrow, or any provider/id")
        self._choices = list(choices)
        self._current = current
        self._level = level
        self._chosen_level: str | None = None
        self._mark = mark
        self._renew = renew
        self._asks = 0
        self._problem = ""

    def on_mount(self) -> None:
        """Servers near by are asked what they serve."""
        self._ask(hosted=False)

    def fill(self, words: str) -> None:
        """Show the models with these words; at first the one in use is highlighted."""
        self._fill(words, None if words.strip() else self._current)

    def draw_row(self, row: ModelChoice) -> list[Span]:
        """One line."""
        mark = "★ " if row.is_favourite else "• " if row.key == self._current else "  "
        needs = f"needs {row.lacks} · " if row.lacks else ""
        name = (f"{mark}{row.key}  ", "quiet" if needs else "")
        return [name, (f"{needs}{row.detail}", "quiet")]

    def pick(self, row: ModelChoice) -> None:
        """Take it."""
        self.take_text(row.key)

    def take_text(self, text: str) -> None:
        """Take what was typed."""
        self.dismiss(Picked(text, self._chosen_level))

    def row_changed(self) -> None:
        """The levels depend on the model."""
        self._draw_foot()

    def action_mark(self) -> None:
        """Make the highlighted model a favourite, or none."""
        choice = self.row
        if choice is None:
            return
        is_favourite = self._mark(choice.key)
        place = self._choices.index(choice)
        self._choices[place] = replace(choice, is_favourite=is_favourite)
        self._fill(self.words, choice.key)

    def action_think(self) -> None:
        """The next of the thinking levels that the highlighted model has."""
        choice = self.row
        if choice is None or len(choice.levels) < 2:
            return
        level = self._chosen_level or self._level
        at = choice.levels.index(level) if level in choice.levels else -1
        self._chosen_level = choice.levels[(at + 1) % len(choice.levels)]
        self._draw_foot()

    def action_ask(self) -> None:
        """Ask the hosted servers too."""
        self._ask(hosted=True)

    def _ask(self, *, hosted: bool) -> None:
        if self._renew is not None:
            self._asks += 1
            self.run_worker(self._wait_for(self._renew, hosted))
        self._draw_foot()

    async def _wait_for(self, renew: Callable[[bool], Awaitable[Renewed]], hosted: bool) -> None:
        try:
            choices, problems = await renew(hosted)
        finally:
            self._asks -= 1
        if not self.is_current:  # closed before the servers had answered
            return
        self._choices = list(choices)
        self._problem = " · ".join(problems)
        chosen = self.row
        self._fill(self.words, chosen.key if chosen else self._current)
        self._draw_foot()

    def _fill(self, words: str, highlighted: str | None) -> None:
        shown = found_in(self._choices, words)
        self.show_rows(shown, next((n for n, m in enumerate(shown) if m.key == highlighted), 0))

    def _draw_foot(self) -> None:
        choice = self.row
        spans: list[Span] = [("ctrl+f", "key"), (" ★ favourite", "quiet")]
        if choice is not None and len(choice.levels) > 1:
            level = self._chosen_level or self._level
            shown = level if level in choice.levels else f"{level}, not one of its levels"
            spans += [(" · ", "quiet"), ("ctrl+t", "key"), (f" thinking: {shown}", "quiet")]
        elif choice is not None:
            spans.append((" · no thinking levels", "quiet"))
        if choice is not None and choice.lacks:
            spans.append((f" · needs {choice.lacks}", "warning"))
        if self._asks:
            spans.append((" · asking the servers…", "quiet"))
        elif self._renew is not None:
            spans += [(" · ", "quiet"), ("ctrl+r", "key"), (" ask the servers", "quiet")]
        if self._problem:
            spans.append((f" · {self._problem}", "warning"))
        self.show_foot(spans)
