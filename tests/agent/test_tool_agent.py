"""The one-shot form and its handler."""

from __future__ import annotations

import asyncio
import json
import threading
from typing import Any

import pytest

from agent_tui import (
    AuthenticationError,
    InvalidInputError,
    Model,
    ModelCost,
    Tool,
    ToolAgent,
    ToolError,
    Usage,
    tool,
)
from agent_tui.testing import ScriptedModel, call, calls, end, fail, text
from tests.agent.stage import Make
from tests.agent.toolbox import ANYTHING, echo

SAVE = Tool("save", "Saves.", {"type": "object", "properties": {"name": {"type": "string"}}})


class Recorder:
    """A handler that answers with what it is told to, and notes what it was asked."""

    def __init__(self, answer: str | Exception | None) -> None:
        self.answer = answer
        self.asked: list[tuple[str, Any]] = []

    async def execute(self, tool_name: str, arguments_json: str) -> str:
        self.asked.append((tool_name, json.loads(arguments_json)))
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer  # type: ignore[return-value]


async def test_a_tool_agent_runs_from_one_input_to_one_result() -> None:
    model = ScriptedModel([calls(call("save", {"name": "x"}, id="c1")), text("saved")])
    handler = Recorder("42 bytes")
    agent = ToolAgent("test/m", "Save things.", [SAVE], handler, 5, stream_fn=model)

    result = await agent.run("save x")

    assert result.final_message == "saved"
    assert (result.iterations, result.tool_call_count) == (2, 1)
    assert handler.asked == [("save", {"name": "x"})]
    assert model.requests[0].system_prompt == "Save things."
    assert [schema.name for schema in model.requests[0].tools] == ["save"]
    assert model.requests[1].messages[-1].text == "42 bytes"


async def test_each_run_begins_with_an_empty_transcript() -> None:
    model = ScriptedModel([text("1"), text("2")])
    agent = ToolAgent("test/m", None, [], None, 5, stream_fn=model)

    await agent.run("one")
    result = await agent.run("two")

    assert [len(request.messages) for request in model.requests] == [1, 1]
    assert result.final_message == "2"
    assert model.requests[0].system_prompt is None


async def test_the_cap_is_a_hard_one() -> None:
    model = ScriptedModel([calls(call("echo", {"a": n}, id=f"c{n}")) for n in range(5)])
    agent = ToolAgent("test/m", None, [echo()], None, 2, stream_fn=model)

    result = await agent.run("p")

    assert len(model.requests) == 2
    assert (result.reason, result.iterations, result.tool_call_count) == ("max_iterations", 2, 2)


@pytest.mark.parametrize("cap", [0, -1])
def test_a_cap_below_one_is_refused(cap: int) -> None:
    with pytest.raises(InvalidInputError):
        ToolAgent("test/m", None, [], None, cap, stream_fn=ScriptedModel([]))


@pytest.mark.parametrize(
    ("answer", "words"),
    [("as it is\n", "as it is\n"), ("", "null"), (None, "null")],
    ids=["text", "empty", "none"],
)
async def test_the_answer_of_a_handler_is_the_text_of_the_result(
    stage: Make, answer: str | None, words: str
) -> None:
    it = stage(
        calls(call("save", {}, id="c1")), text("ok"), tools=[SAVE], tool_handler=Recorder(answer)
    )

    await it.prompt()

    assert it.results[0].text == words
    assert not it.results[0].is_error


async def test_a_handler_may_be_a_plain_method(stage: Make) -> None:
    threads: list[int] = []

    class Plain:
        def execute(self, tool_name: str, arguments_json: str) -> str:
            threads.append(threading.get_ident())
            return f"{tool_name} {arguments_json}"

    it = stage(
        calls(call("save", {"name": "é"}, id="c1")),
        text("ok"),
        tools=[SAVE],
        tool_handler=Plain(),
    )

    await it.prompt()

    assert it.results[0].text.startswith("save ")
    assert json.loads(it.results[0].text.removeprefix("save ")) == {"name": "é"}
    assert threads != [threading.get_ident()]


async def test_an_ordinary_exception_of_a_handler_is_fed_back(stage: Make) -> None:
    it = stage(
        calls(call("save", {}, id="c1")),
        text("ok"),
        tools=[SAVE],
        tool_handler=Recorder(ValueError("no such folder")),
    )

    await it.prompt()

    assert "no such folder" in it.results[0].text
    assert it.results[0].is_error
    assert it.end.reason == "completed"


async def test_a_tool_error_of_a_plain_handler_ends_the_run() -> None:
    error = ToolError("disk on fire")

    class Plain:
        def execute(self, tool_name: str, arguments_json: str) -> str:
            raise error

    model = ScriptedModel([calls(call("save", {}, id="c1"))])
    agent = ToolAgent("test/m", None, [SAVE], Plain(), 5, stream_fn=model)  # type: ignore[arg-type]

    with pytest.raises(ToolError) as caught:
        await agent.run("p")

    assert caught.value is error


async def test_a_handler_gets_checked_arguments(stage: Make) -> None:
    handler = Recorder("ok")
    strict = Tool(
        "save",
        "Saves.",
        {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]},
    )
    it = stage(
        calls(call("save", {"n": "7"}, id="c1"), call("save", {}, id="c2")),
        text("ok"),
        tools=[strict],
        tool_handler=handler,
    )

    await it.prompt()

    assert handler.asked == [("save", {"n": 7})]
    assert [result.is_error for result in it.results] == [False, True]


async def test_a_tool_with_a_function_of_its_own_does_not_use_the_handler(stage: Make) -> None:
    handler = Recorder("handled")
    it = stage(
        calls(call("echo", {"a": "own"}, id="c1"), call("save", {}, id="c2")),
        text("ok"),
        tools=[echo(), SAVE],
        tool_handler=handler,
    )

    await it.prompt()

    assert [result.text for result in it.results] == ["own", "handled"]


async def test_an_unknown_tool_never_reaches_the_handler(stage: Make) -> None:
    handler = Recorder("handled")
    it = stage(calls(call("ghost", {}, id="c1")), text("ok"), tools=[SAVE], tool_handler=handler)

    await it.prompt()

    assert handler.asked == []
    assert "save" in it.results[0].text


def test_a_tool_without_a_function_needs_a_handler() -> None:
    with pytest.raises(InvalidInputError, match="save"):
        ToolAgent("test/m", None, [SAVE], None, 5, stream_fn=ScriptedModel([]))


def test_two_tools_of_one_name_are_refused() -> None:
    with pytest.raises(InvalidInputError, match="echo"):
        ToolAgent("test/m", None, [echo(), echo()], None, 5, stream_fn=ScriptedModel([]))


def test_a_tool_agent_blocks_any_number_of_times() -> None:
    agent = ToolAgent("test/m", None, [], None, 5, stream_fn=ScriptedModel([text("1"), text("2")]))

    answers = [agent.run_blocking("a").final_message, agent.run_blocking("b").final_message]

    assert answers == ["1", "2"]


async def test_a_failed_run_raises_and_leaves_the_agent_usable() -> None:
    model = ScriptedModel([fail("auth", "wrong key"), text("ok")])
    agent = ToolAgent("test/m", None, [], None, 5, stream_fn=model)

    with pytest.raises(AuthenticationError):
        await agent.run("p")

    assert (await agent.run("q")).final_message == "ok"


async def test_options_of_the_agent_are_taken() -> None:
    model = ScriptedModel([[text("x"), end(usage=Usage(input=1_000_000, total=1_000_000))]])
    agent = ToolAgent(
        Model("test", "m", cost=ModelCost(input=2.0, output=8.0)),
        None,
        [],
        None,
        5,
        stream_fn=model,
        thinking_level="high",
    )

    result = await agent.run("p")

    assert model.options[0].thinking_level == "high"
    assert result.total_cost_usd == 2.0


async def test_functions_become_tools() -> None:
    @tool
    async def add(a: int, b: int = 1) -> int:
        """Add two numbers."""
        await asyncio.sleep(0)
        return a + b

    def shout(words: str) -> str:
        """Say it loudly."""
        return words.upper()

    model = ScriptedModel(
        [
            calls(call("add", {"a": "2"}, id="c1"), call("shout", {"words": "hi"}, id="c2")),
            text("x"),
        ]
    )
    agent = ToolAgent("test/m", None, [add, shout], None, 5, stream_fn=model)

    await agent.run("p")

    assert [m.text for m in model.requests[1].messages[-2:]] == ["3", "HI"]
    assert model.requests[0].tools[0].parameters["required"] == ["a"]
    assert model.requests[0].tools[1].description == "Say it loudly."


async def test_a_schema_may_be_a_model_class(stage: Make) -> None:
    from pydantic import BaseModel

    class Where(BaseModel):
        path: str
        lines: int = 10

    seen: list[dict[str, Any]] = []

    async def execute(call_id: str, args: dict[str, Any], ctx: object) -> str:
        seen.append(args)
        return "ok"

    it = stage(
        calls(call("read", {"path": "a", "lines": "3"}, id="c1"), call("read", {}, id="c2")),
        text("ok"),
        tools=[Tool("read", "Reads.", Where, execute)],
    )

    await it.prompt()

    assert seen == [{"path": "a", "lines": 3}]
    assert it.results[1].is_error
    assert "path" in it.results[1].text


def test_anything_is_a_schema() -> None:
    assert Tool("x", "", ANYTHING).schema == ANYTHING
