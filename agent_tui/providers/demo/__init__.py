"""`demo/tour`: an offline demonstration that plays a script with the person's real tools.

It is honest: it says that it is no language model, its tokens are counted from the length of the
real texts (four characters a token), and it costs nothing. The same context always gives the same
words; only the pace takes time, and `compat = {"pace": 0}` removes that.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Iterator, Sequence

from agent_tui.core.abort import AbortSignal
from agent_tui.core.errors import ErrorInfo
from agent_tui.core.ids import now_ms
from agent_tui.core.messages import AssistantMessage, TextBlock, ThinkingBlock, ToolCall
from agent_tui.core.model import Model
from agent_tui.core.stream import (
    LlmContext,
    StreamEvent,
    StreamOptions,
    TextDelta,
    ThinkingDelta,
    ToolCallDelta,
    ToolCallStart,
)
from agent_tui.core.usage import Usage
from agent_tui.providers.demo.parts import BRISK, Fail, Part, Rest, Say, Think, Use
from agent_tui.providers.demo.script import reply_to
from agent_tui.providers.stream import MessageBuilder

CHARACTERS_PER_TOKEN = 4
_PIECE = re.compile(r"\s*\S+\s?|\s+")


async def stream(
    model: Model, context: LlmContext, options: StreamOptions
) -> AsyncIterator[StreamEvent]:
    """Play the answer to `context` at a readable pace; ends at once when the signal is set.

    `model.compat["pace"]` multiplies every wait (default 1).
    """
    pace = float(model.compat.get("pace", 1.0))
    builder = MessageBuilder(model)
    meter = _Meter(builder.message, _length_of(context))
    builder.start()
    for seconds in _play(builder, reply_to(context), _call_prefix(context)):
        for event in builder.take():
            meter.add(event)
            yield event
        if builder.message.stop_reason == "error":
            return
        if await _aborted_within(seconds * pace, options.signal):
            builder.abort()
            break
    else:
        builder.done("stop")
        _sign_end(builder.message)
    for event in builder.take():
        yield event


def _play(builder: MessageBuilder, parts: Sequence[Part], call_prefix: str) -> Iterator[float]:
    """Put the parts into the message piece by piece; yields the seconds to wait after each."""
    yield 0.0
    for place, part in enumerate(parts):
        match part:
            case Say():
                for piece in _PIECE.findall(part.text):
                    builder.text(piece)
                    yield 1 / part.words_per_second
            case Think():
                for piece in _PIECE.findall(part.text):
                    builder.thinking(piece)
                    yield 1 / part.words_per_second
            case Rest():
                yield part.seconds
            case Use():
                yield from _play_call(builder, part, f"{call_prefix}-{place}")
            case Fail():
                builder.fail(ErrorInfo(code=part.code, message=part.message))
                yield 0.0


def _play_call(builder: MessageBuilder, use: Use, call_id: str) -> Iterator[float]:
    index = builder.open_call(call_id, use.tool)
    builder.call(index).thought_signature = f"{use.scene}:{use.state}"
    for piece in _PIECE.findall(json.dumps(dict(use.args), ensure_ascii=False)):
        builder.arguments(index, piece)
        yield 1 / BRISK
    builder.close_call(index)


async def _aborted_within(seconds: float, signal: AbortSignal) -> bool:
    if seconds <= 0:
        await asyncio.sleep(0)
        return signal.aborted
    try:
        async with asyncio.timeout(seconds):
            await signal.wait()
    except TimeoutError:
        return False
    return True


def _sign_end(message: AssistantMessage) -> None:
    """Note when the answer ended, so that the next request shows what was typed before that."""
    last = message.content[-1] if message.content else None
    if isinstance(last, TextBlock):
        last.signature = str(now_ms())


def _call_prefix(context: LlmContext) -> str:
    """Ids of an answer's calls begin with this: no two requests end in the same message."""
    last = context.messages[-1].id if context.messages else "first"
    return f"demo-{len(context.messages)}-{last[:40]}"


class _Meter:
    """Keeps the message's usage true to what was really sent and said so far."""

    def __init__(self, message: AssistantMessage, sent: int) -> None:
        self._message = message
        self._sent = sent
        self._said = 0
        self._thought = 0
        self._update()

    def add(self, event: StreamEvent) -> None:
        """Count what one event adds."""
        match event:
            case TextDelta() | ToolCallDelta():
                self._said += len(event.delta)
            case ThinkingDelta():
                self._thought += len(event.delta)
            case ToolCallStart():
                self._said += len(self._message.tool_calls[-1].name)
        self._update()

    def _update(self) -> None:
        usage = Usage(
            input=_tokens(self._sent),
            output=_tokens(self._said + self._thought),
            reasoning=_tokens(self._thought),
            cost_usd=0.0,
        )
        usage.total = usage.input + usage.output
        self._message.usage = usage


def _tokens(characters: int) -> int:
    return -(-characters // CHARACTERS_PER_TOKEN)


def _length_of(context: LlmContext) -> int:
    """Characters of everything that a real provider would be sent."""
    schemas = (json.dumps(tool.parameters) + tool.name + tool.description for tool in context.tools)
    messages = (
        _length_of_answer(message) if isinstance(message, AssistantMessage) else len(message.text)
        for message in context.messages
    )
    return len(context.system_prompt or "") + sum(map(len, schemas)) + sum(messages)


def _length_of_answer(message: AssistantMessage) -> int:
    return sum(map(_length_of_block, message.content))


def _length_of_block(block: TextBlock | ThinkingBlock | ToolCall) -> int:
    match block:
        case TextBlock():
            return len(block.text)
        case ThinkingBlock():
            return len(block.thinking)
    return len(block.name) + len(json.dumps(block.arguments, ensure_ascii=False))
