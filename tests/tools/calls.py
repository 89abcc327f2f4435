"""Calling a tool without an agent, and watching what it does."""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil

from agent_tui.core.tool import Tool, ToolContext, ToolResult
from agent_tui.tools import builtin_tools


class Updates(list[ToolResult]):
    """What a tool showed while it ran."""

    @property
    def texts(self) -> list[str]:
        return [update.text for update in self]

    def context(self) -> ToolContext:
        return ToolContext(on_update=lambda partial: self.append(as_result(partial)))


def as_result(answer: ToolResult | str | None) -> ToolResult:
    return answer if isinstance(answer, ToolResult) else ToolResult(answer)


def named(name: str, cwd: Path) -> Tool:
    return next(tool for tool in builtin_tools(cwd, output_dir=cwd / "saved") if tool.name == name)


async def run(tool: Tool, ctx: ToolContext | None = None, **args: Any) -> ToolResult:
    """The result of one call; plain functions run in a thread, as the loop runs them."""
    assert tool.execute is not None
    ctx = ctx or ToolContext()
    if inspect.iscoroutinefunction(tool.execute):
        return as_result(await tool.execute("c1", args, ctx))
    answer = await asyncio.to_thread(tool.execute, "c1", args, ctx)
    assert not inspect.isawaitable(answer)
    return as_result(answer)


async def until(condition: Callable[[], object], seconds: float = 10) -> None:
    """Return once the condition holds; fails after `seconds`."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it never happened"
        await asyncio.sleep(0.01)


def running(words: str) -> list[psutil.Process]:
    """Live processes whose command line contains `words`."""
    return [process for process in psutil.process_iter() if words in _command_line(process)]


def _command_line(process: psutil.Process) -> str:
    try:
        if process.status() == psutil.STATUS_ZOMBIE:
            return ""
        return " ".join(process.cmdline())
    except psutil.Error:
        return ""
