"""What a block may know of the screen it is drawn on: a width, named styles, and how to make lines.

Blocks draw on a canvas and never see a widget, so they can be tested as text.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from textual.content import Content
from textual.strip import Strip
from textual.style import Style


class Line(NamedTuple):
    """One row of the transcript."""

    strip: Strip
    """Exactly as wide as the canvas."""
    gutter: int = 0
    """Leading characters that are decoration; they are never copied."""
    soft: bool = False
    """The next line continues this one (soft wrap)."""

    @property
    def text(self) -> str:
        """The visible characters, without the padding on the right."""
        return self.strip.text.rstrip()


@dataclass(frozen=True, slots=True)
class Canvas:
    """A width and the styles of the theme in use."""

    width: int
    """Cells in a row; at least 1."""
    style: Callable[[str], Style]
    """The style of a role, e.g. `tool-failed`; unknown roles look like plain text."""
    motion: bool = True
    """False when nothing on the screen may move by itself."""

    def lines(
        self,
        content: Content,
        style: str = "text",
        *,
        lead: Content | None = None,
        rest: Content | None = None,
    ) -> list[Line]:
        """`content` wrapped to the width; `lead` begins the first line, `rest` all others."""
        raise NotImplementedError

    def blank(self, style: str = "text") -> Line:
        """An empty row."""
        raise NotImplementedError


def plain_canvas(width: int = 80) -> Canvas:
    """A canvas without colours, for tests and for printing."""
    return Canvas(width, lambda name: Style())
