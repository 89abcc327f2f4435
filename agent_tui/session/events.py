"""What a session tells beside the ten events of a run: queue, retries, approvals, budgets, rest.

They share one total order with the run's events; a listener of `Session.subscribe` gets both.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from agent_tui.agent.queues import QueuedItem
from agent_tui.core.errors import ErrorInfo, reason_of
from agent_tui.core.events import AgentEvent, json_line
from agent_tui.core.limits import Meter
from agent_tui.core.messages import CompactionSummaryMessage
from agent_tui.core.usage import Usage

if TYPE_CHECKING:
    from agent_tui.session.approvals import ApprovalRequest
    from agent_tui.session.breakpoints import Held
    from agent_tui.session.budgets import BudgetRequest

QueueState = Literal["active", "paused"]
Answer = Literal["once", "always", "decline"]
Verdict = Literal["once", "always", "decline", "aborted", "allowed", "refused"]
"""How a question ended; `allowed` and `refused`: the mode or a rule has changed in between."""
CompactionReason = Literal["threshold", "overflow", "manual", "branch"]
"""`branch`: not the context, but messages that are about to be left."""
BudgetAnswer = Literal["extend", "finish", "stop"]
BudgetVerdict = Literal["extend", "finish", "stop", "aborted"]


BreakAnswer = Literal["go", "step", "stop"]
"""Go on; go on and be held before the next model call; stop here."""
BreakVerdict = Literal["go", "step", "stop", "aborted"]


class _SessionEvent:
    __slots__ = ()
    type: str

    def to_json(self) -> str:
        """One line of JSON, UTF-8 kept as it is."""
        data: dict[str, Any] = {"type": self.type}
        data |= {f.name: getattr(self, f.name) for f in fields(self) if f.name != "type"}  # type: ignore[arg-type]
        return json_line(data)


@dataclass(frozen=True, slots=True)
class QueueUpdateEvent(_SessionEvent):
    """The queue or its state changed; on delivery it comes before the item's `message_start`."""

    items: Sequence[QueuedItem] = ()
    """Steering first, then follow-ups, each in delivery order."""
    state: QueueState = "active"
    type: Literal["queue_update"] = "queue_update"


@dataclass(frozen=True, slots=True)
class AutoRetryStartEvent(_SessionEvent):
    """A request failed in a way that may pass; it is made again after `delay` seconds."""

    attempt: int
    """1 for the first retry."""
    max_attempts: int
    delay: float
    error: ErrorInfo
    type: Literal["auto_retry_start"] = "auto_retry_start"


@dataclass(frozen=True, slots=True)
class AutoRetryEndEvent(_SessionEvent):
    """The retries are over: an answer came, or they were given up."""

    success: bool
    attempt: int
    """How many retries there were, a wait that was cut short included."""
    final_error: str | None = None
    type: Literal["auto_retry_end"] = "auto_retry_end"


@dataclass(frozen=True, slots=True)
class FallbackEvent(_SessionEvent):
    """The model is overloaded: another one goes on, until the turn is over."""

    model: str
    """`provider/id` of the one that goes on."""
    instead_of: str
    error: ErrorInfo
    """Why the other one does not."""
    type: Literal["fallback"] = "fallback"

    @property
    def sentence(self) -> str:
        """What to tell the person."""
        why = f"{self.instead_of}: {reason_of(self.error)}"
        return f"{why}; going on with {self.model} for this turn"


@dataclass(frozen=True, slots=True)
class ApprovalRequestEvent(_SessionEvent):
    """A call waits for the person."""

    request: ApprovalRequest
    type: Literal["approval_request"] = "approval_request"


@dataclass(frozen=True, slots=True)
class ApprovalAnswerEvent(_SessionEvent):
    """A question is off the table; `aborted` when the run was stopped before an answer."""

    request_id: str
    verdict: Verdict
    comment: str | None = None
    type: Literal["approval_answer"] = "approval_answer"


@dataclass(frozen=True, slots=True)
class BudgetWarningEvent(_SessionEvent):
    """A budget is nearly used up, or cannot be enforced."""

    message: str
    """What to tell the person."""
    meter: Meter | None = None
    """The budget that is nearly used up; None if one cannot be enforced."""
    type: Literal["budget_warning"] = "budget_warning"


@dataclass(frozen=True, slots=True)
class BudgetRequestEvent(_SessionEvent):
    """A budget is used up: no model call is made before the person has answered."""

    request: BudgetRequest
    type: Literal["budget_request"] = "budget_request"


@dataclass(frozen=True, slots=True)
class BudgetAnswerEvent(_SessionEvent):
    """That question is off the table; `aborted` when the run was stopped before an answer."""

    request_id: str
    verdict: BudgetVerdict
    type: Literal["budget_answer"] = "budget_answer"


@dataclass(frozen=True, slots=True)
class BreakEvent(_SessionEvent):
    """A breakpoint: the loop is held until the person lets it go on."""

    held: Held
    type: Literal["breakpoint"] = "breakpoint"


@dataclass(frozen=True, slots=True)
class BreakEndEvent(_SessionEvent):
    """It is not held any more; `aborted` when the run was stopped meanwhile."""

    held_id: str
    verdict: BreakVerdict
    type: Literal["breakpoint_end"] = "breakpoint_end"


@dataclass(frozen=True, slots=True)
class NoticeEvent(_SessionEvent):
    """Something that the person should know; nothing waits for an answer."""

    message: str
    type: Literal["notice"] = "notice"


@dataclass(frozen=True, slots=True)
class ServerEvent(_SessionEvent):
    """An MCP server is there, is lost, or offers something else."""

    server: str
    state: str
    """`starting`, `ready`, `waiting` to be connected again, `failed`, `login`, `off`."""
    problem: str = ""
    tools: int = 0
    type: Literal["mcp_server"] = "mcp_server"


@dataclass(frozen=True, slots=True)
class HookStartEvent(_SessionEvent):
    """A hook from the settings runs and is waited for."""

    hook: str
    """What it is, for a person."""
    tool_call_id: str = ""
    """The call that it is about; empty after a turn."""
    type: Literal["hook_start"] = "hook_start"


@dataclass(frozen=True, slots=True)
class HookEndEvent(_SessionEvent):
    """It is not waited for any more."""

    hook: str
    tool_call_id: str = ""
    type: Literal["hook_end"] = "hook_end"


@dataclass(frozen=True, slots=True)
class ArgumentsChangedEvent(_SessionEvent):
    """A hook, or the person, has changed what a call will do.

    The message of the model stays as it is.
    """

    tool_call_id: str
    tool_name: str
    args: Mapping[str, Any]
    by_person: bool = False
    type: Literal["arguments_changed"] = "arguments_changed"


@dataclass(frozen=True, slots=True)
class CompactionStartEvent(_SessionEvent):
    """The older part of the context is being summarised."""

    reason: CompactionReason
    tokens_before: int
    """What the context amounts to, estimated."""
    type: Literal["compaction_start"] = "compaction_start"


@dataclass(frozen=True, slots=True)
class CompactionEndEvent(_SessionEvent):
    """That is over; without a `summary` nothing has changed."""

    reason: CompactionReason
    tokens_before: int
    tokens_after: int | None = None
    summary: CompactionSummaryMessage | None = None
    first_kept_id: str | None = None
    """The first message behind the summary that was not chosen by a pin."""
    pinned_ids: tuple[str, ...] = ()
    """Messages from before that one which stay, in order."""
    summarised: int = 0
    """How many messages the summary stands for."""
    details: Mapping[str, Any] = field(default_factory=dict)
    """`read_files` and `modified_files`, earlier compactions included."""
    usage: Usage | None = None
    """What it cost, failed attempts included; None if no model was asked."""
    model: str = ""
    """`provider/id` of who was asked."""
    error: str | None = None
    """Why there is no summary; None if somebody stopped it, and after a success."""
    aborted: bool = False
    type: Literal["compaction_end"] = "compaction_end"


@dataclass(frozen=True, slots=True)
class JobsEvent(_SessionEvent):
    """A command went to the background, or one there has ended."""

    running: Sequence[str] = ()
    """A sentence for each that runs."""
    type: Literal["jobs"] = "jobs"


@dataclass(frozen=True, slots=True)
class AgentSettledEvent(_SessionEvent):
    """The turn is over for good: no retry and no queued continuation is pending."""

    type: Literal["agent_settled"] = field(default="agent_settled")


SessionEvent: TypeAlias = (
    QueueUpdateEvent
    | AutoRetryStartEvent
    | AutoRetryEndEvent
    | FallbackEvent
    | ApprovalRequestEvent
    | ApprovalAnswerEvent
    | BudgetWarningEvent
    | BudgetRequestEvent
    | BudgetAnswerEvent
    | BreakEvent
    | BreakEndEvent
    | NoticeEvent
    | ServerEvent
    | HookStartEvent
    | HookEndEvent
    | ArgumentsChangedEvent
    | CompactionStartEvent
    | CompactionEndEvent
    | JobsEvent
    | AgentSettledEvent
)
AnyEvent: TypeAlias = AgentEvent | SessionEvent
