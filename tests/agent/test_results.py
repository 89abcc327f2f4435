"""What `run()` returns."""

from __future__ import annotations

import asyncio
from dataclasses import FrozenInstanceError

import pytest

from agent_tui import Model, ModelCost, ToolResult, Usage
from agent_tui.testing import call, calls, end, text, think
from tests.agent.stage import Make, said, user
from tests.agent.toolbox import answering, echo

PRICED = Model("test", "m", cost=ModelCost(input=1.0, output=10.0))


async def test_a_run_with_tools_is_counted(stage: Make) -> None:
    it = stage(
        calls(call("echo", id="c1"), call("ghost", id="c2")),
        calls(call("echo", {"a": 2}, id="c3")),
        [text("all "), text("done")],
        tools=[echo()],
    )

    result = await it.agent.run("p")

    assert result.iterations == 3
    assert result.tool_call_count == 3
    assert result.final_message == "all done"
    assert result.reason == "completed"
    assert result.new_messages == it.messages


async def test_a_result_covers_its_own_run_only(stage: Make) -> None:
    it = stage(text("one"), text("two"), messages=[user("old"), said("older")])
    await it.agent.run("p")

    result = await it.agent.run("q")

    assert result.iterations == 1
    assert [getattr(m, "text", "") for m in result.new_messages] == ["q", "two"]


async def test_usage_and_cost_are_summed_over_the_run(stage: Make) -> None:
    it = stage(
        [calls(call("echo", id="c1")), end(usage=Usage(input=100_000, output=10_000))],
        [text("done"), end(usage=Usage(input=200_000, output=1_000, reasoning=500))],
        tools=[echo()],
        model=PRICED,
    )

    result = await it.agent.run("p")

    assert (result.total_usage.input, result.total_usage.output) == (300_000, 11_000)
    assert result.total_usage.reasoning == 500
    assert result.total_cost_usd == 0.41


async def test_the_final_message_of_a_complete_run_is_that_of_the_last_answer(
    stage: Make,
) -> None:
    it = stage([text("first"), calls(call("echo", id="c1"))], think("hm"), tools=[echo()])

    result = await it.agent.run("p")

    assert result.final_message == ""


async def test_the_final_message_of_a_run_cut_short_is_the_newest_text(stage: Make) -> None:
    it = stage(
        [text("reading"), calls(call("echo", {"a": 1}, id="c1"))],
        calls(call("echo", {"a": 2}, id="c2")),
        tools=[echo()],
        max_iterations=2,
        messages=[user("old"), said("old answer")],
    )

    result = await it.agent.run("p")

    assert result.reason == "max_iterations"
    assert result.final_message == "reading"


async def test_a_terminated_run_without_text_has_no_final_message(stage: Make) -> None:
    it = stage(
        calls(call("last", id="c1")),
        tools=[answering("last", ToolResult("x", terminate=True))],
        messages=[user("old"), said("old answer")],
    )

    result = await it.agent.run("p")

    assert (result.reason, result.final_message) == ("terminated", "")


async def test_a_stopped_run_returns_normally(stage: Make) -> None:
    it = stage(
        [text("looking"), calls(call("echo", id="c1"))],
        tools=[echo()],
        should_stop_after_turn=lambda ctx, signal: True,
    )

    result = await it.agent.run("p")

    assert (result.reason, result.final_message) == ("stopped", "looking")


async def test_a_result_cannot_be_changed(stage: Make) -> None:
    it = stage(text("x"))
    result = await it.agent.run("p")

    with pytest.raises(FrozenInstanceError):
        result.iterations = 7  # type: ignore[misc]


async def test_two_runs_at_once_are_refused(stage: Make) -> None:
    it = stage(text("x"))

    outcomes = await asyncio.gather(it.agent.run("a"), it.agent.run("b"), return_exceptions=True)

    assert sorted(type(outcome).__name__ for outcome in outcomes) == [
        "AgentBusyError",
        "AgentResult",
    ]
    it.expect('AS TS M:u"a" A:a/stop TE[] AE:completed')
