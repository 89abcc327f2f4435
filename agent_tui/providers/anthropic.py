"""Anthropic's Messages API, and every server that speaks it.

A message arrives block by block, each block under an index of its own. The signature of a thinking
block, the data of a redacted one, and blocks of kinds that we do not know are kept as they came:
they go back in the next request, at the same place.
"""

from __future__ import annotations

import json
import os
from collections.abc import AsyncIterator, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from agent_tui.core.errors import ContentPolicyError, NetworkError, ProviderError
from agent_tui.core.model import Model
from agent_tui.core.stream import LlmContext, StreamEvent, StreamOptions
from agent_tui.core.text import printable
from agent_tui.core.usage import Usage
from agent_tui.providers.anthropic_request import build
from agent_tui.providers.calls import fresh_call_id
from agent_tui.providers.errors import stream_error
from agent_tui.providers.keys import BEARER_NAME
from agent_tui.providers.loose import items, mapping, number, text, unpacked
from agent_tui.providers.sse import SseDecoder
from agent_tui.providers.stream import MessageBuilder
from agent_tui.providers.wire import Wire, respond

_ENDINGS: Mapping[str, Literal["stop", "length"]] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_use": "stop",
    "pause_turn": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
}
_POLICY_ENDINGS = ("refusal", "sensitive")
_PLAIN_ENDINGS = ("end_turn", "tool_use", "max_tokens")


def stream(model: Model, context: LlmContext, options: StreamOptions) -> AsyncIterator[StreamEvent]:
    """Ask `model` over the Messages API; a `StreamFn`."""
    return respond(WIRE, model, context, options)


@dataclass(slots=True)
class _Block:
    """A content block that is open."""

    start: dict[str, Any]
    """The block as it was announced; of an unknown kind, with its pieces put in."""
    place: int = -1
    """Content index of a call."""
    signature: str = ""
    arguments: list[str] = field(default_factory=list)

    @property
    def kind(self) -> str:
        return str(self.start.get("type"))


class Parser:
    """The events of one message → events of ours."""

    def __init__(self, model: Model) -> None:
        self.builder = MessageBuilder(model)
        self._model = model
        self._blocks: dict[Any, _Block] = {}
        self._reason = ""
        self._explanation = ""
        self._has_stopped = False
        self._counts: dict[str, Any] = {}
        self._has_final_counts = False

    @property
    def is_complete(self) -> bool:
        """Whether a stop reason has come, or the end of the message."""
        return bool(self._reason) or self._has_stopped

    @property
    def has_usage(self) -> bool:
        """Whether the final token counts have come."""
        return self._has_final_counts

    def feed(self, payloads: Iterable[Any]) -> list[StreamEvent]:
        """The events of these payloads. Raises `ProviderError` for one that reports a failure."""
        for payload in payloads:
            if isinstance(payload, dict):
                self._take(payload)
        return self.builder.take()

    def finish(self) -> list[StreamEvent]:
        """The last events. Raises `AgentError` if the answer is no complete one."""
        message = self.builder.message
        message.usage = usage_of(self._counts) or Usage()
        message.usage.incomplete = not self._has_final_counts
        if self._reason and self._reason not in _PLAIN_ENDINGS:
            message.raw_stop_reason = printable(self._reason)
        ending = self._ending(has_content=bool(message.content))
        for index in list(self._blocks):
            self._close(index)
        self.builder.done(ending)
        return self.builder.take()

    def _take(self, payload: dict[str, Any]) -> None:
        match payload.get("type"):
            case "message_start":
                self._begin(mapping(payload.get("message")))
            case "content_block_start":
                self._open(payload.get("index"), mapping(payload.get("content_block")))
            case "content_block_delta":
                self._add(payload.get("index"), mapping(payload.get("delta")))
            case "content_block_stop":
                self._close(payload.get("index"))
            case "message_delta":
                self._end(mapping(payload.get("delta")), payload.get("usage"))
            case "message_stop":
                self._has_stopped = True
            case "message":
                self._read_whole(payload)
            case _ if payload.get("error") or payload.get("type") == "error":
                error = stream_error(payload, self._model)
                if isinstance(request_id := payload.get("request_id"), str):
                    error.request_id = printable(request_id)[:200]
                raise error

    def _begin(self, message: Mapping[str, Any]) -> None:
        if isinstance(message.get("id"), str):
            self.builder.message.response_id = message["id"]
        self._count(message.get("usage"))

    def _end(self, delta: Mapping[str, Any], counts: Any) -> None:
        if (reason := delta.get("stop_reason")) and isinstance(reason, str):
            self._reason = reason
        explanation = mapping(delta.get("stop_details")).get("explanation")
        if isinstance(explanation, str):
            self._explanation = printable(explanation).strip()
        if number(mapping(counts).get("output_tokens")) is not None:
            self._has_final_counts = True
        self._count(counts)

    def _read_whole(self, message: dict[str, Any]) -> None:
        """Some proxies ignore `stream` and answer with the whole message."""
        self._begin(message)
        for index, block in enumerate(items(message.get("content"))):
            self._open(index, mapping(block))
            self._close(index)
        self._end(message, message.get("usage"))
        self._has_stopped = True

    # -- blocks ------------------------------------------------------------------------------

    def _open(self, index: Any, start: Mapping[str, Any]) -> None:
        for other, block in list(self._blocks.items()):
            # Calls may be open side by side; anything else ends where the next block begins.
            if block.kind != "tool_use" or other == index:
                self._close(other)
        self._blocks[index] = block = _Block(dict(start))
        match block.kind:
            case "text":
                self.builder.text(text(start.get("text")))
            case "thinking":
                self.builder.thinking(text(start.get("thinking")))
            case "tool_use":
                block.place = self.builder.open_call(
                    self._own_id(start.get("id")), text(start.get("name")).strip()
                )

    def _own_id(self, call_id: Any) -> str:
        taken = {call.id for call in self.builder.message.tool_calls}
        is_good = isinstance(call_id, str) and call_id.strip() and call_id not in taken
        return call_id if is_good else fresh_call_id()

    def _add(self, index: Any, delta: Mapping[str, Any]) -> None:
        block = self._blocks.get(index)
        if block is None:
            # Some gateways announce no blocks: the first piece of a text or a thought does.
            kind = text(delta.get("type")).removesuffix("_delta")
            if kind not in ("text", "thinking"):
                return
            self._open(index, {"type": kind})
            block = self._blocks[index]
        match block.kind, delta.get("type"):
            case "text", "text_delta":
                self.builder.text(text(delta.get("text")))
            case "thinking", "thinking_delta":
                self.builder.thinking(text(delta.get("thinking")))
            case "thinking", "signature_delta":
                block.signature += text(delta.get("signature"))
            case _, "input_json_delta":
                self._argue(block, text(delta.get("partial_json")))
            case "text" | "thinking" | "tool_use" | "redacted_thinking", _:
                pass
            case _:
                _grow(block.start, delta)

    def _argue(self, block: _Block, piece: str) -> None:
        if piece:
            block.arguments.append(piece)
            if block.place >= 0:
                self.builder.arguments(block.place, piece)

    def _close(self, index: Any) -> None:
        block = self._blocks.pop(index, None)
        if block is None:
            return
        match block.kind:
            case "text":
                self.builder.close_block()
            case "thinking":
                self._seal(block)
            case "redacted_thinking":
                self.builder.close_block()
                self.builder.seal_thinking(text(block.start.get("data")), redacted=True)
            case "tool_use":
                self._finish_call(block)
            case _:
                if block.arguments:
                    block.start["input"] = unpacked("".join(block.arguments))
                self.builder.close_block()
                raw = json.dumps(block.start, ensure_ascii=False)
                self.builder.seal_thinking(raw, redacted=True)

    def _seal(self, block: _Block) -> None:
        """Attach the signature; servers that sign nothing send an empty one, or none at all."""
        announced = block.start.get("signature")
        signature = block.signature or (announced if isinstance(announced, str) else None)
        if signature or self.builder.open_block is not None:
            self.builder.seal_thinking(signature)

    def _finish_call(self, block: _Block) -> None:
        given = block.start.get("input")
        if not block.arguments and isinstance(given, dict):
            self.builder.call(block.place).arguments = given
        elif not block.arguments and isinstance(given, str):
            self.builder.arguments(block.place, given)
        self.builder.close_call(block.place)

    # -- counts and ending -------------------------------------------------------------------

    def _count(self, counts: Any) -> None:
        """Counts are running totals: later ones replace earlier ones, absent ones do not."""
        known = {name: n for name, n in mapping(counts).items() if n is not None}
        self._counts |= known
        if (usage := usage_of(self._counts)) is not None:
            self.builder.message.usage = usage

    def _ending(self, *, has_content: bool) -> Literal["stop", "length"]:
        reason, who = self._reason, self._model.provider or self._model.id
        if reason in _POLICY_ENDINGS:
            why = f": {self._explanation}" if self._explanation else ""
            said = "the model refused to answer" if reason == "refusal" else "a filter stopped it"
            raise ContentPolicyError(f"{who}: {said}{why}")
        if reason in _ENDINGS:
            return _ENDINGS[reason]
        is_cut = any(block.place >= 0 for block in self._blocks.values())
        if not reason and (not self._has_stopped or is_cut or not has_content):
            what = "broke off before it was complete" if has_content else "is empty"
            raise NetworkError(f"the answer from {who} {what}", code="stream_incomplete")
        if not has_content:
            raise ProviderError(
                f"{who}: the server ended an empty answer with {printable(reason)!r}"
            )
        return "stop"


def usage_of(raw: Mapping[str, Any]) -> Usage | None:
    """Token counts; None if the server reports nothing.

    `input_tokens` leaves out what was read from the cache and what was written to it;
    `output_tokens` holds the thinking.
    """
    if number(raw.get("input_tokens")) is None and number(raw.get("output_tokens")) is None:
        return None
    kept = mapping(raw.get("cache_creation"))
    short, long = (number(kept.get(f"ephemeral_{time}_input_tokens")) or 0 for time in ("5m", "1h"))
    written = number(raw.get("cache_creation_input_tokens"))
    output = number(raw.get("output_tokens")) or 0
    thinking = number(mapping(raw.get("output_tokens_details")).get("thinking_tokens")) or 0
    usage = Usage(
        input=number(raw.get("input_tokens")) or 0,
        output=output,
        cache_read=number(raw.get("cache_read_input_tokens")) or 0,
        cache_write=short + long if written is None else written,
        reasoning=min(thinking, output),
    )
    usage.cache_write_long = min(long, usage.cache_write)
    usage.total = usage.prompt_tokens + usage.output
    return usage


def _grow(block: dict[str, Any], delta: Mapping[str, Any]) -> None:
    """Put a piece into a block of a kind that we do not know: its texts grow."""
    for name, value in delta.items():
        if name != "type" and isinstance(value, str):
            block[name] = text(block.get(name)) + value


def authorize(key: str) -> dict[str, str]:
    """The header that carries a key."""
    is_token = key.startswith("sk-ant-oat") or key == os.environ.get(BEARER_NAME, "").strip()
    return {"authorization": f"Bearer {key}"} if is_token else {"x-api-key": key}


WIRE = Wire(
    build=build,
    parser=Parser,
    decoder=SseDecoder,
    authorize=authorize,
    swaps={"temperature": None, "output_config": None, "thinking": None},
    last_types=frozenset({"message_stop"}),
)
