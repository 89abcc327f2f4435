"""What a change does to a file, as a unified diff.

Lines that are equal at both ends are set aside first, so that a small edit of a large file is
cheap; what is left is compared line by line, or shown as replaced when it is too much for that.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from agent_tui.core.text import without_surrogates

CONTEXT_LINES = 3
COMPARED_LINES = 6000
"""More lines than this in the changed region are not matched with each other."""
SHOWN_CHARACTERS = 200_000

Opcode = tuple[str, int, int, int, int]


@dataclass(frozen=True, slots=True)
class Diff:
    """A unified diff and its size in lines."""

    text: str
    """Empty if nothing changes."""
    added: int
    removed: int

    def bounded(self, limit: int = SHOWN_CHARACTERS) -> str:
        """The text, at most `limit` characters of whole lines; its last line tells of a cut."""
        if len(self.text) <= limit:
            return self.text
        kept = self.text[: self.text.rfind("\n", 0, limit) + 1]
        left_out = self.text.count("\n") - kept.count("\n")
        return f"{kept}… {left_out} more lines of the diff are not shown\n"


def unified(before: str, after: str, path: str, *, is_new: bool = False) -> Diff:
    """The diff that turns `before` into `after`; `path` stands in its header."""
    old, new = _split(before), _split(after)
    hunks: list[str] = []
    added = removed = 0
    for group in _grouped(list(_opcodes(old, new))):
        hunks.append(_hunk_header(group))
        for tag, i1, i2, j1, j2 in group:
            if tag == "equal":
                hunks += [_line(" ", line) for line in old[i1:i2]]
                continue
            removed += i2 - i1
            added += j2 - j1
            hunks += [_line("-", line) for line in old[i1:i2]]
            hunks += [_line("+", line) for line in new[j1:j2]]
    if not hunks:
        return Diff("", 0, 0)
    header = f"--- {'/dev/null' if is_new else f'a/{path}'}\n+++ b/{path}\n"
    return Diff(without_surrogates(header + "".join(hunks)), added, removed)


def _split(text: str) -> list[str]:
    """Lines with their newlines; only a newline ends a line."""
    lines = text.split("\n")
    last = lines.pop()
    return [f"{line}\n" for line in lines] + ([last] if last else [])


def _line(mark: str, line: str) -> str:
    return (
        f"{mark}{line}" if line.endswith("\n") else f"{mark}{line}\n\\ No newline at end of file\n"
    )


def _opcodes(old: Sequence[str], new: Sequence[str]) -> Iterator[Opcode]:
    shortest = min(len(old), len(new))
    start = 0
    while start < shortest and old[start] == new[start]:
        start += 1
    end = 0
    while end < shortest - start and old[-1 - end] == new[-1 - end]:
        end += 1
    a, b = old[start : len(old) - end], new[start : len(new) - end]
    if start:
        yield "equal", 0, start, 0, start
    if len(a) + len(b) > COMPARED_LINES:
        yield "replace", start, start + len(a), start, start + len(b)
    elif a or b:
        for tag, i1, i2, j1, j2 in SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
            yield tag, i1 + start, i2 + start, j1 + start, j2 + start
    if end:
        yield "equal", len(old) - end, len(old), len(new) - end, len(new)


def _grouped(opcodes: list[Opcode]) -> Iterator[list[Opcode]]:
    """Changes with the context around them; changes whose contexts touch share a hunk."""
    group: list[Opcode] = []
    for place, (tag, i1, i2, j1, j2) in enumerate(opcodes):
        if tag != "equal":
            group.append((tag, i1, i2, j1, j2))
            continue
        is_last = place == len(opcodes) - 1
        if group and (is_last or i2 - i1 > 2 * CONTEXT_LINES):
            size = min(CONTEXT_LINES, i2 - i1)
            yield [*group, (tag, i1, i1 + size, j1, j1 + size)]
            group = []
        if not is_last:
            size = i2 - i1 if group else min(CONTEXT_LINES, i2 - i1)
            group.append((tag, i2 - size, i2, j2 - size, j2))
    if any(tag != "equal" for tag, *_ in group):
        yield group


def _hunk_header(group: list[Opcode]) -> str:
    old = _span(group[0][1], group[-1][2])
    new = _span(group[0][3], group[-1][4])
    return f"@@ -{old} +{new} @@\n"


def _span(start: int, end: int) -> str:
    size = end - start
    first = start + 1 if size else start
    return f"{first}" if size == 1 else f"{first},{size}"
