"""The rows of a long text: what is in view is drawn, whatever the length of the rest."""

from __future__ import annotations

import asyncio
from bisect import bisect_left, bisect_right
from dataclasses import replace
from typing import NamedTuple

from rich.segment import Segment
from textual import events
from textual.message import Message
from textual.selection import Selection
from textual.strip import Strip

from agent_tui.tui.canvas import Canvas, Line
from agent_tui.tui.looks import look_of
from agent_tui.tui.marks import REVERSE
from agent_tui.tui.restyle import restyled, with_offsets, without_start
from agent_tui.tui.selecting import CopyOnRelease, with_selection
from agent_tui.tui.texts import DiffText, LongText
from agent_tui.tui.wrap import width_of

FOUND_LINES = 100_000
"""More lines are not remembered; the count says so."""
_SEARCHED_CHARACTERS = 4_000_000
_GUTTER = 2


class _Place(NamedTuple):
    """A row of the text: a line and the row in it."""

    line: int
    row: int


class Pages(CopyOnRelease, can_focus=True):
    """A text that can be moved over and searched; the lines that were found have a mark."""

    class Moved(Message):
        """What is in view, or what was found, has changed."""

    def __init__(self, text: LongText, *, follows: bool = False, wraps: bool = True) -> None:
        super().__init__()
        self.text = text
        self.wraps = wraps
        """Long lines go on in the next row instead of being cut."""
        self.follows = follows
        """The view stays at the end while the text grows."""
        self.words = ""
        """What is searched for; empty for nothing."""
        self.found: list[int] = []
        """Lines that contain it, counted from 0, upper and lower case alike."""
        self.is_searching = False
        """There are lines left that were not looked at."""
        self.current: int | None = None
        """The line that was gone to last."""
        self.shift = 0
        """Cells of each row that are out of sight at the left, while lines do not wrap."""
        self._top = _Place(0, 0)
        self._canvas: Canvas | None = None
        self._drawn: dict[int, list[Line]] = {}
        self._search: asyncio.Task[None] | None = None
        self._looked = 0
        """How many lines were looked at for `words`."""

    # -- what there is -----------------------------------------------------------------------

    @property
    def first_line(self) -> int:
        """The first line in view, counted from 0."""
        return self._top.line

    @property
    def last_line(self) -> int:
        """The last line in view."""
        return min(self._moved(self._top, self.size.height - 1).line, max(0, self.text.lines - 1))

    def changed(self) -> None:
        """The look has changed."""
        self._drawn.clear()
        if self.follows:
            self._top = self._end()
        self._show(self._top)

    def grown(self) -> None:
        """The text has become longer: it is followed, and searched on."""
        self.changed()
        if self.words:
            self._looked = min(self._looked, self.text.stable)
            del self.found[bisect_left(self.found, self._looked) :]
            if not self.is_searching:
                self._look_on(self.current)

    def on_resize(self) -> None:
        """Set for the new width; what was on top stays there."""
        look = look_of(self)
        self._canvas = Canvas(max(1, self.size.width - _GUTTER), look.base, look.style)
        if isinstance(self.text, DiffText):
            self.text.draw(self._canvas)
        self.changed()

    def on_unmount(self) -> None:
        """Search no more."""
        if self._search is not None:
            self._search.cancel()

    # -- moving ------------------------------------------------------------------------------

    def move(self, rows: int) -> None:
        """Down, or up; at the end the text is followed again if it was."""
        self.follows = False
        self._show(self._moved(self._top, rows))

    def go_to(self, line: int) -> None:
        """Put a line on top."""
        self.follows = False
        self._show(_Place(max(0, min(line, self.text.lines - 1)), 0))

    def go_to_end(self) -> None:
        """Show the last lines."""
        self._show(self._end())

    def toggle_wrap(self) -> None:
        """Wrap long lines, or cut them."""
        self.wraps = not self.wraps
        self.shift = 0
        self._top = _Place(self._top.line, 0)
        self.changed()

    def move_sideways(self, direction: int) -> None:
        """Half a screen to the right (1) or left (-1), no further than the lines in view go.

        Long lines do not wrap any more from then on.
        """
        if self.wraps:
            self.toggle_wrap()
        room = self.size.width - _GUTTER
        lines = range(self.first_line, min(self.last_line + 1, self.text.lines))
        longest = max((width_of(self.text.line(line)) for line in lines), default=0)
        step = direction * max(1, room // 2)
        self.shift = max(0, min(self.shift + step, max(self.shift, longest - room)))
        self.changed()

    def _show(self, place: _Place) -> None:
        self._top = max(_Place(0, 0), min(place, self._end()))
        self.refresh()
        self.post_message(self.Moved())

    def _end(self) -> _Place:
        """The place on top when the last row is at the bottom."""
        last = self.text.lines - 1
        if last < 0:
            return _Place(0, 0)
        bottom = _Place(last, len(self._rows(last)) - 1)
        return max(_Place(0, 0), self._moved(bottom, 1 - max(1, self.size.height)))

    def _moved(self, place: _Place, rows: int) -> _Place:
        line, row = place.line, place.row + rows
        while row < 0 and line > 0:
            line -= 1
            row += len(self._rows(line))
        while line < self.text.lines - 1 and row >= (height := len(self._rows(line))):
            line, row = line + 1, row - height
        return _Place(line, max(0, row))

    # -- searching ---------------------------------------------------------------------------

    def search(self, words: str) -> None:
        """Find `words`, and go to the first line from here on that has them."""
        if self._search is not None:
            self._search.cancel()
        self.words, self.found, self.current, self._looked = words, [], None, 0
        self.is_searching = False
        self._show(self._top)
        if words:
            self._look_on(None)

    def _look_on(self, current: int | None) -> None:
        self.is_searching = True
        self._search = asyncio.get_running_loop().create_task(self._look_through(current is None))

    async def _look_through(self, goes_there: bool) -> None:
        """All lines in pieces, each in a thread, so that the screen goes on meanwhile."""
        start = self._top.line
        while len(self.found) < FOUND_LINES and self._looked < self.text.lines:
            first = self._looked
            found, looked = await asyncio.to_thread(
                self.text.find, self.words, first, _SEARCHED_CHARACTERS
            )
            if self._looked != first:
                continue  # the text has changed meanwhile
            self._looked = looked
            self.found += found
            if goes_there and self.found and self.found[-1] >= start:
                self._go_to_found(self.found[bisect_left(self.found, start)])
                goes_there = False
            self.post_message(self.Moved())
        self.is_searching = False
        if goes_there and self.found:
            self._go_to_found(self.found[0])
        self._show(self._top)

    def step(self, direction: int) -> None:
        """Go to the next (1) or previous (-1) line that was found, around the ends."""
        if not self.found:
            return
        here = self._top.line if self.current is None else self.current
        if direction > 0:
            place = bisect_right(self.found, here) % len(self.found)
        else:
            place = bisect_left(self.found, here) - 1
        self._go_to_found(self.found[place])

    def _go_to_found(self, line: int) -> None:
        """A third of the view stays above what was found, unless it is in view already."""
        self.follows = False
        self.current = line
        if self._top < _Place(line, 0) and line < self.last_line:
            self._show(self._top)
        else:
            self._show(self._moved(_Place(line, 0), -(self.size.height // 3)))

    # -- drawing -----------------------------------------------------------------------------

    def render_line(self, y: int) -> Strip:
        """One row of the view."""
        width = self.size.width
        place = self._moved(self._top, y)
        if self._canvas is None or place.line >= self.text.lines:
            return Strip.blank(width, self.rich_style)
        rows = self._rows(place.line)
        if place.row >= len(rows):
            return Strip.blank(width, self._canvas.base.rich_style)
        start = self._start_of(place)
        strip = self._selected(rows[place.row], place.line, start)
        mark = " "
        if self.words and self._is_found(place.line):
            mark = "▸" if place.line == self.current else "·"
            strip = _with_found(strip, self.words)
        if self.shift:
            strip, gone = without_start(strip, self.shift)
            start += gone
        style = (self._canvas.base + self._canvas.style("cursor")).rich_style
        gutter = Segment(mark + ("‹" if self.shift else " "), style)
        strip = Strip([gutter, *with_offsets(strip, start, place.line)])
        return strip.adjust_cell_length(width, self._canvas.base.rich_style)

    def _start_of(self, place: _Place) -> int:
        """The character of its line that a row begins with."""
        if not place.row or self._canvas is None:
            return 0
        starts = self.text.row_starts(place.line, self._canvas.room)
        return starts[place.row] if place.row < len(starts) else 0

    def _selected(self, row: Line, line: int, start: int) -> Strip:
        """A row that begins with character `start` of its line, with what is selected of it."""
        selection = self.text_selection
        span = None if selection is None else selection.get_span(line)
        if span is None or 0 <= span[1] <= start:
            return row.strip
        colour = self.screen.get_component_rich_style("screen--selection").bgcolor
        end = span[1] - start if span[1] >= 0 else -1
        return with_selection(row, (max(0, span[0] - start), end), colour)

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """The text behind what is selected, however it is wrapped or cut on the screen."""
        last = self.text.lines - 1
        first = selection.start.y if selection.start else 0
        last = min(selection.end.y if selection.end else last, last)
        parts: list[str] = []
        for line in range(first, last + 1):
            start, end = selection.get_span(line) or (0, -1)
            text, gutter = self.text.line(line), self._rows(line)[0].gutter
            parts.append(text[max(start, gutter) : len(text) if end < 0 else end])
        return "\n".join(parts), "\n"

    def _is_found(self, line: int) -> bool:
        place = bisect_left(self.found, line)
        return place < len(self.found) and self.found[place] == line

    def _rows(self, line: int) -> list[Line]:
        """The rows of a line; at least one."""
        rows = self._drawn.get(line)
        if rows is None:
            if self._canvas is None:
                return [Line(Strip([]))]
            if len(self._drawn) > 2_000:
                self._drawn.clear()
            canvas = replace(self._canvas, width=self._canvas.width + self.shift)
            rows = self._drawn[line] = self.text.rows(line, canvas, wraps=self.wraps)
        return rows

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """The wheel moves three rows."""
        event.stop()
        self.move(3)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """The wheel moves three rows."""
        event.stop()
        self.move(-3)


def _with_found(strip: Strip, words: str) -> Strip:
    """The places of `words` in reverse video."""
    text, wanted = strip.text.lower(), words.lower()
    spans: list[tuple[int, int]] = []
    end = 0
    while (start := text.find(wanted, end)) >= 0:
        end = start + len(wanted)
        spans.append((start, end))
    return restyled(strip, spans, REVERSE)
