"""A list to choose from, with a line to narrow it down: models, themes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from agent_tui.tui.paint import painted
from agent_tui.tui.screens.page import Page


@dataclass(frozen=True, slots=True)
class Choice:
    """One entry."""

    value: str
    detail: str = ""
    is_current: bool = False


def matching(choices: Sequence[Choice], words: str) -> list[Choice]:
    """The entries that contain every word, in the order given."""
    wanted = words.lower().split()
    return [
        choice
        for choice in choices
        if all(word in f"{choice.value} {choice.detail}".lower() for word in wanted)
    ]


class ChoiceScreen(Page[str | None]):
    """Gives the chosen value; None when closed with Esc. With nothing that fits, the typed text."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "close", "Close"),
        Binding("up", "move(-1)", "Up", priority=True),
        Binding("down", "move(1)", "Down", priority=True),
        Binding("pageup", "move(-10)", "Page up", priority=True),
        Binding("pagedown", "move(10)", "Page down", priority=True),
    ]

    def __init__(self, title: str, choices: Sequence[Choice], *, hint: str = "") -> None:
        super().__init__()
        self._title = title
        self._choices = choices
        self._hint = hint
        self._shown: list[Choice] = []

    def compose(self) -> ComposeResult:
        """Title, line, list."""
        with Vertical(id="choice"):
            yield Static(Content(self._title), id="choice-title")
            yield Input(placeholder=self._hint or "type to narrow the list", compact=True)
            yield OptionList(compact=True)

    def on_mount(self) -> None:
        """The line takes the keys."""
        self._fill("")
        self.query_one(Input).focus()

    def on_input_changed(self, event: Input.Changed) -> None:
        """Narrow the list."""
        self._fill(event.value)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Take the highlighted entry, or the text if nothing fits."""
        options = self.query_one(OptionList)
        if options.highlighted is not None and self._shown:
            self.dismiss(self._shown[options.highlighted].value)
        elif event.value.strip():
            self.dismiss(event.value.strip())

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """A click."""
        self.dismiss(self._shown[event.option_index].value)

    def action_move(self, step: int) -> None:
        """Move the highlight while the line keeps the focus."""
        options = self.query_one(OptionList)
        if self._shown:
            at = options.highlighted if options.highlighted is not None else -step
            options.highlighted = max(0, min(len(self._shown) - 1, at + step))

    def action_close(self) -> None:
        """Choose nothing."""
        self.dismiss(None)

    def _fill(self, words: str) -> None:
        options = self.query_one(OptionList)
        self._shown = matching(self._choices, words)
        options.clear_options()
        for choice in self._shown:
            mark = "• " if choice.is_current else "  "
            options.add_option(
                Option(painted([(f"{mark}{choice.value}  ", ""), (choice.detail, "quiet")]))
            )
        current = next((n for n, item in enumerate(self._shown) if item.is_current), 0)
        options.highlighted = current if self._shown else None
