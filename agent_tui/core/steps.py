"""What one step of the loop was: a request, its answer, its tools. Plain data; a session fills it.

A step holds messages and tool schemas that the agent holds anyway, never copies. What is not known,
as the times of an earlier day, is None.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from agent_tui.core.errors import ErrorInfo
from agent_tui.core.events import EndReason
from agent_tui.core.messages import AgentMessage, AssistantMessage, LlmMessage
from agent_tui.core.model import Model, ThinkingLevel
from agent_tui.core.spending import Spent
from agent_tui.core.stream import ToolSchema

StepState = Literal["waiting", "answering", "tools", "done", "failed", "aborted"]
"""What it is at, or how it ended; `failed`: its last request did, or it never got so far."""
Change = Literal["model", "thinking", "system", "tools"]

RATE_SECONDS = 0.3
"""A shorter answer says nothing about speed."""


@dataclass(slots=True)
class Sent:
    """What a request held, as a difference to that of the step before."""

    model: Model
    thinking_level: ThinkingLevel
    system_prompt: str | None
    tools: Sequence[ToolSchema]
    kept: int = 0
    """So many messages at its beginning are those of the step before."""
    new: Sequence[LlmMessage] = ()
    """The messages behind them."""
    dropped: int = 0
    """Messages of the step before that it does not hold any more."""
    changes: frozenset[Change] = frozenset()
    """What else is not as it was; empty for a first request."""
    session_id: str | None = None
    max_output_tokens: int | None = None
    temperature: float | None = None

    @property
    def count(self) -> int:
        """How many messages it held."""
        return self.kept + len(self.new)


@dataclass(slots=True)
class Failure:
    """An attempt that failed."""

    error: ErrorInfo
    delay: float | None = None
    """Seconds that were waited for the next one; None if none followed after a wait."""


@dataclass(slots=True)
class ToolRun:
    """One call of a tool."""

    call_id: str
    name: str
    args: Mapping[str, Any]
    """What it was called with: what the model wrote, or what that was changed into."""
    is_changed: bool = False
    """A hook or the person changed the arguments."""
    began: float | None = None
    """By the session's clock; an answer of the person begins it anew."""
    seconds: float | None = None
    """How long it took; None while it runs, and when it is not known."""
    is_over: bool = False
    is_error: bool = False
    characters: int = 0
    """Text that it gave back."""


@dataclass(slots=True)
class Step:
    """One step: a model call, with all its attempts, and the tools that it asked for."""

    number: int
    """Counts from 1 in the session, steps of earlier days included."""
    turn: int
    """As in `core.spending.Charge`; 0 for an earlier time."""
    step: int
    """Within the turn, from 1; 0 for an earlier time."""
    state: StepState = "waiting"
    sent: Sent | None = None
    """None if nothing was sent, or that is not known any more."""
    new: Sequence[AgentMessage] = ()
    """Where `sent` is not known: what was said since the answer before."""
    message: AssistantMessage | None = None
    """The answer, once it is complete."""
    failures: list[Failure] = field(default_factory=list)
    """Attempts that failed, oldest first."""
    tools: list[ToolRun] = field(default_factory=list)
    text: int = 0
    """Characters of the answer so far."""
    thinking: int = 0
    """Characters of thoughts so far."""
    arguments: int = 0
    """Characters of calls so far."""
    asked: float | None = None
    """When the last attempt was sent, by the session's clock."""
    first: float | None = None
    """When its first token came."""
    answered: float | None = None
    """When its answer was complete."""
    ended: float | None = None
    """When its tools were done."""
    spent: Spent = field(default_factory=Spent)
    """Everything it cost, failed attempts and what tools spent by themselves included."""
    end: EndReason | None = None
    """How the run ended that ended with this step; None if another step followed."""

    @property
    def is_over(self) -> bool:
        """Nothing more will happen to it."""
        return self.state in ("done", "failed", "aborted")

    @property
    def is_past(self) -> bool:
        """It is of an earlier time: only its messages are known."""
        return self.turn == 0

    @property
    def calls(self) -> int:
        """How many calls the answer holds."""
        return len(self.tools) if self.message is None else len(self.message.tool_calls)

    @property
    def to_first_token(self) -> float | None:
        """Seconds from the request to the first piece of its answer."""
        if self.asked is None or self.first is None:
            return None
        return self.first - self.asked

    def answer_seconds(self, now: float) -> float | None:
        """Seconds from the request to the end of the answer, or to now."""
        if self.asked is None:
            return None
        return (now if self.answered is None else self.answered) - self.asked

    def rate(self, now: float) -> tuple[float | None, bool]:
        """Tokens per second of the answer, and whether that is an estimate from its characters."""
        if self.first is None:
            return None, False
        if self.answered is None:
            seconds, tokens, is_estimate = now - self.first, self.characters / 4, True
        else:
            output = self.message.usage.output if self.message is not None else 0
            seconds, tokens, is_estimate = self.answered - self.first, float(output), False
        return (tokens / seconds if tokens and seconds >= RATE_SECONDS else None), is_estimate

    @property
    def characters(self) -> int:
        """Everything that has arrived."""
        return self.text + self.thinking + self.arguments
