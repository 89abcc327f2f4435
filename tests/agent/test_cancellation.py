"""Cancelling whoever waits for a run, and blocking callers."""

from __future__ import annotations

import asyncio
import signal
import threading
import time
from typing import Any

import pytest

from agent_tui import (
    AbortSignal,
    Agent,
    AgentError,
    AgentEvent,
    CancelledRunError,
    InvalidStateError,
    Tool,
    ToolContext,
)
from agent_tui.testing import ScriptedModel, call, calls, fail, hang, text
from tests.agent.stage import Make, until
from tests.agent.toolbox import ANYTHING, deaf, waiting


@pytest.mark.parametrize("entry", ["prompt", "run"])
async def test_cancelling_the_caller_during_tools_answers_every_call(
    stage: Make, entry: str
) -> None:
    it = stage(
        calls(call("wait", id="c1"), call("wait", id="c2")),
        text("ok"),
        tools=[waiting("wait", asyncio.Event())],
    )
    caller = asyncio.create_task(getattr(it.agent, entry)("p"))
    await until(lambda: len(it.executed) == 2)

    caller.cancel()
    with pytest.raises(asyncio.CancelledError):
        await caller

    it.expect(
        'AS TS M:u"p" A:a/tool_use XS(c1) XS(c2) XE(c1)✗ XE(c2)✗ M:r(c1) M:r(c2) TE[c1,c2] '
        "AE:aborted"
    )
    assert not it.agent.state.is_running


async def test_cancelling_the_caller_waits_for_a_tool_that_does_not_listen(stage: Make) -> None:
    it = stage(calls(call("deaf", id="c1")), tools=[deaf("deaf")])
    caller = asyncio.create_task(it.agent.prompt("p"))
    await until(lambda: it.executed)

    caller.cancel()
    with pytest.raises(asyncio.CancelledError):
        await caller

    assert it.end.reason == "aborted"
    assert not it.agent.state.is_running


async def test_cancelling_a_continuing_caller_settles_too(stage: Make) -> None:
    it = stage(fail("network"), [text("par"), hang()])
    await it.prompt()
    caller = asyncio.create_task(_continue_as_a_session_does(it.agent))
    await until(lambda: len(it.requests) == 2)

    caller.cancel()
    with pytest.raises(asyncio.CancelledError):
        await caller

    assert it.end.reason == "aborted"


async def _continue_as_a_session_does(agent: Agent) -> None:
    agent.state.messages = agent.state.messages[:-1]
    await agent.continue_()


async def test_a_cancelled_caller_waits_for_a_stuck_run_only_so_long(stage: Make) -> None:
    stuck = asyncio.Event()

    async def listener(event: AgentEvent, signal: AbortSignal) -> None:
        if event.type == "turn_end":
            await stuck.wait()

    it = stage(text("ok"))
    it.agent.subscribe(listener)
    caller = asyncio.create_task(it.agent.prompt("p"))
    await until(lambda: "TE[]" in it.trace)
    begun = time.monotonic()

    caller.cancel()
    with pytest.raises(asyncio.CancelledError):
        await caller
    took = time.monotonic() - begun
    stuck.set()
    await it.agent.wait_for_idle()

    assert 4 < took < 7
    assert it.end.reason == "completed"


async def test_cancelling_who_waits_for_idle_does_not_touch_the_run(stage: Make) -> None:
    gate = asyncio.Event()
    it = stage(calls(call("wait", id="c1")), text("ok"), tools=[waiting("wait", gate)])
    run = asyncio.create_task(it.prompt())
    await until(lambda: it.executed)
    watcher = asyncio.create_task(it.agent.wait_for_idle())
    await asyncio.sleep(0)

    watcher.cancel()
    with pytest.raises(asyncio.CancelledError):
        await watcher
    gate.set()
    await run

    assert it.end.reason == "completed"


async def test_waiting_for_idle_returns_at_once_when_idle(stage: Make) -> None:
    it = stage(text("ok"))

    await it.agent.wait_for_idle()
    await it.prompt()
    await it.agent.wait_for_idle()

    assert it.end.reason == "completed"


# -- blocking --------------------------------------------------------------------------------------


def test_a_loop_that_closes_takes_the_run_with_it() -> None:
    agent = Agent(
        "test/m",
        stream_fn=ScriptedModel([calls(call("deaf", id="c1"))]),
        tools=[deaf("deaf", reports="x")],
    )
    started: list[str] = []
    agent.subscribe(lambda event, signal: started.append(event.type))

    async def walk_away() -> None:
        runs.append(asyncio.create_task(agent.prompt("p")))
        await until(lambda: "tool_execution_update" in started)

    runs: list[asyncio.Task[None]] = []
    asyncio.run(walk_away())

    assert runs[0].cancelled()
    assert not agent.state.is_running


def test_run_blocking_works_again_and_again() -> None:
    agent = Agent("test/m", stream_fn=ScriptedModel([text("1"), text("2"), text("3")]))

    answers = [agent.run_blocking(f"q{n}").final_message for n in range(3)]

    assert answers == ["1", "2", "3"]
    assert len(agent.state.messages) == 6


def test_run_blocking_raises_what_the_run_failed_with() -> None:
    agent = Agent("test/m", stream_fn=ScriptedModel([fail("quota", "no credit"), text("ok")]))

    with pytest.raises(AgentError, match="no credit") as caught:
        agent.run_blocking("p")

    assert caught.value.code == "quota"
    assert agent.run_blocking("again").final_message == "ok"


def test_run_blocking_can_be_aborted_from_another_thread() -> None:
    async def execute(call_id: str, args: dict[str, Any], ctx: ToolContext) -> str:
        thread.start()
        await ctx.signal.wait()
        return "stopped"

    agent = Agent(
        "test/m",
        stream_fn=ScriptedModel([calls(call("wait", id="c1"))]),
        tools=[Tool("wait", "Waits.", ANYTHING, execute)],
    )
    thread = threading.Thread(target=agent.abort)

    with pytest.raises(CancelledRunError):
        agent.run_blocking("p")

    thread.join()


def test_an_agent_of_one_loop_refuses_to_block_on_another() -> None:
    agent = Agent("test/m", stream_fn=ScriptedModel([text("1"), text("2")]))
    asyncio.run(agent.prompt("p"))

    with pytest.raises(InvalidStateError):
        agent.run_blocking("q")

    assert len(agent.state.messages) == 2


def test_an_agent_of_one_loop_refuses_another_loop() -> None:
    agent = Agent("test/m", stream_fn=ScriptedModel([text("1"), text("2")]))
    asyncio.run(agent.prompt("p"))

    with pytest.raises(InvalidStateError):
        asyncio.run(agent.prompt("q"))

    assert len(agent.state.messages) == 2
    assert not agent.state.is_running


async def test_an_agent_that_blocked_refuses_a_running_loop() -> None:
    agent = Agent("test/m", stream_fn=ScriptedModel([text("1"), text("2")]))
    await asyncio.to_thread(agent.run_blocking, "p")

    with pytest.raises(InvalidStateError):
        await agent.prompt("q")

    assert len(agent.state.messages) == 2


def test_ctrl_c_settles_a_blocking_run_and_is_raised() -> None:
    async def execute(call_id: str, args: dict[str, Any], ctx: ToolContext) -> str:
        signal.raise_signal(signal.SIGINT)
        await ctx.signal.wait()
        return "stopped"

    agent = Agent(
        "test/m",
        stream_fn=ScriptedModel([calls(call("wait", id="c1")), text("again")]),
        tools=[Tool("wait", "Waits.", ANYTHING, execute)],
    )
    ends: list[str] = []
    agent.subscribe(lambda event, signal: ends.append(event.type))

    with pytest.raises(KeyboardInterrupt):
        agent.run_blocking("p")

    assert ends[-2:] == ["turn_end", "agent_end"]
    assert [message.role for message in agent.state.messages][-1] == "tool_result"
    assert agent.run_blocking("q").final_message == "again"
