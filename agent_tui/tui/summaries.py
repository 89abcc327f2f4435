"""What the transcript and the status say about summaries of the older context."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from agent_tui.tui.blocks import NoticeKind
from agent_tui.tui.figures import count, plural


class Ended(Protocol):
    """How a compaction ended."""

    @property
    def reason(self) -> str:
        """`branch` if it was about messages that are left, not about the context."""

    @property
    def tokens_before(self) -> int:
        """What the context was."""

    @property
    def tokens_after(self) -> int | None:
        """What it is; None if nothing has changed."""

    @property
    def summarised(self) -> int:
        """How many messages the summary stands for."""

    @property
    def error(self) -> str | None:
        """Why there is none."""

    @property
    def aborted(self) -> bool:
        """Somebody stopped it."""


class Summaries:
    """Follows one session; `say` puts a notice into the transcript."""

    def __init__(self, say: Callable[[str, NoticeKind], None]) -> None:
        self._say = say
        self.words = ""
        """For the status while a summary is being made; empty otherwise."""

    def begin(self, reason: str) -> None:
        """A model is asked."""
        what = "what you leave" if reason == "branch" else "older messages"
        self.words = f"summarising {what} (esc: leave as it was)"

    def end(self, event: Ended) -> None:
        """It is over, well or badly."""
        self.words = ""
        if event.tokens_after is not None:
            sizes = f"context {count(event.tokens_before)} → ~{count(event.tokens_after)}"
            messages = plural(event.summarised, "message")
            self._say(f"{sizes}, {messages} summarised · /compact undo", "info")
        elif event.aborted:
            self._say("Not summarised: the context is as it was.", "info")
        elif event.reason != "branch" or event.error is not None:
            self._say(f"Not summarised: {event.error}", "warning")
