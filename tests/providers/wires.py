"""The same short answer in the words of every wire, for tests that all wires must pass."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tests.providers.loopback import (
    EVENTS,
    JSON,
    Loopback,
    Peer,
    Received,
    Script,
    chunk,
    plays,
)


@dataclass(frozen=True)
class Speech:
    """How a server of one api says "Hello"."""

    api: str
    hello: bytes
    """Everything up to the word, which comes in two pieces."""
    end: bytes
    """The rest of a proper answer."""
    key_header: str
    headers: Mapping[str, str]

    @property
    def whole(self) -> bytes:
        return self.hello + self.end

    def answers(self) -> Script:
        return self.beside(plays(self.whole, headers=self.headers))

    def beside(self, script: Script) -> Script:
        """`script` for requests to answer, and nothing known where a wire asks for more."""

        async def either(peer: Peer) -> None:
            unknown = plays(b'{"error":"no"}', status=404, headers=JSON)
            await (unknown if is_aside(peer.request) else script)(peer)

        return either


def is_aside(request: Received) -> bool:
    return request.path == "/api/show"


def asked(lab: Loopback) -> list[Received]:
    """The requests for an answer."""
    return [request for request in lab.requests if not is_aside(request)]


def events(*payloads: dict[str, Any]) -> bytes:
    """Server-sent events that are named by the type of their payload, where it has one."""
    out = b""
    for payload in payloads:
        name = f"event: {payload['type']}\n" if "type" in payload else ""
        out += f"{name}data: {json.dumps(payload)}\n\n".encode()
    return out


def _chat() -> Speech:
    hello = chunk({"content": "Hel"}) + chunk({"content": "lo"})
    usage = {"prompt_tokens": 5, "completion_tokens": 2}
    end = chunk(finish="stop", usage=usage) + b"data: [DONE]\n\n"
    return Speech("openai-chat", hello, end, "authorization", EVENTS)


def _anthropic() -> Speech:
    usage = {"input_tokens": 5, "output_tokens": 1}
    message = {"id": "m1", "role": "assistant", "content": [], "usage": usage}
    block = {"type": "text", "text": ""}
    hello = events(
        {"type": "message_start", "message": message},
        {"type": "content_block_start", "index": 0, "content_block": block},
        *(
            {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": t}}
            for t in ("Hel", "lo")
        ),
    )
    end = events(
        {"type": "content_block_stop", "index": 0},
        {
            "type": "message_delta",
            "delta": {"stop_reason": "end_turn"},
            "usage": {"output_tokens": 2},
        },
        {"type": "message_stop"},
    )
    return Speech("anthropic", hello, end, "x-api-key", EVENTS)


def _responses() -> Speech:
    item = {"id": "msg_1", "type": "message", "role": "assistant", "content": []}
    part = {"type": "output_text", "text": "Hello", "annotations": []}
    at = {"output_index": 0, "content_index": 0, "item_id": "msg_1"}
    hello = events(
        {"type": "response.created", "response": {"id": "resp_1", "status": "in_progress"}},
        {"type": "response.output_item.added", "output_index": 0, "item": item},
        {"type": "response.content_part.added", **at, "part": part | {"text": ""}},
        *({"type": "response.output_text.delta", **at, "delta": t} for t in ("Hel", "lo")),
    )
    whole = item | {"status": "completed", "content": [part]}
    usage = {"input_tokens": 5, "output_tokens": 2, "total_tokens": 7}
    done = {"id": "resp_1", "status": "completed", "output": [whole], "usage": usage}
    end = events(
        {"type": "response.output_text.done", **at, "text": "Hello"},
        {"type": "response.output_item.done", "output_index": 0, "item": whole},
        {"type": "response.completed", "response": done},
    )
    return Speech("openai-responses", hello, end, "authorization", EVENTS)


def _gemini() -> Speech:
    def said(text: str, **fields: Any) -> dict[str, Any]:
        content = {"role": "model", "parts": [{"text": text}]}
        return {"candidates": [{"content": content, "index": 0, **fields}]}

    usage = {"promptTokenCount": 5, "candidatesTokenCount": 2, "totalTokenCount": 7}
    end = events({**said("", finishReason="STOP"), "usageMetadata": usage})
    hello = events(said("Hel"), said("lo"))
    return Speech("gemini", hello, end, "x-goog-api-key", EVENTS)


def _ollama() -> Speech:
    def line(content: str, **fields: Any) -> bytes:
        message = {"role": "assistant", "content": content}
        return json.dumps({"message": message, "done": False, **fields}).encode() + b"\n"

    end = line("", done=True, done_reason="stop", prompt_eval_count=5, eval_count=2)
    lines = {"content-type": "application/x-ndjson"}
    return Speech("ollama", line("Hel") + line("lo"), end, "authorization", lines)


SPEECHES = [_chat(), _anthropic(), _responses(), _gemini(), _ollama()]
