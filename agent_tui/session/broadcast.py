"""One order for events that come from two sides: awaited by the engine, and out of plain calls.

A listener never sees an event before every listener has finished with the one before it.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field

from agent_tui.core.abort import AbortSignal
from agent_tui.session.events import AnyEvent

Listener = Callable[[AnyEvent, AbortSignal], object]

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class _Delivery:
    event: AnyEvent
    signal: AbortSignal
    listeners: Iterator[Listener]
    done: asyncio.Future[None] | None = field(default=None)


class Broadcast:
    """Delivers events to listeners in subscription order; one that raises is logged and passed."""

    def __init__(self) -> None:
        self._listeners: list[Listener] = []
        self._waiting: deque[_Delivery] = deque()
        self._is_delivering = False
        self._rest: asyncio.Task[None] | None = None

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Add a listener; returns how to remove it, which may be repeated."""
        self._listeners.append(listener)

        def unsubscribe() -> None:
            if listener in self._listeners:
                self._listeners.remove(listener)

        return unsubscribe

    async def send(self, event: AnyEvent, signal: AbortSignal) -> None:
        """Deliver `event` and return when every listener has finished with it."""
        delivery = self._enqueue(event, signal)
        if self._is_delivering:
            delivery.done = asyncio.get_running_loop().create_future()
            await delivery.done
            return
        self._is_delivering = True
        await self._deliver(self._advance())

    def post(self, event: AnyEvent, signal: AbortSignal) -> None:
        """Deliver `event` now, or right after the one that is being delivered.

        What async listeners still have to do with it is awaited by a task.
        """
        self._enqueue(event, signal)
        if self._is_delivering:
            return
        self._is_delivering = True
        pending = self._advance()
        if pending is None:
            self._is_delivering = False
        else:
            self._rest = asyncio.get_running_loop().create_task(self._deliver(pending))

    def close(self) -> None:
        """Forget every listener."""
        self._listeners.clear()

    def _enqueue(self, event: AnyEvent, signal: AbortSignal) -> _Delivery:
        delivery = _Delivery(event, signal, iter(tuple(self._listeners)))
        self._waiting.append(delivery)
        return delivery

    async def _deliver(self, pending: Awaitable[object] | None) -> None:
        try:
            while pending is not None:
                try:
                    await pending
                except Exception:  # a listener is foreign code
                    _log.exception("a session listener failed")
                pending = self._advance()
        finally:
            self._is_delivering = False
            for delivery in self._waiting:  # only after a cancellation: nobody waits for ever
                _finish(delivery)

    def _advance(self) -> Awaitable[object] | None:
        """Call listeners until one returns something to await; None when all is delivered."""
        while self._waiting:
            delivery = self._waiting[0]
            for listener in delivery.listeners:
                try:
                    answer = listener(delivery.event, delivery.signal)
                except Exception:  # a listener is foreign code
                    _log.exception("a session listener failed")
                    continue
                if inspect.isawaitable(answer):
                    return answer
            self._waiting.popleft()
            _finish(delivery)
        return None


def _finish(delivery: _Delivery) -> None:
    if delivery.done is not None and not delivery.done.done():
        delivery.done.set_result(None)
