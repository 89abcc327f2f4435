"""Where a growing markdown text can be cut, so that what is above never changes again.

Only whole lines decide, and decisions look at a window of fixed size from where the rest begins:
the cuts are then the same however the text arrived. A cut inside a list, a table or a code block
leaves a stub, a few lines that open again what is open at that place.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from agent_tui.tui.canvas import plain_canvas
from agent_tui.tui.highlight import chunk_length
from agent_tui.tui.typeset import (
    JOIN,
    TABLE_SAMPLE,
    Context,
    kind_of,
    parse,
    parse_blocks,
    table_shape,
)

if TYPE_CHECKING:
    from markdown_it.token import Token

WINDOW = 4_000
"""Characters that are looked at together; a paragraph longer than this is cut."""
_WORTH_A_STUB = 1_000
"""Characters below which a single block is rather drawn anew than cut inside."""
_ROWS_AT_ONCE = 8
"""Rows of a long table, or lines of indented code, that are drawn anew rather than cut off."""

_MARKER = re.compile(r"[ >]*(?:[-+*]|\d{1,9}[.)])")
_ONE_BLANK = re.compile(r"(?: [^ ]|\s*$)")


class Cut(NamedTuple):
    """A place between two lines where the text above is final."""

    line: int
    """How many lines are above."""
    context: Context
    """How the text below has to be drawn."""
    stub: Sequence[str] = ()
    """Lines to put before the text below."""
    goes_on: bool = False
    """The table above is continued below."""
    quotes: int = 0
    """How many quotes the line below has to open by itself."""


def find_cut(lines: Sequence[str], stub: int, context: Context) -> Cut | None:
    """The next cut of a text given as whole lines; None when all of it may still change.

    The first `stub` lines are those that an earlier cut has put there.
    """
    size, grown = WINDOW, False
    while lines:
        count = _count_up_to(lines, size)
        cut = _cut_in(lines[:count], stub, context, grown)
        if cut and cut.quotes and not _opens_quotes(lines[cut.line :][:1], cut.quotes):
            return None
        if cut or count == len(lines):
            return cut
        size, grown = size * 2, True
    return None


def _count_up_to(lines: Sequence[str], size: int) -> int:
    """How many lines it takes to reach `size` characters, or all of them."""
    total = 0
    for index, line in enumerate(lines):
        total += len(line) + 1
        if total >= size:
            return index + 1
    return len(lines)


def _cut_in(lines: Sequence[str], stub: int, context: Context, grown: bool) -> Cut | None:
    tokens = parse_blocks("\n".join(lines) + "\n")
    tops = [index for index, token in enumerate(tokens) if not token.level and token.nesting >= 0]
    if not tops:
        return None
    if len(tops) > 1:
        # A larger window may hold a whole long paragraph, which a smaller one would have cut.
        below = tops[1] if grown else tops[-1]
        return Cut(_first_line(tokens[below]), Context(gap=True))
    size = sum(map(len, lines)) + len(lines)
    if size < _WORTH_A_STUB and kind_of(tokens[tops[0]]) != "paragraph":
        return None
    return _Inside(tokens, lines, stub, context, is_full=size >= WINDOW and not grown).cut(tops[0])


class _Inside:
    """Looks for a cut inside a single block."""

    def __init__(
        self,
        tokens: Sequence[Token],
        lines: Sequence[str],
        stub: int,
        context: Context,
        *,
        is_full: bool,
    ) -> None:
        """`is_full`: `lines` are exactly one window."""
        self._is_full = is_full
        self._tokens = tokens
        self._lines = lines
        self._stub = stub
        self._context = context
        self._path: list[Token] = []
        """The list items and quotes on the way to the last line."""

    def cut(self, index: int) -> Cut | None:
        """Follow the last line into the block at `index`; cut at the innermost final place."""
        while True:
            token = self._tokens[index]
            match kind_of(token):
                case "list" | "list_item" | "blockquote" as kind:
                    children = self._children(index)
                    if not children:
                        return None
                    if kind != "list":
                        self._path.append(token)
                    if len(children) > 1:
                        return self._between(kind, children)
                    index = children[0]
                case "paragraph":
                    return self._in_paragraph(token)
                case "fence":
                    return self._in_fence(token)
                case "table" if not self._path:
                    return self._in_table(index)
                case "code_block" if not self._path:
                    return self._in_indented(token)
                case _:
                    return None

    @property
    def _quotes(self) -> int | None:
        """How many quotes lead the path; None if one stands inside a list item."""
        kinds = [kind_of(token) for token in self._path]
        count = kinds.count("blockquote")
        return count if all(kind == "blockquote" for kind in kinds[:count]) else None

    def _between(self, kind: str, children: Sequence[int]) -> Cut | None:
        """Cut above the last child of a list, an item or a quote."""
        last = self._tokens[children[-1]]
        previous = "list" if kind == "list" else kind_of(self._tokens[children[-2]])
        # An empty item before it makes sure that an item is what the last one is seen as.
        open_items = [*self._path, last] if kind == "list" else self._path
        stub = _stub(open_items, self._lines)
        quotes = self._quotes
        if stub is None or quotes is None:
            return None
        context = Context(False, len(open_items), previous)
        return Cut(_first_line(last), context, stub, quotes=quotes)

    def _in_paragraph(self, token: Token) -> Cut | None:
        """Cut a very long paragraph at a line end; what opens the line opens a quote again."""
        is_last = token.map is not None and token.map[1] == len(self._lines)
        if not (self._is_full and is_last) or self._quotes != len(self._path):
            return None
        return Cut(len(self._lines), Context(reopened=len(self._path)), quotes=len(self._path))

    def _in_fence(self, token: Token) -> Cut | None:
        start, end = token.map or (0, 0)
        body = token.content.split("\n")[:-1]
        is_open = end - start - 1 == len(body)
        length = chunk_length(body, token.info) if is_open else 0
        # An item may begin with the fence on the line of its marker, which then opens both.
        outside = [item for item in self._path if _first_line(item) < start]
        stub = _stub(outside, self._lines)
        quotes = self._quotes
        if not length or stub is None or quotes is None:
            return None
        context = Context(reopened=len(self._path), previous="fence", head=True)
        return Cut(start + 1 + length, context, [*stub, self._lines[start]], quotes=quotes)

    def _in_table(self, index: int) -> Cut | None:
        start = _first_line(self._tokens[index])
        rows = [token for token in self._tokens[index:] if token.type == "tr_open"]
        shape = self._context.shape
        if len(rows) - 1 <= (_ROWS_AT_ONCE if shape else TABLE_SAMPLE):
            return None
        if shape is None:
            shape = table_shape(parse("\n".join(self._lines)), plain_canvas())
        below = Context(head=True, shape=shape)
        stub = self._lines[start : start + 2]
        return Cut(_first_line(rows[-1]), below, stub, goes_on=True)

    def _in_indented(self, token: Token) -> Cut | None:
        start, end = token.map or (0, 0)
        # Blank lines at either end would not belong to the code any more.
        for line in range(end - 1, start + _ROWS_AT_ONCE, -1):
            above = self._lines[line - 1]
            if self._lines[line].strip() and above.strip() and not above.endswith(JOIN):
                return Cut(line, Context(head=True))
        return None

    def _children(self, parent: int) -> list[int]:
        """The indices of the tokens that open or are a container's children, not in the stub."""
        level = self._tokens[parent].level + 1
        children: list[int] = []
        for index in range(parent + 1, len(self._tokens)):
            token = self._tokens[index]
            if token.level < level and token.nesting < 0:
                break
            if (
                token.level == level
                and token.nesting >= 0
                and (token.map or (0, 0))[1] > self._stub
            ):
                children.append(index)
        return children


def _opens_quotes(line: Sequence[str], count: int) -> bool:
    """Whether the line that follows, if it is known, opens `count` quotes by itself."""
    return bool(line) and re.match(r" {0,3}>" * count, line[0]) is not None


def _stub(path: Sequence[Token], lines: Sequence[str]) -> list[str] | None:
    """The lines that open the list items of `path` again; None where that is not certain.

    Quotes need none: each of their lines opens them.
    """
    stub: list[str] = []
    starts = [_first_line(token) for token in path if token.type == "list_item_open"]
    for start in sorted(set(starts)):
        line, end = lines[start], 0
        for _ in range(starts.count(start)):
            marker = _MARKER.match(line, end)
            if marker is None:
                return None
            end = marker.end()
        if not _ONE_BLANK.match(line, end):
            return None
        stub.append(line[:end])
    return stub


def _first_line(token: Token) -> int:
    assert token.map is not None, f"{token.type} has no place in the source"
    return token.map[0]
