"""The entries of a transcript and the blocks they are made of.

A message is mutable while it is built and never changed after its `message_end`. `details` and
unknown extras never reach a model; `id` is the message's identity in events, queues and sessions.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from agent_tui.core.errors import ErrorInfo
from agent_tui.core.ids import new_id, now_ms
from agent_tui.core.usage import Usage

StopReason = Literal["stop", "length", "tool_use", "error", "aborted"]


class _Block(BaseModel):
    model_config = ConfigDict(defer_build=True)

    def _grow(self, field: str, delta: str) -> None:
        # While the local variable holds the only reference, CPython extends the string in place:
        # appending costs the length of the delta, not of the text so far.
        fields = self.__dict__
        text: str = fields[field]
        fields[field] = ""
        text += delta
        fields[field] = text


class TextBlock(_Block):
    """Words for a person, usually markdown."""

    type: Literal["text"] = "text"
    text: str = ""
    signature: str | None = None
    """Opaque data of the provider, sent back only to the same model."""

    def append(self, delta: str) -> None:
        """Add to the end of the text; costs the length of `delta`."""
        self._grow("text", delta)


class ThinkingBlock(_Block):
    """What the model thought before it answered."""

    type: Literal["thinking"] = "thinking"
    thinking: str = ""
    signature: str | None = None
    redacted: bool = False

    def append(self, delta: str) -> None:
        """Add to the end of the thoughts; costs the length of `delta`."""
        self._grow("thinking", delta)


class ImageBlock(_Block):
    """A picture, `data` in base64."""

    type: Literal["image"] = "image"
    data: str
    mime_type: str


class ToolCall(_Block):
    """The model asks for a tool. With `arguments_error` set the call is never executed."""

    type: Literal["tool_call"] = "tool_call"
    id: str = ""
    name: str = ""
    arguments: dict[str, Any] = Field(default_factory=dict)
    raw_arguments: str | None = None
    """The argument text while it streams, and afterwards if it could not be parsed."""
    arguments_error: str | None = None
    thought_signature: str | None = None

    def append(self, delta: str) -> None:
        """Add to the end of the argument text; costs the length of `delta`."""
        if self.raw_arguments is None:
            self.raw_arguments = ""
        self._grow("raw_arguments", delta)


class _Message(BaseModel):
    model_config = ConfigDict(defer_build=True)

    id: str = Field(default_factory=new_id)
    timestamp: int = Field(default_factory=now_ms)
    """Milliseconds since the epoch."""


class UserMessage(_Message):
    """What the person said."""

    role: Literal["user"] = "user"
    content: str | list[TextBlock | ImageBlock]

    @property
    def text(self) -> str:
        """All text, blocks joined by newlines."""
        return text_of(self.content)


class AssistantMessage(_Message):
    """One response of the model."""

    role: Literal["assistant"] = "assistant"
    content: list[Annotated[TextBlock | ThinkingBlock | ToolCall, Field(discriminator="type")]] = (
        Field(default_factory=list)
    )
    api: str = ""
    provider: str = ""
    model: str = ""
    response_id: str | None = None
    usage: Usage = Field(default_factory=Usage)
    stop_reason: StopReason = "stop"
    raw_stop_reason: str | None = None
    """The provider's own word, kept when it is not one of ours."""
    error: ErrorInfo | None = None

    @property
    def text(self) -> str:
        """All text blocks, concatenated."""
        return "".join(block.text for block in self.content if isinstance(block, TextBlock))

    @property
    def tool_calls(self) -> list[ToolCall]:
        """The calls, in order."""
        return [block for block in self.content if isinstance(block, ToolCall)]


class ToolResultMessage(_Message):
    """The answer to one tool call."""

    role: Literal["tool_result"] = "tool_result"
    tool_call_id: str
    tool_name: str = ""
    content: list[TextBlock | ImageBlock] = Field(default_factory=list)
    details: Any = None
    """For the screen and the session; never reaches the model."""
    is_error: bool = False
    usage: Usage | None = None

    @property
    def text(self) -> str:
        """All text blocks, joined by newlines."""
        return text_of(self.content)


class CompactionSummaryMessage(_Message):
    """Stands for the older part of the transcript."""

    role: Literal["compaction_summary"] = "compaction_summary"
    summary: str
    tokens_before: int = 0


class BranchSummaryMessage(_Message):
    """Stands for a branch that was left."""

    role: Literal["branch_summary"] = "branch_summary"
    summary: str
    from_id: str = ""


class CustomMessage(_Message):
    """An application's own entry; reaches the model as a user message."""

    role: Literal["custom"] = "custom"
    custom_type: str
    content: str | list[TextBlock | ImageBlock] = ""
    display: bool = True
    details: Any = None


class BashExecutionMessage(_Message):
    """A command that the person ran themself."""

    role: Literal["bash_execution"] = "bash_execution"
    command: str
    output: str = ""
    exit_code: int | None = None
    cancelled: bool = False
    truncated: bool = False
    full_output_path: str | None = None
    exclude_from_context: bool = False


AgentMessage: TypeAlias = (
    UserMessage
    | AssistantMessage
    | ToolResultMessage
    | CompactionSummaryMessage
    | BranchSummaryMessage
    | CustomMessage
    | BashExecutionMessage
)
LlmMessage: TypeAlias = UserMessage | AssistantMessage | ToolResultMessage

_adapter: TypeAdapter[Any] | None = None


def parse_message(data: dict[str, Any]) -> AgentMessage:
    """The message that `model_dump()` wrote; raises `pydantic.ValidationError` if it is none."""
    global _adapter
    if _adapter is None:
        # Building takes milliseconds that a start without a session does not need to spend.
        _adapter = TypeAdapter(Annotated[AgentMessage, Field(discriminator="role")])
    message: AgentMessage = _adapter.validate_python(data)
    return message


def text_of(content: str | list[Any]) -> str:
    """The text of a message's content, blocks joined by newlines, images left out."""
    if isinstance(content, str):
        return content
    return "\n".join(block.text for block in content if isinstance(block, TextBlock))
