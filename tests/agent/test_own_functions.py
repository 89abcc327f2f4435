"""Own functions in a run: what they print, where they failed, and that nothing waits for them."""

from __future__ import annotations

import sys
import threading
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from agent_tui import Agent, ToolExecutionUpdateEvent, ToolResultMessage
from agent_tui.agent import printing
from agent_tui.testing import ScriptedModel, call, calls, text


async def run(*tools: Callable[..., Any], prints: bool = True) -> tuple[list[str], list[str]]:
    """The results of one call of each tool, in order, and every update."""
    named = [each.__name__ for each in tools]
    model = ScriptedModel([calls(*(call(name, {}) for name in named)), text("done")])
    agent = Agent("test/m", tools=list(tools), stream_fn=model)
    agent.shows_prints = prints
    updates: list[str] = []
    agent.subscribe(
        lambda event, signal: (
            updates.append(event.partial_result.text)
            if isinstance(event, ToolExecutionUpdateEvent)
            else None
        )
    )
    await agent.prompt("go")
    messages = agent.state.messages
    return [m.text for m in messages if isinstance(m, ToolResultMessage)], updates


async def test_what_a_tool_printed_is_its_result_if_it_returns_nothing() -> None:
    def speak() -> None:
        print("hello", 1)
        print("oh", file=sys.stderr)

    results, _ = await run(speak)

    assert results == ["hello 1\noh\n"]


async def test_what_a_tool_prints_is_shown_while_it_runs(
    capsys: pytest.CaptureFixture[str],
) -> None:
    seen = threading.Event()

    def speak() -> str:
        print("working")
        assert seen.wait(10)
        return "done"

    model = ScriptedModel([calls(call("speak", {})), text("done")])
    agent = Agent("test/m", tools=[speak], stream_fn=model)
    agent.shows_prints = True

    def see(event: object, signal: object) -> None:
        if isinstance(event, ToolExecutionUpdateEvent):
            assert event.partial_result.text == "working\n"
            seen.set()

    agent.subscribe(see)
    await agent.prompt("go")

    assert seen.is_set()
    assert "working" not in capsys.readouterr().out


async def test_two_tools_at_once_do_not_mix_what_they_print() -> None:
    both = threading.Barrier(2, timeout=10)

    def one() -> None:
        both.wait()
        print("one")
        both.wait()

    def two() -> None:
        both.wait()
        print("two")
        both.wait()

    results, _ = await run(one, two)

    assert results == ["one\n", "two\n"]


async def test_an_async_tool_may_print_as_well() -> None:
    async def speak() -> AsyncIterator[str]:
        print("to nobody in particular")
        yield "shown"

    results, _ = await run(speak)

    assert results == ["shown"]


async def test_standard_streams_are_given_back() -> None:
    before = (sys.stdout, sys.stderr)

    def fail() -> None:
        print("x")
        raise RuntimeError("no")

    await run(fail, lambda_free)

    assert (sys.stdout, sys.stderr) == before


def lambda_free() -> None:
    """Does nothing."""


async def test_printing_is_the_programs_own_where_nobody_shows_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def speak() -> str:
        print("to the script's output")
        return "said"

    results, updates = await run(speak, prints=False)

    assert (results, updates) == (["said"], [])
    assert capsys.readouterr().out == "to the script's output\n"


async def test_a_model_gets_no_colours_and_progress_in_its_last_state() -> None:
    def work() -> None:
        print("\x1b[31mred\x1b[0m")
        print("10%\r50%\r100%\r")
        print("done\r\n", end="")

    results, _ = await run(work)

    assert results == ["red\n100%\ndone\n"]


async def test_much_printing_keeps_the_end() -> None:
    def flood() -> None:
        for number in range(20_000):
            print(number)

    results, _ = await run(flood)

    assert results[0].startswith("[Only the end of what was printed]\n")
    assert results[0].endswith("19999\n")
    assert len(results[0]) < printing.KEPT_CHARACTERS + 100


async def test_a_failure_tells_the_person_where_and_the_model_only_what() -> None:
    def outer() -> None:
        secret = "sk-very-secret"
        inner(secret)

    def inner(secret: str) -> None:
        raise ValueError("that will not do")

    model = ScriptedModel([calls(call("outer", {})), text("done")])
    agent = Agent("test/m", tools=[outer], stream_fn=model)
    await agent.prompt("go")

    result = next(m for m in agent.state.messages if isinstance(m, ToolResultMessage))
    assert (result.text, result.is_error) == ("that will not do", True)
    assert result.details["error"] == "ValueError"
    places = [place.rpartition("/")[2] for place in result.details["trace"]]
    assert [place.partition(" in ")[2] for place in places] == ["outer", "inner"]
    assert all(place.startswith("test_own_functions.py:") for place in places)
    assert "secret" not in str(result.details)


@pytest.mark.parametrize(
    ("error", "said"), [(KeyError("name"), "KeyError: 'name'"), (RuntimeError(), "RuntimeError")]
)
async def test_an_error_whose_text_says_nothing_is_named(error: Exception, said: str) -> None:
    def fail() -> None:
        raise error

    results, _ = await run(fail)

    assert results == [said]
