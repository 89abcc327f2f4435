"""The words of a stream: names, types and defaults that adapters of other people rely on."""

from __future__ import annotations

from typing import Any

import pytest

from agent_tui import AssistantMessage
from agent_tui.core.stream import (
    LlmContext,
    StreamDone,
    StreamError,
    StreamOptions,
    StreamStart,
    TextDelta,
    TextEnd,
    TextStart,
    ThinkingDelta,
    ThinkingEnd,
    ThinkingStart,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
    ToolSchema,
)

PARTIAL = AssistantMessage()


@pytest.mark.parametrize(
    ("cls", "type_"),
    [
        (TextStart, "text_start"),
        (TextEnd, "text_end"),
        (ThinkingStart, "thinking_start"),
        (ThinkingEnd, "thinking_end"),
        (ToolCallStart, "toolcall_start"),
        (ToolCallEnd, "toolcall_end"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_the_edges_of_a_block_have_an_index_and_a_partial(cls: Any, type_: str) -> None:
    event = cls(content_index=2, partial=PARTIAL)

    assert (event.type, event.content_index, event.partial) == (type_, 2, PARTIAL)


@pytest.mark.parametrize(
    ("cls", "type_"),
    [
        (TextDelta, "text_delta"),
        (ThinkingDelta, "thinking_delta"),
        (ToolCallDelta, "toolcall_delta"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_a_delta_has_a_delta_too(cls: Any, type_: str) -> None:
    event = cls(content_index=2, delta="x", partial=PARTIAL)

    assert (event.type, event.content_index, event.delta) == (type_, 2, "x")


def test_the_ends_of_a_stream_have_a_reason_and_a_message() -> None:
    start = StreamStart(partial=PARTIAL)
    done = StreamDone(reason="tool_use", message=PARTIAL)
    error = StreamError(reason="aborted", message=PARTIAL)

    assert (start.type, start.partial) == ("start", PARTIAL)
    assert (done.type, done.reason, done.message) == ("done", "tool_use", PARTIAL)
    assert (error.type, error.reason, error.message) == ("error", "aborted", PARTIAL)


def test_a_context_is_what_the_model_sees() -> None:
    context = LlmContext(
        system_prompt="be brief",
        messages=[],
        tools=[ToolSchema(name="echo", description="Echoes.", parameters={"type": "object"})],
    )

    assert context.system_prompt == "be brief"
    assert context.tools[0].name == "echo"
    assert LlmContext() == LlmContext(system_prompt=None, messages=[], tools=[])


def test_options_have_defaults() -> None:
    options = StreamOptions()

    assert options.thinking_level == "off"
    assert options.max_output_tokens is None
    assert options.temperature is None
    assert options.api_key is None
    assert options.session_id is None
    assert options.timeout is None
    assert not options.signal.aborted
    assert dict(options.headers) == {}
