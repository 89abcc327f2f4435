from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import Any

from agent_tui.core.abort import AbortSignal
from agent_tui.core.tool import Tool, ToolContext, ToolResult
from agent_tui.tools.slots import Slots
from tests.tools.calls import run, until


async def test_two_file_tools_run_and_the_others_wait() -> None:
    inside: list[int] = []
    release = threading.Event()

    def work(args: dict[str, Any], signal: AbortSignal) -> ToolResult:
        inside.append(args["number"])
        release.wait(10)
        return ToolResult("done")

    tool = Tool("work", "", {}, Slots().run(work))
    calls = [asyncio.create_task(run(tool, number=number)) for number in range(5)]
    await until(lambda: len(inside) == 2)
    running = len(inside)
    release.set()
    results = await asyncio.gather(*calls)

    assert running == 2
    assert [result.text for result in results] == ["done"] * 5


async def test_waiting_for_a_slot_ends_with_the_call() -> None:
    release = threading.Event()

    def work(args: dict[str, Any], signal: AbortSignal) -> ToolResult:
        release.wait(10)
        return ToolResult("done")

    tool = Tool("work", "", {}, Slots(1).run(work))
    first = asyncio.create_task(run(tool))
    ctx = ToolContext()
    second = asyncio.create_task(run(tool, ctx))
    ctx.signal.set()
    refused = await second
    release.set()

    assert refused.is_error
    assert refused.text.startswith("Aborted")
    assert (await first).text == "done"


async def test_writers_of_one_file_take_turns_and_of_two_do_not() -> None:
    slots, signal = Slots(), AbortSignal()
    order: list[str] = []

    def write(name: str, told: threading.Event, awaited: threading.Event) -> None:
        with slots.writing(Path(name), signal):
            order.append(f"{name} begins")
            told.set()
            awaited.wait(10)
            order.append(f"{name} ends")

    first_in, second_in, other_in = (threading.Event() for _ in range(3))
    first = asyncio.create_task(asyncio.to_thread(write, "a", first_in, other_in))
    await until(first_in.is_set)
    second = asyncio.create_task(asyncio.to_thread(write, "a", second_in, second_in))
    other = asyncio.create_task(asyncio.to_thread(write, "b", other_in, other_in))
    await asyncio.gather(first, second, other)

    assert order.index("a ends") < len(order) - 1 - order[::-1].index("a begins")
    assert order.index("b begins") < order.index("a ends")


async def test_an_error_of_the_system_is_told_with_its_file() -> None:
    def work(args: dict[str, Any], signal: AbortSignal) -> ToolResult:
        raise PermissionError(13, "Permission denied", "/etc/shadow")

    result = await run(Tool("work", "", {}, Slots().run(work)))

    assert result.is_error
    assert result.text == "/etc/shadow: Permission denied."
