"""What a block may know of the screen it is drawn on: a width, named styles, and how to make lines.

Blocks draw on a canvas and never see a widget, so they can be tested as text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from rich.segment import Segment
from textual.strip import Strip
from textual.style import Style

from agent_tui.tui.wrap import clip, width_of, wrap

_NARROW = 24
"""Cells below which a canvas has no margin."""

_REORDERING = re.compile("[\u2028\u2029\u202a-\u202e\u2066-\u2069]")
"""Characters that break lines or turn the direction of a whole row, the program's own frame too."""

_MORE = "  "

PLAIN = Style()
"""No style of its own: looks like the row it stands in."""


class Run(NamedTuple):
    """A piece of text in one style."""

    text: str
    style: Style = PLAIN


class Line(NamedTuple):
    """One row of the transcript."""

    strip: Strip
    """Exactly as wide as the canvas."""
    gutter: int = 0
    """Leading characters that are decoration; they are never copied."""
    joint: str = "\n"
    """What stands between this row and the next one when both are copied."""

    @property
    def text(self) -> str:
        """The visible characters, without the padding on the right."""
        return self.strip.text.rstrip()


@dataclass(frozen=True, slots=True)
class Canvas:
    """A width and the styles of the theme in use."""

    width: int
    """Cells in a row; at least 1."""
    base: Style
    """How a row looks that says nothing else; its colours are opaque."""
    style: Callable[[str], Style]
    """What a role (`tool-failed`) adds to a row; nothing for an unknown one."""
    motion: bool = True
    """False when nothing on the screen may move by itself."""
    wraps: bool = True
    """False when code, tables and output that are too wide are cut instead."""
    margin: tuple[Run, ...] = ()
    """What every row begins with; it is never copied."""
    edge: int = 0
    """Cells at the right edge that stay empty."""

    @property
    def room(self) -> int:
        """The cells of a row that are left between the margins; at least 1."""
        return max(1, self.width - cells_of(self.margin) - self.edge)

    def run(self, text: str, role: str) -> Run:
        """`text` in the style of a role."""
        return Run(text, self.style(role))

    def outside(self, text: str, role: str = "text") -> Run:
        """`text` that does not take the colours of the row it stands in, e.g. left of a box."""
        return Run(text, self.base + self.style(role))

    def indented(self, *margin: Run, role: str = "text") -> Canvas:
        """This canvas with a further margin, and a role that all rows start from.

        A narrow canvas stays as it is: the text needs the room.
        """
        base = self.base + self.style(role)
        wider = (*self.margin, *margin) if self.width >= _NARROW else self.margin
        return replace(self, base=base, margin=wider)

    def lines(
        self,
        runs: Iterable[Run],
        role: str = "text",
        *,
        lead: Sequence[Run] = (),
        rest: Sequence[Run] | None = None,
        words: bool = True,
    ) -> list[Line]:
        """The rows of a text, wrapped to the width; newlines begin new rows.

        `role` colours the whole row up to the right edge. `lead` stands before the first row and
        `rest` before all others (blanks as wide as `lead` by default); they are never copied.
        """
        row = self.base + self.style(role)
        room = max(1, self.room - cells_of(lead))
        if rest is None:
            rest = [Run(" " * width_of(run.text), run.style) for run in lead]
        out: list[Line] = []
        for logical in _split_lines(runs):
            text = "".join(run.text for run in logical)
            for part in wrap(text, room, words=words):
                shown = _between(logical, part.start, part.end)
                out.append(self._line(rest if out else lead, shown, row, part.joint))
            out[-1] = out[-1]._replace(joint="\n")
        return out

    def row(
        self, left: Iterable[Run], right: Iterable[Run] = (), role: str = "text", *, gutter: int = 0
    ) -> Line:
        """One row with `left` at its left and `right` at its right edge, cut where they meet.

        The first `gutter` characters are decoration.
        """
        row = self.base + self.style(role)
        end = [*map(_in_order, right)]
        room = self.room - cells_of(end)
        start = clip_runs(map(_in_order, left), max(0, room - 1) if end else room)
        gap = Run(" " * max(0, room - cells_of(start)))
        line = self._line((), [*start, gap, *end], row, "\n")
        return line._replace(gutter=line.gutter + gutter)

    def decoration(self, runs: Iterable[Run], role: str = "text") -> Line:
        """One row of which nothing is ever copied."""
        line = self.row(runs, role=role)
        return line._replace(gutter=len(line.text))

    def blank(self, role: str = "text") -> Line:
        """An empty row."""
        return self._line((), (), self.base + self.style(role), "\n")

    def _line(self, lead: Sequence[Run], runs: Sequence[Run], row: Style, joint: str) -> Line:
        segments: list[Segment] = []
        cells = 0
        for text, style in self.margin:
            segments.append(Segment(text, (self.base + style).rich_style))
            cells += width_of(text)
        for text, style in (*lead, *runs):
            if text:
                segments.append(Segment(text, (row + style).rich_style))
                cells += width_of(text)
        if cells < self.width - self.edge:
            segments.append(Segment(" " * (self.width - self.edge - cells), row.rich_style))
            cells = self.width - self.edge
        if cells < self.width:
            segments.append(Segment(" " * (self.width - cells), self.base.rich_style))
        strip = Strip(segments, max(cells, self.width))
        if cells > self.width:
            strip = strip.adjust_cell_length(self.width)
        return Line(strip, characters_of(self.margin) + characters_of(lead), joint)


def cells_of(runs: Iterable[Run]) -> int:
    """The cells that some runs take together."""
    return sum(width_of(run.text) for run in runs)


def characters_of(runs: Iterable[Run]) -> int:
    """The characters of some runs together."""
    return sum(len(run.text) for run in runs)


def clip_runs(runs: Iterable[Run], width: int) -> list[Run]:
    """`runs` cut to at most `width` cells, ending in "…" if something was cut."""
    whole = [*runs]
    if cells_of(whole) <= width:
        return whole
    out: list[Run] = []
    for text, style in whole:
        cells = width_of(text)
        if cells >= width:
            # What comes behind a run that just fits is cut too: the mark takes its last cell.
            out.append(Run(clip(text + _MORE, width), style))
            break
        out.append(Run(text, style))
        width -= cells
    return out


def wrap_runs(runs: Sequence[Run], width: int) -> list[list[Run]]:
    """The rows of a text in a column of `width` cells; newlines begin new rows."""
    return [
        _between(logical, part.start, part.end)
        for logical in _split_lines(runs)
        for part in wrap("".join(run.text for run in logical), width)
    ]


def plain_canvas(width: int = 80) -> Canvas:
    """A canvas without colours, for tests and for printing."""
    return Canvas(width, PLAIN, lambda role: PLAIN)


def _in_order(run: Run) -> Run:
    if run.text.isascii() or _REORDERING.search(run.text) is None:
        return run
    return Run(_REORDERING.sub("", run.text), run.style)


def _split_lines(runs: Iterable[Run]) -> list[list[Run]]:
    lines: list[list[Run]] = [[]]
    for run in map(_in_order, runs):
        first, *others = run.text.split("\n")
        lines[-1].append(Run(first, run.style))
        lines.extend([Run(text, run.style)] for text in others)
    return lines


def _between(runs: list[Run], start: int, end: int) -> list[Run]:
    """The characters `start` to `end` of all runs together."""
    out: list[Run] = []
    position = 0
    for text, style in runs:
        after = position + len(text)
        if after > start:
            if position >= end:
                break
            out.append(Run(text[max(0, start - position) : end - position], style))
        position = after
    return out
