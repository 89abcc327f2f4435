"""What an agent is at this instant. Reading is always safe; setting holds from the next run on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from agent_tui.core.errors import AgentError, InvalidInputError
from agent_tui.core.functions import as_tool
from agent_tui.core.messages import AgentMessage, AssistantMessage
from agent_tui.core.model import Model, ThinkingLevel
from agent_tui.core.tool import Tool, ToolHandler


class AgentState:
    """Transcript, model and tools of an agent, and what its run is doing.

    `messages` and `tools` copy what they are given. `is_running`, `streaming_message`,
    `pending_tool_calls` and `error` are the engine's to change.
    """

    def __init__(
        self,
        model: Model,
        system_prompt: str | None,
        tools: Sequence[Tool | Callable[..., Any]],
        tool_handler: ToolHandler | None,
        messages: Sequence[AgentMessage],
        thinking_level: ThinkingLevel,
    ) -> None:
        self._handler = tool_handler
        self._messages = list(messages)
        self._tools = self._checked(tools)
        self._is_running = False
        self._streaming_message: AssistantMessage | None = None
        self._pending: set[str] = set()
        self._error: AgentError | None = None
        self.model = model
        self.thinking_level: ThinkingLevel = thinking_level
        self.system_prompt = system_prompt

    @property
    def messages(self) -> list[AgentMessage]:
        """The transcript."""
        return self._messages

    @messages.setter
    def messages(self, messages: Sequence[AgentMessage]) -> None:
        self._messages = list(messages)

    @property
    def tools(self) -> list[Tool]:
        """The tools the model may call."""
        return self._tools

    @tools.setter
    def tools(self, tools: Sequence[Tool | Callable[..., Any]]) -> None:
        self._tools = self._checked(tools)

    @property
    def is_running(self) -> bool:
        """True from the start of a run until the listeners of its `agent_end` have finished."""
        return self._is_running

    @property
    def streaming_message(self) -> AssistantMessage | None:
        """The answer that is arriving, None between answers."""
        return self._streaming_message

    @property
    def pending_tool_calls(self) -> frozenset[str]:
        """Ids of the calls that were started and have no result yet."""
        return frozenset(self._pending)

    @property
    def error(self) -> AgentError | None:
        """What the last run failed with; None during a run and after a success."""
        return self._error

    def _checked(self, tools: Sequence[Tool | Callable[..., Any]]) -> list[Tool]:
        checked = [as_tool(item) for item in tools]
        names: set[str] = set()
        for tool in checked:
            if tool.name in names:
                raise InvalidInputError(f"two tools are named {tool.name!r}")
            if tool.execute is None and self._handler is None:
                raise InvalidInputError(
                    f"tool {tool.name!r} has no execute function, and there is no tool_handler"
                )
            names.add(tool.name)
        return checked
