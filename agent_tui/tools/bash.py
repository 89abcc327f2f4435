"""The `bash` tool: one command in a shell of its own.

A call ends when the shell ends, whatever it left running behind it. Output is taken in large pieces
at a pace that costs little, shown while it comes, and kept whole on disk when it is long.
"""

from __future__ import annotations

import asyncio
import errno
import os
import secrets
import signal
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from agent_tui.core.messages import TextBlock
from agent_tui.core.text import without_surrogates
from agent_tui.core.tool import Tool, ToolContext, ToolResult
from agent_tui.tools.environment import find_shell, for_commands
from agent_tui.tools.intake import Intake
from agent_tui.tools.jobs import Job, Jobs
from agent_tui.tools.output import LIMIT_BYTES, LIMIT_LINES, OutputLog
from agent_tui.tools.paths import Refused, size_text
from agent_tui.tools.process import (
    MARK,
    Ended,
    end_tree,
    group_lives,
    kill_tree_now,
    left_behind,
)
from agent_tui.tools.sandbox import Sandbox

UPDATE_SECONDS = 0.1
STRAGGLER_SECONDS = 0.1
"""How long the output may go on after the shell has ended, e.g. from a process substitution."""
REAP_SECONDS = 0.5
FIRST_WORDS_SECONDS = 0.3
"""How long a command that begins in the background is watched: it may fail at once."""
LISTED_PROCESSES = 8

DESCRIPTION = f"""Run a shell command in the working directory and return its output, stdout and \
stderr together. Every call is a new shell: cd and variables do not last. Standard input is \
empty, nothing can ask back. Shows the last {LIMIT_LINES} lines or {LIMIT_BYTES // 1024} KiB; \
longer output is saved to a file that the result names. Give a timeout for what may hang. The call \
returns when the shell ends; processes started with & run on and the result names them. Prefer \
read, grep, find, ls and edit for what they do."""

PARAMETERS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "command": {"type": "string", "description": "The command, as for bash -c"},
        "timeout": {
            "type": "number",
            "description": "Seconds after which it is ended; none if left out",
        },
    },
    "required": ["command"],
    "additionalProperties": False,
}

BACKGROUND: dict[str, Any] = {
    "type": "boolean",
    "description": "Start it as a job that runs on, for servers and watchers",
}

Outcome = Literal["exited", "aborted", "timed_out", "background"]


def bash_tool(
    cwd: Path,
    *,
    output_dir: Path | None = None,
    environ: Mapping[str, str] | None = None,
    jobs: Jobs | None = None,
    sandbox: Sandbox | None = None,
) -> Tool:
    """The `bash` tool for a project in `cwd`.

    Long outputs are saved in `output_dir` (None: a temporary folder). `environ` is what commands
    inherit (None: that of this process), without the program's own keys. With `jobs` a command can
    go on in the background; with `sandbox` it is shut in.
    """
    parameters = PARAMETERS
    if jobs is not None:
        properties = {**PARAMETERS["properties"], "background": BACKGROUND}
        parameters = {**PARAMETERS, "properties": properties}
    jobs = jobs or Jobs()
    shell = find_shell()
    clean = for_commands(os.environ if environ is None else environ)

    async def bash(call_id: str, args: dict[str, Any], ctx: ToolContext) -> ToolResult:
        if ctx.signal.aborted:
            return ToolResult("Aborted before the command was started.", is_error=True)
        timeout = args.get("timeout") or 0
        detach = jobs.offer(call_id)
        log = OutputLog(output_dir)
        run = _Run(args["command"], log, timeout if timeout > 0 else None, ctx, jobs, detach)
        if args.get("background"):
            asyncio.get_running_loop().call_later(FIRST_WORDS_SECONDS, detach.set)
        command = [shell, "-c", without_surrogates(args["command"])]
        if sandbox is not None:
            command = sandbox.shut_in(command)
        try:
            result = await run.go(command, cwd, clean)
            return result if sandbox is None else _with_hint(result, sandbox)
        except Refused as refusal:
            return ToolResult(str(refusal), is_error=True)
        finally:
            jobs.withdraw(call_id)
            run.close()

    return Tool("bash", DESCRIPTION, parameters, bash)


@dataclass(frozen=True, slots=True)
class Ran:
    """What became of a command that the person ran."""

    output: str
    """What a model would be shown of it: the end, within the limits."""
    lines: int
    """All of them."""
    exit_code: int | None = None
    """None if it was stopped, or could not be started."""
    is_cancelled: bool = False
    is_shortened: bool = False
    path: Path | None = None
    """The file with the whole output; None if `output` is the whole."""


async def run_for_person(
    command: str,
    cwd: Path,
    ctx: ToolContext,
    *,
    output_dir: Path | None = None,
    environ: Mapping[str, str] | None = None,
) -> Ran:
    """Run a command of the person's own in `cwd`, until it ends or `ctx.signal` is set.

    The same process group, limits, files and variables as for a model's command; never shut in.
    """
    log = OutputLog(output_dir)
    run = _Run(command, log, None, ctx, Jobs(), asyncio.Event())
    clean = for_commands(os.environ if environ is None else environ)
    try:
        result = await run.go([find_shell(), "-c", without_surrogates(command)], cwd, clean)
    except Refused as refusal:
        return Ran(str(refusal), 1)
    finally:
        run.close()
    part = log.result()
    return Ran(
        part.text,
        log.lines,
        result.details["exit_code"],
        run.outcome == "aborted",
        bool(part.left_out or part.cut),
        log.path,
    )


@dataclass(slots=True)
class _Run:
    command: str
    log: OutputLog
    timeout: float | None
    ctx: ToolContext
    jobs: Jobs
    detach: asyncio.Event
    """Set when the command shall go on in the background."""
    mark: str = field(default_factory=lambda: secrets.token_hex(8))
    began: float = field(default_factory=time.monotonic)
    outcome: Outcome = "exited"
    ended: Ended = field(default_factory=Ended)
    background: list[str] = field(default_factory=list)
    intake: Intake | None = None
    job: Job | None = None
    """What the command has become."""
    _update: asyncio.TimerHandle | None = None

    async def go(self, command: list[str], cwd: Path, environ: Mapping[str, str]) -> ToolResult:
        reading, writing = os.pipe()
        self.intake = Intake(reading, self.log, self._changed)
        try:
            process = await asyncio.create_subprocess_exec(
                *command,
                cwd=cwd,
                env={**environ, MARK: self.mark},
                stdin=asyncio.subprocess.DEVNULL,
                stdout=writing,
                stderr=writing,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            raise Refused(_cannot_start(error, cwd)) from None
        finally:
            os.close(writing)
        self.intake.start()
        await self._until_it_ends(process)
        if self.outcome == "background":
            self.job = self.jobs.adopt(
                self.command, process, self.mark, self.log, self.intake, self.began
            )
            return self._as_job(self.job)
        await self.intake.rest(STRAGGLER_SECONDS)
        if self.outcome == "exited" and (not self.intake.ended or group_lives(process.pid)):
            self.background = left_behind(process.pid, self.mark)
            if not self.intake.ended:
                self.log.keep()
        return self._result(process.returncode)

    async def _until_it_ends(self, process: asyncio.subprocess.Process) -> None:
        exited = asyncio.ensure_future(process.wait())
        stopped = asyncio.ensure_future(self.ctx.signal.wait())
        detached = asyncio.ensure_future(self.detach.wait())
        try:
            await asyncio.wait(
                {exited, stopped, detached}, timeout=self.timeout, return_when="FIRST_COMPLETED"
            )
            if not exited.done() and detached.done() and not stopped.done():
                self.outcome = "background"
            elif not exited.done():
                self.outcome = "aborted" if stopped.done() else "timed_out"
                self.ended = await end_tree(process.pid, self.mark)
                await asyncio.wait({exited}, timeout=REAP_SECONDS)
        except asyncio.CancelledError:
            kill_tree_now(process.pid)
            # The shell is dead; this only lets asyncio take note before the loop may close.
            await asyncio.wait({exited}, timeout=REAP_SECONDS)
            raise
        finally:
            exited.cancel()
            stopped.cancel()
            detached.cancel()

    def close(self) -> None:
        if self._update is not None:
            self._update.cancel()
        if self.intake is not None and self.job is None:
            self.intake.close()

    def _as_job(self, job: Job) -> ToolResult:
        """What the model is told of a command that goes on."""
        so_far = job.news()
        paragraphs = [so_far] if so_far else []
        paragraphs.append(
            f"[Goes on in the background as job {job.number}. You will be told when it ends; the "
            f"tool job reads what it prints and can end it. All output: {self.log.path}]"
        )
        details = {
            "outcome": "background",
            "job": job.number,
            "lines": self.log.lines,
            "bytes": self.log.bytes,
            "seconds": round(job.seconds, 3),
            "output_path": None if self.log.path is None else str(self.log.path),
        }
        return ToolResult("\n\n".join(paragraphs), details=details)

    def _changed(self) -> None:
        if self._update is None and self.job is None:
            loop = asyncio.get_running_loop()
            self._update = loop.call_later(UPDATE_SECONDS, self._show)

    def _show(self) -> None:
        self._update = None
        details: dict[str, Any] = {"lines": self.log.lines, "bytes": self.log.bytes}
        if self.log.path is not None:
            details["output_path"] = str(self.log.path)
        self.ctx.on_update(ToolResult(self.log.live(), details=details))

    def _result(self, code: int | None) -> ToolResult:
        seconds = time.monotonic() - self.began
        part = self.log.result()
        paragraphs = [part.text or "(no output)"]
        if part.left_out or part.cut:
            paragraphs.append(self._notice(part.lines, part.cut))
        paragraphs += self._ending(code, seconds)
        path = self.log.path
        details = {
            "exit_code": code if self.outcome == "exited" else None,
            "outcome": self.outcome,
            "lines": self.log.lines,
            "bytes": self.log.bytes,
            "seconds": round(seconds, 3),
            "output_path": None if path is None else str(path),
            "background": self.background,
            "ended": self.ended.ended,
            "survivors": self.ended.survivors + self.ended.detached,
        }
        failed = self.outcome != "exited" or code != 0
        return ToolResult("\n\n".join(paragraphs), details=details, is_error=failed)

    def _notice(self, shown: int, cut: bool) -> str:
        total = self.log.lines
        what = (
            f"The end of line {total} of {total} ({size_text(self.log.bytes)})"
            if cut
            else f"Lines {total - shown + 1}-{total} of {total}"
        )
        where = f"; whole output: {self.log.path}" if self.log.path else ""
        trouble = f"; not saved completely: {self.log.trouble}" if self.log.trouble else ""
        return f"[{what}{where}{trouble}]"

    def _ending(self, code: int | None, seconds: float) -> list[str]:
        said: list[str] = []
        ended = self.ended
        if self.outcome == "aborted":
            reason = f" ({self.ctx.signal.reason})" if self.ctx.signal.reason else ""
            said.append(f"Command aborted{reason} after {seconds:.1f} s.")
        elif self.outcome == "timed_out":
            said.append(f"Command timed out after {self.timeout:g} s and was ended.")
        elif code:
            said.append(_exit_sentence(code))
        if ended.ended:
            said.append(f"Ended: {_listed(ended.ended)}.")
        if ended.survivors:
            said.append(f"Could not be ended: {_listed(ended.survivors)}.")
        if ended.detached:
            said.append(f"Had detached itself and still runs: {_listed(ended.detached)}.")
        if self.background:
            said.append(self._background_sentence())
        return said

    def _background_sentence(self) -> str:
        where = ""
        if self.intake is not None and not self.intake.ended and self.log.path is not None:
            where = f"; further output goes to {self.log.path}"
        return f"[Still running in the background: {_listed(self.background)}{where}]"


def _with_hint(result: ToolResult, sandbox: Sandbox) -> ToolResult:
    """A failure may be the sandbox's: the model is told what is possible in it."""
    if result.is_error:
        result.content.append(TextBlock(text=f"[{sandbox.sentence}]"))
    return result


def _exit_sentence(code: int) -> str:
    if code > 0:
        return f"Command exited with code {code}."
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = f"signal {-code}"
    return f"Command was ended by {name}."


def _listed(names: list[str]) -> str:
    more = len(names) - LISTED_PROCESSES
    return ", ".join(names[:LISTED_PROCESSES]) + (f" and {more} more" if more > 0 else "")


def _cannot_start(error: OSError | ValueError, cwd: Path) -> str:
    if isinstance(error, ValueError):
        return "The command contains a NUL character."
    if not cwd.is_dir():
        return f"The working directory {cwd} does not exist."
    if error.errno == errno.E2BIG:
        return "The command is too long for the system; write it to a file and run that."
    return f"The shell could not be started: {error.strerror or error}."
