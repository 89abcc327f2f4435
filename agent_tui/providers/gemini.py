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
from agent_tui.providers.signatures import with_signature
from agent_tui.providers.sse import SseDecoder
from agent_tui.providers.stream import MessageBuilder
from agent_tui.providers.wire import Wire, respond

_ENDINGS: Mapping[str, Literal["stop", "length"]] = {"STOP": "stop", "MAX_TOKENS": "length"}
_POLICY_ENDINGS = ("SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII")
_BAD_CALLS = ("MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS")


def stream(model: Model, context: LlmContext, options: StreamOptions) -> AsyncIterator[StreamEvent]:
    """Ask a Gemini model; a `StreamFn`."""
    return respond(_WIRE, model, context, options)


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
        for payload in payloads:
            # Without `alt=sse`, as behind some proxies, the whole answer is one list of chunks.
            for item in payload if isinstance(payload, list) else [payload]:
                if isinstance(item, dict):
                    self._take(item)
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
        if isinstance(counts := payload.get("usageMetadata"), dict):
            self._counts |= {name: count for name, count in counts.items() if count is not None}
            self.builder.message.usage = usage_of(self._counts) or self.builder.message.usage
        message = self.builder.message
        if message.response_id is None and isinstance(payload.get("responseId"), str):
            message.response_id = payload["responseId"]
        candidates = payload.get("candidates")
        candidate = candidates[0] if isinstance(candidates, list) and candidates else None
        if isinstance(candidate, dict):
            self._take_candidate(candidate)
        elif isinstance(feedback := payload.get("promptFeedback"), dict):
            self._block_reason = str(feedback.get("blockReason") or "")
            self._said = str(feedback.get("blockReasonMessage") or "")

    def _take_candidate(self, candidate: dict[str, Any]) -> None:
        content = candidate.get("content")
        parts = content.get("parts") if isinstance(content, dict) else None
        for part in parts if isinstance(parts, list) else ():
            if isinstance(part, dict):
                self._take_part(part)
        if (reason := candidate.get("finishReason")) and isinstance(reason, str):
            self._reason = reason
            self._said = str(candidate.get("finishMessage") or "")

    def _take_part(self, part: dict[str, Any]) -> None:
        signature = part.get("thoughtSignature")
        data = signature if isinstance(signature, str) and signature else None
        if isinstance(call := part.get("functionCall"), dict):
            add_whole_call(
                self.builder, call.get("id"), call.get("name"), call.get("args"), _fresh_id
            ).thought_signature = data
            return
        text = part.get("text")
        text = text if isinstance(text, str) else ""
        if data is not None:
            block, start = self.builder.piece("thinking" if part.get("thought") else "text", text)
            block.signature = with_signature(block.signature, start, start + len(text), data)
        elif part.get("thought"):
            self.builder.thinking(text)
        else:
            self.builder.text(text)

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
    if _number(raw, "promptTokenCount") is None and _number(raw, "totalTokenCount") is None:
        return None
    prompt = _number(raw, "promptTokenCount") or 0
    cached = min(_number(raw, "cachedContentTokenCount") or 0, prompt)
    thoughts = _number(raw, "thoughtsTokenCount") or 0
    usage = Usage(
        input=prompt - cached + (_number(raw, "toolUsePromptTokenCount") or 0),
        output=(_number(raw, "candidatesTokenCount") or 0) + thoughts,
        cache_read=cached,
        reasoning=thoughts,
    )
    usage.total = _number(raw, "totalTokenCount") or usage.prompt_tokens + usage.output
    return usage


def _number(raw: Mapping[str, Any], name: str) -> int | None:
    value: Any = raw.get(name)
    is_number = isinstance(value, int | float) and not isinstance(value, bool) and value >= 0
    return int(value) if is_number else None


def _fresh_id() -> str:
    return MADE_ID + secrets.token_hex(12)


def _authorize(key: str) -> dict[str, str]:
    return {"x-goog-api-key": key}


_WIRE = Wire(build=build, parser=Parser, decoder=SseDecoder, authorize=_authorize, swaps={})
