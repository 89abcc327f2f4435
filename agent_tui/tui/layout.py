"""Where every row of the transcript is: exact for what has been drawn, estimated for the rest.

A block is laid out piece by piece, and only from the moment it comes near the view. Work is done
for what has changed and for what is in view, never for the length of the transcript. Knows no
widget.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple

from agent_tui.tui.block import Block, Piece
from agent_tui.tui.canvas import Canvas, Line

KEEP_ROWS = 1_500
"""Drawn rows that are kept in memory."""


class Place(NamedTuple):
    """One row: a block, and the row within that block; the gap above a block is negative."""

    block: Block
    offset: int


class Spot(NamedTuple):
    """A place that can be found again at another width: a piece, and how far down it."""

    block: Block
    piece: int
    share: float
    """From 0, the first row of the piece, to 1."""


class _Entry:
    """One block with the heights of its pieces; one guess for all of it while it is far away."""

    __slots__ = ("block", "heights", "is_open", "pieces", "starts", "versions")

    def __init__(self, block: Block, width: int) -> None:
        self.block = block
        self.close(width)

    @property
    def height(self) -> int:
        return self.starts[-1]

    def close(self, width: int) -> None:
        """Forget what is known; the height is a guess."""
        self.is_open = False
        self.pieces: list[Piece] = []
        self.versions: list[int | None] = []
        """The version that was measured, None for a piece whose height is a guess."""
        self.heights: list[int] = []
        self.starts = [0, max(0, self.block.estimate(width))]

    def look(self, width: int) -> None:
        """Take over what has changed; the heights of new and changed pieces are guesses."""
        pieces = list(self.block.pieces())
        keep = self._unchanged(pieces)
        self.heights[keep:] = [max(0, piece.estimate(width)) for piece in pieces[keep:]]
        self.versions[keep:] = [None] * (len(pieces) - keep)
        self.pieces = pieces
        self.is_open = True
        self.sum_up(keep)

    def _unchanged(self, pieces: list[Piece]) -> int:
        """How many of the first pieces are as they were measured."""
        count = min(len(pieces), len(self.pieces))
        # A text grows at its end: all but the last pieces are compared at once.
        start = max(0, count - 1)
        versions = [piece.version for piece in pieces[:start]]
        if pieces[:start] != self.pieces[:start] or versions != self.versions[:start]:
            start = 0
        for index in range(start, count):
            piece = pieces[index]
            if piece is not self.pieces[index] or piece.version != self.versions[index]:
                return index
        return count

    def sum_up(self, first: int) -> None:
        """Bring `starts` up to date from piece `first` on."""
        self.starts[first:] = accumulate(self.heights[first:], initial=self.starts[first])


class Layout:
    """The rows of a list of blocks at one width."""

    def __init__(self) -> None:
        self.canvas: Canvas | None = None
        """What blocks are drawn on; None until the size is known."""
        self._entries: list[_Entry] = []
        self._index_by_id: dict[str, int] = {}
        self._starts: list[int] = [0]
        """The first row of each block, its gap included; at the end the number of all rows."""
        self._gaps: list[int] = []
        """Blank rows above each block."""
        self._dirty: int | None = None
        """The first block from which on `_starts` is out of date."""
        self._drawn: OrderedDict[int, tuple[Piece, int, list[Line]]] = OrderedDict()
        self._drawn_rows = 0

    # -- blocks ------------------------------------------------------------------------------

    @property
    def blocks(self) -> list[Block]:
        """Top to bottom."""
        return [entry.block for entry in self._entries]

    def __len__(self) -> int:
        return len(self._entries)

    def block_at(self, index: int) -> Block:
        """The block at a place of the list."""
        return self._entries[index].block

    def index_of(self, block: Block) -> int | None:
        """The place of a block, None if it is not there."""
        return self._index_by_id.get(block.id)

    def find(self, block_id: str) -> Block | None:
        """The block with an id, None if it is not there."""
        index = self._index_by_id.get(block_id)
        return None if index is None else self._entries[index].block

    def insert(self, index: int, blocks: Sequence[Block]) -> None:
        """Put blocks at a place; their heights are guesses."""
        self._entries[index:index] = [_Entry(block, self._width) for block in blocks]
        self._renumber(index)

    def remove(self, index: int) -> None:
        """Take a block out."""
        del self._index_by_id[self._entries.pop(index).block.id]
        self._renumber(index)

    def clear(self) -> None:
        """Take all blocks out."""
        self._entries.clear()
        self._index_by_id.clear()
        self._renumber(0)
        self._forget_drawn()

    def update(self, index: int) -> None:
        """Look at a block again after it has changed."""
        entry = self._entries[index]
        if entry.is_open:
            entry.look(self._width)
        else:
            entry.close(self._width)
        self._changed_from(index)

    def reset(self, canvas: Canvas) -> None:
        """Everything looks different: another width, another theme."""
        self.canvas = canvas
        self._forget_drawn()
        for entry in self._entries:
            entry.close(canvas.width)
        self._changed_from(0)

    # -- rows --------------------------------------------------------------------------------

    @property
    def height(self) -> int:
        """All rows."""
        return self._rows()[-1]

    def top_of(self, index: int) -> int:
        """The first row of a block, below its gap."""
        return self._rows()[index] + self._gaps[index]

    def height_of(self, index: int) -> int:
        """The rows of a block."""
        return self._entries[index].height

    def place_of(self, row: int) -> Place | None:
        """What is at a row, None outside."""
        starts = self._rows()
        if not 0 <= row < starts[-1]:
            return None
        index = bisect_right(starts, row) - 1
        return Place(self._entries[index].block, row - starts[index] - self._gaps[index])

    def row_of(self, place: Place) -> int | None:
        """The row where something is now, None if its block is gone."""
        index = self.index_of(place.block)
        return None if index is None else self.top_of(index) + place.offset

    def spot_at(self, row: int) -> Spot | None:
        """What is at a row, to be found again after `reset`."""
        place = self.place_of(row)
        if place is None:
            return None
        entry = self._entries[self._index_by_id[place.block.id]]
        piece = max(0, bisect_right(entry.starts, place.offset) - 1)
        height = entry.heights[piece] if piece < len(entry.heights) else 0
        within = max(0, place.offset - entry.starts[piece])
        return Spot(place.block, piece, within / height if height else 0.0)

    def place_of_spot(self, spot: Spot) -> Place:
        """Where a spot is now; its piece is drawn for that."""
        index = self._index_by_id[spot.block.id]
        entry = self._entries[index]
        if not entry.is_open:
            self._open(index)
        if spot.piece >= len(entry.pieces):
            return Place(spot.block, 0)
        height = self._measure(index, spot.piece)
        return Place(spot.block, entry.starts[spot.piece] + round(spot.share * height))

    def line_at(self, row: int) -> Line | None:
        """The line at a row, None where there is nothing."""
        _, lines, within = self.piece_at(row)
        return lines[within] if within < len(lines) else None

    def piece_at(self, row: int) -> tuple[Piece | None, list[Line], int]:
        """The piece at a row, its lines, and which of them it is; no lines where none is."""
        starts = self._rows()
        if not 0 <= row < starts[-1]:
            return None, [], 0
        index = bisect_right(starts, row) - 1
        entry = self._entries[index]
        if not entry.is_open:
            self._open(index)
        offset = row - starts[index] - self._gaps[index]
        if not 0 <= offset < entry.height:
            return None, [], 0
        number = bisect_right(entry.starts, offset) - 1
        piece = entry.pieces[number]
        return piece, self._lines(piece), offset - entry.starts[number]

    def pieces_of(self, index: int) -> Sequence[Piece]:
        """The pieces of a block; none is drawn for that."""
        entry = self._entries[index]
        if not entry.is_open:
            self._open(index)
        return entry.pieces

    def lines_of(self, index: int, piece: int) -> list[Line]:
        """The lines of a piece of a block, drawn if need be."""
        self._measure(index, piece)
        return self._lines(self._entries[index].pieces[piece])

    def offset_of(self, index: int, piece: int) -> int:
        """The row within its block that a piece begins with."""
        return self._entries[index].starts[piece]

    def settle_from(self, row: int, rows: int) -> None:
        """Make the heights of `rows` rows exact, going down from a row that stays where it is."""
        starts = self._rows()
        if not starts[-1]:
            return
        index = max(0, min(bisect_right(starts, row), len(self._entries)) - 1)
        top = starts[index]
        while top < row + rows and index < len(self._entries):
            top += self._gaps[index]
            entry = self._entries[index]
            if not entry.is_open:
                self._open(index)
            first = max(0, bisect_right(entry.starts, row - top) - 1)
            for piece in range(first, len(entry.pieces)):
                if top + entry.starts[piece] >= row + rows:
                    break
                self._measure(index, piece)
            top += entry.height
            index += 1

    def settle_end(self, rows: int) -> None:
        """Make the heights of the last rows exact, going up from the end."""
        missing = rows
        for index in range(len(self._entries) - 1, -1, -1):
            if missing <= 0:
                return
            entry = self._entries[index]
            if not entry.is_open:
                self._open(index)
            for piece in range(len(entry.pieces) - 1, -1, -1):
                if missing <= 0:
                    return
                missing -= self._measure(index, piece)

    # -- inside ------------------------------------------------------------------------------

    @property
    def _width(self) -> int:
        return self.canvas.width if self.canvas is not None else 80

    def _changed_from(self, index: int) -> None:
        self._dirty = index if self._dirty is None else min(index, self._dirty)

    def _renumber(self, first: int) -> None:
        for index in range(first, len(self._entries)):
            self._index_by_id[self._entries[index].block.id] = index
        self._changed_from(first)

    def _rows(self) -> list[int]:
        """The first row of every block, and the number of rows."""
        if self._dirty is not None:
            first, self._dirty = self._dirty, None
            del self._starts[first + 1 :]
            del self._gaps[first:]
            row = self._starts[first] if first else 0
            above = self._entries[first - 1].block if first else None
            for entry in self._entries[first:]:
                joins = above is not None and above.joins and entry.block.joins
                gap = int(entry.height > 0 and not joins)
                row += gap + entry.height
                self._gaps.append(gap)
                self._starts.append(row)
                above = entry.block
        return self._starts

    def _open(self, index: int) -> None:
        self._entries[index].look(self._width)
        self._changed_from(index)

    def _measure(self, index: int, piece: int) -> int:
        """The exact rows of a piece, drawn if need be."""
        entry = self._entries[index]
        version = entry.pieces[piece].version
        if entry.versions[piece] != version:
            height = len(self._lines(entry.pieces[piece]))
            entry.versions[piece] = version
            if height != entry.heights[piece]:
                entry.heights[piece] = height
                entry.sum_up(piece)
                self._changed_from(index)
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
