"""One response of the model: consumed event by event, raced with the abort signal, made final.

The stream function owns the message and grows it; this module reads argument text, reports every
event, and guarantees exactly one finished message at the end, whatever the stream does.
"""

from __future__ import annotations

import asyncio
import json
import logging
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from typing import Any

from agent_tui.core.abort import AbortSignal
from agent_tui.core.errors import AgentError, ErrorInfo, ProviderError, error_to_info
from agent_tui.core.ids import new_id
from agent_tui.core.messages import AssistantMessage, ToolCall
from agent_tui.core.model import Model
from agent_tui.core.pricing import cost_of
from agent_tui.core.stream import (
    BlockEvent,
    StreamDone,
    StreamError,
    StreamEvent,
    StreamStart,
    ToolCallDelta,
    ToolCallEnd,
)

ABORT_GRACE = 1.0
"""Seconds an adapter has to end its stream after the abort signal."""
_CLOSE_LIMIT = 0.5
_log = logging.getLogger(__name__)


class Response:
    """Consumes one stream. `run()` returns the finished message; `error` is what it failed with."""

    def __init__(
        self,
        model: Model,
        signal: AbortSignal,
        on_start: Callable[[AssistantMessage], Awaitable[None]],
        on_update: Callable[[AssistantMessage, BlockEvent], Awaitable[None]],
    ) -> None:
        self._model = model
        self._signal = signal
        self._on_start = on_start
        self._on_update = on_update
        self._message: AssistantMessage | None = None
        self._argument_text: dict[int, list[str]] = {}
        self._arguments: dict[int, tuple[str, dict[str, Any], str | None]] = {}
        self._ended: set[int] = set()
        self._terminal: StreamDone | StreamError | None = None
        self._reporting = asyncio.Lock()
        self._given_up = False
        self.started = False
        """Whether `on_start` has been called."""
        self.error: AgentError | None = None
        """The exception behind a message with stop reason `error`, None otherwise."""

    async def run(self, open_stream: Callable[[], AsyncIterator[StreamEvent]]) -> AssistantMessage:
        """Consume the stream that `open_stream` gives and return the finished message."""
        stream: AsyncIterator[StreamEvent] | None = None
        raised: Exception | None = None
        try:
            stream = open_stream()
            raised = await self._consume_until_aborted(stream)
        except Exception as error:  # a stream function that is no generator may raise at the call
            raised = error
        finally:
            if stream is not None:
                await self._close(stream)
        return self._finish(raised)

    # -- consuming ---------------------------------------------------------------------------

    async def _consume_until_aborted(self, stream: AsyncIterator[StreamEvent]) -> Exception | None:
        """What the stream raised, None if it ended or had to be given up."""
        task = asyncio.create_task(self._consume(stream), name="response")
        aborted = asyncio.create_task(self._signal.wait(), name="abort-watch")
        try:
            await asyncio.wait({task, aborted}, return_when=asyncio.FIRST_COMPLETED)
            if not task.done():
                await asyncio.wait({task}, timeout=ABORT_GRACE)
            if not task.done():
                await self._give_up(task)
        finally:
            aborted.cancel()
            if not task.done():
                task.cancel()
                task.add_done_callback(_forget)
        if not task.done() or self._given_up:
            return None
        if task.cancelled():
            return ProviderError("the stream was cancelled")
        error = task.exception()
        if error is not None and not isinstance(error, Exception):
            raise error
        return error

    async def _consume(self, stream: AsyncIterator[StreamEvent]) -> None:
        async for event in stream:
            async with self._reporting:
                if self._given_up or await self._take(event):
                    return

    async def _give_up(self, task: asyncio.Task[None]) -> None:
        # While the lock is held no listener is running: only the stream function is cancelled.
        async with self._reporting:
            self._given_up = self._terminal is None
            task.cancel()
        await asyncio.wait({task}, timeout=_CLOSE_LIMIT)

    async def _take(self, event: StreamEvent) -> bool:
        """Handle one event; True after the terminal one."""
        if isinstance(event, StreamDone | StreamError):
            self._terminal = event
            return True
        if self._message is None:
            self._message = event.partial or AssistantMessage()
            self.started = True
            await self._on_start(self._message)
        if isinstance(event, StreamStart):
            return False
        if event.content_index in self._ended:
            _log.warning("ignored %s for a block that has ended", event.type)
            return False
        if isinstance(event, ToolCallDelta):
            self._argument_text.setdefault(event.content_index, []).append(event.delta)
            if (call := self._call(event.content_index)) is not None:
                call.append(event.delta)
        elif event.type.endswith("_end"):
            self._ended.add(event.content_index)
            if isinstance(event, ToolCallEnd):
                self._read_arguments(event.content_index)
        await self._on_update(self._message, event)
        return False

    async def _close(self, stream: AsyncIterator[StreamEvent]) -> None:
        close = getattr(stream, "aclose", None)
        if close is None:
            return
        # A generator that hangs in its clean-up, or is still running, must not hold the run.
        closing = asyncio.ensure_future(close())
        closing.add_done_callback(_forget)
        await asyncio.wait({closing}, timeout=_CLOSE_LIMIT)

    # -- arguments ---------------------------------------------------------------------------

    def _call(self, index: int) -> ToolCall | None:
        content = self._message.content if self._message else []
        block = content[index] if 0 <= index < len(content) else None
        return block if isinstance(block, ToolCall) else None

    def _read_arguments(self, index: int) -> None:
        pieces = self._argument_text.pop(index, None)
        if pieces is None:
            return
        text = "".join(pieces)
        self._arguments[index] = (text, *parse_arguments(text))
        self._fill_arguments(index)

    def _fill_arguments(self, index: int) -> None:
        if (call := self._call(index)) is not None:
            text, call.arguments, call.arguments_error = self._arguments[index]
            call.raw_arguments = None if call.arguments_error is None else text

    def _cut_open_calls(self) -> None:
        for index in list(self._argument_text):
            call = self._call(index)
            if call is not None:
                call.raw_arguments = "".join(self._argument_text[index])
                call.arguments_error = "the call was cut off before it was complete"

    # -- finishing ---------------------------------------------------------------------------

    def _finish(self, raised: Exception | None) -> AssistantMessage:
        terminal = self._terminal
        message = terminal.message if terminal is not None else self._message
        message = message or AssistantMessage()
        if self._message is not None and message is not self._message:
            message.id = self._message.id
        self._message = message
        for index in self._arguments:
            self._fill_arguments(index)
        if isinstance(terminal, StreamDone):
            for index in list(self._argument_text):
                self._read_arguments(index)
            message.stop_reason = terminal.reason
            message.error = None
        else:
            self._cut_open_calls()
            self._fail(message, terminal, raised)
        self._fill(message)
        return message

    def _fail(
        self, message: AssistantMessage, terminal: StreamError | None, raised: Exception | None
    ) -> None:
        message.usage.incomplete = True
        if self._signal.aborted or (terminal is not None and terminal.reason == "aborted"):
            message.stop_reason = "aborted"
            message.error = None
            return
        message.stop_reason = "error"
        if raised is not None:
            self.error = (
                raised
                if isinstance(raised, AgentError)
                else ProviderError(str(raised) or type(raised).__name__, cause=raised)
            )
            message.error = error_to_info(self.error)
        elif terminal is None:
            message.error = ErrorInfo(
                code="stream_incomplete",
                message="The answer ended before it was complete.",
                retryable=True,
            )
        elif message.error is None:
            message.error = ErrorInfo(code="provider", message="The provider reported an error.")

    def _fill(self, message: AssistantMessage) -> None:
        message.api = message.api or self._model.api
        message.provider = message.provider or self._model.provider
        message.model = message.model or self._model.id
        usage = message.usage
        counted = usage.input + usage.output + usage.cache_read + usage.cache_write
        usage.total = usage.total or counted
        if usage.cost_usd is None and usage.total:
            usage.cost_usd = cost_of(usage, self._model.cost)


def failed_message(model: Model, error: AgentError | None) -> AssistantMessage:
    """An empty answer for a turn without a request: `error`, or None for an abort."""
    return AssistantMessage(
        api=model.api,
        provider=model.provider,
        model=model.id,
        stop_reason="aborted" if error is None else "error",
        error=None if error is None else error_to_info(error),
    )


def give_fresh_ids(message: AssistantMessage, used: set[str]) -> None:
    """Replace missing call ids and those the transcript already has; adds all ids to `used`."""
    for call in message.tool_calls:
        if not call.id or call.id in used:
            call.id = f"call_{new_id()}"
        used.add(call.id)


MAX_DEPTH = 100
"""Levels of nesting in arguments; much deeper ones could be neither checked nor stored."""
_TOO_DEEP = f"the JSON is nested deeper than {MAX_DEPTH} levels"
_BAD_ESCAPE = re.compile(r'\\(?:(["\\/bfnrt]|u[0-9a-fA-F]{4})|)')


def parse_arguments(text: str) -> tuple[dict[str, Any], str | None]:
    """The object that argument text stands for, and what is wrong with the text if anything.

    Empty text and `null` mean no arguments. Raw control characters in strings and illegal backslash
    escapes are repaired; nothing else is guessed.
    """
    if text.strip() in ("", "null"):
        return {}, None
    try:
        try:
            value = json.loads(text, parse_constant=_refuse_constant)
        except ValueError as error:
            try:
                value = json.loads(
                    _BAD_ESCAPE.sub(_escaped, text), strict=False, parse_constant=_refuse_constant
                )
            except ValueError:
                return {}, _explain(text, error)
    except RecursionError:
        return {}, _TOO_DEEP
    if _is_deeper(value, MAX_DEPTH):
        return {}, _TOO_DEEP
    if not isinstance(value, dict):
        return {}, f"the arguments must be a JSON object, not {type(value).__name__}"
    return value, None


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON value")


def _is_deeper(value: Any, levels: int) -> bool:
    layer = [value]
    for _ in range(levels):
        layer = [
            child
            for item in layer
            if isinstance(item, dict | list)
            for child in (item.values() if isinstance(item, dict) else item)
        ]
        if not layer:
            return False
    return True


def _escaped(match: re.Match[str]) -> str:
    return match[0] if match[1] else "\\\\"


def _explain(text: str, error: ValueError) -> str:
    if not isinstance(error, json.JSONDecodeError):
        return str(error)
    near = text[max(0, error.pos - 20) : error.pos + 20]
    return f"{error.msg} at position {error.pos}, near {near!r}"


def _forget(task: asyncio.Future[Any]) -> None:
    """Mark an abandoned task's exception as seen, so that nothing is printed about it."""
    if not task.cancelled():
        with suppress(Exception):
            task.exception()
