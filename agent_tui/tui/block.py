"""What a transcript is made of: blocks, and the pieces that a long block is drawn from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Protocol

from textual.style import Style

from agent_tui.core.ids import new_id
from agent_tui.tui.canvas import Canvas, Line
from agent_tui.tui.wrap import expand_tabs


class Piece(Protocol):
    """A part of a block that is drawn and kept by itself, so that a long block costs little.

    Neither method may raise; `lines` may be called at any width from 1, and again after a while.
    """

    @property
    def version(self) -> int:
        """Changes whenever `lines` would return something else."""

    def lines(self, canvas: Canvas) -> list[Line]:
        """The rows of this piece."""

    def estimate(self, width: int) -> int:
        """About how many rows `lines` would give, without drawing."""


class Block:
    """One item of the transcript."""

    def __init__(self) -> None:
        self.id = new_id()
        """Unique in the process; survives every change of the block."""
        self.message_id = ""
        """The message that it shows, or a part of it; empty if it shows none."""
        self.version = 0
        """Changes whenever the block looks different."""
        self.expanded = False
        """Whether all is shown, for a block that `is_expandable`."""
        self.is_raw = False
        """Whether the markup is shown instead of what it means, for a block that `has_markup`."""

    @property
    def title(self) -> str:
        """What the block is, in a few words."""
        return "Message"

    @property
    def is_growing(self) -> bool:
        """Whether the text behind it is still arriving."""
        return False

    @property
    def can_retry(self) -> bool:
        """Whether it is a turn that failed and can be tried again."""
        return False

    @property
    def has_markup(self) -> bool:
        """Whether it looks different from how it was written."""
        return False

    @property
    def is_expandable(self) -> bool:
        """Whether there is something to expand or collapse."""
        return False

    @property
    def is_running(self) -> bool:
        """Whether the block shows a time that goes on, so that it wants `tick()`."""
        return False

    @property
    def is_folded(self) -> bool:
        """Whether another block stands for it, so that it takes no rows."""
        return False

    @property
    def joins(self) -> bool:
        """Whether it stands directly below a block that joins too, without a blank row."""
        return False

    def pieces(self) -> Sequence[Piece]:
        """What the block is drawn from, top to bottom; most blocks are one piece."""
        return (self,)

    def lines(self, canvas: Canvas) -> list[Line]:
        """All rows of the block."""
        return [*chain.from_iterable(piece.lines(canvas) for piece in self.pieces())]

    def estimate(self, width: int) -> int:
        """About how many rows the block has at this width, without drawing."""
        return sum(piece.estimate(width) for piece in self.pieces())

    def source(self) -> str:
        """The text behind the block, as it is copied."""
        return ""

    def toggle(self) -> None:
        """Expand or collapse."""
        self.expanded = not self.expanded
        self.version += 1

    def show_raw(self, raw: bool) -> None:
        """Show the markup, or what it means."""
        self.is_raw = raw
        self.version += 1

    def tick(self, now: float) -> None:
        """The time has moved on to `now`; `version` changes if that shows."""


def toggle_on_click(block: Block) -> Style:
    """What a head of a block carries so that a click on it toggles the block."""
    return Style.from_meta({"@click": f"toggle_block({block.id!r})"})


def estimate_rows(text: str, width: int) -> int:
    """About how many rows a text takes."""
    return len(text) // max(1, width) + text.count("\n") + 1


def clean_lines(text: str, limit: int) -> Iterator[str]:
    """The lines of a text that is printable already, cut at `limit` characters, without tabs."""
    for line in text.split("\n"):
        for start in range(0, max(1, len(line)), limit):
            yield expand_tabs(line[start : start + limit])
