"""Servers for tests: small programs, connected without an agent."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from agent_tui.core.tool import ToolContext, ToolResult
from agent_tui.tools.mcp import Background, Endpoint, Program, Server, Target

CASES = Path(__file__).parents[2] / "cases" / "mcp"
ODD = Path(__file__).with_name("odd_server.py")
PATIENCE_SECONDS = 15.0


def case(name: str) -> tuple[str, ...]:
    """The command of a server of the cases."""
    return (sys.executable, str(CASES / f"{name}.server.txt"))


def odd(mode: str = "plain", *more: str) -> tuple[str, ...]:
    """The command of the server that misbehaves in this way."""
    return (sys.executable, str(ODD), mode, *more)


async def until(claim: Callable[[], object]) -> None:
    """Wait for something to become true."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not claim():
        assert time.monotonic() < deadline, "it did not happen"
        await asyncio.sleep(0.01)


@asynccontextmanager
async def connected(
    place: Program | Endpoint | tuple[str, ...], *, settled: bool = True, **options: Any
) -> AsyncIterator[Server]:
    """A server named `s`, settled, and ended afterwards with all that it started."""
    background = Background("test mcp")
    if isinstance(place, tuple):
        place = Program(place, Path.cwd(), dict(os.environ))
    values: dict[str, Any] = {"start_seconds": 10.0, "call_seconds": 10.0, **options}
    server = Server(Target("s", place, Path.cwd(), **values), background, lambda: None)
    server.start()
    try:
        if settled:
            await asyncio.wait_for(server.settled(), PATIENCE_SECONDS)
        yield server
    finally:
        assert background.close(PATIENCE_SECONDS)


async def call(
    server: Server, name: str, ctx: ToolContext | None = None, **args: Any
) -> ToolResult:
    """Call the tool with this name for the model."""
    tool = next(tool for tool, _ in server.tools(()) if tool.name == f"mcp__s__{name}")
    assert tool.execute is not None
    result = await tool.execute("1", args, ctx or ToolContext())  # type: ignore[misc]
    assert isinstance(result, ToolResult)
    return result


def names(server: Server) -> list[str]:
    """The names of its tools for the model."""
    return [tool.name.removeprefix("mcp__s__") for tool, _ in server.tools(())]
