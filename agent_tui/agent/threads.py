"""Running a blocking function without blocking the loop, and without keeping the process alive.

The default executor's threads are joined at exit: one tool that never returns would then keep the
program from ending. These threads are daemons.
"""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


async def in_daemon_thread(function: Callable[[], T]) -> T:
    """What `function` returns or raises; cancelling the wait does not stop the thread."""
    loop = asyncio.get_running_loop()
    outcome: asyncio.Future[T] = loop.create_future()
    context = contextvars.copy_context()

    def settle(value: T | None, error: BaseException | None) -> None:
        if outcome.done():
            return
        if error is not None:
            outcome.set_exception(error)
        else:
            outcome.set_result(value)  # type: ignore[arg-type]

    def work() -> None:
        value: T | None = None
        error: BaseException | None = None
        try:
            value = context.run(function)
        except StopIteration as stopped:  # a future refuses to carry it
            error = RuntimeError(f"StopIteration: {stopped}")
        except BaseException as raised:  # foreign code; it is re-raised where it is awaited
            error = raised
        if not loop.is_closed():
            loop.call_soon_threadsafe(settle, value, error)

    threading.Thread(target=work, name="tool", daemon=True).start()
    return await outcome
