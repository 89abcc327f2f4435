"""Ollama's own API: `/api/chat`, answered as one JSON object a line.

Only here can the window be set, thinking be switched exactly, and errors in mid-stream be seen;
Ollama's `/v1` swallows them.
"""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Mapping
from contextlib import aclosing
from dataclasses import replace
from functools import partial
from typing import Any, Literal, cast

from agent_tui.core.errors import AgentError, NetworkError, ProviderError
from agent_tui.core.model import Model
from agent_tui.core.stream import LlmContext, StreamEvent, StreamOptions
from agent_tui.core.text import printable
from agent_tui.core.usage import Usage
from agent_tui.providers.addresses import clean_base_url
from agent_tui.providers.calls import add_whole_call
from agent_tui.providers.compat import compat_for
from agent_tui.providers.errors import stream_error
from agent_tui.providers.http import NobodyThereError
from agent_tui.providers.loose import items, mapping, number, text
from agent_tui.providers.ollama_request import build
from agent_tui.providers.ollama_show import authorize, details_of
from agent_tui.providers.sse import NdjsonDecoder
from agent_tui.providers.stream import MessageBuilder
from agent_tui.providers.thinktags import ThinkTagSplitter
from agent_tui.providers.wire import Wire, respond

_PLAIN_ENDINGS = ("", "stop", "length")


async def stream(
    model: Model, context: LlmContext, options: StreamOptions
) -> AsyncIterator[StreamEvent]:
    """Ask a model of an Ollama server; a `StreamFn`. The server is asked about the model before."""
    details = await details_of(model, api_key=options.api_key, signal=options.signal)
    wire = replace(WIRE, build=partial(build, details=details))
    answer = cast("AsyncGenerator[StreamEvent]", respond(wire, model, context, options))
    async with aclosing(answer) as events:
        async for event in events:
            yield event


class Parser:
    """The lines of one response → events."""

    def __init__(self, model: Model) -> None:
        self.builder = MessageBuilder(model)
        self._model = model
        tags = compat_for(model).think_tags
        self._tags = None if tags == "off" else ThinkTagSplitter(implied=tags == "implied")
        self._is_done = False
        self._reason = ""
        self._usage: Usage | None = None

    @property
    def is_complete(self) -> bool:
        """Whether the last line has come."""
        return self._is_done

    @property
    def has_usage(self) -> bool:
        """Whether token counts have come; they are on the last line."""
        return self._usage is not None

    def feed(self, payloads: Iterable[Any]) -> list[StreamEvent]:
        """The events of these lines. Raises `ProviderError` for a line that reports one."""
        for payload in payloads:
            if isinstance(payload, dict):
                self._take(payload)
        return self.builder.take()

    def finish(self) -> list[StreamEvent]:
        """The last events. Raises `AgentError` if the answer is no complete one."""
        if self._tags is not None:
            for kind, part in self._tags.flush():
                self._write(kind, part)
        message = self.builder.message
        message.usage = self._usage or Usage(incomplete=True)
        if not self._is_done:
            who = self._model.provider or self._model.id
            what = "broke off before it was complete" if message.content else "is empty"
            raise NetworkError(f"the answer from {who} {what}", code="stream_incomplete")
        if self._reason not in _PLAIN_ENDINGS:
            message.raw_stop_reason = printable(self._reason)
        self.builder.done("length" if self._reason == "length" else "stop")
        return self.builder.take()

    def _take(self, payload: dict[str, Any]) -> None:
        if payload.get("error"):
            raise stream_error(payload, self._model)
        self._take_message(mapping(payload.get("message")))
        if payload.get("done") is True:
            self._is_done = True
            self._reason = text(payload.get("done_reason"))
            self._usage = usage_of(payload)
            self.builder.message.usage = self._usage or self.builder.message.usage

    def _take_message(self, message: Mapping[str, Any]) -> None:
        if thought := text(message.get("thinking")):
            self.builder.thinking(thought)
        if content := text(message.get("content")):
            self._speak(content)
        for call in map(mapping, items(message.get("tool_calls"))):
            if function := mapping(call.get("function")):
                name, arguments = function.get("name"), function.get("arguments")
                add_whole_call(self.builder, call.get("id"), name, arguments)

    def _speak(self, content: str) -> None:
        if self._tags is None:
            self.builder.text(content)
            return
        for kind, part in self._tags.feed(content):
            self._write(kind, part)
        if self._tags.is_settled:
            self._tags = None

    def _write(self, kind: Literal["text", "thinking"], part: str) -> None:
        if part and kind == "text":
            self.builder.text(part)
        elif part:
            self.builder.thinking(part)


def usage_of(raw: Mapping[str, Any]) -> Usage | None:
    """The counts of the last line, None if there are none; what came from a cache is not told."""
    prompt, output = number(raw.get("prompt_eval_count")), number(raw.get("eval_count"))
    if prompt is None and output is None:
        return None
    usage = Usage(input=prompt or 0, output=output or 0, incomplete=None in (prompt, output))
    usage.total = usage.input + usage.output
    return usage


def _explain(error: AgentError, model: Model) -> None:
    """What a person can do about the two failures that everybody meets."""
    place = clean_base_url(model.base_url, "ollama")
    if isinstance(error, NobodyThereError):
        error.message = f"nothing answers there: is Ollama running at {place}?"
    elif (
        isinstance(error, ProviderError)
        and error.status == 404
        and re.search(r"model .*not found", error.message)
    ):
        error.message = (
            f"{model.provider}: there is no model {model.id!r} at {place}; "
            f"`ollama pull {model.id}` fetches it"
        )


WIRE = Wire(
    build=build,
    parser=Parser,
    decoder=NdjsonDecoder,
    authorize=authorize,
    swaps={},
    explain=_explain,
)
