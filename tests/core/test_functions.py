"""Functions of every kind become tools."""

from __future__ import annotations

import enum
import inspect
import warnings
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from typing import Annotated, Any

import pytest

from agent_tui import InvalidInputError, Tool, ToolContext, ToolResult, tool


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


@dataclass
class Point:
    x: int
    y: int = 0


class Opaque:
    pass


async def executed(made: Tool, args: dict[str, Any], ctx: ToolContext | None = None) -> Any:
    assert made.execute is not None
    answer = made.execute("c1", args, ctx or ToolContext())
    return await answer if inspect.isawaitable(answer) else answer


def watched() -> tuple[ToolContext, list[object]]:
    seen: list[object] = []
    return ToolContext(on_update=seen.append), seen


# -- generators ------------------------------------------------------------------------------------


async def test_what_a_generator_yields_is_shown_and_its_last_word_is_the_result() -> None:
    @tool
    def count(to: int) -> Iterator[str]:
        for number in range(1, to + 1):
            yield f"{number} of {to}"

    ctx, seen = watched()

    assert await executed(count, {"to": 2}, ctx) == "2 of 2"
    assert seen == ["1 of 2", "2 of 2"]


async def test_what_a_generator_returns_counts_more_than_what_it_yielded() -> None:
    @tool
    def count() -> Any:
        yield {"done": 1}
        return {"done": 2}

    ctx, seen = watched()

    assert await executed(count, {}, ctx) == '{"done":2}'
    assert seen == ['{"done":1}']


async def test_an_async_generator_does_the_same() -> None:
    @tool
    async def count() -> AsyncIterator[str | ToolResult]:
        yield "one"
        yield ToolResult("two", details={"n": 2})

    ctx, seen = watched()
    result = await executed(count, {}, ctx)

    assert (result.text, result.details, len(seen)) == ("two", {"n": 2}, 2)


async def test_a_generator_that_yields_nothing_gives_nothing() -> None:
    @tool
    def nothing() -> Iterator[str]:
        yield from ()

    assert await executed(nothing, {}) is None


async def test_a_stop_closes_a_generator_where_it_stands() -> None:
    ended: list[str] = []
    ctx, _ = watched()

    @tool
    def steps(ctx: ToolContext) -> Iterator[str]:
        try:
            for number in range(1000):
                if number == 3:
                    ctx.signal.set("stop")
                yield str(number)
        finally:
            ended.append("cleaned up")

    assert await executed(steps, {}, ctx) == "3"
    assert ended == ["cleaned up"]


async def test_a_stop_closes_an_async_generator_too() -> None:
    ended: list[str] = []
    ctx, _ = watched()

    @tool
    async def steps(ctx: ToolContext) -> AsyncIterator[str]:
        try:
            yield "a"
            ctx.signal.set("stop")
            yield "b"
            yield "c"
        finally:
            ended.append("cleaned up")

    assert await executed(steps, {}, ctx) == "b"
    assert ended == ["cleaned up"]


# -- signatures ------------------------------------------------------------------------------------


async def test_enums_and_dataclasses_arrive_as_what_they_are() -> None:
    seen: list[object] = []

    @tool
    def paint(colour: Colour, at: Point, times: dict[str, int] | None = None) -> None:
        seen.extend([colour, at, times])

    await executed(paint, {"colour": "blue", "at": {"x": 3}})

    assert seen == [Colour.BLUE, Point(3), None]
    assert paint.schema["$defs"]["Colour"]["enum"] == ["red", "blue"]
    assert paint.schema["$defs"]["Point"]["required"] == ["x"]


def test_a_text_in_annotated_describes_a_parameter() -> None:
    @tool
    def fn(a: Annotated[int, "how many"], b: int) -> None:
        """Do it.

        Args:
            a: not this
            b: the other
        """

    assert fn.schema["properties"]["a"]["description"] == "how many"
    assert fn.schema["properties"]["b"]["description"] == "the other"


@pytest.mark.parametrize(
    "doc",
    [
        "Find it.\n\nArgs:\n    where: The folder,\n        or a file.\n"
        "    depth (int): How deep.\n\nReturns:\n    where: not this\n",
        "Find it.\n\n:param where: The folder,\n    or a file.\n:param int depth: How deep.\n"
        ":returns: not this\n",
        "Find it.\n\nParameters\n----------\nwhere : str\n    The folder,\n    or a file.\n"
        "depth : int, optional\n    How deep.\n\nReturns\n-------\nstr\n    Not this.\n",
    ],
    ids=["google", "sphinx", "numpy"],
)
def test_docstrings_of_three_habits_describe_parameters(doc: str) -> None:
    def fn(where: str, depth: int = 1) -> None: ...

    fn.__doc__ = doc
    made = tool(fn)

    properties = made.schema["properties"]
    assert made.description == "Find it."
    assert properties["where"]["description"] == "The folder, or a file."
    assert properties["depth"]["description"] == "How deep."


def test_a_default_that_json_cannot_hold_is_only_left_out_of_the_schema() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")

        @tool
        def fn(a: Any = Opaque) -> None: ...

    assert "default" not in fn.schema["properties"]["a"]


def test_a_type_that_json_cannot_hold_is_named() -> None:
    def fn(a: int, b: Opaque) -> None: ...

    with pytest.raises(InvalidInputError, match=r"tool fn: b: Opaque cannot be described"):
        tool(fn)


def test_a_parameter_without_a_name_is_refused() -> None:
    def fn(a: int, /) -> None: ...

    with pytest.raises(InvalidInputError, match="a cannot be given by its name"):
        tool(fn)


async def test_the_context_may_be_optional() -> None:
    @tool
    def fn(ctx: ToolContext | None = None) -> str:
        return str(ctx is not None)

    assert fn.schema["properties"] == {}
    assert await executed(fn, {}) == "True"


async def test_an_object_that_can_be_called_is_a_tool() -> None:
    class Adder:
        """Adds."""

        async def __call__(self, a: int) -> int:
            return a + 1

    made = tool(Adder())

    assert made.name == "Adder"
    assert await executed(made, {"a": 1}) == "2"


async def test_what_json_cannot_hold_is_shown_as_python_shows_it() -> None:
    circle: list[Any] = []
    circle.append(circle)

    @tool
    def raw() -> bytes:
        return b"\xff"

    @tool
    def round_and_round() -> Any:
        return circle

    assert await executed(raw, {}) == repr(b"\xff")
    assert await executed(round_and_round, {}) == "[[...]]"
