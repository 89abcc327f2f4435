"""Calling foreign code from the loop: hooks, converters and tools, plain or async."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable
from typing import TypeVar, cast

from agent_tui.agent.hooks import MaybeAwaitable
from agent_tui.core.abort import AbortSignal

T = TypeVar("T")


async def settled(value: MaybeAwaitable[T]) -> T:
    """The value itself, or what it resolves to."""
    if inspect.isawaitable(value):
        return await cast("Awaitable[T]", value)
    return value


def is_async(function: Callable[..., object]) -> bool:
    """Whether calling it gives an awaitable, also for objects with an async `__call__`."""
    call = getattr(function, "func", function)  # functools.partial
    return inspect.iscoroutinefunction(call) or inspect.iscoroutinefunction(
        getattr(call, "__call__", None)  # noqa: B004 - the method itself is inspected
    )


def add_listener(listeners: list[tuple[T]], listener: T) -> Callable[[], None]:
    """Append a listener; returns how to remove this one, harmless when called again."""
    entry = (listener,)
    listeners.append(entry)

    def remove() -> None:
        # By identity: the same function may have been added twice.
        listeners[:] = [other for other in listeners if other is not entry]

    return remove


async def unless_aborted(value: MaybeAwaitable[T], signal: AbortSignal) -> tuple[bool, T | None]:
    """(True, the settled value), or (False, None) once the signal is set: then it is dropped."""
    if not inspect.isawaitable(value):
        return True, value
    task = asyncio.ensure_future(cast("Awaitable[T]", value))
    aborted = asyncio.ensure_future(signal.wait())
    try:
        await asyncio.wait({task, aborted}, return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            return True, task.result()
        return False, None
    finally:
        aborted.cancel()
        if not task.done():
            task.cancel()
            task.add_done_callback(_forget)


def _forget(task: asyncio.Future[T]) -> None:
    """Mark an abandoned task's exception as seen, so that nothing is printed about it."""
    if not task.cancelled():
        task.exception()
