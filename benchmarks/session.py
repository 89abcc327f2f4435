"""What a session adds to the loop: per streamed delta, per step of one long run, and how both grow.

The baseline is the same agent without a session around it. The session keeps its journal in a file
and knows its model's window, so that it looks before each step whether the window is full.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from itertools import pairwise
from pathlib import Path

from agent_tui import Agent, Model, Usage
from agent_tui.core.stream import LlmContext, StreamEvent, StreamOptions
from agent_tui.session.session import Session
from agent_tui.testing import ScriptedModel, call, calls, end, text
from benchmarks.engine import add, deltas
from benchmarks.report import Report, Table, median, ratio
from benchmarks.terminal import folder

DELTAS = 20_000
_MODEL = Model(
    id="m", provider="bench", api="bench", context_window=100_000_000, max_output_tokens=1000
)


async def through(agent: Agent, place: Path | None) -> None:
    """One prompt, through a session unless there is no place for its file."""
    if place is None:
        agent.subscribe(lambda event, signal: None)
        await agent.prompt("go")
        return
    session = Session.open(agent, place, mode="full-auto")
    session.subscribe(lambda event, signal: session.context_tokens and None)
    try:
        await session.prompt("go")
    finally:
        session.close()
        await asyncio.get_running_loop().shutdown_default_executor()
        place.unlink()


async def streamed(place: Path | None) -> float:
    """CPU microseconds of a delta."""

    def stream_fn(
        model: Model, context: LlmContext, options: StreamOptions
    ) -> AsyncIterator[StreamEvent]:
        return deltas(DELTAS)

    agent = Agent(_MODEL, stream_fn=stream_fn)
    began = time.process_time()
    await through(agent, place)
    return (time.process_time() - began) / DELTAS * 1e6


async def steps(count: int, place: Path | None) -> list[float]:
    """CPU milliseconds of a step in each eighth of a run of `count` steps with one call each."""
    answer = [
        [calls(call("add", {"a": step, "b": 1})), end(usage=Usage(input=50 + 50 * step, output=20))]
        for step in range(count)
    ]
    agent = Agent(_MODEL, tools=[add], stream_fn=ScriptedModel([*answer, text("done")]))
    marks = [time.process_time()]
    seen = 0

    def watch(event: object, signal: object) -> None:
        nonlocal seen
        if getattr(event, "type", "") == "turn_end":
            seen += 1
            if seen % (count // 8) == 0 and len(marks) < 9:
                marks.append(time.process_time())

    agent.subscribe(watch)
    await through(agent, place)
    return [(after - before) / (count / 8) * 1e3 for before, after in pairwise(marks)]


def per_delta(place: Path, repeats: int) -> Table:
    without, with_session = [], []
    for _ in range(repeats):
        without.append(asyncio.run(streamed(None)))
        with_session.append(asyncio.run(streamed(place)))
    base, ours = median(without), median(with_session)
    row = (f"{DELTAS:,} deltas", f"{base:.2f}", f"{ours:.2f}", f"{ours - base:.2f}")
    head = ("", "agent µs", "session µs", "added µs")
    return Table(f"A session: CPU of a streamed delta (median of {repeats})", head, [row])


def per_step(count: int, place: Path, repeats: int) -> Table:
    rows = []
    for name, where in (("agent", None), ("session", place)):
        runs = [asyncio.run(steps(count, where)) for _ in range(repeats)]
        parts = [median(values) for values in zip(*runs, strict=True)]
        cells = [f"{parts[n]:.2f}" for n in (0, 3, 7)]
        rows.append((name, *cells, ratio(parts[-1], parts[0])))
    head = ("", "1st eighth", "4th", "8th", "8th ÷ 1st")
    title = f"A session: CPU ms of a step in one run of {count} steps (median of {repeats})"
    return Table(title, head, rows)


def measure(quick: bool) -> Report:
    repeats = 3 if quick else 7
    with folder() as home:
        place = home / "s.jsonl"
        asyncio.run(steps(40, place))  # loads what a first turn needs
        return Report([per_delta(place, repeats), per_step(400, place, repeats)])
