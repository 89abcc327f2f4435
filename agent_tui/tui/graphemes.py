"""Where the characters that a person sees begin and end.

A cursor may stand only at these places: between an emoji and what belongs to it there is none.
"""

from __future__ import annotations

import unicodedata
from bisect import bisect_left, bisect_right
from functools import lru_cache

from rich.cells import get_character_cell_size, split_graphemes

_JOINER = "\u200d"
_FLAG_LETTERS = range(0x1F1E6, 0x1F200)


@lru_cache(maxsize=64)
def boundaries(line: str) -> tuple[int, ...]:
    """The offsets between the visible characters of `line`, 0 and its length included.

    Accents, variation selectors, joined emoji, skin tones and flags belong to one character.
    """
    if line.isascii():
        return tuple(range(len(line) + 1))
    found = [0]
    flag_letters = 0
    for start, end, _ in split_graphemes(line)[0]:
        is_flag_letter = ord(line[start]) in _FLAG_LETTERS
        flag_letters = flag_letters + 1 if is_flag_letter else 0
        if is_flag_letter and flag_letters % 2 == 0:
            found.pop()
        found += [at for at in range(start + 1, end) if _parts_at(line, at)]
        found.append(end)
    return tuple(found)


def _parts_at(line: str, at: int) -> bool:
    """Whether what Rich takes for one character is two: a joiner joins pictures only."""
    return line[at - 1] == _JOINER and not _is_picture(line[at]) and _is_visible(line[at])


def _is_picture(character: str) -> bool:
    return ord(character) >= 0x1F000 or unicodedata.category(character) == "So"


def _is_visible(character: str) -> bool:
    return get_character_cell_size(character) > 0


def before(stops: tuple[int, ...], column: int) -> int:
    """The last of `stops` left of `column`; 0 when there is none."""
    return stops[max(bisect_left(stops, column) - 1, 0)]


def after(stops: tuple[int, ...], column: int) -> int:
    """The first of `stops` right of `column`; the last one when there is none."""
    return stops[min(bisect_right(stops, column), len(stops) - 1)]


def at_or_before(stops: tuple[int, ...], column: int) -> int:
    """`column` itself when it is one of `stops`, else the one left of it."""
    return stops[max(bisect_right(stops, column) - 1, 0)]


def at_or_after(stops: tuple[int, ...], column: int) -> int:
    """`column` itself when it is one of `stops`, else the one right of it."""
    return stops[min(bisect_left(stops, column), len(stops) - 1)]
