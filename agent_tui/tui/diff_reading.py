"""The lines of a unified diff: their numbers, and which lines and words were changed into which."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import zip_longest
from typing import Literal

from agent_tui.core.text import printable
from agent_tui.tui.wrap import expand_tabs

Kind = Literal["same", "add", "remove", "hunk", "note"]

_HUNK = re.compile(r"@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@ ?(.*)")
_WORD = re.compile(r"\w+|\s+|.")
_LONGEST_MARKED = 400
"""Characters of a line in which words are still compared."""
_ALIKE = 0.4
"""Lines that have less than this in common are new lines, not changed ones."""
_PARTNERS = 0.6
"""What lines must have in common to stand together where more were added than removed, or less."""
_COMPARED_PAIRS = 400
_MARKED_PAIRS = 500
"""Further pairs of lines of one diff are not compared word by word."""


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


def groups(lines: Sequence[DiffLine]) -> Iterator[list[DiffLine]]:
    """Lines that were replaced together, with their notes; each other line by itself."""
    group: list[DiffLine] = []
    kinds: set[Kind] = set()
    for line in lines:
        goes_on = line.kind in ("add", "note") if "add" in kinds else line.kind != "same"
        if group and not (kinds & {"add", "remove"} and goes_on and line.kind != "hunk"):
            yield group
            group, kinds = [], set()
        group.append(line)
        kinds.add(line.kind)
    if group:
        yield group


def partners(group: Sequence[DiffLine]) -> list[tuple[DiffLine | None, DiffLine | None]]:
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
    for group in groups(lines):
        for old, new in partners(group):
            if old is not None and new is not None and left > 0:
                left -= 1
                _mark_pair(old, new)


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
