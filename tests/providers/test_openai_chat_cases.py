"""The recorded streams of all kinds of servers, however the network cuts them."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import pytest

from agent_tui.agent.response import parse_arguments
from agent_tui.core.errors import ContentPolicyError
from agent_tui.core.messages import AssistantMessage, ThinkingBlock
from agent_tui.core.model import Model
from agent_tui.core.stream import StreamDone, StreamEvent, ToolCallDelta
from agent_tui.providers.openai_chat import Parser
from agent_tui.providers.sse import SseDecoder
from tests.providers.loopback import CASES, collect, plays, serving

FOLDER = CASES / "wire-openai-chat"
NAMES = sorted(path.name.removesuffix(".sse") for path in FOLDER.glob("*.sse"))
MODEL = Model("lab", "m", api="openai-chat", base_url="http://127.0.0.1:1/v1")
STOPS = {"stop": "end_turn", "tool_use": "tool_calls", "length": "length"}


@dataclass
class Case:
    body: bytes
    expect: dict[str, Any]
    cuts: list[int]


def load(name: str) -> Case:
    data = json.loads((FOLDER / f"{name}.expect.json").read_text("utf-8"))
    body = (FOLDER / f"{name}.sse").read_bytes()
    return Case(body, data["expect"], data["delivery"]["split_at"])


def parsed(pieces: Iterable[bytes]) -> list[StreamEvent]:
    """What decoder and parser make of a body in these pieces."""
    decoder, parser = SseDecoder(), Parser(MODEL)
    events: list[StreamEvent] = []
    for piece in pieces:
        events += parser.feed(payloads(decoder.feed(piece)))
    events += parser.feed(payloads(decoder.close()))
    return events + parser.finish()


def payloads(frames: list[tuple[str, str]]) -> list[Any]:
    return [json.loads(data) for _, data in frames if data != "[DONE]"]


def outcome(events: list[StreamEvent]) -> dict[str, Any]:
    """The finished answer in the words of the cases."""
    done = events[-1]
    assert isinstance(done, StreamDone)
    message = done.message
    usage = message.usage
    return {
        "text": message.text,
        "thinking": thinking_in(message),
        "tool_calls": [
            {"id": call.id, "name": call.name, "arguments": arguments_of(events, index)}
            for index, call in enumerate(message.content)
            if call.type == "tool_call"
        ],
        "stop": STOPS[done.reason],
        "usage": None
        if usage.incomplete
        else {
            "input_total": usage.prompt_tokens,
            "cache_read": usage.cache_read,
            "cache_write": usage.cache_write,
            "output_total": usage.output,
            "reasoning": usage.reasoning,
        },
    }


def thinking_in(message: AssistantMessage) -> str:
    return "".join(b.thinking for b in message.content if isinstance(b, ThinkingBlock)).strip()


def arguments_of(events: list[StreamEvent], index: int) -> dict[str, Any]:
    """What the engine makes of the argument deltas."""
    text = "".join(
        event.delta
        for event in events
        if isinstance(event, ToolCallDelta) and event.content_index == index
    )
    arguments, problem = parse_arguments(text)
    assert problem is None
    return arguments


def expected(case: Case, found: dict[str, Any]) -> dict[str, Any]:
    """The case's expectation, with what it leaves open taken from `found`."""
    names = ("text", "thinking", "tool_calls", "stop", "usage")
    expect = copy.deepcopy({name: case.expect[name] for name in names})
    if expect["usage"] is not None:
        expect["usage"] = {"reasoning": 0} | expect["usage"]
    calls = expect["tool_calls"] = sorted(expect["tool_calls"], key=lambda c: str(c["arguments"]))
    found["tool_calls"].sort(key=lambda call: str(call["arguments"]))
    for call, real in zip(calls, found["tool_calls"], strict=True):
        call["id"] = real["id"] if call["id"] == "*" else call["id"]
    return expect


@pytest.mark.parametrize("name", NAMES)
def test_a_recorded_stream_gives_what_was_meant(name: str) -> None:
    case = load(name)

    found = outcome(parsed([case.body]))

    assert found == expected(case, found)
    assert len({call["id"] for call in found["tool_calls"]} | {""}) == len(found["tool_calls"]) + 1


@pytest.mark.parametrize("name", NAMES)
def test_a_cut_at_any_byte_changes_nothing(name: str) -> None:
    case = load(name)

    for cut in range(1, len(case.body)):
        found = outcome(parsed([case.body[:cut], case.body[cut:]]))

        assert found == expected(case, found), cut


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("cutting", ["whole", "listed", "one_byte_per_read"])
async def test_a_real_connection_gives_the_same(name: str, cutting: str) -> None:
    case = load(name)
    every = range(1, len(case.body)) if cutting == "one_byte_per_read" else []
    cuts = case.cuts if cutting == "listed" else every

    async with serving(plays(case.body, cuts)) as lab:
        found = outcome(await collect(lab.model()))

    assert found == expected(case, found)


@pytest.mark.parametrize("line_end", [b"\n", b"\r\n", b"\r"], ids=["LF", "CRLF", "CR"])
@pytest.mark.parametrize("size", [1, 2, 7, 4096])
def test_every_line_end_and_size_of_read_gives_the_same(line_end: bytes, size: int) -> None:
    case = load("parallel-interleaved-by-index")
    body = case.body.replace(b"\n", line_end)

    found = outcome(parsed(body[at : at + size] for at in range(0, len(body), size)))

    assert found == expected(case, found)


def test_a_refusal_is_shown_and_is_an_error() -> None:
    parser = Parser(MODEL)
    parser.feed([{"choices": [{"delta": {"refusal": "I can't."}, "finish_reason": "stop"}]}])

    with pytest.raises(ContentPolicyError, match="refused"):
        parser.finish()

    assert parser.builder.message.text == "I can't."
