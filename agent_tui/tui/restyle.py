"""Rows whose style changes between two characters, and that know the place of each.

A row is cut at characters here, never at cells: what several characters draw together, such as an
emoji of a family, is split in the wrong place otherwise, and text behind it is lost.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from rich.cells import split_graphemes
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from agent_tui.tui.wrap import is_narrow, width_of


def restyled(strip: Strip, spans: Sequence[tuple[int, int]], style: Style) -> Strip:
    """`strip` with `style` on the characters of some spans, in order, widened to whole ones."""
    whole = [*_whole(strip.text, spans)]
    segments: list[Segment] = []
    position = 0
    for text, own, _ in strip:
        end, done = position + len(text), position
        for first, last in whole:
            start, stop = max(first, done), min(last, end)
            if start < stop:
                segments.append(Segment(text[done - position : start - position], own))
                shown = text[start - position : stop - position]
                segments.append(Segment(shown, (own or Style()) + style))
                done = stop
        segments.append(Segment(text[done - position :], own))
        position = end
    return Strip([segment for segment in segments if segment.text], strip.cell_length)


def without_start(strip: Strip, cells: int) -> tuple[Strip, int]:
    """What is right of the first `cells` of a row, and how many characters are left of it.

    A wide character that is cut in two is a blank.
    """
    segments = [*strip]
    gone = 0
    for number, (text, style, _) in enumerate(segments):
        width = width_of(text)
        if width > cells:
            end, used = _end_of(text, cells)
            rest = Segment(" " * (used - cells) + text[end:], style)
            return Strip([rest, *segments[number + 1 :]]), gone + end
        cells -= width
        gone += len(text)
    return Strip([]), gone


def _end_of(text: str, cells: int) -> tuple[int, int]:
    """Where the characters end that are in the first `cells`, and the cells they take."""
    if is_narrow(text):
        return cells, cells
    last = used = 0
    for _, end, width in split_graphemes(text)[0]:
        if used >= cells:
            break
        last, used = end, used + width
    return last, used


def with_offsets(strip: Strip, x: int, y: int) -> Strip:
    """`strip` for selecting with the mouse: it begins with character `x` of line `y`."""
    segments = (Segment(part, style) for text, style, _ in strip for part in _parts(text))
    return Strip(segments, strip.cell_length).apply_offsets(x, y)


def _whole(text: str, spans: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    if is_narrow(text):
        yield from spans
        return
    graphemes = split_graphemes(text)[0]
    for first, last in spans:
        touched = [(start, end) for start, end, _ in graphemes if start < last and end > first]
        if touched:
            yield touched[0][0], touched[-1][1]


def _parts(text: str) -> Iterable[str]:
    """A text in parts in which each character has the cells that it seems to have by itself."""
    if is_narrow(text):
        return (text,)
    parts: list[str] = []
    done = 0
    for start, end, _ in split_graphemes(text)[0]:
        if end - start > 1:
            parts += (text[done:start], text[start:end])
            done = end
    return [part for part in (*parts, text[done:]) if part]
