"""A tool: a name, a schema, and a function; and what that function receives and returns.

How a function becomes a tool is in `core/functions.py`.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeAlias

from pydantic import BaseModel

from agent_tui.core.abort import AbortSignal
from agent_tui.core.messages import ImageBlock, TextBlock, text_of
from agent_tui.core.schema import ArgumentChecker
from agent_tui.core.usage import Usage

ExecutionMode = Literal["parallel", "sequential"]
NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")


class ToolResult:
    """What a tool answers.

    `content` reaches the model, `details` only the screen and the session; `terminate` asks the run
    to end after this batch; `usage` counts tokens the tool spent itself.
    """

    __slots__ = ("content", "details", "is_error", "terminate", "usage")

    def __init__(
        self,
        content: str | list[TextBlock | ImageBlock] | None = "",
        *,
        details: Any = None,
        is_error: bool = False,
        terminate: bool = False,
        usage: Usage | None = None,
    ) -> None:
        self.content: list[TextBlock | ImageBlock] = (
            [TextBlock(text=content)] if isinstance(content, str) else list(content or [])
        )
        self.details = details
        self.is_error = is_error
        self.terminate = terminate
        self.usage = usage

    @property
    def text(self) -> str:
        """All text blocks, joined by newlines."""
        return text_of(self.content)

    def as_dict(self) -> dict[str, Any]:
        """The fields, for JSON output."""
        return {
            "content": [block.model_dump(exclude_none=True) for block in self.content],
            "details": self.details,
            "is_error": self.is_error,
            "terminate": self.terminate,
            "usage": self.usage,
        }

    def __repr__(self) -> str:
        return f"ToolResult({self.text[:60]!r}, is_error={self.is_error})"


@dataclass(slots=True)
class ToolContext:
    """What a running tool may use."""

    signal: AbortSignal = field(default_factory=AbortSignal)
    """Set when this call should end: the run was aborted, or this tool alone."""
    on_update: Callable[[ToolResult | str], None] = lambda partial: None
    """Show intermediate output; each call replaces the one before. Safe from threads."""
    steering_waiting: AbortSignal = field(default_factory=AbortSignal)
    """Set when a person has typed ahead: a tool that only waits may return early."""


Execute: TypeAlias = Callable[
    [str, dict[str, Any], ToolContext],
    "ToolResult | str | Awaitable[ToolResult | str | None] | None",
]


class ToolHandler(Protocol):
    """Executes tools that have no function of their own; may also be a plain (not async) method."""

    async def execute(self, tool_name: str, arguments_json: str) -> str:
        """The result's text, verbatim. `ToolError` ends the run, others become error results."""
        ...


class Tool:
    """One tool that a model may call.

    `parameters` is a JSON schema of an object, or a pydantic model class. `execute(call_id, args,
    ctx)` may be async; a plain function runs in a worker thread. `execution_mode="sequential"`
    makes every batch with this tool run one call after another. `prepare_arguments` turns old
    argument shapes into the present one before they are checked.
    """

    def __init__(
        self,
        name: str,
        description: str,
        parameters: dict[str, Any] | type[BaseModel],
        execute: Execute | None = None,
        *,
        label: str | None = None,
        execution_mode: ExecutionMode | None = None,
        prepare_arguments: Callable[[dict[str, Any]], dict[str, Any]] | None = None,
    ) -> None:
        self.name = name
        self.description = description
        self.parameters = parameters
        self.execute = execute
        self.label = label or name
        self.execution_mode = execution_mode
        self.prepare_arguments = prepare_arguments
        self._checker: ArgumentChecker | None = None
        self._schema: dict[str, Any] | None = parameters if isinstance(parameters, dict) else None

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON schema of the arguments."""
        if self._schema is None:
            assert isinstance(self.parameters, type)
            self._schema = self.parameters.model_json_schema()
        return self._schema

    def check(self, args: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
        """A coerced deep copy of `args`, and one line per problem with the path of the value."""
        if self._checker is None:
            self._checker = ArgumentChecker(self.schema)
        return self._checker.check(args)

    def __repr__(self) -> str:
        return f"Tool({self.name!r})"
