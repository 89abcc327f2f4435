"""What the loop itself costs: per streamed delta, per turn with a tool call, and how both grow.

The baseline of the delta figure is the same stream consumed by a bare `async for`.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from itertools import pairwise

from agent_tui import Agent, AssistantMessage, Model, TextBlock, tool
from agent_tui.core.stream import (
    LlmContext,
    StreamDone,
    StreamEvent,
    StreamOptions,
    StreamStart,
    TextDelta,
    TextStart,
)
from agent_tui.testing import ScriptedModel, call, calls, text
from benchmarks.report import Report, Table, median, ratio

DELTA = "four"


def deltas(count: int) -> AsyncIterator[StreamEvent]:
    async def stream() -> AsyncIterator[StreamEvent]:
        block = TextBlock()
        message = AssistantMessage(content=[block])
        yield StreamStart(message)
        yield TextStart(0, message)
        for _ in range(count):
            block.append(DELTA)
            yield TextDelta(0, DELTA, message)
        yield StreamDone("stop", message)

    return stream()


async def bare(count: int) -> float:
    began = time.process_time()
    async for _ in deltas(count):
        pass
    return time.process_time() - began


async def through_agent(count: int) -> float:
    def stream_fn(
        model: Model, context: LlmContext, options: StreamOptions
    ) -> AsyncIterator[StreamEvent]:
        return deltas(count)

    agent = Agent("bench/deltas", stream_fn=stream_fn)
    agent.subscribe(lambda event, signal: None)
    began = time.process_time()
    await agent.prompt("go")
    return time.process_time() - began


@tool
async def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


async def turns(count: int) -> list[float]:
    """CPU seconds of each quarter of a run of `count` turns with one tool call each."""
    script = [calls(call("add", {"a": turn, "b": 1})) for turn in range(count)]
    agent = Agent("bench/turns", tools=[add], stream_fn=ScriptedModel([*script, text("done")]))
    marks = [time.process_time()]
    seen = 0

    def watch(event: object, signal: object) -> None:
        nonlocal seen
        if getattr(event, "type", "") == "turn_end":
            seen += 1
            if seen % (count // 4) == 0 and len(marks) < 5:
                marks.append(time.process_time())

    agent.subscribe(watch)
    await agent.prompt("go")
    return [after - before for before, after in pairwise(marks)]


def per_delta(repeats: int) -> Table:
    rows = []
    for count in (5_000, 20_000, 60_000):
        base = median([asyncio.run(bare(count)) for _ in range(repeats)]) / count * 1e6
        ours = median([asyncio.run(through_agent(count)) for _ in range(repeats)]) / count * 1e6
        added = f"{ours - base:.2f}"
        rows.append((f"{count:,} deltas", f"{base:.2f}", f"{ours:.2f}", added, ratio(ours, base)))
    head = ("", "bare µs", "agent µs", "added µs", "ratio")
    return Table(f"The loop: CPU of a streamed delta (median of {repeats})", head, rows)


def per_turn(count: int, repeats: int) -> Table:
    runs = [asyncio.run(turns(count)) for _ in range(repeats)]
    quarters = [median(values) / (count / 4) * 1e3 for values in zip(*runs, strict=True)]
    cells = [f"{value:.2f}" for value in quarters]
    head = ("", "1st quarter", "2nd", "3rd", "4th", "4th ÷ 1st")
    row = (f"{count} turns", *cells, ratio(quarters[-1], quarters[0]))
    return Table("The loop: CPU ms of a turn with one tool call", head, [row])


def measure(quick: bool) -> Report:
    repeats = 3 if quick else 7
    asyncio.run(turns(40))  # loads what a first turn needs
    return Report([per_delta(repeats), per_turn(400, repeats)])
