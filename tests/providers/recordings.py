"""The recorded streams of `tests/cases/wire-*`, and what came of them in the words of the cases."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from agent_tui.agent.response import parse_arguments
from agent_tui.core.errors import AgentError
from agent_tui.core.messages import AssistantMessage, ThinkingBlock
from agent_tui.core.model import Model
from agent_tui.core.stream import StreamDone, StreamError, StreamEvent, ToolCallDelta
from agent_tui.providers.wire import Wire
from tests.providers.loopback import CASES

STOPS = {"stop": "end_turn", "tool_use": "tool_calls", "length": "length"}
CODES = {
    "rate_limit": "rate_limit",
    "overloaded": "overloaded",
    "server": "provider",
    "truncated_stream": "stream_incomplete",
    "malformed_tool_call": "bad_tool_call",
    "stalled": "timeout",
}
"""Kinds of failure in the cases → our codes."""


@dataclass
class Recording:
    """One recorded stream and what it must come to."""

    api: str
    name: str
    body: bytes
    headers: dict[str, str]
    expect: dict[str, Any]
    cuts: list[int]
    stalls: bool

    @property
    def model(self) -> Model:
        return Model("lab", "m", api=self.api, base_url="http://127.0.0.1:1/v1")


def recording(path: Path) -> Recording:
    """The recording whose expectation is in the file at `path`."""
    data = json.loads(path.read_text("utf-8"))
    return Recording(
        api=path.parent.name.removeprefix("wire-"),
        name=data["case"],
        body=(path.parent / data["input"]).read_bytes(),
        headers=data["http"]["headers"],
        expect=data["expect"],
        cuts=data["delivery"]["split_at"],
        stalls=data["delivery"]["end"] == "stall",
    )


RECORDINGS = [recording(path) for path in sorted(CASES.glob("wire-*/*.expect.json"))]


def wire_of(api: str) -> Wire:
    """The wire that serves an api."""
    module = import_module(f"agent_tui.providers.{api.replace('-', '_')}")
    wire: Wire = module.WIRE
    return wire


def parsed(model: Model, pieces: Iterable[bytes]) -> list[StreamEvent]:
    """What decoder and parser make of a body in these pieces; the last event ends the answer."""
    wire = wire_of(model.api)
    decoder, parser = wire.decoder(), wire.parser(model)
    events: list[StreamEvent] = []
    try:
        for piece in pieces:
            events += parser.feed(payloads(decoder.feed(piece)))
        events += parser.feed(payloads(decoder.close()))
        return events + parser.finish()
    except AgentError as error:
        parser.builder.fail(error)
        return events + parser.builder.take()


def payloads(frames: list[tuple[str, str]]) -> list[Any]:
    return [json.loads(data) for _, data in frames if data != "[DONE]"]


def outcome(events: list[StreamEvent]) -> dict[str, Any]:
    """The finished answer in the words of the cases."""
    last = events[-1]
    assert isinstance(last, StreamDone | StreamError)
    message = last.message
    return {
        "text": message.text,
        "thinking": thinking_in(message),
        "tool_calls": calls_to_run(events, message) if isinstance(last, StreamDone) else [],
        "stop": STOPS.get(last.reason, "error"),
        "usage": usage_in(message),
        "error": message.error
        and {
            "code": message.error.code,
            "retryable": message.error.retryable,
            "message": message.error.message,
        },
    }


def thinking_in(message: AssistantMessage) -> str:
    return "".join(b.thinking for b in message.content if isinstance(b, ThinkingBlock)).strip()


def calls_to_run(events: list[StreamEvent], message: AssistantMessage) -> list[dict[str, Any]]:
    """The calls whose arguments can be read, as the engine reads them."""
    found = []
    for index, call in enumerate(message.content):
        if call.type == "tool_call":
            arguments, problem = arguments_of(events, index, call.arguments)
            if problem is None:
                found.append({"id": call.id, "name": call.name, "arguments": arguments})
    return found


def arguments_of(
    events: list[StreamEvent], index: int, given: dict[str, Any]
) -> tuple[dict[str, Any], str | None]:
    deltas = [
        event.delta
        for event in events
        if isinstance(event, ToolCallDelta) and event.content_index == index
    ]
    return parse_arguments("".join(deltas)) if deltas else (given, None)


def usage_in(message: AssistantMessage) -> dict[str, int] | None:
    usage = message.usage
    if usage.incomplete:
        return None
    return {
        "input_total": usage.prompt_tokens,
        "cache_read": usage.cache_read,
        "cache_write": usage.cache_write,
        "output_total": usage.output,
        "reasoning": usage.reasoning,
    }


def expected(case: Recording, found: dict[str, Any]) -> dict[str, Any]:
    """The recording's expectation, with what it leaves open taken from `found`."""
    names = ("text", "thinking", "tool_calls", "stop", "usage", "error")
    expect = copy.deepcopy({name: case.expect[name] for name in names})
    if expect["stop"] in ("refusal", "content_filter"):
        expect["stop"] = "error"
        expect["error"] = {"code": "content_policy", "retryable": False}
    elif expect["error"] is not None:
        expect["error"]["code"] = CODES[expect["error"].pop("kind")]
    if expect["error"] is not None:
        # What a failed answer has counted may be told or not.
        expect["usage"] = found["usage"]
        words = expect["error"].pop("message_contains", "")
        assert words in found["error"]["message"]
        expect["error"]["message"] = found["error"]["message"]
    elif expect["usage"] is not None:
        expect["usage"] = {"reasoning": found["usage"]["reasoning"]} | expect["usage"]
    calls = expect["tool_calls"] = sorted(expect["tool_calls"], key=lambda c: str(c["arguments"]))
    found["tool_calls"].sort(key=lambda call: str(call["arguments"]))
    for call, real in zip(calls, found["tool_calls"], strict=True):
        call["id"] = real["id"] if call["id"] == "*" else call["id"]
    return expect
