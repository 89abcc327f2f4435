"""Pick a model: search, favourites, and how hard it shall think."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
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
    wanted = words.lower().split()
    return [
        choice
        for choice in choices
        if all(word in f"{choice.key} {choice.detail}".lower() for word in wanted)
    ]


Renewed = tuple[Sequence[ModelChoice], Sequence[str]]
"""The list as it is now, and a sentence for each server that should have answered."""


class ModelScreen(Page[Picked | None]):
    """Gives what was picked, None when closed with Esc; with nothing that fits, the typed text."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "close", "Close"),
        Binding("up", "move(-1)", "Up", priority=True),
        Binding("down", "move(1)", "Down", priority=True),
        Binding("pageup", "move(-10)", "Page up", priority=True),
        Binding("pagedown", "move(10)", "Page down", priority=True),
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
        super().__init__()
        self._choices = list(choices)
        self._current = current
        self._level = level
        self._chosen_level: str | None = None
        self._mark = mark
        self._renew = renew
        self._shown: list[ModelChoice] = []
        self._asks = 0
        self._problem = ""

    def compose(self) -> ComposeResult:
        """Title, line, list, and what the keys do."""
        with Vertical(id="models"):
            yield Input(placeholder="Model: type to narrow, or any provider/id", compact=True)
            yield OptionList(compact=True)
            yield Static(id="models-foot")

    def on_mount(self) -> None:
        """The line takes the keys; servers near by are asked what they serve."""
        self._fill("", self._current)
        self.query_one(Input).focus()
        self._ask(hosted=False)

    def on_input_changed(self, event: Input.Changed) -> None:
        """Narrow the list."""
        self._fill(event.value, None if event.value.strip() else self._current)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Take the highlighted entry, or the text if nothing fits."""
        if (choice := self._highlighted()) is not None:
            self._pick(choice.key)
        elif event.value.strip():
            self._pick(event.value.strip())

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """A click."""
        if event.option_index < len(self._shown):
            self._pick(self._shown[event.option_index].key)

    def on_option_list_option_highlighted(self) -> None:
        """The levels depend on the model."""
        self._draw_foot()

    def action_move(self, step: int) -> None:
        """Move the highlight while the line keeps the focus."""
        options = self.query_one(OptionList)
        if self._shown:
            at = options.highlighted if options.highlighted is not None else -1
            options.highlighted = max(0, min(len(self._shown) - 1, at + step))

    def action_mark(self) -> None:
        """Make the highlighted model a favourite, or none."""
        choice = self._highlighted()
        if choice is None:
            return
        is_favourite = self._mark(choice.key)
        place = self._choices.index(choice)
        self._choices[place] = replace(choice, is_favourite=is_favourite)
        self._fill(self.query_one(Input).value, choice.key)

    def action_think(self) -> None:
        """The next of the thinking levels that the highlighted model has."""
        choice = self._highlighted()
        if choice is None or len(choice.levels) < 2:
            return
        level = self._chosen_level or self._level
        at = choice.levels.index(level) if level in choice.levels else -1
        self._chosen_level = choice.levels[(at + 1) % len(choice.levels)]
        self._draw_foot()

    def action_ask(self) -> None:
        """Ask the hosted servers too."""
        self._ask(hosted=True)

    def action_close(self) -> None:
        """Pick nothing."""
        self.dismiss(None)

    def _pick(self, key: str) -> None:
        self.dismiss(Picked(key, self._chosen_level))

    def _highlighted(self) -> ModelChoice | None:
        place = self.query_one(OptionList).highlighted
        return self._shown[place] if place is not None and place < len(self._shown) else None

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
        chosen = self._highlighted()
        self._fill(self.query_one(Input).value, chosen.key if chosen else self._current)
        self._draw_foot()

    def _fill(self, words: str, highlighted: str | None) -> None:
        options = self.query_one(OptionList)
        fitting = found_in(self._choices, words)
        self._shown = fitting[:MOST_SHOWN]
        options.clear_options()
        options.add_options([Option(painted(self._row(choice))) for choice in self._shown])
        if len(fitting) > MOST_SHOWN:
            more = f"  … and {len(fitting) - MOST_SHOWN} more: type to narrow the list"
            options.add_option(Option(painted([(more, "quiet")]), disabled=True))
        places = [n for n, choice in enumerate(self._shown) if choice.key == highlighted]
        options.highlighted = next(iter(places), 0) if self._shown else None

    def _row(self, choice: ModelChoice) -> list[Span]:
        mark = "★ " if choice.is_favourite else "• " if choice.key == self._current else "  "
        needs = f"needs {choice.lacks} · " if choice.lacks else ""
        name = (f"{mark}{choice.key}  ", "quiet" if needs else "")
        return [name, (f"{needs}{choice.detail}", "quiet")]

    def _draw_foot(self) -> None:
        choice = self._highlighted()
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
        self.query_one("#models-foot", Static).update(painted(spans))
