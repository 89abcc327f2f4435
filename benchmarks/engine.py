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


def main() -> None:
    print("engine: cost per delta (µs CPU)")
    for count in (5_000, 20_000, 60_000):
        base, ours = asyncio.run(bare(count)), asyncio.run(through_agent(count))
        per_delta = (ours - base) / count * 1e6
        print(
            f"  {count:6} deltas  bare {base / count * 1e6:5.2f}  agent {ours / count * 1e6:5.2f}"
            f"  overhead {per_delta:5.2f}  ratio {ours / base:4.1f}"
        )
    count = 400
    quarters = asyncio.run(turns(count))
    per_turn = [seconds / (count / 4) * 1e3 for seconds in quarters]
    print(
        "engine: cost per turn with one tool call (ms CPU), by quarter: "
        + " ".join(f"{value:.2f}" for value in per_turn)
        + f"  last/first {per_turn[-1] / per_turn[0]:.2f}"
    )


if __name__ == "__main__":
    main()
