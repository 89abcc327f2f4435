"""What a run is configured with: its context, its hooks, and what hooks receive and answer.

Every hook may be a plain or an async function. A field left out of a hook's answer keeps the value
it had; None is a value of its own.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Literal, TypeAlias, TypeVar

from agent_tui.core.abort import AbortSignal
from agent_tui.core.messages import (
    AgentMessage,
    AssistantMessage,
    ImageBlock,
    LlmMessage,
    TextBlock,
    ToolCall,
    ToolResultMessage,
)
from agent_tui.core.model import Model, ThinkingLevel
from agent_tui.core.stream import LlmContext, StreamFn, StreamOptions
from agent_tui.core.tool import ExecutionMode, Tool, ToolHandler, ToolResult
from agent_tui.core.usage import Usage

T = TypeVar("T")
MaybeAwaitable: TypeAlias = T | Awaitable[T]
ToolErrorPolicy = Literal["abort", "feed_back"]
AbortedPolicy = Literal["keep_text", "drop"]


class Unset(Enum):
    """The type of a field that a hook left out."""

    UNSET = "unset"


UNSET: Literal[Unset.UNSET] = Unset.UNSET


@dataclass(slots=True)
class AgentContext:
    """What a run starts from; the loop works on its own copies of the lists."""

    system_prompt: str | None = None
    messages: list[AgentMessage] = field(default_factory=list)
    tools: list[Tool] = field(default_factory=list)

    def copy(self) -> AgentContext:
        """The same with lists of its own: what happens later does not show in it."""
        return AgentContext(self.system_prompt, [*self.messages], [*self.tools])


@dataclass(slots=True)
class BeforeToolCallContext:
    """A call that is about to run; changing `args` in place changes what runs, unchecked."""

    assistant_message: AssistantMessage
    tool_call: ToolCall
    args: dict[str, Any]
    context: AgentContext


@dataclass(slots=True)
class AfterToolCallContext:
    """A call that ran, with what it returned."""

    assistant_message: AssistantMessage
    tool_call: ToolCall
    args: dict[str, Any]
    context: AgentContext
    result: ToolResult
    is_error: bool


@dataclass(slots=True)
class TurnContext:
    """A turn that has just ended; its results are already in `context`."""

    message: AssistantMessage
    tool_results: list[ToolResultMessage]
    context: AgentContext
    new_messages: list[AgentMessage]


@dataclass(slots=True)
class BeforeToolCall:
    """`block` answers the call with an error result (`reason`) instead of running it.

    `terminate` marks that result as terminating; `end_turn` makes the whole batch terminating
    whatever its other results say. `args` replaces the arguments and is checked again.
    """

    block: bool = False
    reason: str | None = None
    terminate: bool = False
    end_turn: bool = False
    args: dict[str, Any] | None = None


@dataclass(slots=True)
class AfterToolCall:
    """Each given field replaces that of the result."""

    content: str | list[TextBlock | ImageBlock] | Unset | None = UNSET
    details: Any = UNSET
    is_error: bool | Unset = UNSET
    usage: Usage | Unset | None = UNSET
    terminate: bool | Unset = UNSET


@dataclass(slots=True)
class NextTurn:
    """Each given field holds from the next turn on, for this run; `messages` for later runs too."""

    system_prompt: str | Unset | None = UNSET
    messages: Sequence[AgentMessage] | Unset = UNSET
    tools: Sequence[Tool] | Unset = UNSET
    model: Model | Unset = UNSET
    thinking_level: ThinkingLevel | Unset = UNSET


BeforeToolCallHook: TypeAlias = Callable[
    [BeforeToolCallContext, AbortSignal], MaybeAwaitable[BeforeToolCall | None]
]
AfterToolCallHook: TypeAlias = Callable[
    [AfterToolCallContext, AbortSignal], MaybeAwaitable[AfterToolCall | None]
]
PrepareNextTurnHook: TypeAlias = Callable[
    [TurnContext, AbortSignal], MaybeAwaitable[NextTurn | None]
]
ShouldStopHook: TypeAlias = Callable[[TurnContext, AbortSignal], MaybeAwaitable[bool]]
TransformContext: TypeAlias = Callable[
    [list[AgentMessage], AbortSignal], MaybeAwaitable[list[AgentMessage]]
]
ConvertToLlm: TypeAlias = Callable[[list[AgentMessage]], MaybeAwaitable[list[LlmMessage]]]
GetApiKey: TypeAlias = Callable[[str], MaybeAwaitable[str | None]]
OnRequest: TypeAlias = Callable[[Model, LlmContext, StreamOptions], None]
GetMessages: TypeAlias = Callable[[], MaybeAwaitable[Sequence[AgentMessage]]]


@dataclass(slots=True)
class AgentLoopConfig:
    """How a run behaves. Only `model` is required; hooks default to none.

    The loop polls queues through `get_steering_messages` and `get_follow_up_messages`. A caller
    whose queues can be edited while a message waits for its turn also gives `accept_queued` (called
    right before delivery; returns the message to deliver, or None if it was withdrawn) and
    `has_queued`.
    """

    model: Model
    stream_fn: StreamFn | None = None
    thinking_level: ThinkingLevel = "off"
    session_id: str | None = None
    tool_execution: ExecutionMode = "parallel"
    max_iterations: int | None = None
    max_parallel_tools: int | None = None
    tool_handler: ToolHandler | None = None
    tool_error_policy: ToolErrorPolicy = "abort"
    aborted_messages: AbortedPolicy = "keep_text"
    final_answer_on_limit: bool = False
    shows_prints: bool = False
    """What a tool prints is its live output instead of the program's."""
    on_request: OnRequest | None = None
    """Told of each request right before it is made; does not raise and changes nothing."""
    convert_to_llm: ConvertToLlm | None = None
    transform_context: TransformContext | None = None
    get_api_key: GetApiKey | None = None
    get_steering_messages: GetMessages | None = None
    get_follow_up_messages: GetMessages | None = None
    accept_queued: Callable[[AgentMessage], AgentMessage | None] | None = None
    has_queued: Callable[[], bool] | None = None
    before_tool_call: BeforeToolCallHook | None = None
    after_tool_call: AfterToolCallHook | None = None
    prepare_next_turn: PrepareNextTurnHook | None = None
    should_stop_after_turn: ShouldStopHook | None = None
    tool_mode: Callable[[], ExecutionMode] | None = None
    """Asked before each batch; overrides `tool_execution`, so that a change applies at once."""
    steering_signal: Callable[[], AbortSignal] | None = None
    """A signal that is set when steering waits; asked once a batch."""
    call_signals: dict[str, AbortSignal] = field(default_factory=dict)
    """The loop's signals of the calls now open, by call id: setting one ends that call alone."""
