"""The one-shot form: a question in, a result out, nothing remembered."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from agent_tui.agent.agent import Agent
from agent_tui.agent.inputs import Input
from agent_tui.agent.result import AgentResult
from agent_tui.core.model import Model
from agent_tui.core.tool import Tool, ToolHandler


class ToolAgent:
    """Drives a model and its tools from one input to one result.

    Each `run()` begins with an empty transcript. `options` are those of `Agent`.
    """

    def __init__(
        self,
        model: Model | str,
        system_prompt: str | None,
        tools: Sequence[Tool | Callable[..., Any]],
        tool_handler: ToolHandler | None,
        max_iterations: int,
        **options: Any,
    ) -> None:
        self.agent = Agent(
            model,
            system_prompt=system_prompt,
            tools=tools,
            tool_handler=tool_handler,
            max_iterations=max_iterations,
            **options,
        )
        """The agent behind it, for listening and aborting."""

    async def run(self, input: Input) -> AgentResult:
        """Run from `input` alone. Raises what the run failed with."""
        self.agent.reset()
        return await self.agent.run(input)

    def run_blocking(self, input: Input) -> AgentResult:
        """`run` for programs without an event loop."""
        self.agent.reset()
        return self.agent.run_blocking(input)
