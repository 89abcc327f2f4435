"""Requests: CPU time to make the request of a step out of a long transcript, for each wire.

The transcript is one answer with a call and one result of 900 characters for each step before. The
baseline is `json.dumps` of the same body.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

from agent_tui import Model
from agent_tui.agent.boundary import Boundary, convert_to_llm
from agent_tui.core.messages import (
    AgentMessage,
    AssistantMessage,
    TextBlock,
    ToolCall,
    ToolResultMessage,
    UserMessage,
)
from agent_tui.core.stream import LlmContext, StreamOptions
from agent_tui.providers.ollama_request import build as build_for_ollama
from agent_tui.providers.request import encode
from benchmarks.decoders import EVENTS, wire_of
from benchmarks.report import Report, Table, ratio

STEPS = (100, 400)


def transcript(api: str, steps: int) -> list[AgentMessage]:
    messages: list[AgentMessage] = [UserMessage(content="go")]
    for step in range(steps):
        call = ToolCall(id=f"c{step}", name="bash", arguments={"command": "ls -l src/" + "x" * 40})
        result = [TextBlock(text="line of output\n" * 60)]
        messages += [
            AssistantMessage(
                content=[TextBlock(text="I look."), call], api=api, provider="bench", model="m"
            ),
            ToolResultMessage(tool_call_id=call.id, tool_name="bash", content=result),
        ]
    return messages


def best(act: Callable[[], object], repeats: int) -> float:
    """CPU milliseconds."""
    spans = []
    for _ in range(repeats):
        began = time.process_time()
        act()
        spans.append(time.process_time() - began)
    return min(spans) * 1000


def figures(api: str, steps: int, repeats: int) -> tuple[float, float, float, float]:
    """Milliseconds for the boundary, the body, its bytes, and for a bare `json.dumps`."""
    model = Model("bench", "m", api=api, base_url="http://127.0.0.1:1/v1")
    messages, boundary = transcript(api, steps), Boundary("keep_text")
    shown = boundary.normalise(convert_to_llm(messages), model)
    context, options = LlmContext("Be brief.", shown, []), StreamOptions()

    def body() -> dict[str, Any]:
        if api == "ollama":
            return build_for_ollama(model, context, options).body
        return wire_of(api).build(model, context, options).body

    made = body()
    return (
        best(lambda: boundary.normalise(convert_to_llm(messages), model), repeats),
        best(body, repeats),
        best(lambda: encode(made), repeats),
        best(lambda: json.dumps(made), repeats),
    )


def measure(quick: bool) -> Report:
    rows = []
    for api in EVENTS:
        for steps in STEPS:
            edge, body, sent, bare = figures(api, steps, 5 if quick else 20)
            total = edge + body + sent
            parts = [f"{value:.2f}" for value in (edge, body, sent, bare)]
            rows.append((f"{api}: step {steps}", *parts, ratio(total, bare)))
    head = ("", "boundary", "body", "bytes", "json.dumps", "all ÷ json.dumps")
    return Report([Table("Making the request of a step, ms of CPU", head, rows)])
