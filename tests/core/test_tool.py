"""Tools, made of classes and of functions."""

from __future__ import annotations

import inspect
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field

from agent_tui import (
    ImageBlock,
    InvalidInputError,
    TextBlock,
    Tool,
    ToolContext,
    ToolResult,
    Usage,
    tool,
)
from agent_tui.core.functions import as_tool


async def executed(made: Tool, args: dict[str, Any], ctx: ToolContext | None = None) -> Any:
    assert made.execute is not None
    answer = made.execute("c1", args, ctx or ToolContext())
    return await answer if inspect.isawaitable(answer) else answer


class Place(BaseModel):
    """Somewhere."""

    path: str
    line: int = 1


# -- results ---------------------------------------------------------------------------------------


def test_text_becomes_one_block() -> None:
    assert ToolResult("x").content == [TextBlock(text="x")]
    assert ToolResult("x").text == "x"


def test_blocks_stay_blocks() -> None:
    picture = ImageBlock(data="aGk=", mime_type="image/png")

    assert ToolResult([TextBlock(text="x"), picture]).content == [TextBlock(text="x"), picture]


def test_nothing_becomes_no_block() -> None:
    assert ToolResult(None).content == []


def test_a_result_has_its_defaults() -> None:
    result = ToolResult("x")

    assert (result.details, result.is_error, result.terminate, result.usage) == (
        None,
        False,
        False,
        None,
    )


def test_a_result_keeps_what_it_is_given() -> None:
    result = ToolResult("x", details=1, is_error=True, terminate=True, usage=Usage(input=1))

    assert (result.details, result.is_error, result.terminate) == (1, True, True)
    assert result.usage == Usage(input=1)


# -- tools -----------------------------------------------------------------------------------------


def test_a_tool_is_labelled_by_its_name_unless_told() -> None:
    assert Tool("read", "Reads.", {}).label == "read"
    assert Tool("read", "Reads.", {}, label="Read a file").label == "Read a file"


def test_a_model_class_gives_the_schema() -> None:
    schema = Tool("go", "Goes.", Place).schema

    assert schema["properties"]["path"]["type"] == "string"
    assert schema["required"] == ["path"]


def test_a_tool_checks_its_arguments() -> None:
    made = Tool("go", "Goes.", Place)

    assert made.check({"path": "a", "line": "7"}) == ({"path": "a", "line": 7}, [])
    assert made.check({})[1] != []


# -- functions -------------------------------------------------------------------------------------


def test_a_function_gives_name_description_and_schema() -> None:
    @tool
    def read(path: str, first: int = 1, *, tail: bool = False) -> str:
        """Read a file.

        Only the part that is asked for.

        Args:
            path: Where it is,
                from the project's folder.
            first (int): The first line.

        Returns:
            Its text.
        """
        return path

    properties = read.schema["properties"]
    assert read.name == "read"
    assert read.description == "Read a file.\n\nOnly the part that is asked for."
    assert read.schema["type"] == "object"
    assert read.schema["required"] == ["path"]
    assert properties["path"]["type"] == "string"
    assert properties["path"]["description"] == "Where it is, from the project's folder."
    assert properties["first"]["description"] == "The first line."
    assert (properties["first"]["type"], properties["first"]["default"]) == ("integer", 1)
    assert properties["tail"]["type"] == "boolean"


def test_name_description_and_mode_can_be_said() -> None:
    @tool(name="look", description="Looks.", execution_mode="sequential")
    def fn() -> None: ...

    assert (fn.name, fn.description, fn.execution_mode) == ("look", "Looks.", "sequential")
    assert fn.schema["properties"] == {}


def test_a_function_without_a_docstring_is_not_described() -> None:
    @tool
    def fn(a: int) -> None: ...

    assert fn.description == ""


def test_types_of_all_kinds_are_described() -> None:
    @tool
    def fn(
        kind: Literal["a", "b"],
        many: list[int],
        maybe: str | None = None,
        noted: Annotated[int, Field(description="a number", ge=1)] = 1,
    ) -> None: ...

    properties = fn.schema["properties"]
    assert properties["kind"]["enum"] == ["a", "b"]
    assert properties["many"]["items"]["type"] == "integer"
    assert {"type": "null"} in properties["maybe"]["anyOf"]
    assert properties["noted"]["minimum"] == 1
    assert properties["noted"]["description"] == "a number"


async def test_a_function_is_called_with_its_arguments() -> None:
    @tool
    def add(a: int, b: int = 2) -> int:
        return a + b

    assert await executed(add, {"a": 1}) == "3"
    assert await executed(add, {"a": 1, "b": 5}) == "6"


async def test_a_coroutine_function_stays_one() -> None:
    @tool
    async def add(a: int) -> int:
        return a + 1

    assert inspect.iscoroutinefunction(add.execute)
    assert await executed(add, {"a": 1}) == "2"


async def test_arguments_become_the_types_of_the_signature() -> None:
    seen: list[object] = []

    @tool
    def go(place: Place) -> None:
        seen.append(place)

    await executed(go, {"place": {"path": "a"}})

    assert seen == [Place(path="a", line=1)]


async def test_the_context_is_injected_and_not_shown_to_the_model() -> None:
    seen: list[ToolContext] = []

    @tool
    def work(a: int, ctx: ToolContext) -> None:
        seen.append(ctx)

    context = ToolContext()
    await executed(work, {"a": 1}, context)

    assert seen == [context]
    assert list(work.schema["properties"]) == ["a"]


@pytest.mark.parametrize(
    ("value", "answer"),
    [
        ("text", "text"),
        (None, None),
        (7, "7"),
        (True, "true"),
        ({"a": [1, None]}, '{"a":[1,null]}'),
        (Place(path="é"), '{"path":"é","line":1}'),
    ],
    ids=repr,
)
async def test_what_a_function_returns_becomes_text(value: Any, answer: str | None) -> None:
    @tool
    def fn() -> Any:
        return value

    assert await executed(fn, {}) == answer


async def test_a_result_of_a_function_passes_as_it_is() -> None:
    result = ToolResult("x", terminate=True)

    @tool
    def fn() -> ToolResult:
        return result

    assert await executed(fn, {}) is result


async def test_wrong_arguments_are_an_ordinary_error() -> None:
    @tool
    def fn(a: int) -> None: ...

    with pytest.raises(ValueError, match="a"):
        await executed(fn, {"a": "x"})


def test_open_ended_parameters_are_refused() -> None:
    def star(*args: int) -> None: ...
    def stars(**kwargs: int) -> None: ...

    with pytest.raises(InvalidInputError):
        tool(star)
    with pytest.raises(InvalidInputError):
        tool(stars)


async def test_parameters_may_have_any_name() -> None:
    @tool
    def query(schema: str, json: str, copy: bool = False, model_config: str = "x") -> str:
        return f"{schema} {json} {copy} {model_config}"

    assert await executed(query, {"schema": "a", "json": "b"}) == "a b False x"
    assert sorted(query.schema["properties"]) == ["copy", "json", "model_config", "schema"]


async def test_a_method_can_be_a_tool() -> None:
    class Store:
        def __init__(self) -> None:
            self.saved: list[str] = []

        def save(self, name: str) -> str:
            """Save it."""
            self.saved.append(name)
            return "saved"

    store = Store()
    made = as_tool(store.save)

    assert made.name == "save"
    assert await executed(made, {"name": "x"}) == "saved"
    assert store.saved == ["x"]


def test_a_tool_stays_a_tool() -> None:
    made = Tool("x", "", {})

    assert as_tool(made) is made


def test_tools_and_results_show_what_they_are() -> None:
    assert repr(Tool("read", "", {})) == "Tool('read')"
    assert "disk full" in repr(ToolResult("disk full", is_error=True))
