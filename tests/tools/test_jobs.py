"""Commands that go on in the background."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from agent_tui.core.tool import Tool, ToolContext, ToolResult
from agent_tui.tools import Job, Jobs, builtin_tools
from agent_tui.tools.process import group_lives
from tests.tools.calls import running

PATIENCE_SECONDS = 20


class Bench:
    """The tools of a project, and the jobs that they make."""

    def __init__(self, folder: Path) -> None:
        self.jobs = Jobs()
        self.ended: list[Job] = []
        self.jobs.on_end = self.ended.append
        tools = builtin_tools(folder, output_dir=folder / "output", jobs=self.jobs)
        self.tools: dict[str, Tool] = {tool.name: tool for tool in tools}
        self.shown = ""
        self.context = ToolContext(on_update=self._show)

    def _show(self, partial: ToolResult | str) -> None:
        self.shown = partial if isinstance(partial, str) else partial.text

    async def close(self) -> None:
        """The program ends; returns when the system has noticed."""
        self.jobs.close()
        for job in self.jobs.all:
            await job.process.wait()

    async def call(self, name: str, call_id: str = "c1", **args: Any) -> ToolResult:
        execute = self.tools[name].execute
        assert execute is not None
        result = await execute(call_id, args, self.context)  # type: ignore[misc]
        assert isinstance(result, ToolResult)
        return result


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Bench]:
    made = Bench(tmp_path)
    yield made
    made.jobs.close()
    await until(lambda: all(job.process.returncode is not None for job in made.jobs.all))


async def until(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not condition():
            await asyncio.sleep(0.01)


async def moved(bench: Bench, command: str, shows: str) -> ToolResult:
    """Run a command in the foreground, and move it away once it shows something."""
    call = asyncio.create_task(bench.call("bash", command=command))
    await until(lambda: shows in bench.shown)
    assert bench.jobs.to_background("c1")
    return await call


async def test_a_running_command_is_moved_to_the_background_and_goes_on(
    bench: Bench, tmp_path: Path
) -> None:
    command = f"echo begun; until [ -e {tmp_path}/go ]; do sleep 0.02; done; echo finished"
    result = await moved(bench, command, "begun")

    (job,) = bench.jobs.running
    assert not result.is_error
    assert result.text.startswith("begun")
    assert "job 1" in result.text
    assert job.log.path is not None
    assert str(job.log.path) in result.text

    (tmp_path / "go").touch()
    await until(lambda: bench.ended)

    assert bench.ended == [job]
    assert job.state == "exit 0"
    assert job.log.path.read_text() == "begun\nfinished\n"


async def test_a_model_can_begin_a_command_in_the_background(bench: Bench) -> None:
    result = await bench.call("bash", command="echo up; sleep 60", background=True)

    assert "up" in result.text
    assert [job.number for job in bench.jobs.running] == [1]


async def test_a_command_that_fails_at_once_is_no_job(bench: Bench) -> None:
    result = await bench.call("bash", command="no-such-program", background=True)

    assert result.is_error
    assert "127" in result.text
    assert bench.jobs.all == []


async def test_what_is_new_is_read_once_and_a_job_can_be_ended(
    bench: Bench, tmp_path: Path
) -> None:
    command = f"echo one; until [ -e {tmp_path}/go ]; do sleep 0.02; done; echo two; sleep 60"
    await moved(bench, command, "one")
    (job,) = bench.jobs.all

    nothing = await bench.call("job", number=1)
    (tmp_path / "go").touch()
    await until(lambda: job.log.lines == 2)
    news = await bench.call("job", number=1, action="read")
    ended = await bench.call("job", number=1, action="end")
    await until(lambda: bench.ended)

    assert "one" not in nothing.text.split("`")[-1]
    assert news.text.endswith("two")
    assert "ending" in ended.text or "ended" in ended.text
    assert job.state == "ended"
    await until(lambda: not group_lives(job.process.pid))
    await bench.close()


async def test_a_job_that_does_not_exist_is_said(bench: Bench) -> None:
    result = await bench.call("job", number=7)

    assert result.is_error
    assert "no job 7" in result.text


async def test_only_a_running_command_can_be_moved(bench: Bench) -> None:
    assert not bench.jobs.to_background()
    await bench.call("bash", command="true")
    assert not bench.jobs.to_background("c1")


async def test_all_jobs_end_with_the_program_and_what_they_started_too(bench: Bench) -> None:
    await bench.call("bash", command="sleep 60 & sleep 60; wait", background=True)
    await bench.call("bash", "c2", command="trap '' TERM; sleep 60", background=True)
    groups = [job.process.pid for job in bench.jobs.running]

    await bench.close()

    assert len(groups) == 2
    await until(lambda: not any(map(group_lives, groups)))


async def test_a_stopped_turn_leaves_jobs_alone(bench: Bench) -> None:
    await moved(bench, "echo on; sleep 60", "on")

    bench.context.signal.set("stopped by the user")
    await asyncio.sleep(0)

    assert len(bench.jobs.running) == 1


async def test_a_flood_goes_to_the_file_and_memory_stays_bounded(
    bench: Bench, tmp_path: Path
) -> None:
    flood = f"echo on; until [ -e {tmp_path}/go ]; do sleep 0.02; done; yes | head -c 30000000"
    await moved(bench, f"{flood}; echo; echo end", "on")
    (tmp_path / "go").touch()
    await until(lambda: bench.ended)

    (job,) = bench.jobs.all
    assert job.log.path is not None
    assert job.log.path.stat().st_size == 30_000_008
    assert len(job.news()) < 20_000
    await bench.close()


async def test_jobs_end_when_the_program_is_killed(tmp_path: Path, nap: str) -> None:
    command = f"(trap '' TERM; sleep {nap} & sleep {nap}; wait) & sleep {nap}; wait"
    program = f"""
import asyncio
from pathlib import Path
from agent_tui.core.tool import ToolContext
from agent_tui.tools import Jobs, bash_tool

async def main():
    tool = bash_tool(Path({str(tmp_path)!r}), jobs=Jobs())
    await tool.execute("c1", {{"command": {command!r}, "background": True}}, ToolContext())
    print("up", flush=True)
    await asyncio.sleep(60)

asyncio.run(main())
"""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", program, stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout is not None
    assert await process.stdout.readline() == b"up\n"
    assert running(nap)

    process.kill()
    await process.wait()

    await until(lambda: not running(nap))


async def test_nobody_watches_over_a_job_that_has_ended(bench: Bench) -> None:
    await moved(bench, "echo on; sleep 0.2", "on")
    (job,) = bench.jobs.all
    assert running(f"sh {job.process.pid}")

    await until(lambda: bench.ended)

    assert not running(f"sh {job.process.pid}")
