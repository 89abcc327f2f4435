"""What the session is waiting for, as one sentence."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from agent_tui.core.errors import ErrorInfo, reason_of
from agent_tui.core.events import (
    AgentStartEvent,
    MessageEndEvent,
    MessageUpdateEvent,
    ToolExecutionEndEvent,
    ToolExecutionStartEvent,
    TurnStartEvent,
)
from agent_tui.core.figures import countdown
from agent_tui.core.text import one_line, printable
from agent_tui.session.approvals import ApprovalRequest
from agent_tui.session.events import (
    AnyEvent,
    ArgumentsChangedEvent,
    AutoRetryEndEvent,
    AutoRetryStartEvent,
    CompactionEndEvent,
    CompactionStartEvent,
    HookEndEvent,
    HookStartEvent,
)
from agent_tui.session.targets import target_of


@dataclass(frozen=True, slots=True)
class _Tool:
    name: str
    target: str
    since: float


class Activity:
    """Follows the events of a session; `sentence` says what they come down to now."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._tools: dict[str, _Tool] = {}
        self._is_answering = False
        self._retry: tuple[ErrorInfo, float] | None = None
        """The failure, and when the next try is due."""
        self._hook: tuple[str, float] | None = None
        """The hook that runs, and since when."""

        self._is_summarising = False

    def observe(self, event: AnyEvent) -> None:
        """Take note of one event."""
        match event:
            case AgentStartEvent():
                self._tools.clear()
                self._is_answering = False
                self._retry = None
            case TurnStartEvent() | MessageEndEvent():
                self._is_answering = False
            case MessageUpdateEvent():
                self._is_answering = True
            case (
                ToolExecutionStartEvent(tool_call_id=key, tool_name=name, args=args)
                | ArgumentsChangedEvent(tool_call_id=key, tool_name=name, args=args)
            ):
                self._tools[key] = _Tool(name, target_of(args), self._clock())
            case ToolExecutionEndEvent(tool_call_id=key):
                self._tools.pop(key, None)
            case HookStartEvent(hook=hook):
                self._hook = (hook, self._clock())
            case HookEndEvent():
                self._hook = None
            case CompactionStartEvent():
                self._is_summarising = True
            case CompactionEndEvent():
                self._is_summarising = False
            case AutoRetryStartEvent(error=error, delay=delay):
                self._retry = (error, self._clock() + delay)
            case AutoRetryEndEvent():
                self._retry = None

    def sentence(self, step: int, approvals: Sequence[ApprovalRequest]) -> str:
        """E.g. ``tool `pytest -q` (14 s)``; `step` counts from 1."""
        if self._is_summarising:
            return "a summary of the older context"
        if approvals:
            return f"approval of `{_name(approvals[0].tool_name, approvals[0].summary)}`"
        if self._retry is not None:
            error, due = self._retry
            return f"{reason_of(error)}, next try {countdown(due - self._clock())}"
        if self._hook is not None:
            hook, since = self._hook
            return f"{hook} ({round(self._clock() - since)} s)"
        if self._tools:
            return self._tool_sentence(list(self._tools.values()))
        if self._is_answering:
            return f"rest of the answer of step {step}"
        return f"first token of step {max(step, 1)}"

    def _tool_sentence(self, tools: list[_Tool]) -> str:
        oldest = tools[0]
        seconds = round(self._clock() - oldest.since)
        more = f" and {len(tools) - 1} more" if len(tools) > 1 else ""
        return f"tool `{_name(oldest.name, oldest.target)}` ({seconds} s){more}"


def _name(tool_name: str, target: str) -> str:
    return one_line(printable(target or tool_name))
