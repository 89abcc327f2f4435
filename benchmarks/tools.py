"""Tool steps: what the program adds to a command, and what it costs when a command prints a lot.

The baseline is the command alone, started and read with `asyncio` by this process.
"""

from __future__ import annotations

import asyncio
import itertools
import shutil
import time
from collections.abc import Sequence
from pathlib import Path

import psutil

from benchmarks.report import Report, Table, median, percentile, ratio
from benchmarks.server import Server, last, serving
from benchmarks.terminal import Terminal, chat, folder

STEPS = 50
ECHO = "echo a line of output"
LINES = 200_000
SEQ = f"seq 1 {LINES}"
_ids = itertools.count(100)


async def bare(command: str) -> tuple[float, float, float]:
    """Milliseconds until a command has ended and is read; own CPU; CPU of the command."""
    own = psutil.Process()
    children = own.cpu_times()
    began, used = time.monotonic(), time.process_time()
    process = await asyncio.create_subprocess_exec(
        shutil.which("bash") or "/bin/sh",
        "-c",
        command,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        start_new_session=True,
        limit=1 << 20,
    )
    assert process.stdout is not None
    while await process.stdout.read(1 << 18):
        pass
    await process.wait()
    took, cpu = time.monotonic() - began, time.process_time() - used
    after = own.cpu_times()
    command_cpu = after.children_user + after.children_system
    command_cpu -= children.children_user + children.children_system
    return took * 1000, cpu * 1000, command_cpu * 1000


async def bare_often(command: str, count: int) -> list[tuple[float, float, float]]:
    return [await bare(command) for _ in range(count)]


def calls(terminal: Terminal, server: Server, count: int, command: str) -> dict[str, list[float]]:
    """A turn of so many calls: milliseconds from each answer's end to the next request; CPU in all.

    The last request brings the closing text, so there are as many gaps as calls.
    """
    id = str(next(_ids))
    _, used = terminal.ask(f"calls {count} #{id} {command}")
    used_by_commands = terminal.commands_cpu()
    terminal.see(last(id))
    terminal.settle()
    marks = server.marks(id)
    gaps = [
        (after.at - before.at) * 1000
        for before, after in itertools.pairwise(marks)
        if (before.what, after.what) == ("ended", "request")
    ]
    assert len(gaps) == count
    return {
        "gaps": gaps,
        "cpu": [(terminal.cpu() - used) * 1000],
        "commands": [(terminal.commands_cpu() - used_by_commands) * 1000],
    }


def steps(place: Path, server: Server, repeats: int) -> Table:
    gaps: list[float] = []
    early, late, cpu, commands = [], [], [], []
    for _ in range(repeats):
        with chat(place, server.url) as terminal:
            calls(terminal, server, 1, ECHO)
            terminal.rest(1.0)
            found = calls(terminal, server, STEPS, ECHO)
        gaps += found["gaps"]
        early.append(median(found["gaps"][:10]))
        late.append(median(found["gaps"][-10:]))
        cpu.append(found["cpu"][0] / STEPS)
        commands.append(found["commands"][0] / STEPS)
    alone = asyncio.run(bare_often(ECHO, STEPS * repeats))
    walls = [run[0] for run in alone]
    own, of_command = (sum(run[place] for run in alone) / len(alone) for place in (1, 2))
    rows = [
        _row("answer's end → next request, p50 ms", median(gaps), median(walls)),
        _row("… p95 ms", percentile(gaps, 0.95), percentile(walls, 0.95)),
        ("… last ten ÷ first ten steps", f"{median(late) / median(early):.2f}", "", ""),
        _row("CPU of the program, ms a step", median(cpu), own),
        _row("CPU of the commands, ms a step", median(commands), of_command),
    ]
    title = f"{STEPS} steps of `echo` (median of {repeats})"
    return Table(title, ("", "chat", "command alone", "ratio"), rows)


def much(place: Path, server: Server, repeats: int) -> Table:
    walls, cpu, grown = [], [], []
    for _ in range(repeats):
        with chat(place, server.url) as terminal:
            calls(terminal, server, 1, ECHO)
            terminal.rest(1.0)
            memory = terminal.memory()
            found = calls(terminal, server, 1, SEQ)
            walls += found["gaps"]
            cpu += found["cpu"]
            grown.append(terminal.memory() - memory)
    alone = asyncio.run(bare_often(SEQ, max(3, repeats)))
    rows = [
        _row("answer's end → next request, ms", median(walls), median([run[0] for run in alone])),
        _row("CPU of the program, ms", median(cpu), median([run[1] for run in alone])),
        ("memory grown, MB", f"{median(grown):.1f}", "", ""),
    ]
    title = f"`{SEQ}` at once (median of {repeats})"
    return Table(title, ("", "chat", "command alone", "ratio"), rows)


def _row(what: str, ours: float, alone: float) -> Sequence[str]:
    return what, f"{ours:.1f}", f"{alone:.1f}", ratio(ours, alone)


def measure(quick: bool) -> Report:
    repeats = 1 if quick else 5
    with folder() as place, serving(place) as server:
        return Report([steps(place, server, repeats), much(place, server, repeats)])
