"""The loop cases, with the real shell: what the next request holds after stops and steering."""

from __future__ import annotations

import asyncio
import os
import time
from pathlib import Path

import pytest

from agent_tui.core.messages import AssistantMessage, ToolResultMessage, UserMessage
from agent_tui.core.stream import LlmContext
from agent_tui.testing import Part, call, calls, hang, pause, text
from agent_tui.tools import builtin_tools
from tests.session.rig import Rig, start, until, user_texts

pytestmark = pytest.mark.skipif(os.name == "nt", reason="a POSIX shell")


def rig_in(folder: Path, *script: Part | list[Part]) -> Rig:
    return Rig(*script, tools=builtin_tools(folder), cwd=folder)


def sleeper(folder: Path, seconds: float = 60) -> Part:
    """A call of a command that says in a file that it runs, and then sleeps."""
    command = f"echo $$ > {folder / 'pid'}; sleep {seconds}; echo woke"
    return calls(call("bash", {"command": command}, id="c1"))


async def running_pid(folder: Path) -> int:
    """The shell's process id once the command runs."""
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        if (folder / "pid").exists() and (written := (folder / "pid").read_text().strip()):
            return int(written)
        await asyncio.sleep(0.01)
    raise AssertionError("the command never started")


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def order_of(request: LlmContext) -> list[str]:
    """Calls, results and user texts of a request, in order."""
    shown: list[str] = []
    for message in request.messages:
        match message:
            case AssistantMessage():
                shown += [f"call:{item.id}" for item in message.tool_calls]
            case ToolResultMessage(tool_call_id=call_id):
                shown.append(f"result:{call_id}")
            case UserMessage():
                shown.append(f"user:{message.text}")
    return shown


def result_of(request: LlmContext, call_id: str) -> str:
    [found] = [
        m.text
        for m in request.messages
        if isinstance(m, ToolResultMessage) and m.tool_call_id == call_id
    ]
    return found


async def test_abort_during_tool(tmp_path: Path) -> None:
    rig = rig_in(tmp_path, sleeper(tmp_path), text("Sure."))
    turn = start(rig.session.prompt("run the long job"))
    pid = await running_pid(tmp_path)
    began = time.monotonic()

    rig.session.abort()
    await turn
    took = time.monotonic() - began
    await rig.session.prompt("never mind, say hi")

    answer = result_of(rig.model.requests[-1], "c1").lower()
    assert took < 2
    assert not is_alive(pid)
    assert any(word in answer for word in ("interrupt", "abort", "cancel"))
    assert order_of(rig.model.requests[-1]) == [
        "user:run the long job",
        "call:c1",
        "result:c1",
        "user:never mind, say hi",
    ]


async def test_three_aborts_are_one(tmp_path: Path) -> None:
    rig = rig_in(tmp_path, sleeper(tmp_path), text("still here"))
    turn = start(rig.session.prompt("run"))
    pid = await running_pid(tmp_path)

    for _ in range(3):
        rig.session.abort()
    await turn
    await rig.session.prompt("still there?")

    assert not is_alive(pid)
    assert rig.reasons == ["aborted", "completed"]


async def test_abort_leaves_a_trace_for_the_model(tmp_path: Path) -> None:
    rig = rig_in(tmp_path, [text("Plan: 1. push"), hang()], text("ok"))
    turn = start(rig.session.prompt("push and open a request"))
    await until(lambda: "message_update" in rig.types)

    rig.session.abort()
    await turn
    await rig.session.prompt("only tell me the date")

    request = rig.model.requests[-1]
    words = " ".join(m.text for m in request.messages).lower()
    assert "push and open a request" in words
    assert "plan: 1. push" in words
    assert any(word in words for word in ("interrupt", "abort", "stopped by the user"))


async def test_queued_follow_ups_survive_an_abort(tmp_path: Path) -> None:
    rig = rig_in(tmp_path, sleeper(tmp_path), *[text("answered")] * 3)
    turn = start(rig.session.prompt("start"))
    await running_pid(tmp_path)
    rig.session.follow_up("follow-up ONE")
    rig.session.follow_up("follow-up TWO")

    rig.session.abort()
    await turn
    on_hold = rig.queued
    await rig.session.resume_queue()

    assert on_hold == ["follow-up ONE", "follow-up TWO"]
    assert user_texts(rig.model.requests[-1]) == ["start", "follow-up ONE", "follow-up TWO"]


async def test_steer_at_the_last_moment(tmp_path: Path) -> None:
    rig = rig_in(tmp_path, [text("All done, bye."), pause(0.05)], text("One more"))
    turn = start(rig.session.prompt("start"))
    await until(lambda: "message_update" in rig.types)

    rig.session.steer("STEER one more thing")
    await turn

    assert user_texts(rig.model.requests[-1]).count("STEER one more thing") == 1


async def test_steer_does_not_drop_generated_calls(tmp_path: Path) -> None:
    both = calls(
        call("write", {"path": "a.txt", "content": "A"}, id="c1"),
        call("write", {"path": "b.txt", "content": "B"}, id="c2"),
    )
    rig = rig_in(tmp_path, [text("writing"), pause(0.05), both], text("ok"))
    turn = start(rig.session.prompt("write both"))
    await until(lambda: "message_update" in rig.types)

    rig.session.steer("STEER then stop")
    await turn

    assert (tmp_path / "a.txt").read_text() == "A"
    assert (tmp_path / "b.txt").read_text() == "B"
    assert order_of(rig.model.requests[1])[-3:] == [
        "result:c1",
        "result:c2",
        "user:STEER then stop",
    ]


async def test_steer_goes_before_an_older_follow_up(tmp_path: Path) -> None:
    rig = rig_in(tmp_path, sleeper(tmp_path, 0.2), text("steered"), text("followed"))
    turn = start(rig.session.prompt("start"))
    await running_pid(tmp_path)

    rig.session.follow_up("LATER write docs")
    rig.session.steer("NOW use tabs")
    await turn

    assert user_texts(rig.model.requests[1]) == ["start", "NOW use tabs"]
    assert user_texts(rig.model.requests[2]) == ["start", "NOW use tabs", "LATER write docs"]


async def test_steer_waits_for_the_tool_result(tmp_path: Path) -> None:
    first = {"command": f"echo $$ > {tmp_path / 'pid'}; sleep 0.2"}
    batch = calls(call("bash", first, id="c1"), call("bash", {"command": "echo second"}, id="c2"))
    rig = rig_in(tmp_path, batch, text("ok"))
    turn = start(rig.session.prompt("start"))
    await running_pid(tmp_path)

    rig.session.steer("STEER please be brief")
    await turn

    assert order_of(rig.model.requests[1]) == [
        "user:start",
        "call:c1",
        "call:c2",
        "result:c1",
        "result:c2",
        "user:STEER please be brief",
    ]


async def test_unknown_tool(tmp_path: Path) -> None:
    rig = rig_in(tmp_path, calls(call("no_such_tool", {"x": 1}, id="c1")), text("ok"))

    await rig.session.prompt("go")

    assert "no_such_tool" in result_of(rig.model.requests[1], "c1")
    assert rig.reasons == ["completed"]


async def test_one_running_tool_can_be_killed_and_the_turn_goes_on(tmp_path: Path) -> None:
    rig = rig_in(tmp_path, sleeper(tmp_path), text("without it, then"))
    turn = start(rig.session.prompt("go"))
    pid = await running_pid(tmp_path)

    stopped = rig.agent.abort_tool("c1")
    await turn

    assert stopped
    assert not is_alive(pid)
    assert rig.reasons == ["completed"]
