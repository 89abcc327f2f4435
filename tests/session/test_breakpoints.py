"""Breakpoints hold the loop, keep everything, and let the person change a call before it runs."""

from __future__ import annotations

from typing import Any

import pytest

from agent_tui.core.errors import InvalidInputError, InvalidStateError
from agent_tui.core.messages import ToolResultMessage
from agent_tui.core.tool import Tool, ToolContext
from agent_tui.session.breakpoints import Held
from agent_tui.session.events import (
    AgentSettledEvent,
    ArgumentsChangedEvent,
    BreakEndEvent,
    BreakEvent,
)
from agent_tui.testing import call, calls, text
from tests.session.rig import Rig, plain_tool, start, until, user_texts

SCHEMA = {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]}


class Shell:
    """A tool that notes what it ran."""

    def __init__(self) -> None:
        self.ran: list[str] = []
        self.tool = Tool("bash", "Runs.", SCHEMA, self._run)

    async def _run(self, call_id: str, args: dict[str, Any], ctx: ToolContext) -> str:
        self.ran.append(args["command"])
        return "ran"


async def held(rig: Rig) -> Held:
    """What is held, once something is."""
    await until(lambda: bool(rig.session.breakpoints.pending))
    return rig.session.breakpoints.pending[0]


def results(rig: Rig) -> list[str]:
    return [m.text for m in rig.agent.state.messages if isinstance(m, ToolResultMessage)]


def places(rig: Rig) -> list[str]:
    return [event.held.place for event in rig.told(BreakEvent)]


async def test_the_next_model_call_is_held_once_and_steering_typed_meanwhile_reaches_it() -> None:
    shell = Shell()
    rig = Rig(calls(call("bash", {"command": "ls"})), text("done"), tools=[shell.tool])
    running = start(rig.session.prompt("go"))
    rig.session.breakpoints.calls = "once"
    first = await held(rig)

    assert first.place == "before the model call of step 1"
    assert rig.session.waiting_for() == "you: held before the model call of step 1"
    assert rig.model.requests == []
    rig.session.breakpoints.answer(first.id, "step")
    second = await held(rig)
    rig.session.steer("be brief")
    assert shell.ran == ["ls"]
    rig.session.breakpoints.answer(second.id, "go")
    await running

    assert places(rig)[1] == "before the model call of step 2"
    assert user_texts(rig.model.requests[1]) == ["go", "be brief"]
    assert rig.session.breakpoints.words == []
    assert [event.verdict for event in rig.told(BreakEndEvent)] == ["step", "go"]


async def test_every_model_call_is_held_until_that_is_taken_back() -> None:
    look = calls(call("look"))
    rig = Rig(look, look, look, text("done"), tools=[plain_tool("look")])
    rig.session.breakpoints.calls = "each"
    running = start(rig.session.prompt("go"))
    for _ in range(2):
        rig.session.breakpoints.answer((await held(rig)).id, "go")
        await until(lambda: not rig.session.breakpoints.pending or len(places(rig)) > 1)
    await held(rig)
    rig.session.breakpoints.clear()
    await running

    assert len(places(rig)) == 3
    assert len(rig.model.requests) == 4


async def test_a_call_is_held_before_it_is_asked_about_and_runs_as_the_person_left_it() -> None:
    shell = Shell()
    rig = Rig(
        calls(call("bash", {"command": "rm -rf build"})), text("ok"), tools=[shell.tool], mode="ask"
    )
    rig.session.breakpoints.tools = ["ba*"]
    running = start(rig.session.prompt("go"))
    opened = await held(rig)

    assert (opened.step, opened.tool_name, dict(opened.args)) == (
        1, "bash", {"command": "rm -rf build"},
    )  # fmt: skip
    assert rig.session.approvals.pending == []
    rig.session.breakpoints.answer(opened.id, "go", {"command": "make clean"})
    await until(lambda: bool(rig.session.approvals.pending))
    asked = rig.session.approvals.pending[0]
    assert dict(asked.args) == {"command": "make clean"}
    rig.session.approvals.answer(asked.id, "once")
    await running

    assert shell.ran == ["make clean"]
    [result] = results(rig)
    assert "The user edited the arguments" in result
    assert '{"command": "make clean"}' in result
    assert result.endswith("ran")
    [changed] = rig.told(ArgumentsChangedEvent)
    assert changed.by_person
    message = rig.agent.state.messages[1]
    assert message.tool_calls[0].arguments == {"command": "rm -rf build"}  # type: ignore[union-attr]


async def test_arguments_that_do_not_fit_the_tool_are_refused_and_it_is_still_held() -> None:
    shell = Shell()
    rig = Rig(calls(call("bash", {"command": "ls"})), text("ok"), tools=[shell.tool])
    rig.session.breakpoints.tools = ["bash"]
    running = start(rig.session.prompt("go"))
    opened = await held(rig)

    with pytest.raises(InvalidInputError, match="command"):
        rig.session.breakpoints.answer(opened.id, "go", {"comand": "b"})

    assert rig.session.breakpoints.pending == [opened]
    rig.session.breakpoints.answer(opened.id, "go", {"command": "pwd"})
    await running
    assert shell.ran == ["pwd"]


async def test_going_on_with_the_same_arguments_says_nothing_to_the_model() -> None:
    shell = Shell()
    rig = Rig(calls(call("bash", {"command": "ls"})), text("ok"), tools=[shell.tool])
    rig.session.breakpoints.tools = ["bash"]
    running = start(rig.session.prompt("go"))
    rig.session.breakpoints.answer((await held(rig)).id, "go", {"command": "ls"})
    await running

    assert results(rig) == ["ran"]
    assert rig.told(ArgumentsChangedEvent) == []


@pytest.mark.parametrize("place", ["call", "tool"])
@pytest.mark.parametrize("way", ["answer", "stop_after_step", "abort"])
async def test_a_stop_while_held_ends_the_turn_and_keeps_what_is_queued(
    place: str, way: str
) -> None:
    shell = Shell()
    rig = Rig(calls(call("bash", {"command": "ls"})), text("more"), tools=[shell.tool])
    running = start(rig.session.prompt("go"))
    if place == "tool":
        rig.session.breakpoints.tools = ["bash"]
    else:
        await until(lambda: bool(rig.model.requests))
        rig.session.breakpoints.calls = "once"
    opened = await held(rig)
    rig.session.follow_up("later")
    match way:
        case "answer":
            rig.session.breakpoints.answer(opened.id, "stop")
        case "stop_after_step":
            rig.session.stop_after_step()
        case "abort":
            rig.session.abort()
    await running

    assert len(rig.model.requests) == 1
    assert len(results(rig)) == 1
    assert [item.message.text for item in rig.agent.queued()] == ["later"]  # type: ignore[union-attr]
    assert rig.session.queue_state == "paused"
    assert rig.session.breakpoints.pending == []
    assert len(rig.told(AgentSettledEvent)) == 1
    if place == "tool" and way != "stop_after_step":
        assert shell.ran == []


async def test_a_new_turn_that_is_stopped_before_its_first_call_asks_no_model() -> None:
    rig = Rig(text("never"))
    rig.session.breakpoints.calls = "once"
    running = start(rig.session.prompt("go"))
    rig.session.breakpoints.answer((await held(rig)).id, "stop")
    with pytest.raises(InvalidStateError, match="Stopped at a breakpoint: nothing was sent"):
        await running

    assert rig.model.requests == []
    assert not rig.session.is_running


async def test_an_answer_to_what_is_not_held_any_more_does_nothing() -> None:
    rig = Rig(text("hi"))
    rig.session.breakpoints.calls = "once"
    running = start(rig.session.prompt("go"))
    opened = await held(rig)

    assert rig.session.breakpoints.answer(opened.id, "go")
    assert not rig.session.breakpoints.answer(opened.id, "stop")
    await running
    assert len(rig.model.requests) == 1


async def test_time_that_is_spent_held_is_not_the_turns() -> None:
    rig = Rig(text("hi"))
    running = start(rig.session.prompt("go"))
    rig.session.breakpoints.calls = "once"
    opened = await held(rig)
    rig.clock.now += 60
    rig.session.breakpoints.answer(opened.id, "go")
    await running

    assert rig.session.turn_seconds == 0
