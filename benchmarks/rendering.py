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

SENTENCE = (
    "the agent reads each file then edits a function so that **tests** pass while keeping the"
    " `public_interface()` stable because callers depend on it"
)
WORDS = SENTENCE.split()
CODE = """\
```python
def fetch(url: str) -> bytes:
    # The body at `url`.
    return get(url)
```"""
FRAME = 140


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


def prose(rng: random.Random, count: int) -> str:
    return " ".join(rng.choice(WORDS) for _ in range(count))


def mixed(size: int) -> str:
    """Text as models write it."""
    rng = random.Random(1)
    parts: list[str] = []
    while sum(map(len, parts)) < size:
        match rng.randrange(6):
            case 0:
                parts.append("## " + prose(rng, 5))
            case 1:
                parts.append("\n".join("- " + prose(rng, 10) for _ in range(5)))
            case 2:
                rows = "\n".join(f"| {n} | {prose(rng, 4)} |" for n in range(6))
                parts.append(f"| a | b |\n|--:|---|\n{rows}")
            case 3:
                parts.append(CODE)
            case _:
                parts.append(prose(rng, 40))
    return "\n\n".join(parts)[:size]


def code(size: int) -> str:
    """One block of code."""
    lines = CODE.split("\n")[1:-1]
    return "```python\n" + "\n".join(lines * (size // 80 + 1))[: size - 10]


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


async def main() -> None:
    await frames(mixed(3_000) + "\n\n" + CODE, [])
    small, large = await burst(20_000), await burst(240_000)
    print(f"burst   20 KB in five pieces        {small * 1000:6.0f} ms")
    print(f"burst   240 KB in five pieces       {large * 1000:6.0f} ms", end="   ")
    print(f"per byte ÷ that of 20 KB {large / small / 12:.2f}")
    short = mean_ms(await frames(mixed(10_000), []))
    long = await frames(mixed(200_000), [])
    quarter = len(long) // 4
    print(f"stream  frame of a 10 KB answer     {short:6.2f} ms")
    print(f"stream  frame of a 200 KB answer    {mean_ms(long):6.2f} ms", end="   ")
    print(f"last ÷ first quarter {mean_ms(long[-quarter:]) / mean_ms(long[:quarter]):.2f}")
    block = await frames(code(60_000), [])
    print(f"stream  frame of one block of code  {mean_ms(block):6.2f} ms", end="   ")
    print(f"last ÷ first half {mean_ms(block[-200:]) / mean_ms(block[:200]):.2f}")
    few = mean_ms(await frames(mixed(14_000), list(history(100))))
    many = mean_ms(await frames(mixed(14_000), list(history(10_000))))
    print(f"history frame below 100 messages    {few:6.2f} ms")
    print(f"history frame below 10,000 messages {many:6.2f} ms   ratio {many / few:.2f}")


if __name__ == "__main__":
    asyncio.run(main())
