"""Where every row of the transcript is: exact for what has been drawn, estimated for the rest.

A block is laid out piece by piece. Work is done for what has changed and for what is in view, never
for the length of the transcript. Knows no widget.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import NamedTuple

from agent_tui.tui.block import Block, Piece
from agent_tui.tui.canvas import Canvas, Line

KEEP_ROWS = 4_000
"""Drawn rows that are kept in memory."""


class Place(NamedTuple):
    """One row: a block, one of its pieces, and the row within that piece."""

    block: int
    piece: int
    offset: int


class _Entry:
    """One block with the heights of its pieces."""

    __slots__ = ("block", "exact", "heights", "pieces", "starts", "versions")

    def __init__(self, block: Block) -> None:
        self.block = block
        self.pieces: list[Piece] = []
        self.versions: list[int] = []
        self.heights: list[int] = []
        self.exact: list[bool] = []
        self.starts: list[int] = [0]

    @property
    def height(self) -> int:
        return self.starts[-1]

    def take(self, width: int) -> bool:
        """Look at the block again: what has changed of it is estimated anew. True if anything."""
        pieces = list(self.block.pieces())
        versions = [piece.version for piece in pieces]
        keep = 0
        for old, new, before, after in zip(
            self.pieces, pieces, self.versions, versions, strict=False
        ):
            if old is not new or before != after:
                break
            keep += 1
        if keep == len(pieces) == len(self.pieces):
            return False
        self.heights[keep:] = [max(0, piece.estimate(width)) for piece in pieces[keep:]]
        self.exact[keep:] = [False] * (len(pieces) - keep)
        self.pieces, self.versions = pieces, versions
        self.sum_up(keep)
        return True

    def sum_up(self, first: int) -> None:
        """Bring `starts` up to date from piece `first` on."""
        self.starts[first:] = accumulate(self.heights[first:], initial=self.starts[first])


class Layout:
    """The rows of a list of blocks at one width."""

    def __init__(self) -> None:
        self.canvas: Canvas | None = None
        """What blocks are drawn on; None until the size is known."""
        self._entries: list[_Entry] = []
        self._starts: list[int] = [0]
        """The first row of each block, its gap above included; then the number of all rows."""
        self._gaps: list[int] = []
        """Blank rows above each block."""
        self._dirty: int | None = None
        self._drawn: OrderedDict[int, tuple[Piece, int, list[Line]]] = OrderedDict()
        self._drawn_rows = 0

    # -- blocks ------------------------------------------------------------------------------

    @property
    def blocks(self) -> Sequence[Block]:
        """Top to bottom."""
        return [entry.block for entry in self._entries]

    def __len__(self) -> int:
        return len(self._entries)

    def block_at(self, index: int) -> Block:
        """The block at a place of the list."""
        return self._entries[index].block

    def index_of(self, block: Block) -> int | None:
        """The place of a block, None if it is not there; recent blocks are found first."""
        for index in range(len(self._entries) - 1, -1, -1):
            if self._entries[index].block is block:
                return index
        return None

    def insert(self, index: int, blocks: Sequence[Block]) -> None:
        """Put blocks at a place; their heights are estimates."""
        entries = [_Entry(block) for block in blocks]
        for entry in entries:
            entry.take(self._width)
        self._entries[index:index] = entries
        self._changed_from(index)

    def remove(self, index: int) -> None:
        """Take a block out."""
        del self._entries[index]
        self._changed_from(index)

    def clear(self) -> None:
        """Take all blocks out."""
        self._entries.clear()
        self._changed_from(0)
        self._forget_drawn()

    def update(self, index: int) -> bool:
        """Look at a block again after it has changed; True if it looks different."""
        changed = self._entries[index].take(self._width)
        if changed:
            self._changed_from(index)
        return changed

    def reset(self, canvas: Canvas) -> None:
        """Everything looks different: another width, another theme."""
        self.canvas = canvas
        self._forget_drawn()
        for entry in self._entries:
            entry.pieces = []
            entry.versions, entry.heights, entry.exact, entry.starts = [], [], [], [0]
            entry.take(canvas.width)
        self._changed_from(0)

    # -- rows --------------------------------------------------------------------------------

    @property
    def height(self) -> int:
        """All rows."""
        return self._rows()[-1]

    def top_of(self, index: int) -> int:
        """The first row of a block."""
        return self._rows()[index] + self._gaps[index]

    def height_of(self, index: int) -> int:
        """The rows of a block."""
        return self._entries[index].height

    def place_of(self, row: int) -> Place | None:
        """What is at a row, None outside."""
        starts = self._rows()
        if not 0 <= row < starts[-1]:
            return None
        block = bisect_right(starts, row) - 1
        entry = self._entries[block]
        within = row - starts[block] - self._gaps[block]
        piece = max(0, min(bisect_right(entry.starts, within), len(entry.pieces)) - 1)
        return Place(block, piece, within - entry.starts[piece])

    def row_of(self, place: Place) -> int:
        """The row where something is now."""
        entry = self._entries[place.block]
        piece = min(place.piece, max(0, len(entry.pieces) - 1))
        return self.top_of(place.block) + entry.starts[piece] + place.offset

    def line_at(self, row: int) -> Line | None:
        """The line at a row, None where there is nothing."""
        place = self.place_of(row)
        if place is None or place.offset < 0:
            return None  # outside, or the gap above a block
        lines = self._lines(self._entries[place.block].pieces[place.piece])
        return lines[place.offset] if place.offset < len(lines) else None

    def settle_from(self, row: int, rows: int) -> None:
        """Make the heights of what is in view exact, going down from a row that stays."""
        anchor = self.place_of(max(0, min(row, self.height - 1)))
        if anchor is None:
            return
        block, piece = anchor.block, anchor.piece
        missing = rows + anchor.offset
        while missing > 0 and block < len(self._entries):
            entry = self._entries[block]
            while missing > 0 and piece < len(entry.pieces):
                missing -= self._measure(block, piece)
                piece += 1
            block, piece = block + 1, 0
        self._rows()

    def settle_end(self, rows: int) -> None:
        """Make the heights of the last rows exact, going up from the end."""
        missing = rows
        for block in range(len(self._entries) - 1, -1, -1):
            for piece in range(len(self._entries[block].pieces) - 1, -1, -1):
                if missing <= 0:
                    return
                missing -= self._measure(block, piece)

    # -- inside ------------------------------------------------------------------------------

    @property
    def _width(self) -> int:
        return self.canvas.width if self.canvas is not None else 80

    def _changed_from(self, index: int) -> None:
        self._dirty = index if self._dirty is None else min(index, self._dirty)

    def _rows(self) -> list[int]:
        """The first row of every block, and the number of rows."""
        if self._dirty is not None:
            first, self._dirty = self._dirty, None
            blocks = [entry.block for entry in self._entries[max(0, first - 1) :]]
            gaps = [int(not (a.joins and b.joins)) for a, b in pairwise(blocks)]
            self._gaps[first:] = gaps if first else [0, *gaps][: len(self._entries)]
            heights = [
                gap + entry.height
                for gap, entry in zip(self._gaps[first:], self._entries[first:], strict=True)
            ]
            self._starts[first:] = accumulate(heights, initial=self._starts[first] if first else 0)
        return self._starts

    def _measure(self, block: int, piece: int) -> int:
        """The exact rows of a piece, drawn if need be."""
        entry = self._entries[block]
        if not entry.exact[piece]:
            height = len(self._lines(entry.pieces[piece]))
            entry.exact[piece] = True
            if height != entry.heights[piece]:
                entry.heights[piece] = height
                entry.sum_up(piece)
                self._changed_from(block)
        return entry.heights[piece]

    def _lines(self, piece: Piece) -> list[Line]:
        key = id(piece)
        hit = self._drawn.get(key)
        if hit is not None and hit[0] is piece and hit[1] == piece.version:
            self._drawn.move_to_end(key)
            return hit[2]
        if hit is not None:
            self._drawn_rows -= len(hit[2])
        assert self.canvas is not None
        lines = piece.lines(self.canvas)
        self._drawn[key] = (piece, piece.version, lines)
        self._drawn.move_to_end(key)
        self._drawn_rows += len(lines)
        while self._drawn_rows > KEEP_ROWS and len(self._drawn) > 1:
            _, (_, _, old) = self._drawn.popitem(last=False)
            self._drawn_rows -= len(old)
        return lines

    def _forget_drawn(self) -> None:
        self._drawn.clear()
        self._drawn_rows = 0
