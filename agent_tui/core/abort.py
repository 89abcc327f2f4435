"""A flag that is set once, can be polled from any thread and awaited on any loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable


class AbortSignal:
    """Set once, never unset. Tools and stream functions read it; only the engine sets it."""

    __slots__ = ("_callbacks", "aborted", "reason")

    def __init__(self) -> None:
        self.aborted = False
        """True from the moment the run should end."""
        self.reason: str | None = None
        """What the caller of `abort()` said, if anything."""
        self._callbacks: list[Callable[[], object]] = []

    def set(self, reason: str | None = None) -> None:
        """Raise the flag and wake every waiter; the second call changes nothing."""
        if self.aborted:
            return
        self.aborted = True
        self.reason = reason
        callbacks, self._callbacks = self._callbacks, []
        for callback in callbacks:
            callback()

    def on_set(self, callback: Callable[[], object]) -> Callable[[], None]:
        """Call `callback` when the flag is raised (at once if it is); returns how to unregister."""
        if self.aborted:
            callback()
            return lambda: None
        self._callbacks.append(callback)

        def forget() -> None:
            if callback in self._callbacks:
                self._callbacks.remove(callback)

        return forget

    async def wait(self) -> None:
        """Return once the flag is raised."""
        if self.aborted:
            return
        loop = asyncio.get_running_loop()
        raised: asyncio.Future[None] = loop.create_future()

        def settle() -> None:
            if not raised.done():
                raised.set_result(None)

        # `set` may be called from another thread than the loop's.
        forget = self.on_set(lambda: loop.call_soon_threadsafe(settle))
        try:
            await raised
        finally:
            forget()
