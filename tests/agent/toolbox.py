"""Tools that behave in one known way."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from agent_tui import Tool, ToolContext, ToolResult

ANYTHING: dict[str, Any] = {"type": "object"}
"""The schema of a tool that does not care."""


def echo(name: str = "echo", **options: Any) -> Tool:
    """Answers with its argument `a`, at once."""

    async def execute(call_id: str, args: dict[str, Any], ctx: ToolContext) -> str:
        return str(args.get("a", "ok"))

    return Tool(name, "Says it again.", ANYTHING, execute, **options)


def acting(name: str, act: Callable[[], object], answer: str = "ok") -> Tool:
    """Does something, then answers."""

    async def execute(call_id: str, args: dict[str, Any], ctx: ToolContext) -> str:
        act()
        return answer

    return Tool(name, "Does it.", ANYTHING, execute)


def answering(name: str, answer: ToolResult | str | None) -> Tool:
    """Always gives the same answer."""

    async def execute(
        call_id: str, args: dict[str, Any], ctx: ToolContext
    ) -> ToolResult | str | None:
        return answer

    return Tool(name, "Knows it.", ANYTHING, execute)


def waiting(
    name: str, gate: asyncio.Event, *, started: asyncio.Event | None = None, **options: Any
) -> Tool:
    """Answers when the gate opens; when it is aborted before, says so."""

    async def execute(call_id: str, args: dict[str, Any], ctx: ToolContext) -> str:
        if started is not None:
            started.set()
        return "opened" if await first_of(gate.wait(), ctx.signal.wait()) == 0 else "stopped"

    return Tool(name, "Waits.", ANYTHING, execute, **options)


def raising(name: str, error: BaseException, *, after: asyncio.Event | None = None) -> Tool:
    """Raises, at once or after something happened."""

    async def execute(call_id: str, args: dict[str, Any], ctx: ToolContext) -> str:
        if after is not None:
            await after.wait()
        raise error

    return Tool(name, "Fails.", ANYTHING, execute)


def deaf(name: str, *, reports: str | None = None) -> Tool:
    """Waits for ever and does not look at its signal, but can be cancelled."""

    async def execute(call_id: str, args: dict[str, Any], ctx: ToolContext) -> str:
        if reports is not None:
            ctx.on_update(reports)
        await asyncio.Event().wait()
        return "never"

    return Tool(name, "Does not listen.", ANYTHING, execute)


def recording(name: str, log: list[dict[str, Any]], schema: dict[str, Any] | None = None) -> Tool:
    """Writes down the arguments it was executed with."""

    async def execute(call_id: str, args: dict[str, Any], ctx: ToolContext) -> str:
        log.append(args)
        return "ok"

    return Tool(name, "Writes down.", ANYTHING if schema is None else schema, execute)


def schema(**properties: Any) -> dict[str, Any]:
    """A strict schema of an object in which every property is required."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


async def first_of(*waits: Awaitable[object]) -> int:
    """The place of the first to finish; the others are cancelled."""
    tasks = [asyncio.ensure_future(wait) for wait in waits]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        return next(place for place, task in enumerate(tasks) if task.done())
    finally:
        for task in tasks:
            task.cancel()
