"""Jobs and the conversation: the model is told when one ends, and never by a turn of its own."""

from __future__ import annotations

import asyncio
from pathlib import Path

from agent_tui.agent.agent import Agent
from agent_tui.core.messages import CustomMessage
from agent_tui.core.stream import LlmContext
from agent_tui.core.tool import Tool, ToolContext
from agent_tui.session.events import JobsEvent
from agent_tui.session.session import Session
from agent_tui.testing import ScriptedModel, call, calls, text
from agent_tui.tools import Jobs, builtin_tools


def job_call(path: Path) -> object:
    command = f"echo up; until [ -e {path}/go ]; do sleep 0.02; done; echo down"
    return calls(call("bash", {"command": command, "background": True}))


def texts(request: LlmContext) -> list[str]:
    return [getattr(message, "text", "") for message in request.messages]


async def ended(session: Session) -> None:
    async with asyncio.timeout(20):
        while session.jobs is None or session.jobs.running:
            await asyncio.sleep(0.01)


def working(folder: Path, script: list[object], *tools: Tool) -> tuple[Session, ScriptedModel]:
    jobs = Jobs()
    model = ScriptedModel(script)  # type: ignore[arg-type]
    own = [*builtin_tools(folder, output_dir=folder / "out", jobs=jobs), *tools]
    session = Session.open(
        Agent("test/m", tools=own, stream_fn=model), cwd=folder, mode="full-auto"
    )
    session.employ(jobs)
    return session, model


async def test_the_next_prompt_tells_the_model_what_has_ended(tmp_path: Path) -> None:
    session, model = working(tmp_path, [job_call(tmp_path), text("started"), text("I see")])
    events: list[JobsEvent] = []
    session.subscribe(
        lambda event, signal: events.append(event) if isinstance(event, JobsEvent) else None
    )
    await session.prompt("start it")

    (tmp_path / "go").touch()
    await ended(session)
    assert not session.is_running
    assert len(model.requests) == 2
    await session.prompt("and now?")
    session.close()

    told, asked = texts(model.requests[2])[-2:]
    assert "Job 1" in told
    assert "exit 0" in told
    assert told.endswith("down")
    assert asked == "and now?"
    assert [len(event.running) for event in events] == [1, 0]
    assert any(isinstance(m, CustomMessage) for m in session.agent.state.messages)


async def test_a_running_step_tells_the_model_at_its_end(tmp_path: Path) -> None:
    session: Session

    async def wait(call_id: str, args: dict[str, object], ctx: ToolContext) -> str:
        (tmp_path / "go").touch()
        await ended(session)
        return "waited"

    waiting = Tool("wait", "waits", {"type": "object"}, wait)
    script = [job_call(tmp_path), calls(call("wait", {})), text("I see")]
    session, model = working(tmp_path, script, waiting)

    await session.prompt("start it")
    session.close()

    assert len(model.requests) == 3
    assert "Job 1" in texts(model.requests[2])[-1]


async def test_jobs_end_with_the_session(tmp_path: Path) -> None:
    session, _ = working(tmp_path, [job_call(tmp_path), text("started")])
    await session.prompt("start it")
    assert session.jobs is not None
    (job,) = session.jobs.running

    session.close()

    async with asyncio.timeout(20):
        assert await job.process.wait() != 0
