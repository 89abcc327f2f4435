"""What a long transcript takes: resident memory with 10,000 messages, and with none."""

from __future__ import annotations

import asyncio
import subprocess
import sys

import psutil
from textual.app import App, ComposeResult

from agent_tui.tui.blocks import AssistantBlock, Block, UserBlock
from agent_tui.tui.transcript import Transcript
from benchmarks.report import Report, Table, Target

MESSAGES = 10_000
ANSWER = "An answer with **words**, a list:\n\n- one\n- two\n\nand some more of a paragraph.\n" * 4


class Bare(App[None]):
    def compose(self) -> ComposeResult:
        yield Transcript()


def message(number: int) -> Block:
    if number % 2 == 0:
        return UserBlock(f"Question {number}: what is this?")
    answer = AssistantBlock()
    answer.append(ANSWER)
    answer.finish()
    return answer


async def resident(messages: int) -> float:
    """Megabytes after so many messages are in the transcript and the end of it is drawn."""
    app = Bare()
    async with app.run_test(size=(120, 40)) as pilot:
        app.query_one(Transcript).append(*map(message, range(messages)))
        await pilot.pause()
        return float(psutil.Process().memory_info().rss) / 2**20


def measure(quick: bool) -> Report:
    def apart(messages: int) -> float:
        code = f"import benchmarks.memory as m, asyncio; print(asyncio.run(m.resident({messages})))"
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        )
        return float(done.stdout)

    empty, full = apart(0), apart(MESSAGES)
    source = MESSAGES // 2 * len(ANSWER) / 2**20
    table = Table(
        f"memory of a transcript of {MESSAGES:,} messages ({source:.1f} MB of text)",
        ("", "MB", "ratio"),
        (
            ("empty", f"{empty:.1f}", "1"),
            (f"{MESSAGES:,} messages", f"{full:.1f}", f"{full / empty:.2f}"),
        ),
    )
    return Report([table], [Target("memory with 10,000 messages", full, 90, "MB")])


if __name__ == "__main__":
    print(asyncio.run(resident(MESSAGES)))
