"""An agent loop that can be steered while it works, and a terminal chat around it.

Names load when first used: importing the package costs milliseconds and loads no UI and no HTTP.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from agent_tui.version import __version__

if TYPE_CHECKING:
    from agent_tui.agent.agent import Agent as Agent
    from agent_tui.agent.hooks import AfterToolCall as AfterToolCall
    from agent_tui.agent.hooks import AgentContext as AgentContext
    from agent_tui.agent.hooks import AgentLoopConfig as AgentLoopConfig
    from agent_tui.agent.hooks import BeforeToolCall as BeforeToolCall
    from agent_tui.agent.hooks import NextTurn as NextTurn
    from agent_tui.agent.loop import agent_loop as agent_loop
    from agent_tui.agent.loop import agent_loop_continue as agent_loop_continue
    from agent_tui.agent.queues import QueuedItem as QueuedItem
    from agent_tui.agent.result import AgentResult as AgentResult
    from agent_tui.agent.state import AgentState as AgentState
    from agent_tui.agent.tool_agent import ToolAgent as ToolAgent
    from agent_tui.core.abort import AbortSignal as AbortSignal
    from agent_tui.core.errors import *  # noqa: F403
    from agent_tui.core.events import *  # noqa: F403
    from agent_tui.core.functions import tool as tool
    from agent_tui.core.messages import *  # noqa: F403
    from agent_tui.core.model import Model as Model
    from agent_tui.core.model import ModelCost as ModelCost
    from agent_tui.core.model import ThinkingLevel as ThinkingLevel
    from agent_tui.core.tool import Tool as Tool
    from agent_tui.core.tool import ToolContext as ToolContext
    from agent_tui.core.tool import ToolHandler as ToolHandler
    from agent_tui.core.tool import ToolResult as ToolResult
    from agent_tui.core.usage import Usage as Usage

_NAMES = {
    "agent.agent": "Agent",
    "agent.state": "AgentState",
    "agent.tool_agent": "ToolAgent",
    "agent.result": "AgentResult",
    "agent.loop": "agent_loop agent_loop_continue",
    "agent.hooks": "AgentContext AgentLoopConfig AfterToolCall BeforeToolCall NextTurn",
    "agent.queues": "QueuedItem",
    "core.functions": "tool",
    "core.tool": "Tool ToolHandler ToolContext ToolResult",
    "core.abort": "AbortSignal",
    "core.model": "Model ModelCost ThinkingLevel",
    "core.usage": "Usage",
    "core.messages": (
        "UserMessage AssistantMessage ToolResultMessage CompactionSummaryMessage "
        "BranchSummaryMessage CustomMessage BashExecutionMessage TextBlock ThinkingBlock "
        "ImageBlock ToolCall AgentMessage"
    ),
    "core.events": (
        "AgentStartEvent AgentEndEvent TurnStartEvent TurnEndEvent MessageStartEvent "
        "MessageUpdateEvent MessageEndEvent ToolExecutionStartEvent ToolExecutionUpdateEvent "
        "ToolExecutionEndEvent AgentEvent"
    ),
    "core.errors": (
        "AgentError AuthenticationError RateLimitError QuotaError RequestTimeoutError "
        "OverloadedError NetworkError ContentPolicyError ContextOverflowError ProviderError "
        "ToolError CancelledRunError InvalidInputError AgentBusyError InvalidStateError "
        "SessionError InternalError ConfigError ErrorInfo"
    ),
}
_HOME = {name: module for module, names in _NAMES.items() for name in names.split()}

__all__ = ["__version__", *sorted(_HOME)]


def __getattr__(name: str) -> Any:
    if (module := _HOME.get(name)) is None:
        raise AttributeError(f"module 'agent_tui' has no attribute {name!r}")
    value = getattr(import_module(f"agent_tui.{module}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return list(__all__)
