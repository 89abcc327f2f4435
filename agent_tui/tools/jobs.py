"""Commands that go on while the conversation does: numbered, watched, ended with the program."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from agent_tui.core.last_acts import at_last
from agent_tui.core.tool import Tool, ToolContext, ToolResult
from agent_tui.tools.intake import Intake
from agent_tui.tools.output import OutputLog, for_model, tail
from agent_tui.tools.process import end_tree, kill_tree_now
from agent_tui.tools.watchman import Watchman

STRAGGLER_SECONDS = 0.1
NEWS_LINES, NEWS_BYTES = 200, 16 * 1024
"""How much of what is new a model is shown at once."""

PARAMETERS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "number": {"type": "integer", "description": "The job's number"},
        "action": {
            "type": "string",
            "enum": ["read", "end"],
            "description": "read: its state and what it printed since the last read; end: end it",
        },
    },
    "required": ["number"],
    "additionalProperties": False,
}
DESCRIPTION = """Look at a command that was moved to the background, or end it. You are told when \
one ends: there is no need to ask again and again."""


@dataclass(slots=True)
class Job:
    """One command in the background."""

    number: int
    command: str
    process: asyncio.subprocess.Process
    mark: str
    log: OutputLog
    intake: Intake
    watchman: Watchman
    """Ends it when the program dies."""
    began: float = field(default_factory=time.monotonic)
    ended: float | None = None
    is_ending: bool = False
    """Somebody ends it."""
    _read: int = 0

    @property
    def is_running(self) -> bool:
        """It has not ended yet."""
        return self.ended is None

    @property
    def seconds(self) -> float:
        """How long it has been running, or ran."""
        return (time.monotonic() if self.ended is None else self.ended) - self.began

    @property
    def state(self) -> str:
        """`running`, `exit 0`, `ended`."""
        if self.is_running:
            return "ending" if self.is_ending else "running"
        return "ended" if self.is_ending else f"exit {self.process.returncode}"

    @property
    def sentence(self) -> str:
        """All that matters, on one line."""
        where = f", output in {self.log.path}" if self.log.path is not None else ""
        return (
            f"Job {self.number} `{' '.join(self.command.split())[:200]}`: {self.state}, "
            f"{self.seconds:.0f} s, {self.log.lines} lines{where}"
        )

    def news(self) -> str:
        """What it printed since this was last asked, cut to what a model is shown."""
        fresh = self.log.lines - self._read
        self._read = self.log.lines
        if fresh <= 0:
            return ""
        return tail(self.log.result().text, min(fresh, NEWS_LINES), NEWS_BYTES).text


class Jobs:
    """The jobs of one session, and the running calls that could become one."""

    def __init__(self) -> None:
        self.all: list[Job] = []
        """In the order of their numbers, those that have ended included."""
        self.on_end: Callable[[Job], None] = lambda job: None
        """Told every job that ends by itself or is ended."""
        self.on_change: Callable[[], None] = lambda: None
        """Told when there is another job, or one less that runs."""
        self._calls: dict[str, asyncio.Event] = {}
        self._watching: set[asyncio.Task[None]] = set()
        self._forget: Callable[[], None] = lambda: None

    @property
    def running(self) -> list[Job]:
        """Those that have not ended."""
        return [job for job in self.all if job.is_running]

    def get(self, number: int) -> Job | None:
        """The job of that number."""
        return next((job for job in self.all if job.number == number), None)

    # -- calls -------------------------------------------------------------------------------

    def offer(self, call_id: str) -> asyncio.Event:
        """A command is running in the foreground; the event says that it shall become a job."""
        return self._calls.setdefault(call_id, asyncio.Event())

    def withdraw(self, call_id: str) -> None:
        """That call is over."""
        self._calls.pop(call_id, None)

    def to_background(self, call_id: str | None = None) -> bool:
        """Let a running call, None: the one that began last, become a job; False if none runs."""
        waiting = [one for one, event in self._calls.items() if not event.is_set()]
        if call_id is None:
            call_id = waiting[-1] if waiting else None
        if call_id not in waiting:
            return False
        self._calls[call_id].set()
        return True

    # -- jobs --------------------------------------------------------------------------------

    def adopt(
        self,
        command: str,
        process: asyncio.subprocess.Process,
        mark: str,
        log: OutputLog,
        intake: Intake,
        began: float,
    ) -> Job:
        """Take over a running command; its output goes on to a file."""
        log.keep()
        watchman = Watchman(process.pid)
        job = Job(len(self.all) + 1, command, process, mark, log, intake, watchman, began)
        if not self.all:
            self._forget = at_last(self._kill_now)
        self.all.append(job)
        task = asyncio.get_running_loop().create_task(self._watch(job))
        self._watching.add(task)
        task.add_done_callback(self._watching.discard)
        self.on_change()
        return job

    async def end(self, job: Job) -> None:
        """End a job with everything that it started; nothing to do if it has ended."""
        if job.is_running:
            job.is_ending = True
            self.on_change()
            await end_tree(job.process.pid, job.mark)
            job.watchman.dismiss()

    def close(self) -> None:
        """The program ends: so do all jobs, at once."""
        self._kill_now()
        self._forget()
        for task in self._watching:
            task.cancel()
        for job in self.running:
            job.watchman.dismiss()
            job.intake.close()

    def _kill_now(self) -> None:
        for job in self.running:
            kill_tree_now(job.process.pid)

    async def _watch(self, job: Job) -> None:
        await job.process.wait()
        job.watchman.dismiss()
        await job.intake.rest(STRAGGLER_SECONDS)
        job.ended = time.monotonic()
        job.intake.close()
        self.on_change()
        with suppress(Exception):
            self.on_end(job)


def job_tool(jobs: Jobs) -> Tool:
    """The `job` tool."""

    async def job(call_id: str, args: dict[str, Any], ctx: ToolContext) -> ToolResult:
        found = jobs.get(args["number"])
        if found is None:
            known = "\n".join(one.sentence for one in jobs.all) or "There are no jobs."
            return ToolResult(f"There is no job {args['number']}. {known}", is_error=True)
        if args.get("action") == "end":
            await jobs.end(found)
        news = found.news()
        text = f"{found.sentence}\n\n{news}" if news else found.sentence
        return ToolResult(for_model(text.encode("utf-8", "replace")))

    return Tool("job", DESCRIPTION, PARAMETERS, job)
