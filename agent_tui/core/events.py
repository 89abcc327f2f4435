"""The ten events of a run, in the order engine and listeners agree on.

Payload messages are views: `message_update` carries the accumulating message, all others finished
ones. Whoever receives an event does not change it (`agent_end.will_retry` is the session's).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Literal, TypeAlias

from pydantic_core import PydanticSerializationError, to_json, to_jsonable_python

from agent_tui.core.errors import ErrorInfo
from agent_tui.core.ids import new_id
from agent_tui.core.messages import AgentMessage, AssistantMessage, ToolResultMessage
from agent_tui.core.stream import BlockEvent
from agent_tui.core.text import without_surrogates
from agent_tui.core.tool import ToolResult

EndReason = Literal[
    "completed", "terminated", "stopped", "max_iterations", "aborted", "error", "tool_error"
]


class _Event:
    __slots__ = ()
    type: str

    def to_json(self) -> str:
        """One line of JSON, UTF-8 kept as it is."""
        data = {"type": self.type}
        data |= {f.name: getattr(self, f.name) for f in fields(self) if f.name != "type"}  # type: ignore[arg-type]
        return json_line(data)


def json_line(data: dict[str, Any]) -> str:
    """`data` on one line; models, blocks and tool results as objects, anything unknown as text.

    Lone surrogates, which UTF-8 cannot hold, become U+FFFD.
    """
    try:
        return to_json(data, inf_nan_mode="null", fallback=_plain).decode()
    except PydanticSerializationError:
        plain = to_jsonable_python(data, inf_nan_mode="null", fallback=_plain)
        return without_surrogates(json.dumps(plain, ensure_ascii=False, separators=(",", ":")))


def _plain(value: object) -> object:
    if isinstance(value, ToolResult):
        return value.as_dict()
    return str(value)


@dataclass(slots=True)
class AgentStartEvent(_Event):
    """The run begins."""

    run_id: str = field(default_factory=new_id)
    type: Literal["agent_start"] = "agent_start"


@dataclass(slots=True)
class AgentEndEvent(_Event):
    """The run is over; `messages` are those whose `message_end` it emitted, in order."""

    messages: Sequence[AgentMessage] = ()
    reason: EndReason = "completed"
    error: ErrorInfo | None = None
    will_retry: bool = False
    """Set by the session when it is about to try again."""
    type: Literal["agent_end"] = "agent_end"


@dataclass(slots=True)
class TurnStartEvent(_Event):
    """A turn begins; `turn_index` counts from 0 within the run."""

    turn_index: int = 0
    type: Literal["turn_start"] = "turn_start"


@dataclass(slots=True)
class TurnEndEvent(_Event):
    """The response and all its tool results are recorded; results in call order."""

    message: AssistantMessage
    tool_results: Sequence[ToolResultMessage] = ()
    type: Literal["turn_end"] = "turn_end"


@dataclass(slots=True)
class MessageStartEvent(_Event):
    """A message begins: complete for users and tools, partial for the assistant."""

    message: AgentMessage
    type: Literal["message_start"] = "message_start"


@dataclass(slots=True)
class MessageUpdateEvent(_Event):
    """The assistant's message grew by one stream event."""

    message: AssistantMessage
    assistant_message_event: BlockEvent
    type: Literal["message_update"] = "message_update"

    def to_json(self) -> str:
        """Only the id and the delta, so that output grows with the text and not with its square."""
        event = self.assistant_message_event
        stream = {f.name: getattr(event, f.name) for f in fields(event) if f.name != "partial"}
        return json_line(
            {
                "type": self.type,
                "message": {"id": self.message.id},
                "assistant_message_event": stream,
            }
        )


@dataclass(slots=True)
class MessageEndEvent(_Event):
    """The message is final and already in the transcript."""

    message: AgentMessage
    type: Literal["message_end"] = "message_end"


@dataclass(slots=True)
class ToolExecutionStartEvent(_Event):
    """A call of the batch is taken up; `args` as the model produced them."""

    tool_call_id: str
    tool_name: str
    args: dict[str, Any]
    type: Literal["tool_execution_start"] = "tool_execution_start"


@dataclass(slots=True)
class ToolExecutionUpdateEvent(_Event):
    """The tool reported; `partial_result` replaces the one before."""

    tool_call_id: str
    tool_name: str
    args: dict[str, Any]
    partial_result: ToolResult
    type: Literal["tool_execution_update"] = "tool_execution_update"


@dataclass(slots=True)
class ToolExecutionEndEvent(_Event):
    """The call has its result; exactly once for each start."""

    tool_call_id: str
    tool_name: str
    result: ToolResult
    is_error: bool = False
    type: Literal["tool_execution_end"] = "tool_execution_end"


AgentEvent: TypeAlias = (
    AgentStartEvent
    | AgentEndEvent
    | TurnStartEvent
    | TurnEndEvent
    | MessageStartEvent
    | MessageUpdateEvent
    | MessageEndEvent
    | ToolExecutionStartEvent
    | ToolExecutionUpdateEvent
    | ToolExecutionEndEvent
)
