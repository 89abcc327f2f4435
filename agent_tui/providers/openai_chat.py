"""OpenAI's Chat Completions, and every server that speaks it: hosted, proxied or on this machine.

A chunk is read in a fixed order (error, counts, finish reason, thoughts, text, calls), because
proxies put several of them into one.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterable, Mapping
from typing import Any, Literal

from agent_tui.core.errors import (
    ContentPolicyError,
    ContextOverflowError,
    NetworkError,
    OverloadedError,
    ProviderError,
)
from agent_tui.core.model import Model
from agent_tui.core.stream import LlmContext, StreamEvent, StreamOptions
from agent_tui.core.text import printable
from agent_tui.core.usage import Usage
from agent_tui.providers.calls import CallAssembler, fresh_call_id, fresh_short_id
from agent_tui.providers.compat import compat_for
from agent_tui.providers.errors import stream_error
from agent_tui.providers.loose import mapping, number
from agent_tui.providers.openai_chat_request import build
from agent_tui.providers.sse import SseDecoder
from agent_tui.providers.stream import MessageBuilder
from agent_tui.providers.thinktags import ThinkTagSplitter
from agent_tui.providers.wire import Wire, respond

_THINKING_FIELDS = ("reasoning_content", "reasoning", "reasoning_text")
_ENDINGS: Mapping[str, Literal["stop", "length"]] = {
    "stop": "stop",
    "end": "stop",
    "eos": "stop",
    "tool_calls": "stop",
    "function_call": "stop",
    "length": "length",
    "max_tokens": "length",
    "model_length": "length",
}
_POLICY_ENDINGS = ("content_filter", "sensitive", "refusal")
_FAULTY_ENDINGS = ("error", "network_error", "insufficient_system_resource")
_PLAIN_ENDINGS = ("stop", "length", "tool_calls")


def stream(model: Model, context: LlmContext, options: StreamOptions) -> AsyncIterator[StreamEvent]:
    """Ask `model` over Chat Completions; a `StreamFn`."""
    return respond(WIRE, model, context, options)


class Parser:
    """The chunks of one response → events."""

    def __init__(self, model: Model) -> None:
        compat = compat_for(model)
        self.builder = MessageBuilder(model)
        self._model = model
        self._sends_finish_reason = compat.sends_finish_reason
        make_id = fresh_short_id if compat.tool_id == "mistral9" else fresh_call_id
        self._calls = CallAssembler(self.builder, make_id)
        self._tags = (
            None
            if compat.think_tags == "off"
            else ThinkTagSplitter(implied=compat.think_tags == "implied")
        )
        self._reason = ""
        self._refused = False
        self._usage: Usage | None = None
        self._details: list[dict[str, Any]] = []

    @property
    def is_complete(self) -> bool:
        """Whether a finish reason has come."""
        return bool(self._reason)

    @property
    def has_usage(self) -> bool:
        """Whether token counts have come."""
        return self._usage is not None

    def feed(self, payloads: Iterable[Any]) -> list[StreamEvent]:
        """The events of these chunks. Raises `ProviderError` for a chunk that reports one."""
        for payload in payloads:
            if isinstance(payload, dict):
                self._take(payload)
        return self.builder.take()

    def finish(self) -> list[StreamEvent]:
        """The last events. Raises `AgentError` if the answer is no complete one."""
        if self._tags is not None:
            for kind, text in self._tags.flush():
                self._write(kind, text)
        message = self.builder.message
        message.usage = self._usage or Usage(incomplete=True)
        if self._reason and self._reason not in _PLAIN_ENDINGS:
            message.raw_stop_reason = printable(self._reason)
        ending = self._ending(has_content=bool(message.content))
        if self._details:
            self.builder.sign_thinking(json.dumps(_merged(self._details), ensure_ascii=False))
        self._calls.finish()
        self.builder.done(ending)
        return self.builder.take()

    def _take(self, payload: dict[str, Any]) -> None:
        if (
            payload.get("error")
            or payload.get("type") == "error"
            or payload.get("object") == "error"
        ):
            raise stream_error(payload, self._model)
        choices = payload.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices else None
        self._count(payload, choice)
        if not isinstance(choice, dict):
            return
        if (reason := choice.get("finish_reason")) and isinstance(reason, str):
            self._reason = reason
        delta = choice.get("delta") or choice.get("message")
        if not isinstance(delta, dict):
            return
        if self.builder.message.response_id is None and isinstance(payload.get("id"), str):
            self.builder.message.response_id = payload["id"]
        self._think(delta)
        content = delta.get("content")
        if content:
            self._speak(content)
        if (refusal := delta.get("refusal")) and isinstance(refusal, str):
            self._refused = True
            self.builder.text(refusal)
        for piece in delta.get("tool_calls") or ():
            if isinstance(piece, dict):
                self._calls.add(piece)
        if isinstance(call := delta.get("function_call"), dict):
            self._calls.add({"function": call})

    def _think(self, delta: dict[str, Any]) -> None:
        thought = ""
        for name in _THINKING_FIELDS:
            value = delta.get(name)
            if value and isinstance(value, str):
                thought = value
                self.builder.thinking(value, name)
                break
        for detail in delta.get("reasoning_details") or ():
            if isinstance(detail, dict):
                self._details.append(detail)
                words = detail.get("text") or detail.get("summary")
                if not thought and isinstance(words, str):
                    self.builder.thinking(words)

    def _speak(self, content: Any) -> None:
        if isinstance(content, str):
            if self._tags is None:
                self.builder.text(content)
            else:
                self._split(content)
            return
        for part in content if isinstance(content, list) else ():
            if not isinstance(part, dict):
                continue
            if part.get("type") == "thinking":
                self.builder.thinking(_text_in(part.get("thinking")), "parts")
            elif part.get("type") == "text":
                self.builder.text(_text_in(part.get("text")))

    def _split(self, text: str) -> None:
        assert self._tags is not None
        for kind, part in self._tags.feed(text):
            self._write(kind, part)
        if self._tags.is_settled:
            self._tags = None

    def _write(self, kind: Literal["text", "thinking"], text: str) -> None:
        if text and kind == "text":
            self.builder.text(text)
        elif text:
            self.builder.thinking(text)

    def _count(self, payload: dict[str, Any], choice: Any) -> None:
        raw = payload.get("usage")
        if not raw and isinstance(choice, dict):
            raw = choice.get("usage")
        if not raw and isinstance(groq := payload.get("x_groq"), dict):
            if groq.get("error"):
                raise stream_error({"error": groq["error"]}, self._model)
            raw = groq.get("usage")
        if isinstance(raw, dict) and (usage := usage_of(raw, payload.get("timings"))) is not None:
            self._usage = self.builder.message.usage = usage

    def _ending(self, *, has_content: bool) -> Literal["stop", "length"]:
        reason, who = self._reason, self._model.provider or self._model.id
        if self._refused or reason in _POLICY_ENDINGS:
            said = "the model refused to answer" if self._refused else "a filter stopped the answer"
            raise ContentPolicyError(f"{who}: {said}")
        if reason in _ENDINGS:
            return _ENDINGS[reason]
        if reason == "model_context_window_exceeded":
            raise ContextOverflowError(
                f"{who}: the conversation does not fit the model's context window any more"
            )
        if reason in _FAULTY_ENDINGS:
            raise OverloadedError(f"{who}: the server ended the answer with {reason!r}")
        if not reason and (self._sends_finish_reason or not has_content):
            what = "broke off before it was complete" if has_content else "is empty"
            raise NetworkError(f"the answer from {who} {what}", code="stream_incomplete")
        if not has_content:
            raise ProviderError(
                f"{who}: the server ended an empty answer with {printable(reason)!r}"
            )
        return "stop"


def usage_of(raw: Mapping[str, Any], timings: Any = None) -> Usage | None:
    """Token counts in disjoint classes; None if the server reports nothing.

    `prompt_tokens` holds the cached and the written ones, `completion_tokens` the reasoning.
    `timings` are those of llama.cpp.
    """
    prompt, output = number(raw.get("prompt_tokens")), number(raw.get("completion_tokens"))
    if prompt is None and output is None:
        return None
    details = mapping(raw.get("prompt_tokens_details"))
    cached = _first_number(
        details.get("cached_tokens"),
        raw.get("prompt_cache_hit_tokens"),
        raw.get("cached_tokens"),
        mapping(timings).get("cache_n"),
    )
    written = number(details.get("cache_write_tokens")) or 0
    reasoning = number(mapping(raw.get("completion_tokens_details")).get("reasoning_tokens")) or 0
    cost = raw.get("cost")
    usage = Usage(
        input=max(0, (prompt or 0) - cached - written),
        output=output or 0,
        cache_read=cached,
        cache_write=written,
        reasoning=min(reasoning, output or 0),
        cost_usd=float(cost) if isinstance(cost, int | float) and cost >= 0 else None,
        incomplete=prompt is None or output is None,
    )
    usage.total = number(raw.get("total_tokens")) or usage.prompt_tokens + usage.output
    return usage


def _first_number(*values: Any) -> int:
    return next((count for value in values if (count := number(value))), 0)


def _text_in(value: Any) -> str:
    """The text of a string, or of a list of text parts."""
    if isinstance(value, str):
        return value
    parts = value if isinstance(value, list) else ()
    return "".join(_text_in(part.get("text")) for part in parts if isinstance(part, dict))


def _merged(details: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """OpenRouter's reasoning entries with the pieces of one entry joined, as they must go back."""
    merged: list[dict[str, Any]] = []
    for detail in details:
        last = merged[-1] if merged else None
        field = {"reasoning.text": "text", "reasoning.summary": "summary"}.get(
            str(detail.get("type")), ""
        )
        is_same = (
            last is not None
            and field
            and all(
                last.get(name) == detail.get(name) or detail.get(name) is None
                for name in ("type", "index", "id")
            )
        )
        if last is None or not is_same:
            merged.append(dict(detail))
            continue
        last[field] = str(last.get(field) or "") + str(detail.get(field) or "")
        if detail.get("signature"):
            last["signature"] = detail["signature"]
    return merged


def _authorize(key: str) -> dict[str, str]:
    return {"authorization": f"Bearer {key}"}


WIRE = Wire(
    build=build,
    parser=Parser,
    decoder=SseDecoder,
    authorize=_authorize,
    swaps={
        "max_tokens": "max_completion_tokens",
        "max_completion_tokens": "max_tokens",
        "stream_options": None,
        "reasoning_effort": None,
        "reasoning": None,
        "thinking": None,
        "enable_thinking": None,
        "chat_template_kwargs": None,
        "temperature": None,
        "store": None,
        "prompt_cache_key": None,
    },
)
