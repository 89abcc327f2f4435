"""A buffered view of an agent's events, for consumers that must not slow the stream down."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from typing import Protocol

from agent_tui.core.abort import AbortSignal
from agent_tui.core.events import AgentEvent, MessageUpdateEvent, ToolExecutionUpdateEvent
from agent_tui.core.stream import TextDelta, ThinkingDelta, ToolCallDelta

_Delta = TextDelta | ThinkingDelta | ToolCallDelta


class _Subscribable(Protocol):
    def subscribe(
        self, listener: Callable[[AgentEvent, AbortSignal], None], /
    ) -> Callable[[], None]: ...


class EventView(AsyncIterator[AgentEvent]):
    """Subscribes when made, ends when closed.

    While nobody reads, consecutive deltas of one block become one, and consecutive updates of one
    tool call the newest one. Nothing else is joined or dropped.
    """

    def __init__(self, agent: _Subscribable) -> None:
        self._buffer: deque[AgentEvent] = deque()
        self._waiter: asyncio.Future[None] | None = None
        self._closed = False
        self._unsubscribe = agent.subscribe(self._take)

    def __aiter__(self) -> EventView:
        return self

    async def __anext__(self) -> AgentEvent:
        while not self._buffer:
            if self._closed:
                raise StopAsyncIteration
            self._waiter = asyncio.get_running_loop().create_future()
            await self._waiter
        return self._buffer.popleft()

    async def aclose(self) -> None:
        """Unsubscribe; what is buffered can still be read."""
        self._closed = True
        self._unsubscribe()
        self._wake()

    async def __aenter__(self) -> EventView:
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        await self.aclose()

    def _take(self, event: AgentEvent, signal: AbortSignal) -> None:
        joined = _joined(self._buffer[-1], event) if self._buffer else None
        if joined is None:
            self._buffer.append(event)
        else:
            self._buffer[-1] = joined
        self._wake()

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)


def _joined(last: AgentEvent, event: AgentEvent) -> AgentEvent | None:
    """One event that says what both say, None if there is none."""
    if isinstance(last, ToolExecutionUpdateEvent) and isinstance(event, ToolExecutionUpdateEvent):
        return event if last.tool_call_id == event.tool_call_id else None
    if not isinstance(last, MessageUpdateEvent) or not isinstance(event, MessageUpdateEvent):
        return None
    old, new = last.assistant_message_event, event.assistant_message_event
    if (
        not isinstance(old, _Delta)
        or not isinstance(new, _Delta)
        or type(old) is not type(new)
        or old.content_index != new.content_index
        or last.message.id != event.message.id
    ):
        return None
    both = replace(new, delta=old.delta + new.delta)
    return MessageUpdateEvent(event.message, both)
