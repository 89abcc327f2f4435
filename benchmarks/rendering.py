"""What the screen costs: per streamed frame, and how that grows with answer and transcript.

A frame is 140 bytes appended to the answer at the end, and the repaint that follows. CPU time of
the whole process at 120×40.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Iterator

from textual.app import App, ComposeResult

from agent_tui.tui import themes
from agent_tui.tui.blocks import AssistantBlock, Block, ToolBlock, UserBlock
from agent_tui.tui.transcript import Transcript
from benchmarks.report import Report, Table, ratio
from benchmarks.texts import CODE, FRAME, code, mixed, prose


class Stage(App[None]):
    """Nothing but a transcript."""

    def __init__(self) -> None:
        super().__init__()
        self.transcript = Transcript()

    def compose(self) -> ComposeResult:
        yield self.transcript

    def on_mount(self) -> None:
        themes.install(self, [], None)

    async def painted(self) -> None:
        done = asyncio.Event()
        self.screen.call_after_refresh(done.set)
        await done.wait()


def history(count: int) -> Iterator[Block]:
    """A transcript of messages, answers and tool panels."""
    rng = random.Random(2)
    for number in range(count // 3 + 1):
        answer = AssistantBlock()
        answer.append(mixed(500))
        tool = ToolBlock(str(number), "bash", "make")
        tool.start(0.0)
        tool.finish("ok", text="\x1b[32mline\x1b[0m of output\n" * 20, now=1.0)
        yield from (UserBlock(prose(rng, 20)), answer, tool)


async def frames(text: str, before: list[Block]) -> list[float]:
    """CPU seconds of each frame while `text` streams below `before`."""
    app = Stage()
    async with app.run_test(size=(120, 40)):
        block = AssistantBlock()
        app.transcript.append(*before, block)
        await app.painted()
        costs: list[float] = []
        for start in range(0, len(text), FRAME):
            began = time.process_time()
            block.append(text[start : start + FRAME])
            app.transcript.changed(block)
            await app.painted()
            costs.append(time.process_time() - began)
        return costs


async def burst(size: int) -> float:
    """CPU seconds for a text that arrives in a handful of pieces."""
    app = Stage()
    async with app.run_test(size=(120, 40)):
        block = AssistantBlock()
        app.transcript.append(block)
        await app.painted()
        text = mixed(size)
        began = time.process_time()
        for start in range(0, size, size // 5):
            block.append(text[start : start + size // 5])
            app.transcript.changed(block)
            await app.painted()
        return time.process_time() - began


def mean_ms(costs: list[float]) -> float:
    return sum(costs) / len(costs) * 1000


async def bursts() -> Table:
    small, large = await burst(20_000), await burst(240_000)
    short, long = small / 20_000, large / 240_000
    rows = [
        ("20 KB", f"{small * 1000:.0f}", f"{short * 1e6:.2f}", "1"),
        ("240 KB", f"{large * 1000:.0f}", f"{long * 1e6:.2f}", ratio(long, short)),
    ]
    return Table("An answer that comes in five pieces", ("", "CPU ms", "µs/byte", "ratio"), rows)


async def streams(scale: int) -> Table:
    """Frames of answers of some lengths and kinds; the longest is 200 KB ÷ `scale`."""
    short = mean_ms(await frames(mixed(10_000), []))
    long = await frames(mixed(200_000 // scale), [])
    block = await frames(code(60_000 // scale), [])
    few = mean_ms(await frames(mixed(14_000), list(history(100))))
    many = mean_ms(await frames(mixed(14_000), list(history(10_000))))
    rows = [
        ("answer of 10 KB", f"{short:.2f}", "1", ""),
        (f"answer of {200 // scale} KB", *_against(long, short)),
        (f"one block of code of {60 // scale} KB", *_against(block, short)),
        ("below 100 messages", f"{few:.2f}", ratio(few, short), ""),
        ("below 10,000 messages", f"{many:.2f}", ratio(many, short), ""),
    ]
    head = ("", "CPU ms", "÷ 10 KB", "4th ÷ 1st quarter")
    return Table(f"A frame of {FRAME} bytes, transcript alone", head, rows)


def _against(costs: list[float], short: float) -> tuple[str, str, str]:
    quarter = len(costs) // 4
    growth = ratio(mean_ms(costs[-quarter:]), mean_ms(costs[:quarter]))
    return f"{mean_ms(costs):.2f}", ratio(mean_ms(costs), short), growth


async def tables(scale: int) -> list[Table]:
    await frames(mixed(3_000) + "\n\n" + CODE, [])  # loads what markdown and colours need
    return [await bursts(), await streams(scale)]


def measure(quick: bool) -> Report:
    return Report(asyncio.run(tables(4 if quick else 1)))
