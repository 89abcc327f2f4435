"""A tool: a name, a schema, and a function; and what that function receives and returns."""

from __future__ import annotations

import inspect
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeAlias, get_type_hints, overload

from pydantic import BaseModel, ValidationError, create_model
from pydantic_core import to_json

from agent_tui.core.abort import AbortSignal
from agent_tui.core.errors import InvalidInputError
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


@overload
def tool(function: Callable[..., Any], /) -> Tool: ...
@overload
def tool(
    *,
    name: str | None = None,
    description: str | None = None,
    execution_mode: ExecutionMode | None = None,
) -> Callable[[Callable[..., Any]], Tool]: ...
def tool(
    function: Callable[..., Any] | None = None,
    /,
    *,
    name: str | None = None,
    description: str | None = None,
    execution_mode: ExecutionMode | None = None,
) -> Tool | Callable[[Callable[..., Any]], Tool]:
    """Make a tool of a typed function.

    The signature becomes the schema, the docstring the description (its `Args:` section describes
    the parameters). A parameter annotated `ToolContext` is injected. The return value may be a
    `ToolResult`, text, None, or anything JSON can hold.
    """

    def build(fn: Callable[..., Any]) -> Tool:
        return _tool_from(fn, name or fn.__name__, description, execution_mode)

    return build if function is None else build(function)


def as_tool(item: Tool | Callable[..., Any]) -> Tool:
    """`item` itself if it is a tool, else the tool made of that function."""
    return item if isinstance(item, Tool) else tool(item)


def _tool_from(
    fn: Callable[..., Any], name: str, description: str | None, mode: ExecutionMode | None
) -> Tool:
    summary, notes = _read_docstring(inspect.getdoc(fn) or "")
    hints = get_type_hints(fn, include_extras=True)
    fields: dict[str, Any] = {}
    names: list[str] = []
    context_name: str | None = None
    for parameter in inspect.signature(fn).parameters.values():
        hint = hints.get(parameter.name, Any)
        if hint is ToolContext:
            context_name = parameter.name
        elif parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            raise InvalidInputError(
                f"tool {name}: *args and **kwargs cannot be described to a model"
            )
        else:
            # Numbered, because a model's field may not be called `schema`, `json` or `_x`.
            fields[f"p{len(names)}"] = (hint, _field(parameter, notes.get(parameter.name)))
            names.append(parameter.name)
    model = create_model(name, **fields)
    schema = model.model_json_schema()
    schema.pop("title", None)

    def bind(args: dict[str, Any], ctx: ToolContext) -> dict[str, Any]:
        try:
            bound = model.model_validate(args)
        except ValidationError as error:
            raise ValueError(str(error)) from None
        values = {key: getattr(bound, f"p{place}") for place, key in enumerate(names)}
        return values | {context_name: ctx} if context_name else values

    execute: Execute
    if inspect.iscoroutinefunction(fn):

        async def execute_async(
            call_id: str, args: dict[str, Any], ctx: ToolContext
        ) -> ToolResult | str | None:
            return _as_answer(await fn(**bind(args, ctx)))

        execute = execute_async
    else:

        def execute_sync(
            call_id: str, args: dict[str, Any], ctx: ToolContext
        ) -> ToolResult | str | None:
            return _as_answer(fn(**bind(args, ctx)))

        execute = execute_sync
    return Tool(
        name, summary if description is None else description, schema, execute, execution_mode=mode
    )


def _field(parameter: inspect.Parameter, note: str | None) -> Any:
    from pydantic import Field

    default = ... if parameter.default is parameter.empty else parameter.default
    if note is None:  # None would hide the description of an `Annotated` type
        return Field(default, alias=parameter.name)
    return Field(default, alias=parameter.name, description=note)


def _as_answer(value: Any) -> ToolResult | str | None:
    if value is None or isinstance(value, ToolResult | str):
        return value
    return to_json(value, fallback=str).decode("utf-8", "replace")


def _read_docstring(doc: str) -> tuple[str, Mapping[str, str]]:
    """The text before `Args:`, and one description a parameter (Google style)."""
    summary, _, rest = doc.partition("\nArgs:\n")
    section = re.split(r"\n(?=\S)", rest, maxsplit=1)[0]
    notes: dict[str, str] = {}
    for match in re.finditer(r"^\s+(\w+)(?: *\([^)]*\))?: *(.*(?:\n {6,}.*)*)", section, re.M):
        notes[match[1]] = " ".join(match[2].split())
    return summary.strip(), notes
