"""Marks on rows of the transcript: the block cursor, and the places of what was searched for."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from agent_tui.tui.block import Block, Piece
from agent_tui.tui.canvas import Canvas, Line
from agent_tui.tui.finding import Hit, Words
from agent_tui.tui.layout import Layout
from agent_tui.tui.markdown import MarkdownPiece, MarkdownTail
from agent_tui.tui.raw import RawPiece
from agent_tui.tui.restyle import restyled

_CURSOR = "▌"
"""In the margin of each row of the block under the cursor."""
_FOUND = "▸"
"""In the margin of the row that was gone to."""
REVERSE = Style(reverse=True)
"""How what was found is shown."""


class Span(NamedTuple):
    """Characters of one row."""

    row: int
    start: int
    end: int


class Marks:
    """What is marked on the rows of a layout."""

    def __init__(self, layout: Layout) -> None:
        self.words: Words | None = None
        """What is shown in reverse video wherever it is."""
        self._layout = layout
        self._hit: Hit | None = None
        self._places = 0
        self._found: tuple[Piece, int] | None = None
        """The piece and the row of what was gone to last; None if it cannot be seen."""
        self._lines: Sequence[Line] = ()
        self._spans: Sequence[Span] = ()
        """Those of the piece that was painted last."""

    def find(self, words: Words | None) -> None:
        """Other words, or none."""
        self.words = words
        self._hit = self._found = None
        self._lines = self._spans = ()

    def aim(self, hit: Hit, places: int) -> int | None:
        """The row within its block of one of the `places` in its source, which gets a mark.

        None if it is not among those that are drawn.
        """
        self._hit, self._places = hit, places
        return self.locate()

    def changed(self, block: Block) -> None:
        """Another look at a block: what was gone to is found again if it is in there."""
        if self._hit is not None and self._hit.block is block:
            self.locate()

    def locate(self) -> int | None:
        """Find the row again. Of a block in pieces only the one with the place is drawn."""
        self._found = None
        index = None if self._hit is None else self._layout.index_of(self._hit.block)
        if self._hit is None or index is None or self.words is None:
            return None
        place = self._hit.place
        for number, piece in enumerate(self._layout.pieces_of(index)):
            count = None
            if isinstance(piece, MarkdownPiece | MarkdownTail | RawPiece):
                count = len(self.words.spans(piece.text))
                if place >= count:
                    place -= count
                    continue
            drawn = places_of(self._layout.lines_of(index, number), self.words)
            if piece is self._hit.block:
                count = self._places
            # Where fewer places are drawn than there are, they are the last.
            place -= max(0, count - len(drawn)) if count is not None else 0
            if 0 <= place < len(drawn):
                self._found = piece, drawn[place][0].row
                return self._layout.offset_of(index, number) + drawn[place][0].row
            if count is not None:
                return None
            place -= len(drawn)
        return None

    def on(self, strip: Strip, lines: Sequence[Line], row: int) -> Strip:
        """The strip of one of the `lines` of a piece, with its places in reverse video."""
        if self.words is None:
            return strip
        if lines is not self._lines:
            self._lines = lines
            self._spans = [*chain.from_iterable(places_of(lines, self.words))]
        spans = [(start, end) for of, start, end in self._spans if of == row]
        return restyled(strip, spans, REVERSE) if spans else strip

    def at(self, row: int, cursor: Block) -> str:
        """What stands in the margin of a row; empty for nothing."""
        place = self._layout.place_of(row)
        if place is None or place.block is not cursor or place.offset < 0:
            return ""
        piece, _, within = self._layout.piece_at(row)
        return _FOUND if self._found == (piece, within) else _CURSOR


def places_of(lines: Sequence[Line], words: Words) -> list[list[Span]]:
    """Where the words are in the text that these rows show; a place may go on in the next row."""
    parts: list[str] = []
    starts: list[int] = []
    position = 0
    for line in lines:
        shown = line.text[line.gutter :]
        starts.append(position)
        parts += (shown, line.joint)
        position += len(shown) + len(line.joint)
    return [[*_spans(lines, starts, start, end)] for start, end in words.spans("".join(parts))]


def _spans(lines: Sequence[Line], starts: Sequence[int], start: int, end: int) -> list[Span]:
    spans: list[Span] = []
    for row in range(bisect_right(starts, start) - 1, bisect_right(starts, end - 1)):
        line = lines[row]
        length = len(line.text) - line.gutter
        first, last = max(0, start - starts[row]), min(length, end - starts[row])
        if first < last:
            spans.append(Span(row, line.gutter + first, line.gutter + last))
    return spans


def with_margin(strip: Strip, canvas: Canvas, mark: str) -> Strip:
    """A row with a mark in its margin; a narrow canvas has none."""
    if not canvas.margin:
        return strip
    segment = Segment(mark, (canvas.base + canvas.style("cursor")).rich_style)
    return Strip([segment, *strip.crop(1, canvas.width)], canvas.width)
