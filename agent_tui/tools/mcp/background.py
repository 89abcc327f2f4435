"""A thread with an event loop of its own: what servers do there does not hold up the screen."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from contextlib import suppress
from typing import Any, TypeVar

T = TypeVar("T")


class Background:
    """An event loop in a daemon thread, begun at the first use."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    def submit(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        """Run `work` there; cancelling the future cancels it."""
        return asyncio.run_coroutine_threadsafe(work, self._running())

    async def ask(self, work: Coroutine[Any, Any, T]) -> T:
        """Run `work` there and wait for it; being cancelled cancels it."""
        return await asyncio.wrap_future(self.submit(work))

    def close(self, seconds: float) -> bool:
        """Cancel everything, wait so long for its end; True if it has ended."""
        loop, thread = self._loop, self._thread
        if loop is None or thread is None:
            return True
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(_cancel_all, loop)
        thread.join(seconds)
        return not thread.is_alive()

    def _running(self) -> asyncio.AbstractEventLoop:
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            self._thread = threading.Thread(target=self._run, name=self._name, daemon=True)
            self._thread.start()
        return self._loop

    def _run(self) -> None:
        loop = self._loop
        assert loop is not None
        asyncio.set_event_loop(loop)
        try:
            loop.run_forever()
        finally:
            with suppress(RuntimeError):
                loop.run_until_complete(loop.shutdown_asyncgens())
            loop.close()


def _cancel_all(loop: asyncio.AbstractEventLoop) -> None:
    tasks = asyncio.all_tasks(loop)

    async def end() -> None:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        loop.stop()

    ending = loop.create_task(end())
    ending.add_done_callback(lambda task: task.cancelled() or task.exception())
