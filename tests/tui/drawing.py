"""Blocks drawn as text, and the cases of rendering."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Protocol

from textual.style import Style

from agent_tui.tui.canvas import Canvas, Line, plain_canvas
from agent_tui.tui.markdown import Markdown

CASES = Path(__file__).parent.parent / "cases" / "render"


class Drawable(Protocol):
    """A block or a piece."""

    def lines(self, canvas: Canvas) -> list[Line]:
        """Its rows."""


def case(name: str) -> str:
    """The input of a case, byte for byte."""
    return (CASES / name).read_bytes().decode()


def rows(drawable: Drawable, width: int = 80) -> list[str]:
    """The visible text of each row."""
    return [line.text for line in drawable.lines(plain_canvas(width))]


def roles_canvas(width: int = 80) -> Canvas:
    """A canvas on which each role is a style that tells its name."""
    return Canvas(width, Style(), lambda role: Style.from_meta({"role": role}))


def styled_rows(drawable: Drawable, width: int = 80) -> list[list[tuple[str, str]]]:
    """Text and role of each run of each row, blanks between them left out."""
    return [
        [
            (segment.text.strip(), str((segment.style.meta if segment.style else {}).get("role")))
            for segment in line.strip
            if segment.text.strip()
        ]
        for line in drawable.lines(roles_canvas(width))
    ]


def set_in(pieces: Iterable[str]) -> Markdown:
    """A text that arrived in pieces, drawn after each of them as the screen would."""
    markdown = Markdown()
    for piece in pieces:
        markdown.append(piece)
        markdown.pieces()
    return markdown


def all_lines(markdown: Markdown, canvas: Canvas) -> list[tuple[object, ...]]:
    """Everything about the rows of a text that a person could notice."""
    return [
        (
            line.text,
            line.gutter,
            line.joint,
            [(segment.text.rstrip(), str(segment.style)) for segment in line.strip],
        )
        for piece in markdown.pieces()
        for line in piece.lines(canvas)
    ]


class Whole:
    """A markdown text that arrived at once, all its pieces together."""

    def __init__(self, text: str) -> None:
        self._markdown = set_in([text])

    def lines(self, canvas: Canvas) -> list[Line]:
        """The rows of all pieces."""
        return [line for piece in self._markdown.pieces() for line in piece.lines(canvas)]


def markdown_rows(text: str, width: int = 80) -> list[str]:
    """The rows of a markdown text that arrived at once."""
    return rows(Whole(text), width)


def cut_at(text: str, places: Sequence[int]) -> list[str]:
    """A text in pieces, cut at some places."""
    edges = [0, *sorted(min(place, len(text)) for place in places), len(text)]
    return [text[start:end] for start, end in pairwise(edges)]
