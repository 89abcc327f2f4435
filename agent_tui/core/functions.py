"""Tools made of functions: the signature becomes the schema, the docstring the description.

Four kinds of functions are called in four ways and mean the same: plain, async, generator and
async generator. Of a generator each value is shown while it runs, and its last word is the result.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import aclosing, closing
from dataclasses import dataclass
from typing import Annotated, Any, get_args, get_origin, get_type_hints, overload

from pydantic import BaseModel, Field, ValidationError, create_model
from pydantic.errors import PydanticSchemaGenerationError, PydanticUserError
from pydantic_core import to_json

from agent_tui.core.docstrings import read_docstring
from agent_tui.core.errors import InvalidInputError
from agent_tui.core.tool import Execute, ExecutionMode, Tool, ToolContext, ToolResult

Answer = ToolResult | str | None


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

    The signature becomes the schema, the docstring the description, and what it says about the
    parameters theirs (`Annotated[int, "what it is"]` counts more). A parameter annotated
    `ToolContext` is injected. The return value may be a `ToolResult`, text, None, or anything JSON
    can hold. A generator shows each value that it yields while it runs; what it returns, else what
    it yielded last, is the result.

    Raises:
        InvalidInputError: A parameter cannot be described to a model.
    """

    def build(fn: Callable[..., Any]) -> Tool:
        named = name or str(getattr(fn, "__name__", type(fn).__name__))
        signature = _read_signature(fn, named)
        said = signature.summary if description is None else description
        return Tool(
            named, said, signature.schema, _execute(fn, signature), execution_mode=execution_mode
        )

    return build if function is None else build(function)


def as_tool(item: Tool | Callable[..., Any]) -> Tool:
    """`item` itself if it is a tool, else the tool made of that function."""
    return item if isinstance(item, Tool) else tool(item)


@dataclass(frozen=True, slots=True)
class _Signature:
    """What a function takes."""

    model: type[BaseModel]
    names: list[str]
    """The parameters, in the order of the model's fields `p0`, `p1`, …"""
    context_name: str | None
    schema: dict[str, Any]
    summary: str

    def bind(self, args: dict[str, Any], ctx: ToolContext) -> dict[str, Any]:
        """The keyword arguments for a call; raises ValueError if they do not fit."""
        try:
            bound = self.model.model_validate(args)
        except ValidationError as error:
            raise ValueError(str(error)) from None
        values = {key: getattr(bound, f"p{place}") for place, key in enumerate(self.names)}
        return values | {self.context_name: ctx} if self.context_name else values


def _read_signature(fn: Callable[..., Any], name: str) -> _Signature:
    summary, notes = read_docstring(inspect.getdoc(fn) or "")
    hints = get_type_hints(_routine(fn), include_extras=True)
    fields: dict[str, Any] = {}
    names: list[str] = []
    context_name: str | None = None
    for parameter in inspect.signature(fn).parameters.values():
        hint = hints.get(parameter.name, Any)
        if hint is ToolContext or ToolContext in get_args(hint):
            context_name = parameter.name
            continue
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            raise InvalidInputError(
                f"tool {name}: *args and **kwargs cannot be described to a model"
            )
        if parameter.kind is parameter.POSITIONAL_ONLY:
            raise InvalidInputError(
                f"tool {name}: {parameter.name} cannot be given by its name; leave the / out"
            )
        # Numbered, because a model's field may not be called `schema`, `json` or `_x`.
        fields[f"p{len(names)}"] = (hint, _field(parameter, hint, notes.get(parameter.name)))
        names.append(parameter.name)
    model, schema = _described(name, fields, names)
    return _Signature(model, names, context_name, schema, summary)


def _routine(fn: Callable[..., Any]) -> Callable[..., Any]:
    """The function itself, or what calls an object."""
    return fn if inspect.isroutine(fn) else type(fn).__call__


def _described(
    name: str, fields: dict[str, Any], names: list[str]
) -> tuple[type[BaseModel], dict[str, Any]]:
    """The model that checks the arguments, and the schema that a model is shown."""
    try:
        model = create_model(name, **fields)
        with warnings.catch_warnings():
            # A default that JSON cannot hold is left out of the schema and used all the same.
            warnings.simplefilter("ignore")
            schema = model.model_json_schema()
    except (PydanticSchemaGenerationError, PydanticUserError) as error:
        raise InvalidInputError(_undescribed(name, fields, names, error)) from None
    schema.pop("title", None)
    return model, schema


def _undescribed(name: str, fields: dict[str, Any], names: list[str], error: Exception) -> str:
    """A sentence about the parameter that is to blame."""
    for key, parameter in zip(fields, names, strict=True):
        try:
            create_model(name, **{key: fields[key]}).model_json_schema()
        except (PydanticSchemaGenerationError, PydanticUserError):
            hint = fields[key][0]
            kind = getattr(hint, "__name__", str(hint))
            return (
                f"tool {name}: {parameter}: {kind} cannot be described to a model; JSON holds "
                "text, numbers, lists, dicts, enums, dataclasses and pydantic models"
            )
    return f"tool {name}: {str(error).splitlines()[0]}"


def _field(parameter: inspect.Parameter, hint: Any, note: str | None) -> Any:
    default = ... if parameter.default is parameter.empty else parameter.default
    note = _annotated_note(hint) or note
    if note is None:  # None would hide the description of an `Annotated` type
        return Field(default, alias=parameter.name)
    return Field(default, alias=parameter.name, description=note)


def _annotated_note(hint: Any) -> str | None:
    """The text in `Annotated[int, "what it is"]`, also as `Doc("what it is")`."""
    if get_origin(hint) is not Annotated:
        return None
    said = (getattr(part, "documentation", part) for part in get_args(hint)[1:])
    return next((part for part in said if isinstance(part, str)), None)


def _execute(fn: Callable[..., Any], signature: _Signature) -> Execute:
    """`fn` in the shape of a tool's own function: async if it is, else for a thread."""
    kind = _routine(fn)
    if inspect.isasyncgenfunction(kind):

        async def execute_stream(call_id: str, args: dict[str, Any], ctx: ToolContext) -> Answer:
            return await _last_of_stream(fn(**signature.bind(args, ctx)), ctx)

        return execute_stream
    if inspect.iscoroutinefunction(kind):

        async def execute_async(call_id: str, args: dict[str, Any], ctx: ToolContext) -> Answer:
            return _as_answer(await fn(**signature.bind(args, ctx)))

        return execute_async

    def execute_sync(call_id: str, args: dict[str, Any], ctx: ToolContext) -> Answer:
        value = fn(**signature.bind(args, ctx))
        return _last_of(value, ctx) if isinstance(value, Generator) else _as_answer(value)

    return execute_sync


def _last_of(steps: Generator[Any, None, Any], ctx: ToolContext) -> Answer:
    """Show what a generator yields; what it returns, or yielded last. A stop closes it."""
    last: Answer = None
    with closing(steps):
        while True:
            try:
                value = next(steps)
            except StopIteration as end:
                return last if end.value is None else _as_answer(end.value)
            last = _shown(value, ctx)
            if ctx.signal.aborted:
                return last


async def _last_of_stream(steps: AsyncGenerator[Any, None], ctx: ToolContext) -> Answer:
    last: Answer = None
    async with aclosing(steps):
        async for value in steps:
            last = _shown(value, ctx)
            if ctx.signal.aborted:
                break
    return last


def _shown(value: Any, ctx: ToolContext) -> Answer:
    answer = _as_answer(value)
    if answer is not None:
        ctx.on_update(answer)
    return answer


def _as_answer(value: Any) -> Answer:
    if value is None or isinstance(value, ToolResult | str):
        return value
    try:
        return to_json(value, fallback=str).decode("utf-8", "replace")
    except ValueError:  # bytes that are no text, something that contains itself
        return repr(value)
