"""What programs print, made showable: colours stay, everything that moves or commands is dropped.

Output is kept as the program printed it. Only lines that are drawn are decoded, since a coloured
line costs some ten microseconds and a program can print ten thousand of them in a second.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from rich.color import Color as RichColor
from textual.color import Color
from textual.style import Style

from agent_tui.core.text import printable, with_colours_only
from agent_tui.tui.canvas import PLAIN, Run
from agent_tui.tui.wrap import expand_tabs, width_of

LONGEST_LINE = 4_000
"""Characters of one line that are shown; the rest is left out with a mark."""
_CARRY_WINDOW = 8_000
"""Characters before a line that are searched for the colour it begins in."""

_SGR = re.compile(r"\x1b\[([\d;:]*)m")
_RESET = re.compile(r"\x1b\[0*m")
_FLAGS: dict[int, Style] = {
    1: Style(bold=True),
    2: Style(dim=True),
    3: Style(italic=True),
    4: Style(underline=True),
    7: Style(reverse=True),
    9: Style(strike=True),
    21: Style(underline2=True),
    22: Style(bold=False, dim=False),
    23: Style(italic=False),
    24: Style(underline=False, underline2=False),
    27: Style(reverse=False),
    29: Style(strike=False),
}
"""Blinking (5, 6) and hiding (8) are left out on purpose."""


class Decoded(NamedTuple):
    """One line of output, ready to be drawn, and the style in which the next one begins."""

    runs: tuple[Run, ...]
    carried: Style


@lru_cache(maxsize=2_048)
def decode(line: str, carried: Style = PLAIN) -> Decoded:
    """One line of output without its newline.

    Progress that rewrites its line with carriage returns is shown in its last state, backspaces
    take back what they follow, and tabs move to multiples of 8.
    """
    earlier, _, shown = line.rstrip("\r").rpartition("\r")
    left_out = len(shown) - LONGEST_LINE
    text = with_colours_only(shown[:LONGEST_LINE])
    if "\b" in text:
        text = _without_backspaces(text)
    style = _after(with_colours_only(earlier[-LONGEST_LINE:]), carried)
    runs: list[Run] = []
    column = position = 0
    for sgr in _SGR.finditer(text):
        column = _add(runs, text[position : sgr.start()], style, column)
        style = _apply(style, sgr[1])
        position = sgr.end()
    _add(runs, text[position:], style, column)
    if left_out > 0:
        runs.append(Run(f"… {left_out:,} more characters"))
    return Decoded(tuple(runs), style)


def carried_by(text: str) -> Style:
    """The style that is in force after `text`: what the line after it begins with."""
    end = text[-_CARRY_WINDOW:]
    if "\x1b" not in end:
        return PLAIN
    start = 0
    for reset in _RESET.finditer(end):
        start = reset.end()
    return _after(end[start:], PLAIN)


def plain_line(text: str) -> str:
    """`text` without any escape sequence or colour, every run of white space one blank."""
    return " ".join(printable(text.replace("\r", " ")).split())


def _add(runs: list[Run], text: str, style: Style, column: int) -> int:
    if not text:
        return column
    text = expand_tabs(text.replace("\r", ""), 8, column)
    runs.append(Run(text, style))
    return column + width_of(text)


def _after(text: str, style: Style) -> Style:
    for codes in _SGR.findall(text):
        style = _apply(style, codes)
    return style


def _without_backspaces(text: str) -> str:
    kept: list[str] = []
    for part in re.split(r"(\x1b\[[\d;:]*m)", text):
        if part.startswith("\x1b"):
            kept.append(part)
            continue
        for character in part:
            if character != "\b":
                kept.append(character)
            elif kept and not kept[-1].startswith("\x1b"):
                kept.pop()
    return "".join(kept)


@lru_cache(maxsize=512)
def _apply(style: Style, codes: str) -> Style:
    """`style` after one SGR sequence; what it cannot mean is ignored."""
    numbers = [code.split(":") for code in codes.split(";")]
    while numbers:
        head, *details = numbers.pop(0)
        code = _number(head)
        if code in (38, 48):
            color = _extended(details or _take(numbers))
            if color is not None:
                style += Style(foreground=color) if code == 38 else Style(background=color)
        elif code == 0:
            style = PLAIN
        elif code == 4 and details[:1] == ["0"]:
            style += _FLAGS[24]
        elif code in _FLAGS:
            style += _FLAGS[code]
        elif code == 39:
            style = _without(style, foreground=True)
        elif code == 49:
            style = _without(style, foreground=False)
        elif 30 <= code <= 37 or 90 <= code <= 97:
            style += Style(foreground=_named(code % 10 + (8 if code >= 90 else 0)))
        elif 40 <= code <= 47 or 100 <= code <= 107:
            style += Style(background=_named(code % 10 + (8 if code >= 100 else 0)))
    return style


def _take(numbers: list[list[str]]) -> list[str]:
    """The parameters of a colour in the form `38;5;n` or `38;2;r;g;b`, taken from `numbers`."""
    count = {"5": 2, "2": 4}.get(numbers[0][0], 0) if numbers else 0
    taken = [number[0] for number in numbers[:count]]
    del numbers[:count]
    return taken


def _extended(details: list[str]) -> Color | None:
    values = [_number(detail) for detail in details[1:]]
    if details[:1] == ["5"] and values:
        if values[0] > 255:
            return None
        return _named(values[0]) if values[0] < 16 else _indexed(values[0])
    if details[:1] == ["2"] and len(values) >= 3:
        # `38:2::r:g:b` names a colour space before the three parts.
        red, green, blue = (min(value, 255) for value in values[-3:])
        return Color(red, green, blue)
    return None


def _number(digits: str) -> int:
    # Four digits say more than any code means; int() refuses thousands of them.
    return int(digits[:4] or 0)


def _named(number: int) -> Color:
    """One of the terminal's own 16 colours; the theme decides how it looks."""
    return Color(0, 0, 0, ansi=number)


def _indexed(number: int) -> Color:
    return Color(*RichColor.from_ansi(number).get_truecolor())


def _without(style: Style, *, foreground: bool) -> Style:
    return Style(
        background=style.background if foreground else None,
        foreground=None if foreground else style.foreground,
        bold=style.bold,
        dim=style.dim,
        italic=style.italic,
        underline=style.underline,
        underline2=style.underline2,
        reverse=style.reverse,
        strike=style.strike,
    )
