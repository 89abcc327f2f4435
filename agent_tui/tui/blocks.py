"""The items of a transcript: plain objects that draw themselves on a canvas.

A block knows no widget and no event. `version` changes whenever its lines would; whoever changes a
block marks it with the pacer, and the transcript draws it again. All text that is given to a block
is untrusted: it is shown as it is, without its escape sequences, and never read as markup.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Protocol

from agent_tui.core.messages import StopReason, new_id
from agent_tui.tui.canvas import Canvas, Line

ToolStatus = Literal["pending", "running", "ok", "failed", "declined", "killed"]
NoticeKind = Literal["info", "warning", "error", "stopped"]


class Piece(Protocol):
    """A part of a block that is drawn and kept by itself, so that a long block costs little."""

    version: int
    """Changes whenever `lines` would return something else."""

    def lines(self, canvas: Canvas) -> list[Line]:
        """The rows of this piece."""

    def estimate(self, width: int) -> int:
        """About how many rows `lines` would give, without drawing."""


class Block:
    """One item of the transcript."""

    def __init__(self) -> None:
        self.id = new_id()
        """Unique in the process; survives every change of the block."""
        self.version = 0
        """Changes whenever the block looks different."""
        self.expanded = False
        """Whether all is shown; only blocks with `is_expandable` look different."""

    @property
    def is_expandable(self) -> bool:
        """Whether there is something to expand or collapse."""
        return False

    @property
    def is_running(self) -> bool:
        """Whether the block shows a time that goes on, so that it wants `tick()`."""
        return False

    def pieces(self) -> Sequence[Piece]:
        """What the block is drawn from, top to bottom; most blocks are one piece."""
        return (self,)

    def lines(self, canvas: Canvas) -> list[Line]:
        """All rows of the block."""
        raise NotImplementedError

    def estimate(self, width: int) -> int:
        """About how many rows the block has at this width, without drawing."""
        raise NotImplementedError

    def source(self) -> str:
        """The text behind the block, as it is copied."""
        raise NotImplementedError

    def toggle(self) -> None:
        """Expand or collapse."""

    def tick(self, now: float) -> None:
        """The time has moved on to `now`; `version` changes if that shows."""


class UserBlock(Block):
    """What the person said."""

    def __init__(self, text: str, *, mark: str | None = None) -> None:
        """`mark` is a thin line above, e.g. "↳ steered before step 8"."""
        super().__init__()


class AssistantBlock(Block):
    """An answer in markdown, drawn while it arrives."""

    def append(self, delta: str) -> None:
        """Add text; draws nothing, costs the length of `delta`."""

    def finish(self, stop_reason: StopReason = "stop", note: str | None = None) -> None:
        """The answer is over. `note` is a dim last line, e.g. "interrupted"."""


class ThoughtBlock(Block):
    """What the model thought before it answered; dim, collapsed to a line or two."""

    def append(self, delta: str) -> None:
        """Add text; draws nothing, costs the length of `delta`."""

    def finish(self) -> None:
        """The thought is over."""


class ToolBlock(Block):
    """A tool call: a header that is always there, and as much of the output as its state asks."""

    def __init__(self, call_id: str, name: str, target: str = "") -> None:
        super().__init__()
        self.call_id = call_id
        self.status: ToolStatus = "pending"

    def arguments(self, raw_text: str) -> None:
        """The argument text so far, while the model generates it; may be half a JSON object."""

    def name_target(self, name: str, target: str) -> None:
        """Set what the header says, once the arguments are known."""

    def start(self, now: float) -> None:
        """The tool runs since `now` (seconds of the pacer's clock)."""

    def update(self, text: str, *, lines: int | None = None, now: float) -> None:
        """The output so far, or its tail; `lines` counts all of it when `text` is a tail."""

    def finish(
        self,
        status: ToolStatus,
        *,
        summary: str = "",
        text: str = "",
        details: Mapping[str, Any] | None = None,
        now: float | None = None,
    ) -> None:
        """The call has its result. `summary` is the size in the header: "exit 1 · 8 lines".

        A unified diff in `details["diff"]` is drawn as a diff. `now` None: no duration is known.
        """


class NoticeBlock(Block):
    """A message of the program itself: a hint, a warning, an error, the stop banner."""

    def __init__(self, text: str, kind: NoticeKind = "info") -> None:
        super().__init__()


class SummaryBlock(Block):
    """The dim line after a turn: steps, time, tokens, cost."""

    def __init__(self, text: str) -> None:
        super().__init__()
