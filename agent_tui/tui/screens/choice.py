"""A list to choose one value from: themes, the entries of a menu."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from agent_tui.tui.screens.pick import PickScreen, fitting
from agent_tui.tui.status import Span


@dataclass(frozen=True, slots=True)
class Choice:
    """One entry."""

    value: str
    detail: str = ""
    is_current: bool = False


def matching(choices: Sequence[Choice], words: str) -> list[Choice]:
    """The entries that contain every word, in the order given."""
    return fitting(choices, words, lambda choice: f"{choice.value} {choice.detail}")


class ChoiceScreen(PickScreen[Choice, str]):
    """Gives the chosen value; None when closed with Esc. With nothing that fits, the typed text."""

    def __init__(
        self,
        title: str,
        choices: Sequence[Choice],
        *,
        hint: str = "",
        preview: Callable[[str], None] = lambda value: None,
    ) -> None:
        """`preview` hears of each value that is highlighted."""
        super().__init__(hint or "type to narrow the list", title)
        self._choices = choices
        self._preview = preview

    def fill(self, words: str) -> None:
        """Show what fits; the current value is highlighted."""
        shown = matching(self._choices, words)
        current = next((n for n, choice in enumerate(shown) if choice.is_current), 0)
        self.show_rows(shown, current)

    def draw_row(self, row: Choice) -> list[Span]:
        """One line."""
        mark = "• " if row.is_current else "  "
        return [(f"{mark}{row.value}  ", ""), (row.detail, "quiet")]

    def pick(self, row: Choice) -> None:
        """Take it."""
        self.dismiss(row.value)

    def take_text(self, text: str) -> None:
        """Take what was typed."""
        self.dismiss(text)

    def row_changed(self) -> None:
        """Show what it would be like."""
        if self.row is not None:
            self._preview(self.row.value)
