"""Google's Gemini: `streamGenerateContent`, answered as server-sent events.

Each event is a whole response of which the parts are new and the counts are running totals. Calls
always come whole, and the finish reason of an answer with calls is a plain `STOP`. A thought
signature may sit on any part and is kept with that part, for the next request.
"""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator, Iterable, Mapping
from typing import Any, Literal

from agent_tui.core.errors import (
    BAD_TOOL_CALL,
    ContentPolicyError,
    NetworkError,
    ProviderError,
)
from agent_tui.core.model import Model
from agent_tui.core.stream import LlmContext, StreamEvent, StreamOptions
from agent_tui.core.text import printable
from agent_tui.core.usage import Usage
from agent_tui.providers.calls import add_whole_call
from agent_tui.providers.errors import stream_error
from agent_tui.providers.gemini_request import MADE_ID, build
from agent_tui.providers.loose import items, mapping, number, text
from agent_tui.providers.signatures import with_signature
from agent_tui.providers.sse import SseDecoder
from agent_tui.providers.stream import MessageBuilder
from agent_tui.providers.wire import Wire, respond

_ENDINGS: Mapping[str, Literal["stop", "length"]] = {"STOP": "stop", "MAX_TOKENS": "length"}
_POLICY_ENDINGS = ("SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII")
_BAD_CALLS = ("MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS")


def stream(model: Model, context: LlmContext, options: StreamOptions) -> AsyncIterator[StreamEvent]:
    """Ask a Gemini model; a `StreamFn`."""
    return respond(WIRE, model, context, options)


class Parser:
    """The chunks of one response → events."""

    def __init__(self, model: Model) -> None:
        self.builder = MessageBuilder(model)
        self._model = model
        self._reason = ""
        self._said = ""
        self._block_reason = ""
        self._counts: dict[str, Any] = {}

    @property
    def is_complete(self) -> bool:
        """Whether a finish reason has come, or the prompt was blocked."""
        return bool(self._reason or self._block_reason)

    @property
    def has_usage(self) -> bool:
        """Whether token counts have come; later ones replace them."""
        return usage_of(self._counts) is not None

    def feed(self, payloads: Iterable[Any]) -> list[StreamEvent]:
        """The events of these chunks. Raises `ProviderError` for a chunk that reports one."""
        try:
            for payload in payloads:
                # Without `alt=sse`, as behind some proxies, the whole answer is a list of chunks.
                for item in (payload,) if isinstance(payload, dict) else items(payload):
                    if isinstance(item, dict):
                        self._take(item)
        finally:
            # Every chunk has counts; only the last ones of a read are worth converting.
            self.builder.message.usage = usage_of(self._counts) or self.builder.message.usage
        return self.builder.take()

    def finish(self) -> list[StreamEvent]:
        """The last events. Raises `AgentError` if the answer is no complete one."""
        message = self.builder.message
        message.usage = usage_of(self._counts) or Usage(incomplete=True)
        if self._reason and self._reason not in _ENDINGS:
            message.raw_stop_reason = printable(self._reason)
        self.builder.done(self._ending(has_content=bool(message.content)))
        return self.builder.take()

    def _take(self, payload: dict[str, Any]) -> None:
        if payload.get("error"):
            raise stream_error(payload, self._model)
        message = self.builder.message
        if counts := mapping(payload.get("usageMetadata")):
            if None in counts.values():
                counts = {name: count for name, count in counts.items() if count is not None}
            self._counts.update(counts)
        message.response_id = message.response_id or text(payload.get("responseId")) or None
        if candidate := mapping(next(iter(items(payload.get("candidates"))), None)):
            self._take_candidate(candidate)
        elif feedback := mapping(payload.get("promptFeedback")):
            self._block_reason = text(feedback.get("blockReason"))
            self._said = text(feedback.get("blockReasonMessage"))

    def _take_candidate(self, candidate: Mapping[str, Any]) -> None:
        for part in items(mapping(candidate.get("content")).get("parts")):
            self._take_part(mapping(part))
        if reason := text(candidate.get("finishReason")):
            self._reason = reason
            self._said = text(candidate.get("finishMessage"))

    def _take_part(self, part: Mapping[str, Any]) -> None:
        data = text(part.get("thoughtSignature")) or None
        if isinstance(call := part.get("functionCall"), dict):
            add_whole_call(
                self.builder, call.get("id"), call.get("name"), call.get("args"), _fresh_id
            ).thought_signature = data
            return
        words = text(part.get("text"))
        if data is not None:
            block, start = self.builder.piece("thinking" if part.get("thought") else "text", words)
            block.signature = with_signature(block.signature, start, start + len(words), data)
        elif part.get("thought"):
            self.builder.thinking(words)
        else:
            self.builder.text(words)

    def _ending(self, *, has_content: bool) -> Literal["stop", "length"]:
        reason, who = self._reason, self._model.provider or self._model.id
        words = f": {printable(self._said).strip()}" if self._said.strip() else ""
        if reason in _ENDINGS:
            return _ENDINGS[reason]
        if self._block_reason and not reason:
            shown = printable(self._block_reason)
            raise ContentPolicyError(f"{who}: the prompt was blocked ({shown}){words}")
        if reason in _POLICY_ENDINGS or reason.startswith("IMAGE_"):
            raise ContentPolicyError(f"{who}: a filter stopped the answer ({reason}){words}")
        if reason in _BAD_CALLS:
            raise ProviderError(
                f"{who}: the model made a tool call that the server could not read "
                f"({reason}){words}",
                code=BAD_TOOL_CALL,
                retryable=True,
            )
        if not reason:
            what = "broke off before it was complete" if has_content else "is empty"
            raise NetworkError(f"the answer from {who} {what}", code="stream_incomplete")
        if not has_content:
            shown = printable(reason)
            raise ProviderError(f"{who}: the server ended an empty answer with {shown!r}{words}")
        return "stop"


def usage_of(raw: Mapping[str, Any]) -> Usage | None:
    """Token counts in disjoint classes; None if the server reports nothing.

    `promptTokenCount` holds the cached ones, `candidatesTokenCount` not the thoughts. A count that
    is zero may be left out.
    """
    if number(raw.get("promptTokenCount")) is None and number(raw.get("totalTokenCount")) is None:
        return None
    prompt = number(raw.get("promptTokenCount")) or 0
    cached = min(number(raw.get("cachedContentTokenCount")) or 0, prompt)
    thoughts = number(raw.get("thoughtsTokenCount")) or 0
    usage = Usage(
        input=prompt - cached + (number(raw.get("toolUsePromptTokenCount")) or 0),
        output=(number(raw.get("candidatesTokenCount")) or 0) + thoughts,
        cache_read=cached,
        reasoning=thoughts,
    )
    usage.total = number(raw.get("totalTokenCount")) or usage.prompt_tokens + usage.output
    return usage


def _fresh_id() -> str:
    return MADE_ID + secrets.token_hex(12)


def authorize(key: str) -> dict[str, str]:
    """The header that carries a key."""
    return {"x-goog-api-key": key}


WIRE = Wire(build=build, parser=Parser, decoder=SseDecoder, authorize=authorize, swaps={})
