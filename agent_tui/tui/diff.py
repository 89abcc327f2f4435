"""A unified diff as rows: numbers, signs, and marks on the words that were replaced.

Below `SPLIT_CELLS` old and new lines stand below each other, from there on side by side.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from textual.style import Style

from agent_tui.tui.canvas import Canvas, Line, Run, cells_of, characters_of
from agent_tui.tui.diff_reading import DiffLine, Kind, groups, partners, read_diff
from agent_tui.tui.wrap import clip, width_of, wrap

if TYPE_CHECKING:
    from agent_tui.tui.status import Span

_SIGNS: dict[Kind, str] = {"same": "  ", "add": "+ ", "remove": "- ", "hunk": "", "note": "  "}
_ROLES: dict[Kind, str] = {"add": "diff-add", "remove": "diff-remove"}
SPLIT_CELLS = 112
"""The room that two columns need: a terminal of more than 120 has it."""
_LEAST_NUMBERED = 24
"""Cells below which there are no line numbers: the text needs the room."""


def diff_lines(
    unified: str, canvas: Canvas, *, lead: Sequence[Run] = (), limit: int | None = None
) -> list[Line]:
    """The rows of a unified diff, at most its first `limit` lines; `lead` begins each row."""
    lines = read_diff(unified)
    if _is_split(lines, canvas.room - cells_of(lead)):
        return _split_lines(lines, canvas, lead, limit)
    digits = _digits(lines)
    out: list[Line] = []
    for line in lines[:limit]:
        if line.kind == "hunk":
            if out:
                out.append(
                    canvas.decoration([*lead, canvas.run(" " * digits + "⋯", "diff-number")])
                )
            continue
        out += _rows(line, canvas, digits, lead)
    if limit is not None and len(lines) > limit:
        out.append(canvas.decoration([*lead, canvas.run(_rest(len(lines) - limit), "quiet")]))
    return out


@lru_cache(maxsize=8)
def diff_spans(unified: str, width: int, limit: int) -> tuple[list[Span], ...]:
    """The same as spans, for widgets that are no canvas: each row at most `width` cells."""
    lines = read_diff(unified)
    shown, digits = lines[:limit], _digits(lines)
    if _is_split(lines, width):
        rows = [row for _, row in _side_by_side(shown, width, digits)]
    else:
        rows = []
        for line in shown:
            if line.kind != "hunk":
                rows += _cell(line, width, digits)
            elif rows:
                rows.append([(" " * digits + "⋯", "diff-number")])
    if len(lines) > limit:
        rows.append([(clip(_rest(len(lines) - limit), width), "warning")])
    return tuple(rows)


def _is_split(lines: Sequence[DiffLine], width: int) -> bool:
    """Whether there is room for two columns, and something for each of them."""
    return width >= SPLIT_CELLS and {line.kind for line in lines} >= {"add", "remove"}


def _rest(count: int) -> str:
    return f"… {count:,} more lines"


def _digits(lines: Sequence[DiffLine]) -> int:
    return max((len(str(line.number or "")) for line in lines), default=0)


def _split_lines(
    lines: Sequence[DiffLine], canvas: Canvas, lead: Sequence[Run], limit: int | None
) -> list[Line]:
    width, digits = canvas.room - cells_of(lead), _digits(lines)
    out: list[Line] = []
    for gutter, row in _side_by_side(lines[:limit], width, digits):
        runs = [Run(text, _on_its_row(role, canvas)) for text, role in row]
        line = canvas.row([*lead, *runs])
        out.append(line._replace(gutter=line.gutter + characters_of(lead) + gutter))
    if limit is not None and len(lines) > limit:
        out.append(canvas.decoration([*lead, canvas.run(_rest(len(lines) - limit), "quiet")]))
    return out


def _on_its_row(role: str, canvas: Canvas) -> Style:
    """The style of a role, on the tint of the line it stands in."""
    row = role.removesuffix("-sign").removesuffix("-word")
    # Tints are mixed with what is below them: they need the opaque colours of the canvas first.
    on_row = canvas.base + canvas.style(row)
    return on_row + canvas.style(role) if row != role else on_row


def _side_by_side(
    lines: Sequence[DiffLine], width: int, digits: int
) -> Iterator[tuple[int, list[Span]]]:
    """Rows of two columns, each with the number of its first characters that are no text."""
    column = (width - 3) // 2
    is_first = True
    for old, new in _pairs(lines):
        if old is not None and old.kind == "hunk":
            if not is_first:
                yield digits + 1, [(" " * digits + "⋯", "diff-number")]
            continue
        is_first = False
        is_changed = old is not None and new is not None and old.kind != new.kind
        left, right = _cell(old, column, digits, is_old=True), _cell(new, column, digits)
        for n in range(max(len(left), len(right))):
            one = left[n] if n < len(left) else _padding(old, column)
            two = right[n] if n < len(right) else _padding(new, column)
            bar = (" ¦ " if is_changed else " │ ", "diff-number")
            yield digits + 3, [*one, bar, *two]


def _pairs(lines: Sequence[DiffLine]) -> Iterator[tuple[DiffLine | None, DiffLine | None]]:
    """What stands on the left and on the right."""
    for group in groups(lines):
        if group[0].kind in ("same", "hunk", "note"):
            yield group[0], group[0]
            continue
        yield from partners(group)
        note = next((line for line in group if line.kind == "note"), None)
        if note is not None:
            ends = group.index(note) > 0 and group[group.index(note) - 1].kind == "remove"
            yield (note, None) if ends else (None, note)


def _cell(
    line: DiffLine | None, width: int, digits: int, *, is_old: bool = False
) -> list[list[Span]]:
    """One line in a column, wrapped; each row is filled up to the right edge."""
    if line is None:
        return []
    role = _ROLES.get(line.kind, "diff-same")
    number = line.old_number if is_old and line.old_number else line.number
    shown = f"{number or '':>{digits}} " if width >= _LEAST_NUMBERED else ""
    sign = _SIGNS[line.kind]
    room = max(1, width - len(shown) - len(sign))
    rows: list[list[Span]] = []
    for part in wrap(line.text, room, words=False):
        head = [(shown, "diff-number"), (sign, f"{role}-sign")]
        if rows:
            head = [(" " * (len(shown) + len(sign)), role)]
        blanks = " " * (room - width_of(line.text[part.start : part.end]))
        rows.append([*head, *_marked(line, part.start, part.end, role), (blanks, role)])
    return rows


def _padding(line: DiffLine | None, width: int) -> list[Span]:
    return [(" " * width, "" if line is None else _ROLES.get(line.kind, "diff-same"))]


def _marked(line: DiffLine, start: int, end: int, role: str) -> Iterator[Span]:
    """The characters `start` to `end` of a line, its marked words apart."""
    for first, last in line.marks:
        first, last = max(first, start), min(last, end)
        if first < last:
            yield line.text[start:first], role
            yield line.text[first:last], f"{role}-word"
            start = last
    yield line.text[start:end], role


def _rows(line: DiffLine, canvas: Canvas, digits: int, lead: Sequence[Run]) -> list[Line]:
    role = _ROLES.get(line.kind, "diff-same")
    number = str(line.number or "").rjust(digits) + " "
    outside = [Run(text, canvas.base + style) for text, style in lead]
    gutter = [canvas.run(number, "diff-number"), canvas.run(_SIGNS[line.kind], f"{role}-sign")]
    blank = Run(" " * sum(len(run.text) for run in gutter))
    marked = canvas.style(f"{role}-word")
    runs: list[Run] = []
    position = 0
    for start, end in line.marks:
        runs += [Run(line.text[position:start]), Run(line.text[start:end], marked)]
        position = end
    runs.append(Run(line.text[position:]))
    return canvas.lines(runs, role, lead=[*outside, *gutter], rest=[*outside, blank], words=False)
