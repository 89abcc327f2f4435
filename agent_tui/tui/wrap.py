"""Where text breaks when it meets the right edge. Widths are cells, never characters."""

from __future__ import annotations

import re
from typing import NamedTuple

from rich.cells import cell_len, split_graphemes

_NOT_NARROW = re.compile(
    "[^ -~\u00a1-\u00ac\u00ae-\u02ff\u0370-\u0377\u0384-\u0482\u2010-\u2027\u2030-\u205e"
    "\u20a0-\u20c0\u2100-\u218b\u2190-\u2319\u2500-\u25fc]"
)
"""Anything that may not be exactly one cell wide. Measuring text without it is `len`."""


class Part(NamedTuple):
    """One row of a wrapped text."""

    start: int
    end: int
    """Characters `start` to `end` are shown in this row."""
    joint: str
    """What stood between this row and the next one: blanks, or nothing inside a word."""


def is_narrow(text: str) -> bool:
    """Whether every character is one cell wide, so that cells are characters."""
    return _NOT_NARROW.search(text) is None


def width_of(text: str) -> int:
    """The cells that `text` takes in a terminal."""
    return len(text) if is_narrow(text) else cell_len(text)


def wrap(text: str, width: int, *, words: bool = True) -> list[Part]:
    """The rows of one logical line; at least one.

    Breaks at blanks, around wide characters, and inside a word that is longer than a row. With
    `words` False only the width counts, and blanks at a break are kept. A character that is wider
    than `width` gets a row of its own.
    """
    if is_narrow(text):
        return [Part(0, len(text), "")] if len(text) <= width else _narrow(text, width, words)
    if len(text) * 2 <= width or cell_len(text) <= width:
        return [Part(0, len(text), "")]
    return _wide(text, width, words)


def clip(text: str, width: int, mark: str = "…") -> str:
    """`text` cut to at most `width` cells, ending in `mark` if something was cut."""
    if width_of(text) <= width:
        return text
    room = width - width_of(mark)
    if room < 0:
        return ""
    used = 0
    for start, _, cells in split_graphemes(text)[0]:
        if used + cells > room:
            return text[:start] + mark
        used += cells
    return text


def clip_start(text: str, width: int, mark: str = "…") -> str:
    """Like `clip`, but the end stays: what matters of a path stands at its end."""
    if width_of(text) <= width:
        return text
    room = width - width_of(mark)
    if room < 0:
        return ""
    used = 0
    for _, end, cells in reversed(split_graphemes(text)[0]):
        if used + cells > room:
            return mark + text[end:]
        used += cells
    return text


def expand_tabs(text: str, stop: int = 8, column: int = 0) -> str:
    """`text` with blanks up to the next multiple of `stop` in place of each tab.

    `column` is where the text begins.
    """
    if "\t" not in text:
        return text
    first, *others = text.split("\t")
    out = [first]
    column += width_of(first)
    for part in others:
        gap = stop - column % stop
        out.append(" " * gap + part)
        column += gap + width_of(part)
    return "".join(out)


def _narrow(text: str, width: int, words: bool) -> list[Part]:
    parts: list[Part] = []
    start, length = 0, len(text)
    while length - start > width:
        end = resume = start + width
        if words:
            blank = text.rfind(" ", start, end + 1)
            if blank > start and (shown := text[start:blank].rstrip()):
                end, resume = start + len(shown), blank
                while resume < length and text[resume] == " ":
                    resume += 1
        parts.append(Part(start, end, text[end:resume]))
        start = resume
    if start < length:
        parts.append(Part(start, length, ""))
    return parts


def _wide(text: str, width: int, words: bool) -> list[Part]:
    spans = split_graphemes(text)[0]
    parts: list[Part] = []
    first = index = used = 0
    chance = 0
    while index < len(spans):
        start, end, cells = spans[index]
        is_blank = words and text[start:end] == " "
        if used + cells > width and index > first and not is_blank:
            index = chance if words and chance > first else index
            parts.append(_part(text, spans[first][0], spans[index][0], words))
            first, used = index, 0
            continue
        if words and cells == 2 and used:
            chance = index
        used += cells
        index += 1
        if is_blank or (words and cells == 2):
            chance = index
    parts.append(Part(spans[first][0], len(text), ""))
    return parts


def _part(text: str, start: int, end: int, words: bool) -> Part:
    shown = text[start:end].rstrip(" ") if words else text[start:end]
    if not shown:
        return Part(start, end, "")
    return Part(start, start + len(shown), text[start + len(shown) : end])
