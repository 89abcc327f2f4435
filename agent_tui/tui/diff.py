"""A unified diff as lines: numbers, signs, and marks on the words that were replaced."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from functools import lru_cache
from typing import Literal

from agent_tui.core.text import printable
from agent_tui.tui.canvas import Canvas, Line, Run
from agent_tui.tui.wrap import expand_tabs

Kind = Literal["same", "add", "remove", "hunk", "note"]

_HUNK = re.compile(r"@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@ ?(.*)")
_WORD = re.compile(r"\w+|\s+|.")
_SIGNS: dict[Kind, str] = {"same": "  ", "add": "+ ", "remove": "- ", "hunk": "", "note": "  "}
_LONGEST_MARKED = 400
"""Characters of a line in which words are still compared."""
_ALIKE = 0.4
"""Lines that have less than this in common are new lines, not changed ones."""


@dataclass(slots=True)
class DiffLine:
    """One line of a diff."""

    kind: Kind
    number: int | None
    """Its place in the new file, of a removed line in the old one."""
    text: str
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
    digits = max((len(str(line.number or "")) for line in lines), default=0)
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
        rest = f"… {len(lines) - limit:,} more lines"
        out.append(canvas.decoration([*lead, canvas.run(rest, "quiet")]))
    return out


def _rows(line: DiffLine, canvas: Canvas, digits: int, lead: Sequence[Run]) -> list[Line]:
    role = {"add": "diff-add", "remove": "diff-remove"}.get(line.kind, "diff-same")
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
            yield DiffLine("same", new, shown)
            old, new = old + 1, new + 1


def _mark_words(lines: Sequence[DiffLine]) -> None:
    """Mark what differs where as many lines were added as were removed."""
    start = 0
    while start < len(lines):
        middle = _end_of(lines, start, "remove")
        end = _end_of(lines, middle, "add")
        if middle - start == end - middle > 0:
            for old, new in zip(lines[start:middle], lines[middle:end], strict=True):
                _mark_pair(old, new)
        start = max(end, start + 1)


def _end_of(lines: Sequence[DiffLine], start: int, kind: Kind) -> int:
    while start < len(lines) and lines[start].kind == kind:
        start += 1
    return start


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
