"""Markdown that arrives piece by piece.

Finished text is cut off into pieces that never change again; only what may still change is set
anew. One invariant: **however a text is split into deltas, its lines are the same.**
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from agent_tui.core.text import printable
from agent_tui.tui.block import estimate_rows
from agent_tui.tui.canvas import Canvas, Line, Run
from agent_tui.tui.cuts import find_cut
from agent_tui.tui.typeset import JOIN, Context, typeset
from agent_tui.tui.wrap import expand_tabs

_PARTS = 256
"""More parts of a source are put together."""
LINE_LIMIT = 2_000
"""Characters after which a line of source is cut, so that nothing waits for its end."""


class _Look(NamedTuple):
    """What all rows of a text have in common."""

    margin: tuple[Run, ...]
    role: str

    def on(self, canvas: Canvas) -> Canvas:
        return canvas.indented(*self.margin, role=self.role)


class MarkdownPiece:
    """A finished part of a text. It never changes."""

    version = 0

    def __init__(self, look: _Look, text: str, context: Context, *, goes_on: bool) -> None:
        self._look = look
        self.text = text
        self._context = context
        self._goes_on = goes_on

    def lines(self, canvas: Canvas) -> list[Line]:
        """The rows at the canvas' width."""
        canvas = self._look.on(canvas)
        return typeset(self.text, self._context, canvas, goes_on=self._goes_on)

    def estimate(self, width: int) -> int:
        """About how many rows there are."""
        return estimate_rows(self.text, width)


class MarkdownTail:
    """The part of a text that may still change."""

    def __init__(self, look: _Look) -> None:
        self._look = look
        self.version = 0
        self.text = ""
        self.context = Context()

    def lines(self, canvas: Canvas) -> list[Line]:
        """The rows at the canvas' width."""
        return typeset(self.text, self.context, self._look.on(canvas))

    def estimate(self, width: int) -> int:
        """About how many rows there are."""
        return estimate_rows(self.text, width)


class Markdown:
    """A text that grows at its end."""

    def __init__(self, *margin: Run, role: str = "text") -> None:
        """All rows begin with `margin` and look like `role`."""
        self._look = _Look(margin, role)
        self._parts: list[str] = []
        self._fresh: list[str] = []
        self._line = ""
        """The last line as it came, which has no newline yet."""
        self._lines: list[str] = []
        """The clean whole lines that belong to no finished piece, behind `_stub` lines."""
        self._stub = 0
        self._pieces: list[MarkdownPiece] = []
        self._tail = MarkdownTail(self._look)

    @property
    def source(self) -> str:
        """Everything that was appended. May be asked for in a thread."""
        return "".join(self._parts)

    def estimate(self, width: int) -> int:
        """About how many rows the text has; costs a look at its length and its newlines."""
        return estimate_rows(self.source, width) if self._parts else 0

    def append(self, delta: str) -> None:
        """Add text; costs the length of `delta`."""
        self._parts.append(delta)
        if len(self._parts) > _PARTS:
            self._parts = ["".join(self._parts)]
        self._fresh.append(delta)

    def pieces(self) -> Sequence[MarkdownPiece | MarkdownTail]:
        """The parts of the text, top to bottom; all but the last are finished."""
        if self._fresh:
            self._take_in()
        return [*self._pieces, self._tail]

    def _take_in(self) -> None:
        *whole, last = (self._line + "".join(self._fresh)).split("\n")
        self._fresh.clear()
        before = len(self._lines)
        for text in whole:
            *cut, end = cut_line(text)
            self._lines += [clean(part) + JOIN for part in cut]
            self._lines.append(clean(end))
        *cut, self._line = cut_line(last)
        self._lines += [clean(part) + JOIN for part in cut]
        if len(self._lines) > before:
            self._commit()
        self._tail.text = "\n".join([*self._lines, clean(self._line)])
        self._tail.version += 1

    def _commit(self) -> None:
        """Turn all that cannot change any more into pieces."""
        while len(self._lines) > self._stub:
            self._drop_blank_lines()
            cut = find_cut(self._lines, self._stub, self._tail.context)
            if cut is None:
                break
            text = "".join(line + "\n" for line in self._lines[: cut.line])
            if not text.isspace():
                piece = MarkdownPiece(self._look, text, self._tail.context, goes_on=cut.goes_on)
                self._pieces.append(piece)
            self._lines[: cut.line] = cut.stub
            self._stub = len(cut.stub)
            self._tail.context = cut.context

    def _drop_blank_lines(self) -> None:
        """Blank lines end what was continued; at the beginning they mean nothing."""
        if self._stub or not self._lines or self._lines[0].strip():
            return
        blank = 1
        while blank < len(self._lines) and not self._lines[blank].strip():
            blank += 1
        del self._lines[:blank]
        if self._pieces:
            self._tail.context = Context(gap=True)


def cut_line(line: str) -> list[str]:
    """A long line of source in parts of at most `LINE_LIMIT` characters.

    A part begins with a letter where possible: it must not look like the beginning of a list.
    """
    parts: list[str] = []
    while len(line) > LINE_LIMIT:
        places = [
            place for place in range(LINE_LIMIT, LINE_LIMIT // 2, -1) if line[place].isalpha()
        ]
        after_blank = (place for place in places if line[place - 1] == " ")
        end = next(after_blank, places[0] if places else LINE_LIMIT)
        parts.append(line[:end])
        line = line[end:]
    return [*parts, line]


def clean(line: str) -> str:
    """A line of untrusted source without control characters and tabs."""
    return expand_tabs(printable(line), 4)
