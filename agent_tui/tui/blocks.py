"""The items of a transcript: plain objects that draw themselves on a canvas.

A block knows no widget and no event. `version` changes whenever its lines would; whoever changes a
block marks it with the pacer, and the transcript draws it again. All text that is given to a block
is untrusted: it is shown as it is, without its escape sequences, and never read as markup.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from agent_tui.core.invocation import as_typed
from agent_tui.core.messages import StopReason
from agent_tui.core.text import printable
from agent_tui.tui.block import Block, Piece, clean_lines, estimate_rows, toggle_on_click
from agent_tui.tui.canvas import Canvas, Line, Run
from agent_tui.tui.figures import plural
from agent_tui.tui.markdown import Markdown
from agent_tui.tui.raw import RawHead, RawText
from agent_tui.tui.tool_block import ToolBlock, ToolStatus
from agent_tui.tui.wrap import expand_tabs

__all__ = [
    "AssistantBlock",
    "Block",
    "NoticeBlock",
    "NoticeKind",
    "Piece",
    "SummaryBlock",
    "ThoughtBlock",
    "ToolBlock",
    "ToolStatus",
    "UserBlock",
]

NoticeKind = Literal["info", "warning", "error", "stopped"]

INDENT = Run("  ")
"""Text stands below text: the first two cells are for what says whose it is."""
_RAW_HEAD = RawHead(INDENT)
_NOTICE_GLYPHS: dict[NoticeKind, str] = {
    "info": "· ",
    "warning": "! ",
    "error": "✗ ",
    "stopped": "■ ",
}
_NOTICE_TITLES: dict[NoticeKind, str] = {
    "info": "Notice",
    "warning": "Warning",
    "error": "Error",
    "stopped": "Stopped",
}
_SHOWN_LINES = 12
"""Lines of a long message of the person that are shown while it is collapsed."""
_LINES_IN_A_PIECE = 100
_LINE_LIMIT = 2_000
_LIVE_THOUGHT_ROWS = 3


class UserBlock(Block):
    """What the person said. A long text, such as a paste, is collapsed."""

    def __init__(self, text: str, *, mark: str | None = None, pictures: Sequence[str] = ()) -> None:
        """`mark` is a thin line above, e.g. "↳ steered before step 8"; `pictures` go below."""
        super().__init__()
        self._source = text
        self._mark = printable(mark) if mark else ""
        self._lines = [*clean_lines(printable(text).strip("\n"), _LINE_LIMIT), *pictures]
        typed = as_typed(text)
        self._brief = [] if typed is text else [*clean_lines(printable(typed), _LINE_LIMIT)]
        """The call of a skill, which stands for its text."""
        self._pieces = self._cut()

    @property
    def title(self) -> str:
        """Whose it is."""
        return "Your message"

    @property
    def is_expandable(self) -> bool:
        """Whether a part is hidden while it is collapsed."""
        return bool(self._brief) or len(self._lines) > _SHOWN_LINES + 1

    def pieces(self) -> Sequence[Piece]:
        """The text in parts of a hundred lines."""
        return self._pieces

    def source(self) -> str:
        """The text as it was sent."""
        return self._source

    def toggle(self) -> None:
        """Show all lines, or the first ones."""
        super().toggle()
        self._pieces = self._cut()

    def _cut(self) -> list[Piece]:
        shown = self._lines
        if self.is_expandable and not self.expanded:
            shown = (self._brief or self._lines)[:_SHOWN_LINES]
        hidden = len(self._lines) - len(shown)
        more = ""
        if self.is_expandable:
            more = f"▸ {plural(hidden, 'more line')}" if hidden else "▾ all lines"
        starts = range(0, len(shown), _LINES_IN_A_PIECE)
        return [
            _UserPiece(
                shown[start : start + _LINES_IN_A_PIECE],
                mark="" if start else self._mark,
                is_first=not start,
                more=more if start == starts[-1] else "",
            )
            for start in starts
        ]


class _UserPiece:
    """Some lines of a message of the person."""

    version = 0

    def __init__(self, lines: list[str], *, mark: str, is_first: bool, more: str) -> None:
        self._lines = lines
        self._mark = mark
        self._is_first = is_first
        self._more = more

    def lines(self, canvas: Canvas) -> list[Line]:
        out: list[Line] = []
        if self._mark:
            out += canvas.lines([Run(self._mark)], "mark", lead=[INDENT])
        glyph = canvas.run("❯ ", "user-glyph") if self._is_first else INDENT
        out += canvas.lines([Run("\n".join(self._lines))], "user", lead=[glyph], rest=[INDENT])
        if self._more:
            out.append(canvas.decoration([INDENT, canvas.run(self._more, "quiet")], "user"))
        return out

    def estimate(self, width: int) -> int:
        return sum(estimate_rows(line, width) for line in self._lines) + bool(self._mark)


class AssistantBlock(Block):
    """An answer in markdown, drawn while it arrives."""

    def __init__(self) -> None:
        super().__init__()
        self._markdown = Markdown(INDENT)
        self._raw = RawText(self.source, INDENT)
        self._note: _Note | None = None
        self._is_over = False

    @property
    def title(self) -> str:
        """Whose it is."""
        return "Answer"

    @property
    def is_growing(self) -> bool:
        """Whether it is still arriving."""
        return not self._is_over

    @property
    def has_markup(self) -> bool:
        """Markdown."""
        return True

    def append(self, delta: str) -> None:
        """Add text; draws nothing, costs the length of `delta`."""
        self._markdown.append(delta)
        self.version += 1

    def finish(self, stop_reason: StopReason = "stop", note: str | None = None) -> None:
        """The answer is over. `note` is a last line, e.g. "interrupted"."""
        self._is_over = True
        if note:
            self._note = _Note(note, "stopped" if stop_reason == "aborted" else "warning")
        self.version += 1

    def pieces(self) -> Sequence[Piece]:
        """The finished parts of the text, the part under way, the note."""
        parts: Sequence[Piece] = (
            [_RAW_HEAD, *self._raw.pieces()] if self.is_raw else self._markdown.pieces()
        )
        return parts if self._note is None else [*parts, self._note]

    def estimate(self, width: int) -> int:
        """About how many rows there are; does not read the markdown."""
        return self._markdown.estimate(width)

    def source(self) -> str:
        """The markdown."""
        return self._markdown.source


class ThoughtBlock(Block):
    """What the model thought before it answered; dim, and collapsed when it is over."""

    def __init__(self) -> None:
        super().__init__()
        self._markdown = Markdown(INDENT, role="thought")
        self._raw = RawText(self.source, INDENT, role="thought")
        self._is_over = False
        self._head = _ThoughtHead(self)

    @property
    def title(self) -> str:
        """What it is."""
        return "Thought"

    @property
    def is_growing(self) -> bool:
        """Whether the model is still thinking it."""
        return not self._is_over

    @property
    def is_expandable(self) -> bool:
        """There is always more to see than the head."""
        return True

    @property
    def text(self) -> str:
        """The thought so far."""
        return self._markdown.source

    @property
    def is_over(self) -> bool:
        """Whether the model has finished this thought."""
        return self._is_over

    @property
    def has_markup(self) -> bool:
        """Markdown."""
        return True

    def append(self, delta: str) -> None:
        """Add text; draws nothing, costs the length of `delta`."""
        self._markdown.append(delta)
        self.version += 1

    def finish(self) -> None:
        """The thought is over."""
        self._is_over = True
        self.version += 1

    def pieces(self) -> Sequence[Piece]:
        """The head, and the whole thought below it when it is expanded."""
        if not self.expanded:
            return [self._head]
        text: Sequence[Piece] = (
            [_RAW_HEAD, *self._raw.pieces()] if self.is_raw else self._markdown.pieces()
        )
        return [self._head, *text]

    def estimate(self, width: int) -> int:
        """About how many rows there are; does not read the markdown."""
        return self._head.estimate(width) + (self._markdown.estimate(width) if self.expanded else 0)

    def source(self) -> str:
        """The thought."""
        return self.text


class _ThoughtHead:
    """The line that says that there is a thought, and its end while it goes on."""

    def __init__(self, block: ThoughtBlock) -> None:
        self._block = block

    @property
    def version(self) -> int:
        return self._block.version

    def lines(self, canvas: Canvas) -> list[Line]:
        block = self._block
        word = "Thought" if block.is_over else "Thinking"
        size = plural(block.text.count("\n") + 1, "line") if block.is_over else "…"
        arrow = "▾" if block.expanded else "▸"
        click = toggle_on_click(block)
        head = [
            Run("✻ ", canvas.style("thought-glyph") + click),
            Run(f"{word} {size} {arrow}", canvas.style("thought") + click),
        ]
        out = [canvas.decoration(head)]
        if not (block.is_over or block.expanded):
            end = printable(block.text[-_LIVE_THOUGHT_ROWS * canvas.width :]).strip()
            if end:
                text = "\n".join(map(expand_tabs, end.split("\n")))
                rows = canvas.indented(INDENT, role="thought").lines([Run(text)])
                out += rows[-_LIVE_THOUGHT_ROWS:]
        return out

    def estimate(self, width: int) -> int:
        return 1 if self._block.is_over or self._block.expanded else 1 + _LIVE_THOUGHT_ROWS


class NoticeBlock(Block):
    """A message of the program itself: a hint, a warning, an error, the stop banner."""

    def __init__(self, text: str, kind: NoticeKind = "info") -> None:
        super().__init__()
        self._text = printable(text)
        self._kind: NoticeKind = kind

    @property
    def title(self) -> str:
        """What kind of notice it is."""
        return _NOTICE_TITLES[self._kind]

    def change(self, text: str) -> None:
        """Say something else in the same place, for instance a countdown."""
        self._text = printable(text)
        self.version += 1

    def lines(self, canvas: Canvas) -> list[Line]:
        """The text behind a glyph for its kind."""
        role = f"notice-{self._kind}"
        glyph = canvas.run(_NOTICE_GLYPHS[self._kind], f"{role}-glyph")
        return canvas.lines([Run(expand_tabs(self._text))], role, lead=[glyph], rest=[INDENT])

    def estimate(self, width: int) -> int:
        """About how many rows there are."""
        return estimate_rows(self._text, width)

    def source(self) -> str:
        """The text."""
        return self._text


class SummaryBlock(Block):
    """The dim line after a turn: steps, time, tokens, cost."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self._text = printable(text)

    @property
    def title(self) -> str:
        """What it is."""
        return "Turn"

    def lines(self, canvas: Canvas) -> list[Line]:
        """The text, dim."""
        return canvas.lines([Run(expand_tabs(self._text))], "summary", lead=[INDENT])

    def estimate(self, width: int) -> int:
        """About how many rows there are."""
        return estimate_rows(self._text, width)

    def source(self) -> str:
        """The text."""
        return self._text


class _Note:
    """The line below an answer that did not end well."""

    version = 0

    def __init__(self, text: str, kind: NoticeKind) -> None:
        self._text = printable(text)
        self._kind: NoticeKind = kind

    def lines(self, canvas: Canvas) -> list[Line]:
        glyph = canvas.run(_NOTICE_GLYPHS[self._kind], f"notice-{self._kind}-glyph")
        text = canvas.run(self._text, "quiet")
        return [canvas.blank(), *canvas.lines([text], lead=[INDENT, glyph])]

    def estimate(self, width: int) -> int:
        return 1 + estimate_rows(self._text, width)
