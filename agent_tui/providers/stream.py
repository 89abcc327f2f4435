"""Building one assistant message while it arrives, for every wire.

A `MessageBuilder` owns the message and queues stream events; `take()` hands them out. Deltas that
arrive between two `take()`s become one event per block: a network read with two hundred tokens
costs its listeners one event. Text and thinking blocks take turns, tool calls may stay open side by
side.
"""

from __future__ import annotations

from typing import Literal

from agent_tui.core.errors import AgentError, ErrorInfo, error_to_info
from agent_tui.core.messages import AssistantMessage, TextBlock, ThinkingBlock, ToolCall
from agent_tui.core.model import Model
from agent_tui.core.stream import (
    StreamDone,
    StreamError,
    StreamEvent,
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

_START = {"text": TextStart, "thinking": ThinkingStart}
_DELTA = {"text": TextDelta, "thinking": ThinkingDelta}
_END = {"text": TextEnd, "thinking": ThinkingEnd}


class MessageBuilder:
    """One `AssistantMessage` that grows, and the stream events that tell of it."""

    def __init__(self, model: Model) -> None:
        self.message = AssistantMessage(api=model.api, provider=model.provider, model=model.id)
        """The one object that every event carries; wires may set its ids and usage directly."""
        self._events: list[StreamEvent] = []
        self._kind: Literal["text", "thinking"] | None = None
        self._index = 0
        self._pieces: list[str] = []
        self._held = ("", "")
        self._arguments: dict[int, list[str]] = {}

    @property
    def open_block(self) -> int | None:
        """Content index of the text or thinking block that is open, None if none is."""
        return None if self._kind is None else self._index

    def start(self) -> None:
        """Say that the response has begun."""
        self._events.append(StreamStart(self.message))

    def text(self, delta: str) -> None:
        """Add to the answer. White space alone opens no block: it waits for a visible character."""
        if self._kind == "text":
            self._pieces.append(delta)
        else:
            self._open("text", delta)

    def thinking(self, delta: str, signature: str | None = None) -> None:
        """Add to the thoughts; `signature` goes to the block that this opens."""
        if self._kind == "thinking":
            self._pieces.append(delta)
        elif self._open("thinking", delta) and signature is not None:
            self.sign_thinking(signature)

    def piece(
        self, kind: Literal["text", "thinking"], delta: str
    ) -> tuple[TextBlock | ThinkingBlock, int]:
        """Add a piece that must be found again: the block it is in, and where it begins there.

        Even white space or nothing at all opens a block for it.
        """
        if self._kind == kind:
            self._pieces.append(delta)
        else:
            self._open(kind, delta, even_blank=True)
        self._flush_block()
        block = self.message.content[self._index]
        assert not isinstance(block, ToolCall)
        text = block.text if isinstance(block, TextBlock) else block.thinking
        return block, len(text) - len(delta)

    def sign_thinking(self, signature: str) -> None:
        """Attach opaque data to the newest thinking block; without one, an empty one carries it."""
        for block in reversed(self.message.content):
            if isinstance(block, ThinkingBlock):
                block.signature = signature
                return
        self.close_block()
        index = self._add(ThinkingBlock(signature=signature))
        self._events += [ThinkingStart(index, self.message), ThinkingEnd(index, self.message)]

    def seal_thinking(self, signature: str | None, *, redacted: bool = False) -> None:
        """End the open thinking block with opaque data; without one, an empty block carries it."""
        if self._kind != "thinking":
            self._open("thinking", "", even_blank=True)
        block = self.message.content[self._index]
        assert isinstance(block, ThinkingBlock)
        block.signature, block.redacted = signature, redacted
        self.close_block()

    def open_call(self, call_id: str = "", name: str = "") -> int:
        """Begin a tool call and give its content index; name and id may be set until it closes."""
        self.close_block()
        index = self._add(ToolCall(id=call_id, name=name))
        self._arguments[index] = []
        self._events.append(ToolCallStart(index, self.message))
        return index

    def call(self, index: int) -> ToolCall:
        """The call at a content index."""
        call = self.message.content[index]
        assert isinstance(call, ToolCall)
        return call

    def arguments(self, index: int, delta: str) -> None:
        """Add to a call's argument text, which the engine joins and parses."""
        self._arguments[index].append(delta)

    def close_call(self, index: int) -> None:
        """The call is complete. Arguments that came as an object go to `call(index)` before."""
        self._flush_call(index, self._arguments.pop(index))
        self._events.append(ToolCallEnd(index, self.message))

    def close_block(self) -> None:
        """End the open text or thinking block, if there is one."""
        self._held = ("", "")
        if self._kind is None:
            return
        self._flush_block()
        self._events.append(_END[self._kind](self._index, self.message))
        self._kind = None

    def done(self, reason: Literal["stop", "length", "tool_use"]) -> None:
        """The response ended properly; whether there are calls decides `stop` or `tool_use`."""
        self.close_block()
        for index in list(self._arguments):
            self.close_call(index)
        if reason != "length":
            reason = "tool_use" if self.message.tool_calls else "stop"
        self.message.stop_reason = reason
        self._events.append(StreamDone(reason, self.message))

    def fail(self, error: AgentError | ErrorInfo) -> None:
        """The response failed. What arrived stays; calls that are still open never end."""
        info = error_to_info(error) if isinstance(error, AgentError) else error
        self._break_off("error", info)

    def abort(self) -> None:
        """The person stopped the response. What arrived stays; open calls never end."""
        self._break_off("aborted", None)

    def take(self) -> list[StreamEvent]:
        """The events since the last `take()`, in order."""
        if self._pieces:
            self._flush_block()
        for index, pieces in self._arguments.items():
            if pieces:
                self._flush_call(index, pieces)
        events, self._events = self._events, []
        return events

    def _break_off(self, reason: Literal["error", "aborted"], info: ErrorInfo | None) -> None:
        self.close_block()
        for index, pieces in self._arguments.items():
            self._flush_call(index, pieces)
        self._arguments.clear()
        self.message.stop_reason = reason
        self.message.error = info
        self.message.usage.incomplete = True
        self._events.append(StreamError(reason, self.message))

    def _open(
        self, kind: Literal["text", "thinking"], delta: str, *, even_blank: bool = False
    ) -> bool:
        held_kind, held = self._held
        delta = held + delta if held_kind == kind else delta
        if not even_blank and (not delta or delta.isspace()):
            self._held = (kind, delta)
            return False
        self.close_block()
        self._index = self._add(TextBlock() if kind == "text" else ThinkingBlock())
        self._kind = kind
        self._pieces = [delta]
        self._events.append(_START[kind](self._index, self.message))
        return True

    def _add(self, block: TextBlock | ThinkingBlock | ToolCall) -> int:
        self.message.content.append(block)
        return len(self.message.content) - 1

    def _flush_block(self) -> None:
        delta = "".join(self._pieces)
        self._pieces.clear()
        if delta and self._kind is not None:
            block = self.message.content[self._index]
            block.append(delta)
            self._events.append(_DELTA[self._kind](self._index, delta, self.message))

    def _flush_call(self, index: int, pieces: list[str]) -> None:
        delta = "".join(pieces)
        pieces.clear()
        if delta:
            self._events.append(ToolCallDelta(index, delta, self.message))
