"""Markdown set into lines: one source text, drawn at one width.

Nothing is remembered here: the same text, context and canvas give the same lines. HTML is text,
control characters that entities stand for are dropped, and only http(s) and file links are links.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING

from textual.style import Style

from agent_tui.core.text import printable
from agent_tui.tui import maths
from agent_tui.tui.canvas import PLAIN, Canvas, Line, Run, cells_of, characters_of
from agent_tui.tui.highlight import Word, highlight_chunks, language_of
from agent_tui.tui.links import address_beside
from agent_tui.tui.table import Align, Cell, Row, Shape, TableDrawer, shape_of

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

TABLE_SAMPLE = 30
"""Rows of a table that decide its column widths; later ones are wrapped into them."""
JOIN = "\x01"
"""Ends a line of source that was cut inside a line: what follows belongs to it."""

_NESTING = 100
_TOO_DEEP = _NESTING - 2

_URL = re.compile(r"https?://[^\s<>\"'`|\\^{}\x01]*[^\s<>\"'`|\\^{}.,;:!?)\]\x01*_]")
_TASK = re.compile(r"\[([ xX])\] ")
_BREAK = re.compile(r"<br ?/?>")
_BULLETS = "•◦▪"


@dataclass(frozen=True, slots=True)
class Context:
    """What has been drawn above a text that is the continuation of another."""

    gap: bool = False
    """A blank row is needed above."""
    reopened: int = 0
    """How many list items and quotes the text begins in that are there already."""
    previous: str = ""
    """The kind of block that was drawn last in the innermost of them."""
    head: bool = False
    """The label of a code block or the head of a table is there already."""
    shape: Shape | None = None
    """The columns of the table that goes on."""


def parse(text: str) -> list[Token]:
    """The tokens of a text, inline ones included."""
    return _parser(True).parse(text)


def parse_blocks(text: str) -> list[Token]:
    """The tokens of a text without looking into paragraphs and cells; a third of the cost."""
    return _parser(False).parse(text)


def kind_of(token: Token) -> str:
    """The kind of block that a token opens, e.g. `paragraph`, `list`, `fence`."""
    name = token.type.removesuffix("_open")
    return "list" if name.endswith("_list") else name


def table_shape(tokens: Sequence[Token], canvas: Canvas) -> Shape:
    """The columns of the first table in `tokens`, from its head and its first rows."""
    rows = _rows(tokens, canvas)
    return shape_of(rows[: TABLE_SAMPLE + 1], _aligns(tokens))


def typeset(text: str, context: Context, canvas: Canvas, *, goes_on: bool = False) -> list[Line]:
    """The lines of a markdown text; with `goes_on` its table is not closed at the end."""
    tokens = parse(text)
    if any(token.level >= _TOO_DEEP for token in tokens):
        # The parser drops what is nested deeper.
        return canvas.lines([Run(text.replace(JOIN, "").rstrip("\n"))])
    return _Setter(canvas, context, goes_on).set(tokens)


class _Container:
    """A list item or a quote that is open: what stands at the left of its rows."""

    def __init__(self, kind: str, first: Run, rest: Run) -> None:
        self.kind = kind
        self.first: Run | None = first
        """What the next row begins with, None once it is drawn."""
        self.rest = rest
        self.previous = ""
        """The kind of block that was drawn last in it."""
        self.is_new = True
        """Nothing of it was drawn with an earlier text."""


class _Setter:
    """Walks over the tokens of one text and collects its lines."""

    def __init__(self, canvas: Canvas, context: Context, goes_on: bool) -> None:
        self._canvas = canvas
        self._context = context
        self._goes_on = goes_on
        self._reopened = context.reopened
        self._head = context.head
        self._begun = context.gap
        self._out: list[Line] = []
        self._containers: list[_Container] = []
        self._lists: list[str] = []

    def set(self, tokens: list[Token]) -> list[Line]:
        index = 0
        while index < len(tokens):
            token = tokens[index]
            match token.type:
                case "paragraph_open" | "heading_open":
                    self._text(token, tokens[index + 1])
                    index += 1
                case "bullet_list_open" | "ordered_list_open":
                    self._space("list")
                    self._lists.append(token.type)
                case "bullet_list_close" | "ordered_list_close":
                    self._lists.pop()
                case "list_item_open":
                    self._open_item(token)
                case "blockquote_open":
                    self._space("blockquote")
                    bar = self._canvas.run("▎ ", "quote-bar")
                    self._open("quote", bar, bar)
                case "list_item_close" | "blockquote_close":
                    self._close()
                case "fence" | "code_block":
                    self._code(token)
                case "hr":
                    self._rule()
                case "table_open":
                    end = _table_end(tokens, index)
                    self._table(tokens[index:end])
                    index = end
            index += 1
        return self._out

    # What stands at the left

    def _open_item(self, token: Token) -> None:
        if self._lists[-1] == "ordered_list_open":
            marker = f"{token.info}. "
        else:
            marker = f"{_BULLETS[min(len(self._lists), len(_BULLETS)) - 1]} "
        self._open("item", self._canvas.run(marker, "list-marker"), Run(" " * len(marker)))

    def _open(self, kind: str, first: Run, rest: Run) -> None:
        container = _Container(kind, first, rest)
        if self._reopened:
            self._reopened -= 1
            container.is_new = False
            container.first = rest
            container.previous = "" if self._reopened else self._context.previous
        self._containers.append(container)

    def _close(self) -> None:
        if self._containers[-1].is_new and not self._containers[-1].previous:
            # What is empty still has its marker.
            self._out += self._canvas.lines([Run("")], lead=self._lead())
        self._containers.pop()

    def _lead(self) -> list[Run]:
        """What stands before the next row; markers are used up."""
        lead = [container.first or container.rest for container in self._containers]
        for container in self._containers:
            container.first = None
        return self._narrowed(lead)

    def _rest(self) -> list[Run]:
        return self._narrowed([container.rest for container in self._containers])

    def _narrowed(self, lead: list[Run]) -> list[Run]:
        # Deep nesting in a narrow window must leave room for the text.
        while len(lead) > 1 and cells_of(lead) > self._canvas.room // 2:
            lead.pop(0)
        return lead

    def _space(self, kind: str) -> None:
        """The blank row above a block, where one belongs."""
        if not self._containers:
            if self._begun:
                self._out.append(self._canvas.blank())
            self._begun = True
            return
        container = self._containers[-1]
        previous, container.previous = container.previous, kind
        if previous and not (kind == "list" and previous in ("list", "paragraph")):
            self._out += self._canvas.lines([Run("")], lead=self._rest())

    # The blocks

    def _text(self, token: Token, content: Token) -> None:
        self._space(kind_of(token))
        role = "heading-" + token.tag[1:] if token.type == "heading_open" else "text"
        container = self._containers[-1] if self._containers else None
        if any(container.kind == "quote" for container in self._containers):
            role = "quote"
        runs = inline(content, self._canvas)
        if container is not None and container.kind == "item" and container.first is not None:
            runs = self._task(container, runs)
        self._out += self._canvas.lines(runs, role, lead=self._lead(), rest=self._rest())

    def _task(self, container: _Container, runs: list[Run]) -> list[Run]:
        if runs and (task := _TASK.match(runs[0].text)):
            box = ("☐" if task[1] == " " else "☑").ljust(len(container.rest.text))
            container.first = self._canvas.run(box, "list-marker")
            runs[0] = Run(runs[0].text[task.end() :], runs[0].style)
        return runs

    def _code(self, token: Token) -> None:
        canvas = self._canvas
        if not self._drawn_head():
            self._space("fence")
            if label := printable(language_of(token.info)):
                row = [
                    *self._outside(self._lead()),
                    *self._bar("│ "),
                    canvas.run(label, "code-label"),
                ]
                self._out.append(canvas.decoration(row, role="code"))
        *whole, last = token.content.split("\n")
        chunks = [*highlight_chunks(whole, token.info)]
        if last:
            chunks += highlight_chunks([last], token.info)
        for words in chain.from_iterable(map(_joined, chunks)):
            runs = [canvas.run(text, role) if role else Run(text) for text, role in words]
            lead = [*self._outside(self._lead()), *self._bar("│ ")]
            if canvas.wraps:
                rest = [*self._outside(self._rest()), *self._bar("┊ ")]
                self._out += canvas.lines(runs, "code", lead=lead, rest=rest, words=False)
            else:
                row = [*lead, *runs]
                self._out.append(canvas.row(row, role="code", gutter=characters_of(lead)))

    def _outside(self, lead: list[Run]) -> list[Run]:
        """The colours of a block of code begin right of what stands at the left."""
        return [Run(text, self._canvas.base + style) for text, style in lead]

    def _bar(self, text: str) -> list[Run]:
        return [self._canvas.run(text, "code-border")]

    def _rule(self) -> None:
        self._space("hr")
        lead = self._lead()
        room = self._canvas.room - cells_of(lead)
        self._out.append(
            self._canvas.decoration([*lead, self._canvas.run("─" * max(1, room), "rule")])
        )

    def _table(self, tokens: Sequence[Token]) -> None:
        rows = _rows(tokens, self._canvas)
        shape = self._context.shape if self._head else None
        drawn_head = self._drawn_head()
        if not drawn_head:
            self._space("table")
        drawer = TableDrawer(
            self._canvas, shape or table_shape(tokens, self._canvas), self._lead(), self._rest()
        )
        if not drawn_head:
            self._out += drawer.top()
            self._out += drawer.head(rows[0])
        for row in rows[1:]:
            self._out += drawer.body(row)
        if not self._goes_on:
            self._out += drawer.bottom()

    def _drawn_head(self) -> bool:
        """Whether the head of this block is there already; true at most once."""
        drawn, self._head = self._head, False
        self._begun |= drawn
        return drawn


def inline(token: Token, canvas: Canvas) -> list[Run]:
    """The runs of a paragraph, a heading or a cell."""
    runs: list[Run] = []
    styles: list[Style] = [PLAIN]
    address, begun = "", 0
    for child in token.children or ():
        match child.type:
            case "text" | "text_special" | "html_inline":
                runs += _words(child.content, styles[-1], canvas)
            case "softbreak" | "hardbreak":
                if runs and runs[-1].text.endswith(JOIN):
                    runs[-1] = Run(runs[-1].text.removesuffix(JOIN), runs[-1].style)
                else:
                    runs.append(Run("\n", styles[-1]))
            case "code_inline":
                code = _shown(child.content).replace(JOIN + " ", "").replace(JOIN, "")
                runs.append(Run(code, styles[-1] + canvas.style("code-inline")))
            case maths.TOKEN:
                lines = child.content.replace(JOIN + "\n", "").split("\n")
                formula = "\n".join(_shown(line.strip()) for line in lines)
                runs.append(Run(formula, styles[-1] + canvas.style("math")))
            case "image":
                text = _shown(child.content) or "picture"
                runs.append(Run(f"[image: {text}]", styles[-1] + canvas.style("quote")))
            case "link_open":
                address = str(child.attrs.get("href", ""))
                begun = len(runs)
                styles.append(styles[-1] + link_style(address, canvas))
            case "strong_open" | "em_open" | "s_open":
                styles.append(styles[-1] + canvas.style(child.type.removesuffix("_open")))
            case "link_close":
                styles.pop()
                shown = address_beside("".join(run.text for run in runs[begun:]), address)
                click = canvas.style("link-address") + click_on(address)
                runs.append(Run(_shown(shown), styles[-1] + click))
            case "strong_close" | "em_close" | "s_close":
                styles.pop()
    return [Run(text.replace(JOIN, ""), style) for text, style in runs]


def link_style(address: str, canvas: Canvas) -> Style:
    """How a link looks; a click asks the transcript to open it."""
    return canvas.style("link") + click_on(address)


def click_on(address: str) -> Style:
    """What makes a text a link."""
    return Style.from_meta({"@click": f"open_link({address!r})", "address": address})


def _joined(lines: Iterable[Sequence[Word]]) -> Iterator[list[Word]]:
    """Lines of code; what was cut inside a line is one line again."""
    joined: list[Word] = []
    for line in lines:
        joined += line
        if joined and joined[-1].text.endswith(JOIN):
            joined[-1] = Word(joined[-1].text.removesuffix(JOIN), joined[-1].role)
        else:
            yield joined
            joined = []
    if joined:
        yield joined


def _words(text: str, style: Style, canvas: Canvas) -> Iterator[Run]:
    text = _shown(text)
    position = 0
    if not style.meta:
        for url in _URL.finditer(text):
            yield Run(text[position : url.start()], style)
            yield Run(url[0], style + link_style(url[0], canvas))
            position = url.end()
    yield Run(text[position:], style)


def _shown(text: str) -> str:
    # Entities such as &#13; or &#x1b; become control characters only in the parser.
    if text.isprintable():
        return text
    return "".join(
        part if part == JOIN else printable(part).replace("\n", " ").replace("\t", " ")
        for part in re.split(f"({JOIN})", text)
    )


def _rows(tokens: Sequence[Token], canvas: Canvas) -> list[Row]:
    """The cells of the first table in `tokens`, its head first."""
    rows: list[list[Cell]] = []
    for token in tokens:
        if token.type == "tr_open":
            rows.append([])
        elif token.type == "inline" and rows:
            rows[-1].append(
                [Run(_BREAK.sub("\n", run.text), run.style) for run in inline(token, canvas)]
            )
        elif token.type == "table_close":
            break
    return list(rows)


def _aligns(tokens: Sequence[Token]) -> list[Align]:
    aligns: list[Align] = []
    for token in tokens:
        if token.type == "th_open":
            style = str(token.attrs.get("style", ""))
            aligns.append(
                "right" if "right" in style else "center" if "center" in style else "left"
            )
        elif token.type == "thead_close":
            break
    return aligns


def _table_end(tokens: Sequence[Token], start: int) -> int:
    return next(index for index in range(start, len(tokens)) if tokens[index].type == "table_close")


@lru_cache(maxsize=2)
def _parser(inline: bool) -> MarkdownIt:
    from markdown_it import MarkdownIt

    parser = MarkdownIt("gfm-like", {"linkify": False, "html": False, "maxNesting": _NESTING})
    # References would let later text change earlier text; linkify takes file names for hosts.
    parser.disable(["linkify", "reference", "normalize"])
    maths.add_to(parser)
    if not inline:
        parser.core.ruler.enableOnly(["block"])
    return parser
