"""Long texts for the viewer: known by their lines, read from disk where they are looked at.

A file of any size is opened at once: only where its blocks of lines begin is remembered, and that
is found out piece by piece. A line that is longer than a block is shown as several.
"""

from __future__ import annotations

import os
import re
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

from agent_tui.core.text import printable
from agent_tui.tui.ansi import LONGEST_LINE, carried_by, decode
from agent_tui.tui.canvas import PLAIN, Canvas, Line, Run
from agent_tui.tui.diff import diff_lines
from agent_tui.tui.wrap import wrap

BLOCK_BYTES = 64 * 1024
STEP_BYTES = 8 * 1024 * 1024
"""How much of a file is looked through at a time."""
_KEPT_BLOCKS = 16
_DIFF_LINES = 5_000
_SGR = re.compile(r"\x1b\[[\d;:]*m")


class LongText(Protocol):
    """What the viewer shows."""

    @property
    def lines(self) -> int:
        """How many lines are known of."""

    @property
    def stable(self) -> int:
        """The first so many lines are what they were before the last `extend`."""

    def extend(self) -> bool:
        """Look for more, a bounded piece at a time; whether there was any. Runs in a thread."""

    def rows(self, number: int, canvas: Canvas, *, wraps: bool) -> list[Line]:
        """The rows of a line, counted from 0: one, or as many as it takes when it `wraps`."""

    def line(self, number: int) -> str:
        """A line as a person sees it, from its beginning to its end."""

    def row_starts(self, number: int, width: int) -> Sequence[int]:
        """The character of the line that each of its rows begins with when it wraps."""

    def find(self, words: str, first: int, limit: int) -> tuple[list[int], int]:
        """Lines from `first` on that contain `words`, in any case, and how far was looked.

        Looks at about `limit` characters. Runs in a thread.
        """

    def tail(self, size: int) -> str:
        """The last `size` characters at most, without escape sequences, of whole lines."""


class PlainText:
    """A text in memory."""

    def __init__(self, text: str, *, at_words: bool = False) -> None:
        """`at_words`: prose, whose rows end between words; else only the width counts."""
        self._lines = [piece for line in _split(text) for piece in _pieces(line)]
        self._at_words = at_words

    @property
    def lines(self) -> int:
        """How many there are."""
        return len(self._lines)

    @property
    def stable(self) -> int:
        """All of them."""
        return len(self._lines)

    def extend(self) -> bool:
        """There is never more."""
        return False

    def rows(self, number: int, canvas: Canvas, *, wraps: bool) -> list[Line]:
        """The rows of a line."""
        earlier = "\n".join(self._lines[max(0, number - 50) : number])
        return _rows_of(self._lines[number], earlier, canvas, wraps, at_words=self._at_words)

    def line(self, number: int) -> str:
        """A line."""
        return plain(self._lines[number])

    def row_starts(self, number: int, width: int) -> Sequence[int]:
        """Where its rows begin."""
        return _row_starts(self.line(number), width, at_words=self._at_words)

    def find(self, words: str, first: int, limit: int) -> tuple[list[int], int]:
        """Lines with `words`."""
        return _found(self._lines[first:], words, first), len(self._lines)

    def tail(self, size: int) -> str:
        """The end of it."""
        return _tail_of(self._lines, size)


class LiveText:
    """A text that is asked for again each time, until there is a file with all of it."""

    def __init__(
        self,
        text: Callable[[], str],
        file: Callable[[], str | None] = lambda: None,
        *,
        at_words: bool = False,
    ) -> None:
        """`text` and `file` are asked in a thread; `at_words` as for `PlainText`."""
        self._text = text
        self._file = file
        self._at_words = at_words
        self._shown = text()
        self._now: PlainText | FileText = PlainText(self._shown, at_words=at_words)
        self._stable = 0

    @property
    def lines(self) -> int:
        """How many there are now."""
        return self._now.lines

    @property
    def stable(self) -> int:
        """None, as long as only the end is known."""
        return self._stable

    def extend(self) -> bool:
        """Take what has come since."""
        self._stable = 0
        if isinstance(self._now, FileText):
            has_grown = self._now.extend()
            self._stable = self._now.stable
            return has_grown
        if (path := self._file()) is not None:
            self._now = FileText(Path(path))
            self._now.extend()
            return True
        if (text := self._text()) == self._shown:
            return False
        self._shown, self._now = text, PlainText(text, at_words=self._at_words)
        return True

    def rows(self, number: int, canvas: Canvas, *, wraps: bool) -> list[Line]:
        """The rows of a line."""
        return self._now.rows(number, canvas, wraps=wraps)

    def line(self, number: int) -> str:
        """A line."""
        return self._now.line(number)

    def row_starts(self, number: int, width: int) -> Sequence[int]:
        """Where its rows begin."""
        return self._now.row_starts(number, width)

    def find(self, words: str, first: int, limit: int) -> tuple[list[int], int]:
        """Lines with `words`."""
        return self._now.find(words, first, limit)

    def tail(self, size: int) -> str:
        """The end of it."""
        return self._now.tail(size)


class _Index(NamedTuple):
    """Where blocks of whole lines begin, and the number of their first line."""

    starts: Sequence[int]
    firsts: Sequence[int]
    end: int
    """The byte up to which the file was looked through."""
    lines: int


class FileText:
    """A file, which may still grow. What cannot be read is empty."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._index = _Index((), (), 0, 0)
        self._stable = 0
        self._blocks: OrderedDict[tuple[int, int], list[str]] = OrderedDict()

    @property
    def lines(self) -> int:
        """How many are known of."""
        return self._index.lines

    @property
    def stable(self) -> int:
        """All but the last one that was known before."""
        return self._stable

    def extend(self) -> bool:
        """Look through the next part of the file."""
        old = self._index
        try:
            with self.path.open("rb") as stream:
                size = stream.seek(0, os.SEEK_END)
                if size == old.end:
                    return False
                if size < old.end:
                    old = _Index((), (), 0, 0)
                self._stable = max(0, old.lines - 1)
                self._index = _extended(old, stream.seek, stream.read)
        except OSError:
            return False
        return True

    def rows(self, number: int, canvas: Canvas, *, wraps: bool) -> list[Line]:
        """The rows of a line."""
        lines, place = self._lines_around(number)
        if place >= len(lines):
            return [canvas.blank()]
        earlier = "\n".join(lines[max(0, place - 50) : place])
        return _rows_of(lines[place], earlier, canvas, wraps)

    def line(self, number: int) -> str:
        """A line; empty if the file has changed meanwhile."""
        lines, place = self._lines_around(number)
        return plain(lines[place]) if place < len(lines) else ""

    def row_starts(self, number: int, width: int) -> Sequence[int]:
        """Where its rows begin."""
        return _row_starts(self.line(number), width)

    def find(self, words: str, first: int, limit: int) -> tuple[list[int], int]:
        """Lines with `words`."""
        index = self._index
        found: list[int] = []
        block = max(0, bisect_right(index.firsts, first) - 1)
        while block < len(index.starts) and limit > 0:
            lines = self._block(index, block, keep=False)
            start = index.firsts[block]
            found += [n for n in _found(lines, words, start) if n >= first]
            limit -= BLOCK_BYTES
            block += 1
        done = block >= len(index.starts)
        return found, index.lines if done else index.firsts[block]

    def tail(self, size: int) -> str:
        """The end of it."""
        index = self._index
        lines: list[str] = []
        block = len(index.starts)
        while block > 0 and sum(map(len, lines)) < size:
            block -= 1
            lines[:0] = self._block(index, block, keep=False)
        return _tail_of(lines, size)

    def _lines_around(self, number: int) -> tuple[list[str], int]:
        """The lines of the block with line `number`, and its place among them."""
        index = self._index
        block = bisect_right(index.firsts, number) - 1
        return self._block(index, block), number - index.firsts[block]

    def _block(self, index: _Index, number: int, *, keep: bool = True) -> list[str]:
        start = index.starts[number]
        is_last = number + 1 == len(index.starts)
        end = index.end if is_last else index.starts[number + 1]
        if (start, end) in self._blocks:
            return self._blocks[start, end]
        try:
            with self.path.open("rb") as stream:
                stream.seek(start)
                lines = _split(stream.read(end - start).decode("utf-8", "replace"))
        except OSError:
            return []
        if keep:
            self._blocks[start, end] = lines
            while len(self._blocks) > _KEPT_BLOCKS:
                self._blocks.popitem(last=False)
        return lines


class DiffText:
    """Diffs of files, each below its title."""

    def __init__(self, files: Sequence[tuple[str, str]]) -> None:
        """Titles and unified diffs."""
        self._files = files
        self._width = 0
        self._rows: list[Line] = []

    @property
    def lines(self) -> int:
        """How many rows there are; none before something was drawn."""
        return len(self._rows)

    @property
    def stable(self) -> int:
        """All of them."""
        return len(self._rows)

    def draw(self, canvas: Canvas) -> None:
        """Set it for a width."""
        self._width = canvas.width
        self._rows = []
        for title, diff in self._files:
            if title:
                if self._rows:
                    self._rows.append(canvas.blank())
                self._rows.append(canvas.decoration([canvas.run(title, "heading-3")]))
            self._rows += diff_lines(diff, canvas, limit=_DIFF_LINES)

    def extend(self) -> bool:
        """There is never more."""
        return False

    def rows(self, number: int, canvas: Canvas, *, wraps: bool) -> list[Line]:
        """The row of that number."""
        return [self._rows[number]]

    def line(self, number: int) -> str:
        """The row of that number."""
        return self._rows[number].text

    def row_starts(self, number: int, width: int) -> Sequence[int]:
        """Each line is one row."""
        return (0,)

    def find(self, words: str, first: int, limit: int) -> tuple[list[int], int]:
        """Rows with `words`."""
        return _found([row.text for row in self._rows[first:]], words, first), len(self._rows)

    def tail(self, size: int) -> str:
        """The diffs as they are."""
        return printable("\n".join(f"{title}\n{diff}" for title, diff in self._files))[-size:]


def plain(line: str) -> str:
    """What a person sees of a line."""
    if line.isprintable():
        return line
    return "".join(run.text for run in _runs_of(line, ""))


def _extended(old: _Index, seek: Callable[[int], int], read: Callable[[int], bytes]) -> _Index:
    """The index of `STEP_BYTES` more; the last block of before is looked at again."""
    starts, firsts = [*old.starts[:-1]], [*old.firsts[:-1]]
    position = old.starts[-1] if old.starts else 0
    line = old.firsts[-1] if old.firsts else 0
    seek(position)
    end, rest = position + STEP_BYTES, b""
    while position < end:
        block = rest + read(BLOCK_BYTES - len(rest))
        if not block:
            break
        is_last = len(block) < BLOCK_BYTES
        cut = len(block) if is_last else _cut_of(block)
        starts.append(position)
        firsts.append(line)
        line += block.count(b"\n", 0, cut) + (not block.endswith(b"\n", 0, cut))
        position += cut
        rest = block[cut:]
        if is_last:
            break
    return _Index(starts, firsts, position, line)


def _cut_of(block: bytes) -> int:
    """Where a full block ends: behind its last line, else between two characters."""
    cut = block.rfind(b"\n") + 1
    if cut:
        return cut
    cut = len(block)
    while cut > len(block) - 4 and block[cut - 1] & 0xC0 == 0x80:
        cut -= 1
    return cut - 1 if block[cut - 1] >= 0xC0 else len(block)


def _split(text: str) -> list[str]:
    return text.removesuffix("\n").split("\n")


def _pieces(line: str) -> Iterable[str]:
    """A line, or several of no more than a block."""
    if len(line) <= BLOCK_BYTES:
        return (line,)
    return (line[start : start + BLOCK_BYTES] for start in range(0, len(line), BLOCK_BYTES))


def _runs_of(line: str, earlier: str) -> list[Run]:
    """All of a line, in the colour that the lines before it left."""
    style = carried_by(earlier) if "\x1b" in earlier else PLAIN
    runs: list[Run] = []
    line = line.rstrip("\r").rpartition("\r")[2] if len(line) > LONGEST_LINE else line
    for start in range(0, max(1, len(line)), LONGEST_LINE):
        decoded = decode(line[start : start + LONGEST_LINE], style)
        runs += decoded.runs
        style = decoded.carried
    return runs


def _row_starts(line: str, width: int, *, at_words: bool = False) -> Sequence[int]:
    return [part.start for part in wrap(line, width, words=at_words)]


def _rows_of(
    line: str, earlier: str, canvas: Canvas, wraps: bool, *, at_words: bool = False
) -> list[Line]:
    runs = _runs_of(line, earlier)
    return canvas.lines(runs, words=at_words) if wraps else [canvas.row(runs)]


def _found(lines: Sequence[str], words: str, first: int) -> list[int]:
    # Decoding is dear: most blocks, and most lines of the others, are ruled out without it.
    wanted = words.lower()
    text = "\n".join(lines).lower()
    if "\x1b" in text:
        text = _SGR.sub("", text)
    if wanted not in text:
        return []
    cheap = zip(text.split("\n"), lines, strict=True)
    return [
        first + n
        for n, (lower, line) in enumerate(cheap)
        if wanted in lower and wanted in plain(line).lower()
    ]


def _tail_of(lines: Iterable[str], size: int) -> str:
    text = "\n".join(map(plain, lines))
    if len(text) <= size:
        return text
    return text[text.find("\n", len(text) - size) + 1 :]
