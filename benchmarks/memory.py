"""A long transcript in the whole program: memory, the cost of a frame, and what reading adds.

Each length runs in a process of its own, without a terminal. The baseline is the empty chat; for
frames it is that with 100 messages.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
from collections.abc import Iterator

import psutil

from agent_tui import Agent, AssistantMessage, TextBlock, ToolCall, ToolResultMessage, UserMessage
from agent_tui.core.messages import AgentMessage
from agent_tui.session.session import Session
from agent_tui.testing import ScriptedModel
from agent_tui.tui import ChatApp
from agent_tui.tui.blocks import AssistantBlock
from benchmarks.report import Report, Table, Target, median, ratio
from benchmarks.terminal import ROOT
from benchmarks.texts import FRAME, mixed

COUNTS = (0, 100, 10_000)
FRAMES = 300
WARM_FRAMES = 50
"""Those in which things are loaded and the screen is filled."""
PAGES = 300


def messages(count: int) -> Iterator[AgentMessage]:
    """Questions, answers with a tool call, and results, in turn."""
    answer = mixed(500)
    output = "\x1b[32mline\x1b[0m of output\n" * 20
    for number in range(count):
        id = f"c{number // 3}"
        match number % 3:
            case 0:
                yield UserMessage(content=f"Question {number}: what does this do, and why?")
            case 1:
                call = ToolCall(id=id, name="bash", arguments={"command": f"make part-{number}"})
                yield AssistantMessage(content=[TextBlock(text=f"{number}: {answer}"), call])
            case _:
                text = TextBlock(text=f"{number}\n{output}")
                yield ToolResultMessage(tool_call_id=id, tool_name="bash", content=[text])


def memory_mb() -> float:
    return float(psutil.Process().memory_info().rss / 2**20)


async def painted(app: ChatApp) -> None:
    done = asyncio.Event()
    app.screen.call_after_refresh(done.set)
    await done.wait()


async def run(count: int) -> dict[str, float]:
    """What the chat takes that is opened with so many messages."""
    before = memory_mb()
    history = list(messages(count))
    held = memory_mb()
    agent = Agent("bench/memory", stream_fn=ScriptedModel([]), messages=history)
    app = ChatApp(Session.open(agent))
    began = time.process_time()
    async with app.run_test(size=(120, 40)):
        await painted(app)
        found = {
            "messages": held - before,
            "load": time.process_time() - began,
            "memory": memory_mb(),
            "frame": await stream(app) * 1000,
        }
        streamed = memory_mb()
        found["page"] = await read_back(app) * 1000
        return found | {"read": memory_mb() - streamed}


async def stream(app: ChatApp) -> float:
    """CPU seconds of a frame while an answer streams at the end: 140 bytes and the repaint."""
    block = AssistantBlock()
    app.transcript.append(block)
    text = mixed(FRAME * FRAMES)
    costs = []
    for start in range(0, len(text), FRAME):
        began = time.process_time()
        block.append(text[start : start + FRAME])
        app.transcript.changed(block)
        await painted(app)
        costs.append(time.process_time() - began)
    return sum(costs[WARM_FRAMES:]) / len(costs[WARM_FRAMES:])


async def read_back(app: ChatApp) -> float:
    """CPU seconds of a page while somebody pages up from the end, `PAGES` at most."""
    costs: list[float] = []
    while len(costs) < PAGES and app.transcript.scroll_y > 0:
        began = time.process_time()
        app.transcript.scroll_page_up(animate=False)
        await painted(app)
        costs.append(time.process_time() - began)
    return sum(costs) / len(costs)


def apart(count: int) -> dict[str, float]:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.memory", str(count)],
        stdout=subprocess.PIPE,
        cwd=ROOT,
        check=True,
    )
    found: dict[str, float] = json.loads(done.stdout)
    return found


def measure(quick: bool) -> Report:
    repeats = 3 if quick else 5
    runs: dict[int, list[dict[str, float]]] = {count: [] for count in COUNTS}
    for _ in range(repeats):  # in turns, so that they share the weather
        for count in COUNTS:
            runs[count].append(apart(count))
    middle = {
        count: {name: median([run[name] for run in found]) for name in found[0]}
        for count, found in runs.items()
    }
    rows = [
        (
            f"{count:,} messages",
            f"{found['memory']:.1f}",
            ratio(found["memory"], middle[0]["memory"]),
            f"{found['messages']:.1f}",
            f"{found['load']:.2f}",
            f"{found['frame']:.2f}",
            ratio(found["frame"], middle[100]["frame"]),
            f"{found['page']:.1f}",
            f"{found['read']:.1f}",
        )
        for count, found in middle.items()
    ]
    head = (
        "",
        "memory MB",
        "÷ empty",
        "messages MB",
        "open CPU s",
        "frame CPU ms",
        "÷ 100",
        "page CPU ms",
        "paging MB",
    )
    growth = middle[10_000]["frame"] / middle[100]["frame"]
    title = f"A long transcript (median of {repeats})"
    target = Target("transcript frame, 10,000 ÷ 100 messages", growth, 1.3)
    return Report([Table(title, head, rows)], [target])


if __name__ == "__main__":
    print(json.dumps(asyncio.run(run(int(sys.argv[1])))))
