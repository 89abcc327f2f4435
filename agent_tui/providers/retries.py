"""Trying again, for programs that use a stream function without a session.

The session retries by its own rules and shows it; adapters never wait.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Awaitable, Callable

from agent_tui.core.abort import AbortSignal
from agent_tui.core.errors import BAD_TOOL_CALL, AgentError, error_to_info
from agent_tui.core.messages import AssistantMessage
from agent_tui.core.model import Model
from agent_tui.core.stream import (
    LlmContext,
    StreamError,
    StreamEvent,
    StreamFn,
    StreamOptions,
    StreamStart,
)

BASE_SECONDS = 2.0
LONGEST_SECONDS = 60.0


def with_retries(
    stream_fn: StreamFn,
    *,
    max_retries: int = 3,
    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    jitter: Callable[[], float] = lambda: random.uniform(0.75, 1.25),
) -> StreamFn:
    """`stream_fn`, asked again after a retryable failure that came before any content.

    Waits 2, 4, 8 … seconds times `jitter()`, at most 60; what the server asks for is used exactly,
    and more than 60 seconds ends it at once. The signal ends a wait at once.
    """

    async def stream(
        model: Model, context: LlmContext, options: StreamOptions
    ) -> AsyncIterator[StreamEvent]:
        for attempt in range(max_retries + 1):
            tried = _Attempt(stream_fn(model, context, options), model)
            try:
                async for event in tried.events():
                    yield event
            finally:
                await tried.close()
            failure = tried.failure
            if failure is None:
                return
            delay = _delay(failure, attempt, jitter)
            if delay is None or attempt == max_retries or (attempt and _is_bad_call(failure)):
                yield failure
                return
            await _unless_aborted(sleep(delay), options.signal)
            if options.signal.aborted:
                failure.message.stop_reason, failure.message.error = "aborted", None
                yield StreamError("aborted", failure.message)
                return

    return stream


class _Attempt:
    """One call of a stream function; an ending without content is kept as `failure`."""

    def __init__(self, source: AsyncIterator[StreamEvent], model: Model) -> None:
        self.failure: StreamError | None = None
        self._source = source
        self._model = model

    async def events(self) -> AsyncIterator[StreamEvent]:
        """The events; `start` waits for content, so that a failed attempt leaves no trace."""
        start: StreamStart | None = None
        has_content = False
        try:
            async for event in self._source:
                if isinstance(event, StreamStart):
                    start = event
                elif isinstance(event, StreamError) and not has_content:
                    self.failure = event
                    return
                else:
                    has_content = True
                    if start is not None:
                        yield start
                        start = None
                    yield event
        except AgentError as error:
            if has_content:
                raise
            self.failure = _failed(self._model, error)

    async def close(self) -> None:
        """Let the stream function clean up."""
        if (close := getattr(self._source, "aclose", None)) is not None:
            await close()


def _failed(model: Model, error: AgentError) -> StreamError:
    message = AssistantMessage(
        api=model.api,
        provider=model.provider,
        model=model.id,
        stop_reason="error",
        error=error_to_info(error),
    )
    message.usage.incomplete = True
    return StreamError("error", message)


def _is_bad_call(failure: StreamError) -> bool:
    """Whether one further try is all that it is worth."""
    error = failure.message.error
    return error is not None and error.code == BAD_TOOL_CALL


def _delay(failure: StreamError, attempt: int, jitter: Callable[[], float]) -> float | None:
    """Seconds until the next try, None if there is to be none."""
    error = failure.message.error
    if error is None or not error.retryable:
        return None
    if error.retry_after is None:
        return float(min(LONGEST_SECONDS, BASE_SECONDS * 2**attempt * jitter()))
    if error.retry_after <= LONGEST_SECONDS:
        return error.retry_after
    error.message += f" (the server asks to wait {error.retry_after:.0f} s)"
    return None


async def _unless_aborted(waiting: Awaitable[object], signal: AbortSignal) -> None:
    sleeping = asyncio.ensure_future(waiting)
    aborted = asyncio.ensure_future(signal.wait())
    try:
        await asyncio.wait({sleeping, aborted}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        sleeping.cancel()
        aborted.cancel()
