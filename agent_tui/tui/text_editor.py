"""A text area whose cursor stands only between what a person sees as characters.

An emoji of five code points, an accent and its letter, the chip of a folded paste: each is one
thing to the cursor, to Backspace and to a selection.
"""

from __future__ import annotations

import unicodedata
from typing import ClassVar

from rich.text import Text
from textual import events
from textual.actions import SkipAction
from textual.geometry import Offset
from textual.strip import Strip
from textual.widgets import TextArea
from textual.widgets.text_area import EditResult, Location, Selection

from agent_tui.tui import graphemes
from agent_tui.tui.drafts import Draft
from agent_tui.tui.paste import Chips, clean

EXPAND_CHARACTERS = 100_000
"""A chip of more characters than this cannot be shown in the editor."""

_MODIFIERS = {"ctrl", "alt", "super", "hyper", "meta"}
_NOT_TYPED = {"Cc", "Cs", "Zl", "Zp"}


class TextEditor(TextArea, inherit_bindings=False):
    """Text editing alone: no keys are bound here and nothing is sent."""

    DEFAULT_CSS = """
    TextEditor {
        height: auto;
        & .editor--chip { color: $accent; text-style: bold; }
    }
    """
    COMPONENT_CLASSES: ClassVar[set[str]] = {"editor--chip"}

    def __init__(self, *, id: str | None = None, placeholder: str = "") -> None:
        self.chips = Chips()
        super().__init__(id=id, placeholder=placeholder, compact=True, highlight_cursor_line=False)
        self.cursor_blink = False

    @property
    def expanded_text(self) -> str:
        """The whole text, every paste chip replaced by what was pasted."""
        return self.chips.expand(self.text)

    @property
    def selected_text(self) -> str:
        """What is selected, complete."""
        return self.chips.expand(super().selected_text)

    @property
    def cursor_offset(self) -> int:
        """How many characters of `text` stand before the cursor."""
        row, column = self.cursor_location
        return sum(len(self.document[above]) + 1 for above in range(row)) + column

    def location_of(self, offset: int) -> Location:
        """Where so many characters of `text` stand before the cursor."""
        before = self.text[:offset]
        return before.count("\n"), len(before) - before.rfind("\n") - 1

    @property
    def draft(self) -> Draft:
        """What is in the editor now, with its chips and the cursor."""
        return Draft(self.text, self.chips, self.cursor_location)

    def show(self, draft: Draft) -> None:
        """Put `draft` in the place of what is there; undo forgets."""
        self.chips = draft.chips
        self.load_text(draft.text)
        self.move_cursor(draft.cursor if draft.cursor is not None else self.document.end)

    def paste_text(self, text: str) -> None:
        """Insert `text` at the cursor as a paste: cleaned, and folded when it is long."""
        if text := clean(text):
            self.replace(
                self.chips.fold_if_long(text), *self.selection, maintain_selection_offset=False
            )

    def type(self, character: str) -> None:
        """Insert `character` as if it had been typed."""
        self.replace(character, *self.selection, maintain_selection_offset=False)

    async def on_paste(self, event: events.Paste) -> None:
        """A paste from the terminal; its newlines never send anything."""
        event.stop()
        event.prevent_default()
        self.paste_text(event.text)

    def action_paste(self) -> None:
        """Insert what was copied in this program."""
        self.paste_text(self.app.clipboard)

    def action_cut(self) -> None:
        """Cut the selection; without one the key is somebody else's."""
        if self.selection.is_empty:
            raise SkipAction
        self.app.copy_to_clipboard(self.selected_text)
        self.delete(*self.selection, maintain_selection_offset=False)

    def action_expand_chip(self) -> None:
        """Replace the chip at the cursor by what was pasted; undo brings it back."""
        row, column = self.cursor_location
        line = self.document[row]
        for start, end in self.chips.spans(line):
            text = self.chips.text_of(line[start:end])
            if start <= column <= end and text is not None and len(text) <= EXPAND_CHARACTERS:
                self.replace(text, (row, start), (row, end), maintain_selection_offset=False)
                return
        raise SkipAction

    # The cursor

    def stops(self, row: int) -> tuple[int, ...]:
        """The columns of `row` at which the cursor may stand."""
        line = self.document[row]
        stops = graphemes.boundaries(line)
        for start, end in self.chips.spans(line):
            stops = tuple(stop for stop in stops if not start < stop < end)
        return stops

    def _snapped(self, location: Location, *, forward: bool) -> Location:
        """`location`, or the nearest place on one side of it at which the cursor may stand."""
        row, column = location
        if not 0 <= row < self.document.line_count:
            return location
        stops = self.stops(row)
        snap = graphemes.at_or_after if forward else graphemes.at_or_before
        return row, snap(stops, column)

    def validate_selection(self, selection: Selection) -> Selection:
        """Called by Textual whenever the cursor moves, whatever moved it."""
        forward = selection.end > self.selection.end
        return Selection(
            self._snapped(selection.start, forward=forward and selection.is_empty),
            self._snapped(selection.end, forward=forward),
        )

    def get_cursor_left_location(self) -> Location:
        """One visible character to the left, or the end of the line above."""
        row, column = self.cursor_location
        if column == 0 and row > 0:
            return row - 1, len(self.document[row - 1])
        return row, graphemes.before(self.stops(row), column)

    def get_cursor_right_location(self) -> Location:
        """One visible character to the right, or the start of the line below."""
        row, column = self.cursor_location
        if column == len(self.document[row]) and row + 1 < self.document.line_count:
            return row + 1, 0
        return row, graphemes.after(self.stops(row), column)

    def delete(
        self, start: Location, end: Location, *, maintain_selection_offset: bool = True
    ) -> EditResult:
        """Delete at least what lies between; what is only touched goes as a whole."""
        return super().delete(
            *self._widened(start, end), maintain_selection_offset=maintain_selection_offset
        )

    def replace(
        self, insert: str, start: Location, end: Location, *, maintain_selection_offset: bool = True
    ) -> EditResult:
        """Replace at least what lies between; what is only touched goes as a whole."""
        return super().replace(
            insert,
            *self._widened(start, end),
            maintain_selection_offset=maintain_selection_offset,
        )

    def _widened(self, start: Location, end: Location) -> tuple[Location, Location]:
        if start == end:
            return start, end
        first, last = sorted((start, end))
        return self._snapped(first, forward=False), self._snapped(last, forward=True)

    def scroll_cursor_visible(self, center: bool = False, animate: bool = False) -> Offset:
        """Bring the cursor into view.

        In the middle of an undo Textual 8.2.8 asks for this before it has moved the cursor back
        into the shorter text; that call is left out, another follows.
        """
        if self.cursor_location[0] >= self.wrapped_document.document.line_count:
            return Offset(0, 0)
        return super().scroll_cursor_visible(center, animate)

    def find_matching_bracket(self, bracket: str, search_from: Location) -> None:
        """Nothing: looking for it would cost a walk through the whole text at every move."""

    # Drawing

    def get_line(self, line_index: int) -> Text:
        """One line with its chips and, on a character of several code points, the cursor drawn."""
        line = super().get_line(line_index)
        for start, end in self.chips.spans(line.plain):
            line.stylize(self.get_component_rich_style("editor--chip"), start, end)
        row, column = self.cursor_location
        if self.has_focus and row == line_index and column < len(line):
            end = graphemes.after(self.stops(row), column)
            line.stylize(self.get_component_rich_style("text-area--cursor"), column, end)
        return line

    def render_line(self, y: int) -> Strip:
        """One row; a character of several code points is never cut by a change of style."""
        if not self.size.width:  # Textual cannot wrap its placeholder to nothing
            return Strip.blank(0)
        strip = super().render_line(y)
        return strip if strip.text.isascii() else strip.simplify()


def typed(event: events.Key) -> str | None:
    """The character that a key press types; None for a key that types nothing.

    Joiners, wide and no-break spaces and characters newer than Python's tables are typed too; a
    letter with Alt is a key.
    """
    character = event.character
    if character is None or len(character) != 1 or unicodedata.category(character) in _NOT_TYPED:
        return None
    return None if _MODIFIERS.intersection(event.key.split("+")[:-1]) else character
