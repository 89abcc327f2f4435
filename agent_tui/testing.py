"""A model that plays a script: for tests of agents, tools and screens, with no network.

```python
model = ScriptedModel([calls(call("add", {"a": 1, "b": 2})), text("3")])
agent = Agent("test/m", tools=[add], stream_fn=model)
```
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from agent_tui.core.abort import AbortSignal
from agent_tui.core.errors import ErrorInfo, default_retryable
from agent_tui.core.messages import AssistantMessage, StopReason, TextBlock, ThinkingBlock, ToolCall
from agent_tui.core.model import Model
from agent_tui.core.stream import (
    LlmContext,
    StreamDone,
    StreamError,
    StreamEvent,
    StreamOptions,
    StreamStart,
    TextDelta,
    TextEnd,
    TextStart,
    ThinkingDelta,
    ThinkingEnd,
    ThinkingStart,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
)
from agent_tui.core.usage import Usage


@dataclass(frozen=True, slots=True)
class _Text:
    text: str
    chunk: int | None


@dataclass(frozen=True, slots=True)
class _Think:
    text: str
    chunk: int | None


@dataclass(frozen=True, slots=True)
class _Call:
    name: str
    raw: str
    id: str | None


@dataclass(frozen=True, slots=True)
class _Calls:
    calls: tuple[_Call, ...]


@dataclass(frozen=True, slots=True)
class _End:
    stop_reason: StopReason | None
    usage: Usage | None


@dataclass(frozen=True, slots=True)
class _Fail:
    error: ErrorInfo


@dataclass(frozen=True, slots=True)
class _Pause:
    seconds: float | None


Part: TypeAlias = _Text | _Think | _Calls | _End | _Fail | _Pause


def text(s: str, chunk: int | None = None) -> Part:
    """Words, in deltas of `chunk` characters (None: one delta)."""
    return _Text(s, chunk)


def think(s: str, chunk: int | None = None) -> Part:
    """Thoughts, in deltas of `chunk` characters (None: one delta)."""
    return _Think(s, chunk)


def call(name: str, args: dict[str, Any] | str | None = None, id: str | None = None) -> _Call:
    """One tool call for `calls`; a str is the raw argument text, None means no arguments."""
    return _Call(name, args if isinstance(args, str) else json.dumps(args or {}), id)


def calls(*items: _Call) -> Part:
    """Tool calls, one after another."""
    return _Calls(items)


def end(stop_reason: StopReason | None = None, usage: Usage | None = None) -> Part:
    """As the last part of a response: how it stops and what it counted."""
    return _End(stop_reason, usage)


def fail(
    code: str,
    message: str = "",
    retryable: bool | None = None,
    retry_after: float | None = None,
) -> Part:
    """End the response with an error, after the parts before it."""
    can_retry = default_retryable(code) if retryable is None else retryable
    return _Fail(
        ErrorInfo(code=code, message=message or code, retryable=can_retry, retry_after=retry_after)
    )


def pause(seconds: float) -> Part:
    """Send nothing for a while; ends at once when the run is aborted."""
    return _Pause(seconds)


def hang() -> Part:
    """Send nothing until the run is aborted."""
    return _Pause(None)


class ScriptedModel:
    """A stream function that plays one entry of its script for each request.

    An entry is one part or a list of parts. When the script is exhausted it fails with code
    `provider`. `requests` records what it was asked, `models` and `options` how.
    """

    def __init__(self, script: Sequence[Part | Sequence[Part]]) -> None:
        self._script = [list(entry) if isinstance(entry, Sequence) else [entry] for entry in script]
        self._ids = 0
        self.requests: list[LlmContext] = []
        self.models: list[Model] = []
        self.options: list[StreamOptions] = []

    def __call__(
        self, model: Model, context: LlmContext, options: StreamOptions
    ) -> AsyncIterator[StreamEvent]:
        """Answer one request."""
        place = len(self.requests)
        self.requests.append(replace(context, messages=list(context.messages)))
        self.models.append(model)
        self.options.append(options)
        exhausted: list[Part] = [fail("provider", "script exhausted")]
        parts = self._script[place] if place < len(self._script) else exhausted
        return self._play(model, parts, options.signal)

    async def _play(
        self, model: Model, parts: list[Part], signal: AbortSignal
    ) -> AsyncIterator[StreamEvent]:
        message = AssistantMessage(api=model.api, provider=model.provider, model=model.id)
        yield StreamStart(message)
        for part in parts:
            if isinstance(part, _Pause):
                await _pause(part.seconds, signal)
            elif isinstance(part, _Fail):
                message.error = part.error
                message.stop_reason = "error"
                yield StreamError("error", message)
                return
            for event in self._events(part, message):
                if signal.aborted:
                    break
                yield event
            if signal.aborted:
                message.stop_reason = "aborted"
                yield StreamError("aborted", message)
                return
        last = parts[-1] if parts else None
        ending = last if isinstance(last, _End) else _End(None, None)
        message.usage = (ending.usage or Usage()).model_copy()
        reason = ending.stop_reason or ("tool_use" if message.tool_calls else "stop")
        if reason == "error" or reason == "aborted":
            message.stop_reason = reason
            yield StreamError(reason, message)
            return
        message.stop_reason = reason
        yield StreamDone(reason, message)

    def _events(self, part: Part, message: AssistantMessage) -> Iterator[StreamEvent]:
        """The events of one part; the message grows as they are taken."""
        place = len(message.content)
        match part:
            case _Text():
                words = TextBlock()
                message.content.append(words)
                yield TextStart(place, message)
                for piece in _pieces(part.text, part.chunk):
                    words.append(piece)
                    yield TextDelta(place, piece, message)
                yield TextEnd(place, message)
            case _Think():
                thoughts = ThinkingBlock()
                message.content.append(thoughts)
                yield ThinkingStart(place, message)
                for piece in _pieces(part.text, part.chunk):
                    thoughts.append(piece)
                    yield ThinkingDelta(place, piece, message)
                yield ThinkingEnd(place, message)
            case _Calls():
                for item in part.calls:
                    yield from self._call_events(item, message)
            case _:
                pass

    def _call_events(self, item: _Call, message: AssistantMessage) -> Iterator[StreamEvent]:
        place = len(message.content)
        self._ids += 1
        call_id = f"call_{self._ids}" if item.id is None else item.id
        message.content.append(ToolCall(id=call_id, name=item.name))
        yield ToolCallStart(place, message)
        yield ToolCallDelta(place, item.raw, message)
        yield ToolCallEnd(place, message)


async def _pause(seconds: float | None, signal: AbortSignal) -> None:
    try:
        async with asyncio.timeout(seconds):
            await signal.wait()
    except TimeoutError:
        pass


def _pieces(s: str, chunk: int | None) -> list[str]:
    size = chunk or max(1, len(s))
    return [s[start : start + size] for start in range(0, len(s), size)]
