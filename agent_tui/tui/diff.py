"""A unified diff as lines: numbers, signs, and marks on the words that were replaced.

Below `SPLIT_CELLS` old and new lines stand below each other, from there on side by side.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import zip_longest
from typing import TYPE_CHECKING, Literal

from textual.style import Style

from agent_tui.core.text import printable
from agent_tui.tui.canvas import Canvas, Line, Run, cells_of, characters_of
from agent_tui.tui.wrap import clip, expand_tabs, width_of, wrap

if TYPE_CHECKING:
    from agent_tui.tui.status import Span

Kind = Literal["same", "add", "remove", "hunk", "note"]

_HUNK = re.compile(r"@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@ ?(.*)")
_WORD = re.compile(r"\w+|\s+|.")
_SIGNS: dict[Kind, str] = {"same": "  ", "add": "+ ", "remove": "- ", "hunk": "", "note": "  "}
_ROLES: dict[Kind, str] = {"add": "diff-add", "remove": "diff-remove"}
_LONGEST_MARKED = 400
"""Characters of a line in which words are still compared."""
_ALIKE = 0.4
"""Lines that have less than this in common are new lines, not changed ones."""
_PARTNERS = 0.6
"""What lines must have in common to stand together where more were added than removed, or less."""
_COMPARED_PAIRS = 400
_MARKED_PAIRS = 500
"""Further pairs of lines of one diff are not compared word by word."""
SPLIT_CELLS = 112
"""The room that two columns need: a terminal of more than 120 has it."""
_LEAST_NUMBERED = 24
"""Cells below which there are no line numbers: the text needs the room."""


@dataclass(slots=True)
class DiffLine:
    """One line of a diff."""

    kind: Kind
    number: int | None
    """Its place in the new file, of a removed line in the old one."""
    text: str
    old_number: int | None = None
    """The place in the old file of a line that stayed."""
    marks: list[tuple[int, int]] = field(default_factory=list)
    """The character ranges that differ from the line it replaces, or is replaced by."""


@lru_cache(maxsize=64)
def read_diff(unified: str) -> tuple[DiffLine, ...]:
    """The lines of a unified diff; what is no diff is kept as notes. File names are left out."""
    lines = [*_read(unified)]
    _mark_words(lines)
    return tuple(lines)


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
    for group in _groups(lines):
        if group[0].kind in ("same", "hunk", "note"):
            yield group[0], group[0]
            continue
        yield from _partners(group)
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


def _read(unified: str) -> Iterator[DiffLine]:
    old = new = None
    for raw in unified.removesuffix("\n").split("\n"):
        text = printable(raw)
        shown = expand_tabs(text[1:], 4)
        if hunk := _HUNK.match(text):
            old, new = int(hunk[1][:9]), int(hunk[2][:9])
            yield DiffLine("hunk", None, hunk[3])
        elif old is None or new is None:
            if not text.startswith(("--- ", "+++ ", "diff ", "index ")):
                yield DiffLine("note", None, expand_tabs(text, 4))
        elif text.startswith("+"):
            yield DiffLine("add", new, shown)
            new += 1
        elif text.startswith("-"):
            yield DiffLine("remove", old, shown)
            old += 1
        elif text.startswith("\\"):
            yield DiffLine("note", None, shown.strip())
        else:
            yield DiffLine("same", new, shown, old)
            old, new = old + 1, new + 1


def _mark_words(lines: Sequence[DiffLine]) -> None:
    """Mark what differs in lines that were changed into each other."""
    left = _MARKED_PAIRS
    for group in _groups(lines):
        for old, new in _partners(group):
            if old is not None and new is not None and left > 0:
                left -= 1
                _mark_pair(old, new)


def _partners(group: Sequence[DiffLine]) -> list[tuple[DiffLine | None, DiffLine | None]]:
    """The removed and added lines of a group, those together that belong together."""
    old = [line for line in group if line.kind == "remove"]
    new = [line for line in group if line.kind == "add"]
    if len(old) == len(new) or not old or not new or len(old) * len(new) > _COMPARED_PAIRS:
        return [*zip_longest(old, new)]
    matches = _matches(old, new)
    out: list[tuple[DiffLine | None, DiffLine | None]] = []
    i = j = 0
    for one, other in [*matches, (len(old), len(new))]:
        out += (_apart if matches else zip_longest)(old[i:one], new[j:other])
        if one < len(old):
            out.append((old[one], new[other]))
        i, j = one + 1, other + 1
    return out


def _apart(
    old: Sequence[DiffLine], new: Sequence[DiffLine]
) -> Iterator[tuple[DiffLine | None, DiffLine | None]]:
    yield from ((line, None) for line in old)
    yield from ((None, line) for line in new)


def _matches(old: Sequence[DiffLine], new: Sequence[DiffLine]) -> list[tuple[int, int]]:
    """The places of lines that were changed into each other, in order: those most alike."""
    # best[i][j] is the most likeness that the lines from i and j on can have together.
    best = [[0.0] * (len(new) + 1) for _ in range(len(old) + 1)]
    alike = [[_likeness(one, other) for other in new] for one in old]
    for i in range(len(old) - 1, -1, -1):
        for j in range(len(new) - 1, -1, -1):
            together = alike[i][j] + best[i + 1][j + 1] if alike[i][j] else 0.0
            best[i][j] = max(together, best[i + 1][j], best[i][j + 1])
    found: list[tuple[int, int]] = []
    i = j = 0
    while i < len(old) and j < len(new):
        if alike[i][j] and best[i][j] == alike[i][j] + best[i + 1][j + 1]:
            found.append((i, j))
            i, j = i + 1, j + 1
        elif best[i][j] == best[i + 1][j]:
            i += 1
        else:
            j += 1
    return found


def _likeness(old: DiffLine, new: DiffLine) -> float:
    """How much two lines have in common, 0 if they are not the same line changed."""
    if max(len(old.text), len(new.text)) > _LONGEST_MARKED:
        return 0.0
    matcher = SequenceMatcher(None, _WORD.findall(old.text), _WORD.findall(new.text), False)
    if matcher.quick_ratio() < _PARTNERS:
        return 0.0
    ratio = matcher.ratio()
    return ratio if ratio >= _PARTNERS else 0.0


def _groups(lines: Sequence[DiffLine]) -> Iterator[list[DiffLine]]:
    """Lines that were replaced together, with their notes; each other line by itself."""
    group: list[DiffLine] = []
    for line in lines:
        kinds = {known.kind for known in group}
        goes_on = line.kind in ("add", "note") if "add" in kinds else line.kind != "same"
        if group and not (kinds & {"add", "remove"} and goes_on and line.kind != "hunk"):
            yield group
            group = []
        group.append(line)
    if group:
        yield group


def _mark_pair(old: DiffLine, new: DiffLine) -> None:
    if max(len(old.text), len(new.text)) > _LONGEST_MARKED:
        return
    before, after = _WORD.findall(old.text), _WORD.findall(new.text)
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    if matcher.ratio() < _ALIKE:
        return
    for tag, old_start, old_end, new_start, new_end in matcher.get_opcodes():
        if tag != "equal":
            _mark(old, before, old_start, old_end)
            _mark(new, after, new_start, new_end)


def _mark(line: DiffLine, words: Sequence[str], start: int, end: int) -> None:
    if end > start:
        first = sum(map(len, words[:start]))
        line.marks.append((first, first + sum(map(len, words[start:end]))))
