"""A text as it was written, line by line, for those who want to see the markup itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from agent_tui.core.text import printable
from agent_tui.tui.block import Piece, clean_lines, estimate_rows
from agent_tui.tui.canvas import Canvas, Line, Run

PIECE_CHARACTERS = 8_000
"""A finished piece is drawn once; only the last one is drawn again while a text grows."""
_LINE_LIMIT = 2_000


class RawText:
    """The source of a text that may grow at its end."""

    def __init__(self, source: Callable[[], str], *margin: Run, role: str = "text") -> None:
        """All rows begin with `margin` and look like `role`."""
        self._source = source
        self._margin = margin
        self._role = role
        self._taken = 0
        self._pieces = [self._piece("")]

    def pieces(self) -> Sequence[Piece]:
        """The parts of the text, top to bottom; all but the last are finished."""
        source = self._source()
        if len(source) > self._taken:
            fresh, self._taken = source[self._taken :], len(source)
            self._extend(fresh)
        return [*self._pieces]

    def _extend(self, fresh: str) -> None:
        tail = self._pieces[-1]
        text = tail.text + fresh
        while len(text) > PIECE_CHARACTERS:
            end = text.rfind("\n", 1, PIECE_CHARACTERS) + 1 or PIECE_CHARACTERS
            tail.change(text[:end].removesuffix("\n"))
            text = text[end:]
            tail = self._piece("")
            self._pieces.append(tail)
        tail.change(text)

    def _piece(self, text: str) -> RawPiece:
        return RawPiece(text, self._margin, self._role)


class RawPiece:
    """Some lines of it."""

    def __init__(self, text: str, margin: tuple[Run, ...], role: str) -> None:
        self.text = text
        self.version = 0
        self._margin = margin
        self._role = role

    def change(self, text: str) -> None:
        """Another text."""
        self.text = text
        self.version += 1

    def lines(self, canvas: Canvas) -> list[Line]:
        """The rows at the canvas' width."""
        shown = "\n".join(clean_lines(printable(self.text), _LINE_LIMIT))
        return canvas.lines([Run(shown)], self._role, lead=self._margin)

    def estimate(self, width: int) -> int:
        """About how many rows there are."""
        return estimate_rows(self.text, width)


class RawHead:
    """The row that says that a text is shown as it was written."""

    version = 0

    def __init__(self, *margin: Run) -> None:
        self._margin = margin

    def lines(self, canvas: Canvas) -> list[Line]:
        """One row."""
        return [canvas.decoration([*self._margin, canvas.run("as it was written", "mark")])]

    def estimate(self, width: int) -> int:
        """One row."""
        return 1
