"""Selected rows of the transcript: how they look, and the text that is behind them."""

from __future__ import annotations

from rich.color import Color
from rich.style import Style
from textual import events
from textual.message import Message
from textual.selection import Selection
from textual.strip import Strip
from textual.widget import Widget

from agent_tui.tui.canvas import Line
from agent_tui.tui.layout import Layout
from agent_tui.tui.restyle import restyled


class Copied(Message):
    """The person selected text with the mouse and let go; `text` is what was selected."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text = text


class CopyOnRelease(Widget):
    """A widget whose text is copied when a selection with the mouse ends."""

    ALLOW_SELECT = True
    _pressed_at: tuple[int, int] | None = None

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """Remember where, to tell a click from a drag."""
        self._pressed_at = (event.x, event.y)

    def on_mouse_up(self, event: events.MouseUp) -> None:
        """A drag selects, and what is selected is copied."""
        if self._pressed_at != (event.x, event.y):
            self.call_after_refresh(self._offer_selection)

    def _offer_selection(self) -> None:
        text = self.screen.get_selected_text()
        if text:
            self.post_message(Copied(text))


def with_selection(line: Line, span: tuple[int, int], colour: Color | None) -> Strip:
    """The row with the characters of `span` on the colour of selections.

    The second number of `span` is -1 for the end of the row. Decoration is never selected.
    """
    start, end = _characters(line, span)
    if end <= start:
        return line.strip
    # Textual's own style of a selection has a transparent foreground: the text would vanish.
    return restyled(line.strip, [(start, end)], Style(bgcolor=colour))


def selected_text(layout: Layout, selection: Selection) -> str:
    """The text behind the selected rows: unwrapped, without bullets and bars."""
    last_row = layout.height - 1
    first = selection.start.y if selection.start else 0
    last = min(selection.end.y if selection.end else last_row, last_row)
    parts: list[str] = []
    for row in range(first, last + 1):
        line = layout.line_at(row)
        if line is None:
            parts.append("\n")
            continue
        start, end = _characters(line, selection.get_span(row) or (0, -1))
        parts += [line.text[start:end], line.joint]
    return "".join(parts).rstrip("\n")


def _characters(line: Line, span: tuple[int, int]) -> tuple[int, int]:
    start, end = span
    length = len(line.text)
    return max(line.gutter, start), length if end < 0 else min(length, end)
