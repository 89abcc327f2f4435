"""What a run has begun and not yet ended, so that even a fault of the engine ends balanced."""

from __future__ import annotations

from dataclasses import dataclass, field

from agent_tui.core.events import (
    AgentEvent,
    MessageEndEvent,
    MessageStartEvent,
    ToolExecutionEndEvent,
    ToolExecutionStartEvent,
    TurnEndEvent,
    TurnStartEvent,
)
from agent_tui.core.messages import AgentMessage, AssistantMessage, ToolCall, ToolResultMessage


@dataclass(slots=True)
class OpenParts:
    """Follows the events of one run."""

    turn: bool = False
    message: AgentMessage | None = None
    calls: dict[str, str] = field(default_factory=dict)
    """Tool name by id of each call that was started and not ended."""
    answer: AssistantMessage | None = None
    """The finished answer of the open turn."""
    results: list[ToolResultMessage] = field(default_factory=list)
    """The recorded results of the open turn."""

    def see(self, event: AgentEvent) -> None:
        """Take one event into account."""
        match event:
            case TurnStartEvent():
                self.turn, self.answer, self.results = True, None, []
            case TurnEndEvent():
                self.turn = False
            case MessageStartEvent(message=message):
                self.message = message
            case MessageEndEvent(message=message):
                self.message = None
                if isinstance(message, AssistantMessage):
                    self.answer = message
                elif isinstance(message, ToolResultMessage):
                    self.results.append(message)
            case ToolExecutionStartEvent(tool_call_id=call_id, tool_name=name):
                self.calls[call_id] = name
            case ToolExecutionEndEvent(tool_call_id=call_id):
                self.calls.pop(call_id, None)

    def unanswered(self) -> list[ToolCall]:
        """The calls of the open turn's answer that have no result."""
        if self.answer is None:
            return []
        answered = {result.tool_call_id for result in self.results}
        return [call for call in self.answer.tool_calls if call.id not in answered]
