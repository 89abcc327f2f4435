"""The card of an open question: what asks, exactly, and how to answer. It never takes the focus.

Keys within half a second of a card's appearance never answer it: they were meant for something
else.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Protocol

from rich.cells import cell_len, chop_cells
from textual import events
from textual.widgets import Static

from agent_tui.core.text import printable
from agent_tui.tui.budget import ON_BUDGET, BudgetQuestion, budget_rows
from agent_tui.tui.held import ON_HELD, HeldCall, arguments, feet
from agent_tui.tui.held import head as held_head
from agent_tui.tui.keymap import Keymap
from agent_tui.tui.paint import painted_lines
from agent_tui.tui.status import Span, cut

GUARD_SECONDS = 0.5
DIFF_LINES = 10_000
"""Lines of a diff that a card shows; it says so if there are more."""
ROOMY_ROWS = 10
"""From this height on a card says on several rows what does not fit on one."""
PLACE_ROWS = 5
"""From this height on it names the working directory."""
_BLANKS = re.compile(r" {3,}|\t")

ON_APPROVAL = frozenset({"once", "always", "decline", "comment", "card_up", "card_down"})
"""What the keys of an approval question are called."""

Row = list[Span]


class Request(Protocol):
    """A question of the session."""

    @property
    def id(self) -> str:
        """Names it in the answer."""

    @property
    def tool_name(self) -> str:
        """Which tool asks."""

    @property
    def summary(self) -> str:
        """The exact command or path."""

    @property
    def detail(self) -> str:
        """All of it: the whole command, a unified diff, the content."""

    @property
    def is_diff(self) -> bool:
        """Whether `detail` is a unified diff of one file, `summary` its path."""

    @property
    def cwd(self) -> str:
        """The working directory."""

    @property
    def reason(self) -> str:
        """Why it asks."""

    @property
    def rule(self) -> str | None:
        """The rule that "always" would store."""

    @property
    def matches(self) -> str:
        """What that rule would match."""

    @property
    def scope(self) -> str:
        """Where it would count: `session`, `project`, `everywhere`."""


@dataclass(slots=True)
class Guard:
    """Remembers since when each question has been in sight."""

    now: Callable[[], float]
    _shown_at: dict[str, float] = field(default_factory=dict)

    def shown(self, request_id: str) -> None:
        """The question is on the screen."""
        self._shown_at.setdefault(request_id, self.now())

    def has_seen(self, request_id: str) -> bool:
        """Whether the question has been on the screen."""
        return request_id in self._shown_at

    def may_answer(self, request_id: str) -> bool:
        """Whether a key pressed now can be meant for this question."""
        shown_at = self._shown_at.get(request_id)
        return shown_at is not None and self.now() - shown_at >= GUARD_SECONDS


def visible_blanks(text: str) -> str:
    """Runs of blanks made visible, so that nothing can hide behind them."""
    return _BLANKS.sub(lambda run: "·" * len(run[0]) if run[0] != "\t" else "→   ", text)


def body_rows(request: Request, width: int) -> list[Row]:
    """Everything the call would do, wrapped to `width` cells: nothing is left out."""
    detail = request.detail or request.summary
    if request.is_diff:
        name = [[(piece, "title")] for piece in chop_cells(printable(request.summary), width)]
        from agent_tui.tui.diff import diff_spans  # only now: a start does without it

        return [*name, *diff_spans(detail, width, DIFF_LINES)]
    return [[(row, "")] for row in _text_rows(detail, max(1, width))]


@lru_cache(maxsize=4)
def _text_rows(detail: str, width: int) -> tuple[str, ...]:
    rows: list[str] = []
    for line in printable(detail).split("\n"):
        rows += chop_cells(visible_blanks(line), width) or [""]
    return tuple(rows)


def card_rows(
    request: Request,
    position: tuple[int, int],
    width: int,
    height: int,
    offset: int,
    keymap: Keymap | None = None,
) -> tuple[list[Row], int]:
    """The card in at most `height` rows, and the first body row shown, clamped to what there is."""
    inner = max(8, width - 4)
    is_roomy = height >= ROOMY_ROWS
    head = _title(request, position, inner, 3 if is_roomy else 1)
    foot = [cut([(f"in {printable(request.cwd)}", "quiet")], inner)] if height >= PLACE_ROWS else []
    foot += _answers(request, inner, keymap or Keymap(), is_roomy=is_roomy)
    body = body_rows(request, inner - 2)
    return _with_body(head, body, foot, inner, height, offset)


def held_rows(
    held: HeldCall, width: int, height: int, offset: int, keymap: Keymap | None = None
) -> tuple[list[Row], int]:
    """The card of what is held, in at most `height` rows, and the first body row shown."""
    inner = max(8, width - 4)
    head, foot = [held_head(held, inner)], feet(held, inner, keymap or Keymap())
    text = arguments(held)
    body: list[Row] = [[(row, "")] for row in _text_rows(text, inner - 2)] if text else []
    return _with_body(head, body, foot, inner, height, offset)


def _with_body(
    head: list[Row], body: list[Row], foot: list[Row], width: int, height: int, offset: int
) -> tuple[list[Row], int]:
    """As much of the body as there is room for, and where it begins, clamped to what there is."""
    space = max(1, height - len(head) - len(foot))
    if len(body) > space:
        space = max(1, space - 1)
    offset = max(0, min(offset, len(body) - space))
    shown: list[Row] = [[("│ ", "quiet"), *row] for row in body[offset : offset + space]]
    if len(body) > space:
        above, below = offset, len(body) - offset - space
        shown.append(cut([(_more(above, below), "warning")], width))
    return [*head, *shown, *foot], offset


def _title(request: Request, position: tuple[int, int], width: int, most: int) -> list[Row]:
    """Which of how many, the tool, and why it asks."""
    number = f"{position[0]} of {position[1]} · " if position[1] > 1 else ""
    title = f"{number}{request.tool_name} asks: {request.reason}"
    return _rows(" ".join(printable(title).split()), "title", width, most)


def _rows(text: str, role: str, width: int, most: int) -> list[Row]:
    """The text on at most so many rows, a cut marked."""
    pieces = wrapped(text, width)
    if len(pieces) <= most:
        return [[(piece, role)] for piece in pieces]
    kept = pieces[: most - 1]
    return [
        *([(piece, role)] for piece in kept),
        cut([(" ".join(pieces[most - 1 :]), role)], width),
    ]


def wrapped(text: str, width: int) -> list[str]:
    """The text on lines of at most `width` cells, broken between words where that is possible."""
    lines = [""]
    for word in text.split(" "):
        line = f"{lines[-1]} {word}" if lines[-1] else word
        if cell_len(line) <= width:
            lines[-1] = line
            continue
        pieces = list(chop_cells(word, width)) or [""]
        lines += pieces if lines[-1] else []
        lines = lines if lines[-1] else pieces
    return lines


def _answers(request: Request, width: int, keymap: Keymap, *, is_roomy: bool) -> list[Row]:
    always = ("alt+a always", "/always") if request.rule else ("", "")
    named = " (/always)" if request.rule else ""
    lines = (
        (
            "alt+y once (/yes)",
            always[0] + named,
            "alt+n decline (/no)",
            "alt+e decline with a comment",
        ),
        ("alt+y once", always[0], "alt+n decline", "alt+e decline with a comment"),
        ("alt+y once", always[0], "alt+n no", "alt+e why not"),
        ("alt+y once", always[0], "alt+n no"),
        ("/yes", always[1], "/no"),
    )
    texts = [keymap.shown(" · ".join(key for key in keys if key)) for keys in lines]
    keys = next((text for text in texts if cell_len(text) <= width), texts[-1])
    rows: list[Row] = [cut([(keys, "key")], width)]
    if request.rule and keys in texts[:2]:
        rows += _rows(always_sentence(request), "quiet", width, 3 if is_roomy else 1)
    return rows


def always_sentence(request: Request) -> str:
    """What "always" would store, where, and what that would match."""
    place = _PLACES.get(request.scope, request.scope)
    text = f"always would allow, {place}: {printable(request.rule or '')}"
    return f"{text} ({printable(request.matches)})" if request.matches else text


_PLACES = {"session": "in this session", "project": "in this project", "everywhere": "everywhere"}


def _more(above: int, below: int) -> str:
    parts = [f"{above} more above" if above else "", f"{below} more below" if below else ""]
    return f"… {' · '.join(part for part in parts if part)} (alt+pgup/pgdn)"


class ApprovalCard(Static):
    """Shows what is held, or the oldest question about a call or a budget; else it is hidden."""

    def __init__(self, keymap: Keymap) -> None:
        super().__init__(id="approval")
        self._keymap = keymap
        self.display = False
        self._request: Request | None = None
        self._budget: BudgetQuestion | None = None
        self._held: HeldCall | None = None
        self._position = (1, 1)
        self._offset = 0
        self._height = 8

    @property
    def presses(self) -> frozenset[str]:
        """The presses that mean something for what is shown."""
        if self._held is not None:
            return ON_HELD
        if self._request is not None:
            return ON_APPROVAL
        return frozenset() if self._budget is None else ON_BUDGET

    def show(
        self,
        request: Request | None,
        count: int,
        height: int,
        *,
        budget: BudgetQuestion | None = None,
        held: HeldCall | None = None,
    ) -> None:
        """Show what is held, this question out of `count`, or `budget`, in `height` rows, or hide.

        What is held comes first: it is asked about when it goes on.
        """
        before = self.asked_id
        self._held, self._request, self._budget = held, request, budget
        if self.asked_id != before:
            self._offset = 0
        self._position = (1, count)
        self._height = height
        self.display = self.asked_id is not None
        self.draw()

    @property
    def asked_id(self) -> str | None:
        """Names the question that is shown."""
        asked = self._held or self._request or self._budget
        return None if asked is None else asked.id

    def draw(self) -> None:
        """Draw for the present size."""
        if not self.display or not self.is_attached:
            return
        rows: list[Row] = []
        width = self.screen.size.width
        if self._held is not None:
            rows, self._offset = held_rows(
                self._held, width, self._height, self._offset, self._keymap
            )
        elif self._request is not None:
            rows, self._offset = card_rows(
                self._request, self._position, width, self._height, self._offset, self._keymap
            )
        elif self._budget is not None:
            rows = budget_rows(self._budget, width, self._keymap)
        self.update(painted_lines(rows))

    def scroll_body(self, rows: int) -> None:
        """Move over a long command or diff."""
        self._offset = max(0, self._offset + rows)
        self.draw()

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """The wheel scrolls the card."""
        event.stop()
        self.scroll_body(3)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """The wheel scrolls the card."""
        event.stop()
        self.scroll_body(-3)
