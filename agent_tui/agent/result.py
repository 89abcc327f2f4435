"""What a run gave: the shape `run()` returns, and how it is counted from the events."""

from __future__ import annotations

from dataclasses import dataclass, field

from agent_tui.core.events import (
    AgentEndEvent,
    AgentEvent,
    EndReason,
    MessageEndEvent,
    ToolExecutionEndEvent,
)
from agent_tui.core.messages import AgentMessage, AssistantMessage, ToolResultMessage
from agent_tui.core.usage import Usage, add_usage

WITHDRAWN = "withdrawn"
"""Raw stop reason of a turn whose message was taken back: the model was not asked."""


@dataclass(frozen=True)
class AgentResult:
    """A run that ended by itself."""

    final_message: str
    """Text of the last answer; of the newest answer with any text if the run was cut short."""
    iterations: int
    """Round trips that gave an answer; 1 for a plain one."""
    tool_call_count: int
    """Calls answered by the loop, whatever the outcome."""
    total_usage: Usage
    total_cost_usd: float | None
    """US dollars; None is unknown."""
    reason: str
    """`completed`, `terminated`, `stopped` or `max_iterations`."""
    new_messages: list[AgentMessage]


@dataclass(slots=True)
class Tally:
    """Counts one run while its events pass."""

    iterations: int = 0
    tool_call_count: int = 0
    usages: list[Usage] = field(default_factory=list)
    messages: list[AgentMessage] = field(default_factory=list)
    reason: EndReason = "completed"

    def see(self, event: AgentEvent) -> None:
        """Take one event into account."""
        match event:
            case MessageEndEvent(message=AssistantMessage(raw_stop_reason=reason)) if (
                reason == WITHDRAWN
            ):
                pass
            case MessageEndEvent(message=AssistantMessage() as message):
                self.iterations += message.stop_reason not in ("error", "aborted")
                self.usages.append(message.usage)
            case MessageEndEvent(message=ToolResultMessage(usage=Usage() as usage)):
                self.usages.append(usage)
            case ToolExecutionEndEvent():
                self.tool_call_count += 1
            case AgentEndEvent(messages=messages, reason=reason):
                self.messages, self.reason = list(messages), reason

    def result(self) -> AgentResult:
        """The result of the run that was seen to its end."""
        usage = add_usage(self.usages)
        return AgentResult(
            final_message=self._final_message(),
            iterations=self.iterations,
            tool_call_count=self.tool_call_count,
            total_usage=usage,
            total_cost_usd=usage.cost_usd,
            reason=self.reason,
            new_messages=self.messages,
        )

    def _final_message(self) -> str:
        answers = [
            message.text
            for message in reversed(self.messages)
            if isinstance(message, AssistantMessage) and message.raw_stop_reason != WITHDRAWN
        ]
        if self.reason == "completed":
            return answers[0] if answers else ""
        return next((text for text in answers if text), "")
