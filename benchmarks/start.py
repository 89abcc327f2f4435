"""Start-up: the CPU time until the composer stands, memory, modules, and the cost of doing nothing.

The baseline is an interpreter that imports `textual.app` and ends.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from benchmarks.report import Report, Table, Target, median, ratio, spread
from benchmarks.terminal import READY, chat, environment, folder, running

SETTLE_SECONDS = 2.5
IDLE_SECONDS = 3.0
COUNTED = """
import runpy, signal, sys
def count(number, frame):
    with open({path!r}, "w") as file:
        file.write(str(len(sys.modules)))
signal.signal(signal.SIGUSR1, count)
sys.argv[1:] = ["chat"]
runpy.run_module("agent_tui", run_name="__main__", alter_sys=True)
"""
"""The chat, which tells its number of modules when it gets a signal."""


def bare(place: Path, code: str) -> float:
    """CPU milliseconds of an interpreter that runs `code`, from its start to its end."""
    process = subprocess.Popen([sys.executable, "-c", code], env=environment(place))
    _, _, used = os.wait4(process.pid, 0)
    process.returncode = 0
    return (used.ru_utime + used.ru_stime) * 1000


def first_paint(place: Path) -> tuple[float, float]:
    """CPU and wall milliseconds until the composer is painted."""
    began = time.monotonic()
    with running(place, "-m", "agent_tui", "chat") as terminal:
        seen = terminal.see(READY)
        cpu = terminal.cpu()
        return cpu * 1000, (seen - began) * 1000


def settled(place: Path) -> tuple[float, float, float]:
    """Once everything is loaded: memory in MB, CPU milliseconds, and then CPU percent when idle."""
    with chat(place) as terminal:
        terminal.rest(SETTLE_SECONDS)
        memory, used, began = terminal.memory(), terminal.cpu(), time.monotonic()
        terminal.rest(IDLE_SECONDS)
        idle = (terminal.cpu() - used) / (time.monotonic() - began) * 100
        return memory, used * 1000, idle


def modules(place: Path, rest_seconds: float) -> int:
    """How many modules are loaded so long after the first paint."""
    path = place / "modules"
    path.unlink(missing_ok=True)
    with running(place, "-c", COUNTED.format(path=str(path))) as terminal:
        terminal.see(READY)
        terminal.rest(rest_seconds)
        os.kill(terminal.process.pid, signal.SIGUSR1)
        until = time.monotonic() + 10
        while not (path.exists() and path.read_text()) and time.monotonic() < until:
            terminal.rest(0.02)
    return int(path.read_text())


def measure(quick: bool) -> Report:
    repeats = 3 if quick else 9
    with folder() as place:
        with chat(place) as terminal:  # a first start writes files and compiles modules
            terminal.rest(SETTLE_SECONDS)
        python, textual, paints = [], [], []
        for _ in range(repeats):  # in turns, so that they share the weather
            python.append(bare(place, "pass"))
            textual.append(bare(place, "import textual.app"))
            paints.append(first_paint(place))
        rested = [settled(place) for _ in range(1 if quick else 3)]
        early, late = modules(place, 0), modules(place, SETTLE_SECONDS)
    cpu, wall = [paint[0] for paint in paints], [paint[1] for paint in paints]
    base = median(textual)
    memory, used, idle = (median(values) for values in zip(*rested, strict=True))
    rows = [
        ("python -c pass, CPU ms", spread(python), ratio(median(python), base)),
        ("import textual.app, CPU ms", spread(textual), "1"),
        ("chat: first paint, CPU ms", spread(cpu), ratio(median(cpu), base)),
        ("chat: first paint, wall ms", spread(wall), ""),
        ("chat: all loaded, CPU ms", f"{used:.0f}", ratio(used, base)),
        ("chat: idle, CPU %", f"{idle:.2f}", ""),
        ("chat: memory at rest, MB", f"{memory:.1f}", ""),
        ("modules at first paint", str(early), ""),
        ("modules at rest", str(late), ""),
    ]
    table = Table(f"Start-up (median of {repeats}, least–greatest)", ("", "", "÷ textual"), rows)
    targets = [
        Target("first paint, CPU", median(cpu), 350, " ms"),
        Target("resident memory after start", memory, 65, " MB"),
    ]
    return Report([table], targets)
