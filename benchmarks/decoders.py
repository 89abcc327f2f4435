"""Decoding: CPU time per event from bytes to stream events, for each wire and kind of event.

The baseline is a bare `json.loads` of the same events in the same process, alternating with what is
measured. The bytes come in reads of four kilobytes, as a fast stream brings them.
"""

from __future__ import annotations

import gc
import json
import time
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

from agent_tui import Model
from agent_tui.core.json_text import read_json
from agent_tui.providers.wire import Wire
from benchmarks.report import Report, Table, Target, ratio

READ = 4096
Json = dict[str, Any]
WORDS = (" and", " the", " function", " returns", " a", " list", " of", " names", ".\n")


def words(count: int) -> list[str]:
    """Pieces as a model sends them."""
    return [WORDS[place % len(WORDS)] for place in range(count)]


def chat(kind: str, count: int) -> list[Json]:
    def event(delta: Json) -> Json:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": None}
        head = {"id": "chatcmpl-9Qk3", "object": "chat.completion.chunk", "created": 1796000000}
        return {**head, "model": "m", "system_fingerprint": "fp_44", "choices": [choice]}

    if kind == "calls":
        function: Json = {"name": "write", "arguments": ""}
        first = {"index": 0, "id": "call_1", "type": "function", "function": function}
        pieces = [{"index": 0, "function": {"arguments": word}} for word in words(count)]
        return [event({"tool_calls": [first]}), *(event({"tool_calls": [p]}) for p in pieces)]
    field = "content" if kind == "text" else "reasoning_content"
    return [event({field: word}) for word in words(count)]


def responses(kind: str, count: int) -> list[Json]:
    of: dict[str, tuple[str, str, Json]] = {
        "text": ("message", "output_text", {"logprobs": []}),
        "thinking": ("reasoning", "reasoning_summary_text", {}),
        "calls": ("function_call", "function_call_arguments", {}),
    }
    item_kind, name, more = of[kind]
    place = "summary_index" if kind == "thinking" else "content_index"
    at: Json = {"item_id": "it_0af34b7790de", "output_index": 0}
    at |= {} if kind == "calls" else {place: 0}
    item = {"id": at["item_id"], "type": item_kind, "status": "in_progress"}
    item |= {"call_id": "call_1", "name": "write", "arguments": ""} if kind == "calls" else {}
    added = {"type": "response.output_item.added", "output_index": 0, "item": item}
    return [
        added,
        *(
            {"type": f"response.{name}.delta", "sequence_number": n, **at, "delta": word, **more}
            for n, word in enumerate(words(count), 4)
        ),
    ]


def anthropic(kind: str, count: int) -> list[Json]:
    of: dict[str, tuple[Json, str, str]] = {
        "text": ({"type": "text", "text": ""}, "text_delta", "text"),
        "thinking": ({"type": "thinking", "thinking": ""}, "thinking_delta", "thinking"),
        "calls": (
            {"type": "tool_use", "id": "toolu_1", "name": "write", "input": {}},
            "input_json_delta",
            "partial_json",
        ),
    }
    block, delta, field = of[kind]
    return [
        {"type": "content_block_start", "index": 0, "content_block": block},
        *(
            {"type": "content_block_delta", "index": 0, "delta": {"type": delta, field: word}}
            for word in words(count)
        ),
    ]


def gemini(kind: str, count: int) -> list[Json]:
    def event(part: Json) -> Json:
        candidate = {"content": {"parts": [part], "role": "model"}, "index": 0}
        usage = {"promptTokenCount": 5, "candidatesTokenCount": 2, "totalTokenCount": 7}
        head = {"candidates": [candidate], "usageMetadata": usage}
        return {**head, "modelVersion": "gemini-4-pro", "responseId": "r1"}

    more = {"thought": True} if kind == "thinking" else {}
    return [event({"text": word, **more}) for word in words(count)]


def ollama(kind: str, count: int) -> list[Json]:
    def event(message: Json) -> Json:
        head = {"model": "qwen3:8b", "created_at": "2026-12-01T04:00:00.123456789Z"}
        return {**head, "message": {"role": "assistant", "content": "", **message}, "done": False}

    field = "content" if kind == "text" else "thinking"
    return [event({field: word}) for word in words(count)]


EVENTS: dict[str, Callable[[str, int], list[Json]]] = {
    "openai-chat": chat,
    "openai-responses": responses,
    "anthropic": anthropic,
    "gemini": gemini,
    "ollama": ollama,
}
KINDS = ("text", "thinking", "calls")
WHOLE_CALLS = ("gemini", "ollama")
"""Their calls come in one event each, of which an answer has a few."""


def wire_of(api: str) -> Wire:
    wire: Wire = import_module(f"agent_tui.providers.{api.replace('-', '_')}").WIRE
    return wire


def reads_of(api: str, payloads: Sequence[Json]) -> list[bytes]:
    """The body in the pieces in which it arrives."""
    lines = []
    for payload in payloads:
        data = json.dumps(payload, separators=(",", ":")).encode()
        name = f"event: {payload['type']}\n".encode() if "type" in payload else b""
        lines.append(data + b"\n" if api == "ollama" else name + b"data: " + data + b"\n\n")
    body = b"".join(lines)
    return [body[place : place + READ] for place in range(0, len(body), READ)]


def decode(api: str, reads: Sequence[bytes]) -> float:
    """CPU seconds from bytes to stream events."""
    wire = wire_of(api)
    decoder, parser = wire.decoder(), wire.parser(Model("bench", "m", api=api))
    began = time.process_time()
    for read in reads:
        parser.feed([read_json(data) for _, data in decoder.feed(read)])
    return time.process_time() - began


def bare(texts: Sequence[str]) -> float:
    began = time.process_time()
    for line in texts:
        json.loads(line)
    return time.process_time() - began


def figures(api: str, kind: str, count: int, repeats: int) -> tuple[float, float]:
    """Microseconds per event: ours and those of a bare `json.loads`; the best of some runs each."""
    payloads = EVENTS[api](kind, count)
    reads = reads_of(api, payloads)
    texts = [json.dumps(payload, separators=(",", ":")) for payload in payloads]
    gc.collect()
    gc.disable()
    try:
        runs = [(decode(api, reads), bare(texts)) for _ in range(repeats)]
    finally:
        gc.enable()
    ours, loads = (min(values) / len(payloads) * 1e6 for values in zip(*runs, strict=True))
    return ours, loads


def measure(quick: bool) -> Report:
    count, repeats = (5_000, 5) if quick else (20_000, 9)
    rows, worst = [], 0.0
    for api in EVENTS:
        for kind in KINDS[: 2 if api in WHOLE_CALLS else 3]:
            ours, loads = figures(api, kind, count, repeats)
            worst = max(worst, ours / loads)
            rows.append((f"{api}: {kind}", f"{ours:.2f}", f"{loads:.2f}", ratio(ours, loads)))
    head = ("", "µs/event", "json.loads", "÷ json.loads")
    title = f"Decoding {count:,} events (best of {repeats})"
    return Report(
        [Table(title, head, rows)],
        [Target("decoding ÷ json.loads of the same events, the worst wire", worst, 2.0)],
    )
