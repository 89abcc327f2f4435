"""A table of text in borders that stand in one column at any width."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from agent_tui.tui.canvas import Canvas, Line, Run, cells_of, characters_of, wrap_runs
from agent_tui.tui.wrap import width_of

Align = Literal["left", "right", "center"]
Cell = Sequence[Run]
Row = Sequence[Cell]


class Shape(NamedTuple):
    """The columns of a table: how wide their text is and where it stands."""

    widths: tuple[int, ...]
    aligns: tuple[Align, ...]


def shape_of(rows: Sequence[Row], aligns: Sequence[Align]) -> Shape:
    """The natural widths of the columns, as many as there are `aligns`."""
    widths = [1] * len(aligns)
    for row in rows:
        for column, cell in enumerate(row[: len(widths)]):
            text = "".join(run.text for run in cell)
            widths[column] = max(widths[column], *map(width_of, text.split("\n")))
    return Shape(tuple(widths), tuple(aligns))


class TableDrawer:
    """Draws the rows of one table on one canvas."""

    def __init__(
        self, canvas: Canvas, shape: Shape, lead: Sequence[Run], rest: Sequence[Run]
    ) -> None:
        """`lead` stands before the first row, `rest` before all others; both are equally wide."""
        self._canvas = canvas
        self._aligns = shape.aligns
        self._lead = [*lead]
        self._rest = [*rest]
        room = canvas.room - cells_of(lead) - 3 * len(shape.widths) - 1
        self._widths = _shrink(shape.widths, room) if canvas.wraps else [*shape.widths]
        self._border = canvas.style("table-border")

    def top(self) -> list[Line]:
        """The upper border."""
        return self._rule("┌", "┬", "┐")

    def head(self, row: Row) -> list[Line]:
        """The row of names and the border below it."""
        strong = self._canvas.style("table-head")
        styled = [[Run(text, strong + style) for text, style in cell] for cell in row]
        return [*self.body(styled), *self._rule("├", "┼", "┤")]

    def body(self, row: Row) -> list[Line]:
        """One row; it takes as many rows of the screen as its tallest cell."""
        cells = [*row[: len(self._aligns)], *([()] * (len(self._aligns) - len(row)))]
        if not self._widths:
            text = [run for cell in cells for run in (*cell, Run("  "))]
            return self._canvas.lines(text, lead=self._left(), rest=self._rest)
        columns = [wrap_runs(cell, width) for cell, width in zip(cells, self._widths, strict=True)]
        return [
            self._row([column[k] if k < len(column) else [] for column in columns])
            for k in range(max(map(len, columns)))
        ]

    def bottom(self) -> list[Line]:
        """The lower border."""
        return self._rule("└", "┴", "┘")

    def _row(self, cells: Sequence[Cell]) -> Line:
        runs = [Run("│ ", self._border)]
        for cell, width, align in zip(cells, self._widths, self._aligns, strict=True):
            gap = max(0, width - cells_of(cell))
            before = {"left": 0, "right": gap, "center": gap // 2}[align]
            runs += [Run(" " * before), *cell, Run(" " * (gap - before)), Run(" │ ", self._border)]
        runs[-1] = Run(" │", self._border)
        left = self._left()
        return self._canvas.row([*left, *runs], gutter=characters_of(left) + 2)

    def _rule(self, left: str, cross: str, right: str) -> list[Line]:
        if not self._widths:
            return []
        text = left + cross.join("─" * (width + 2) for width in self._widths) + right
        return [self._canvas.decoration([*self._left(), Run(text, self._border)])]

    def _left(self) -> list[Run]:
        """What stands before the next row."""
        lead, self._lead = self._lead, self._rest
        return lead


def _shrink(widths: Sequence[int], room: int) -> list[int]:
    """Widths that fit into `room`, the widest columns cut first; empty when nothing fits.

    No column gets narrower than a wide character, so that its border stays in place.
    """
    if room < sum(min(width, 2) for width in widths):
        return []
    shrunk = [*widths]
    while (excess := sum(shrunk) - room) > 0:
        widest = max(shrunk)
        second = max((width for width in shrunk if width < widest), default=0)
        columns = [column for column, width in enumerate(shrunk) if width == widest]
        step = min(widest - second, max(1, excess // len(columns)))
        for column in columns[: max(1, min(len(columns), excess))]:
            shrunk[column] -= step
    return shrunk
