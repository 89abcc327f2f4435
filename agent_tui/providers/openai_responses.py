"""OpenAI's Responses API: an answer is a list of items, each of which grows by events of its own.

Nothing is stored at the server: reasoning comes encrypted, is kept with its block, and goes back.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping
from typing import Any, Literal, NamedTuple

from agent_tui.core.errors import ContentPolicyError, NetworkError, ProviderError
from agent_tui.core.model import Model
from agent_tui.core.stream import LlmContext, StreamEvent, StreamOptions
from agent_tui.core.text import printable
from agent_tui.core.usage import Usage
from agent_tui.providers import openai_chat
from agent_tui.providers.errors import stream_error
from agent_tui.providers.loose import items, mapping, text
from agent_tui.providers.openai_responses_items import Item
from agent_tui.providers.openai_responses_request import build
from agent_tui.providers.sse import SseDecoder
from agent_tui.providers.stream import MessageBuilder
from agent_tui.providers.wire import Wire, respond


class _Source(NamedTuple):
    """Where the text of an event belongs."""

    kind: str
    """Of the item."""
    form: str
    """Of the part of the item."""
    field: str
    """Of the event that tells the whole part."""


_REFUSAL = _Source("message", "text", "refusal")
_SOURCES = {
    "response.output_text": _Source("message", "text", "text"),
    "response.refusal": _REFUSAL,
    "response.reasoning_summary_text": _Source("reasoning", "summary", "text"),
    "response.reasoning_text": _Source("reasoning", "content", "text"),
    "response.function_call_arguments": _Source("function_call", "arguments", "arguments"),
}
_PIECES = {f"{name}.delta": source for name, source in _SOURCES.items()}
_WHOLES = {f"{name}.done": source for name, source in _SOURCES.items()}
_REASONS: Mapping[str, Literal["stop", "length"]] = {"": "stop", "max_output_tokens": "length"}


def stream(model: Model, context: LlmContext, options: StreamOptions) -> AsyncIterator[StreamEvent]:
    """Ask `model` over the Responses API; a `StreamFn`."""
    return respond(WIRE, model, context, options)


class Parser:
    """The events of one response → events of ours."""

    def __init__(self, model: Model) -> None:
        self.builder = MessageBuilder(model)
        self._model = model
        self._items: list[Item] = []
        self._is_complete = False
        self._reason = ""
        self._refused = False
        self._usage: Usage | None = None

    @property
    def is_complete(self) -> bool:
        """Whether the response was reported to be over."""
        return self._is_complete

    @property
    def has_usage(self) -> bool:
        """Whether token counts have come."""
        return self._usage is not None

    def feed(self, payloads: Iterable[Any]) -> list[StreamEvent]:
        """The events of these payloads. Raises `ProviderError` for one that reports a failure."""
        for payload in payloads:
            if isinstance(payload, dict):
                self._take(payload)
        return self.builder.take()

    def finish(self) -> list[StreamEvent]:
        """The last events. Raises `AgentError` if the answer is no complete one."""
        message = self.builder.message
        message.usage = self._usage or Usage(incomplete=True)
        if self._reason not in _REASONS:
            message.raw_stop_reason = printable(self._reason)
        self.builder.done(self._ending(has_content=bool(message.content)))
        return self.builder.take()

    def _take(self, payload: dict[str, Any]) -> None:
        kind = text(payload.get("type"))
        if (source := _PIECES.get(kind)) is not None:
            item = self._item(payload, source.kind)
            item.add((source.form, _number(payload)), text(payload.get("delta")))
        elif (source := _WHOLES.get(kind)) is not None:
            item = self._item(payload, source.kind)
            item.settle((source.form, _number(payload)), text(payload.get(source.field)))
        else:
            self._take_other(payload, kind.removeprefix("response."))
        if source is _REFUSAL:
            self._refused = True

    def _take_other(self, payload: dict[str, Any], kind: str) -> None:
        match kind:
            case "created" | "in_progress" | "queued":
                self._identify(mapping(payload.get("response")))
            case "output_item.added":
                raw = mapping(payload.get("item"))
                self._items.append(Item(self.builder, _index(payload), raw))
            case "output_item.done":
                raw = mapping(payload.get("item"))
                self._item(payload, text(raw.get("type")), raw).finish(raw)
                self._notice_refusal(raw)
            case "completed" | "incomplete" | "failed" | "cancelled":
                self._end(mapping(payload.get("response")), kind)
            case _ if payload.get("error") or kind == "error":
                raise stream_error(payload, self._model)
            case _ if payload.get("object") == "response":
                self._end(payload, text(payload.get("status")))

    # -- items -------------------------------------------------------------------------------

    def _item(
        self, payload: Mapping[str, Any], kind: str, raw: Mapping[str, Any] | None = None
    ) -> Item:
        """The item that a payload is about, made now if it is a new one.

        OpenAI numbers its items; llama.cpp gives only ids, and others neither.
        """
        index = _index(payload)
        item_id = payload.get("item_id") if raw is None else raw.get("id")
        found = self._known(kind, index, item_id)
        if found is None:
            found = Item(self.builder, index, raw or {"id": item_id}, kind)
            self._items.append(found)
        return found

    def _known(self, kind: str, index: int | None, item_id: Any) -> Item | None:
        last = self._items[-1] if self._items else None
        if last is not None and index is not None and (last.index, last.kind) == (index, kind):
            return last
        same_kind = [item for item in reversed(self._items) if item.kind == kind]
        for item in same_kind:
            if index is not None and item.index == index:
                return item
        for item in same_kind:
            if item_id is not None and item.item_id == item_id:
                return item
        is_told = index is not None or item_id is not None
        return next((item for item in same_kind if not (is_told or item.is_done)), None)

    # -- the end -----------------------------------------------------------------------------

    def _identify(self, response: Mapping[str, Any]) -> None:
        if isinstance(response.get("id"), str):
            self.builder.message.response_id = response["id"]

    def _end(self, response: Mapping[str, Any], status: str) -> None:
        self._identify(response)
        if (usage := usage_of(mapping(response.get("usage")))) is not None:
            self._usage = self.builder.message.usage = usage
        if response.get("error") or status in ("failed", "cancelled"):
            error = response.get("error") or f"the response was {status}, without a reason"
            raise stream_error({"error": error}, self._model)
        for place, raw in enumerate(items(response.get("output"))):
            self._finish_late(place, mapping(raw))
        self._is_complete = status not in ("queued", "in_progress")
        if status == "incomplete":
            reason = mapping(response.get("incomplete_details")).get("reason")
            self._reason = text(reason) or "incomplete"

    def _finish_late(self, place: int, raw: Mapping[str, Any]) -> None:
        """An item as the end of the response repeats it; some servers say it nowhere else."""
        kind = text(raw.get("type"))
        item = self._known(kind, place, raw.get("id"))
        if item is None and place < len(self._items) and self._items[place].kind == kind:
            item = self._items[place]
        if item is None:
            item = Item(self.builder, place, raw)
            self._items.append(item)
        item.finish(raw)
        item.add_encrypted(raw)
        self._notice_refusal(raw)

    def _notice_refusal(self, raw: Mapping[str, Any]) -> None:
        parts = [mapping(part) for part in items(raw.get("content"))]
        self._refused = self._refused or any(part.get("type") == "refusal" for part in parts)

    def _ending(self, *, has_content: bool) -> Literal["stop", "length"]:
        reason, who = self._reason, self._model.provider or self._model.id
        if self._refused or reason == "content_filter":
            said = "the model refused to answer" if self._refused else "a filter stopped the answer"
            raise ContentPolicyError(f"{who}: {said}")
        is_cut = reason == "" and any(
            item.kind == "function_call" and not item.is_whole for item in self._items
        )
        if not self._is_complete or is_cut:
            what = "broke off before it was complete" if has_content else "is empty"
            raise NetworkError(f"the answer from {who} {what}", code="stream_incomplete")
        if reason not in _REASONS and not has_content:
            raise ProviderError(
                f"{who}: the server ended an empty answer with {printable(reason)!r}"
            )
        return _REASONS.get(reason, "stop")


def usage_of(raw: Mapping[str, Any]) -> Usage | None:
    """Token counts in disjoint classes; None if the server reports nothing.

    They are those of Chat Completions under other names: the input holds what was cached, the
    output the reasoning.
    """
    return openai_chat.usage_of(
        {
            "prompt_tokens": raw.get("input_tokens"),
            "prompt_tokens_details": raw.get("input_tokens_details"),
            "completion_tokens": raw.get("output_tokens"),
            "completion_tokens_details": raw.get("output_tokens_details"),
            "total_tokens": raw.get("total_tokens"),
            "cost": raw.get("cost"),
        }
    )


def _index(payload: Mapping[str, Any]) -> int | None:
    index = payload.get("output_index")
    return index if isinstance(index, int) else None


def _number(payload: Mapping[str, Any]) -> int:
    """Which part of its item a payload is about."""
    number = payload.get("summary_index", payload.get("content_index"))
    return number if isinstance(number, int) else 0


def _authorize(key: str) -> dict[str, str]:
    return {"authorization": f"Bearer {key}"}


WIRE = Wire(
    build=build,
    parser=Parser,
    decoder=SseDecoder,
    authorize=_authorize,
    swaps={
        "reasoning.summary": None,
        "reasoning": None,
        "include": None,
        "store": None,
        "stream_options": None,
        "prompt_cache_key": None,
        "max_output_tokens": None,
        "temperature": None,
    },
    last_types=frozenset({"response.completed", "response.incomplete"}),
)
