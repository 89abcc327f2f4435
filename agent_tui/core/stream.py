"""What a provider produces: the events of one response, and the call that asks for them.

A stream function yields `start`, then for each content block a start, deltas and an end, then
exactly one terminal `done` or `error`. It builds one `AssistantMessage`, changes it in place and
sends that same object as every `partial`. It does not raise for request, network or model failures.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from agent_tui.core.abort import AbortSignal
from agent_tui.core.messages import AssistantMessage, LlmMessage
from agent_tui.core.model import Model, ThinkingLevel


@dataclass(slots=True)
class StreamStart:
    """The response has begun."""

    partial: AssistantMessage | None = None
    type: Literal["start"] = "start"


@dataclass(slots=True)
class TextStart:
    """A text block begins at `content_index`."""

    content_index: int = 0
    partial: AssistantMessage | None = None
    type: Literal["text_start"] = "text_start"


@dataclass(slots=True)
class TextDelta:
    """More text."""

    content_index: int = 0
    delta: str = ""
    partial: AssistantMessage | None = None
    type: Literal["text_delta"] = "text_delta"


@dataclass(slots=True)
class TextEnd:
    """The text block is complete."""

    content_index: int = 0
    partial: AssistantMessage | None = None
    type: Literal["text_end"] = "text_end"


@dataclass(slots=True)
class ThinkingStart:
    """A thinking block begins."""

    content_index: int = 0
    partial: AssistantMessage | None = None
    type: Literal["thinking_start"] = "thinking_start"


@dataclass(slots=True)
class ThinkingDelta:
    """More thoughts."""

    content_index: int = 0
    delta: str = ""
    partial: AssistantMessage | None = None
    type: Literal["thinking_delta"] = "thinking_delta"


@dataclass(slots=True)
class ThinkingEnd:
    """The thinking block is complete."""

    content_index: int = 0
    partial: AssistantMessage | None = None
    type: Literal["thinking_end"] = "thinking_end"


@dataclass(slots=True)
class ToolCallStart:
    """A tool call begins; its name may still grow."""

    content_index: int = 0
    partial: AssistantMessage | None = None
    type: Literal["toolcall_start"] = "toolcall_start"


@dataclass(slots=True)
class ToolCallDelta:
    """More argument text."""

    content_index: int = 0
    delta: str = ""
    partial: AssistantMessage | None = None
    type: Literal["toolcall_delta"] = "toolcall_delta"


@dataclass(slots=True)
class ToolCallEnd:
    """The call is complete; the engine parses its argument text now."""

    content_index: int = 0
    partial: AssistantMessage | None = None
    type: Literal["toolcall_end"] = "toolcall_end"


@dataclass(slots=True)
class StreamDone:
    """The response ended properly."""

    reason: Literal["stop", "length", "tool_use"] = "stop"
    message: AssistantMessage = field(default_factory=AssistantMessage)
    type: Literal["done"] = "done"


@dataclass(slots=True)
class StreamError:
    """The response failed or was aborted; `message.error` says how."""

    reason: Literal["error", "aborted"] = "error"
    message: AssistantMessage = field(default_factory=AssistantMessage)
    type: Literal["error"] = "error"


BlockEvent: TypeAlias = (
    TextStart
    | TextDelta
    | TextEnd
    | ThinkingStart
    | ThinkingDelta
    | ThinkingEnd
    | ToolCallStart
    | ToolCallDelta
    | ToolCallEnd
)
StreamEvent: TypeAlias = StreamStart | BlockEvent | StreamDone | StreamError


@dataclass(slots=True)
class ToolSchema:
    """A tool as a model sees it; `parameters` is a JSON schema of an object."""

    name: str
    description: str = ""
    parameters: dict[str, Any] = field(default_factory=lambda: {"type": "object", "properties": {}})


@dataclass(slots=True)
class LlmContext:
    """One request: everything the model gets to see."""

    system_prompt: str | None = None
    messages: list[LlmMessage] = field(default_factory=list)
    tools: list[ToolSchema] = field(default_factory=list)


@dataclass(slots=True)
class StreamOptions:
    """How to ask. `signal` ends the response early; `timeout` in seconds bounds silence."""

    thinking_level: ThinkingLevel = "off"
    max_output_tokens: int | None = None
    temperature: float | None = None
    api_key: str | None = None
    session_id: str | None = None
    signal: AbortSignal = field(default_factory=AbortSignal)
    timeout: float | None = None
    headers: Mapping[str, str] = field(default_factory=dict)


StreamFn: TypeAlias = Callable[[Model, LlmContext, StreamOptions], AsyncIterator[StreamEvent]]
