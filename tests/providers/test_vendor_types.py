"""Requests as the vendors' own client libraries describe them."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from agent_tui.core.messages import (
    AssistantMessage,
    ImageBlock,
    TextBlock,
    ThinkingBlock,
    ToolCall,
    ToolResultMessage,
    UserMessage,
)
from agent_tui.core.model import THINKING_LEVELS, Model, ThinkingLevel
from agent_tui.core.stream import LlmContext, StreamOptions, ToolSchema
from agent_tui.providers.catalog import get_model
from tests.providers.recordings import wire_of

REASONING = '{"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gA"}'
SPOKEN = '{"id": "msg_1", "phase": "commentary"}'


def known_fields(value: Any) -> Any:
    """What a validator kept of a body; it reads iterables only when they are asked for."""
    if isinstance(value, dict):
        return {key: known_fields(inner) for key, inner in value.items()}
    if value is None or isinstance(value, str | int | float):
        return value
    return [known_fields(item) for item in value]


def check(adapter: TypeAdapter[Any], body: dict[str, Any]) -> None:
    assert known_fields(adapter.validate_python(body)) == body


def everything(model: Model) -> LlmContext:
    """A conversation of `model` with a block of every kind in it."""
    png = ImageBlock(data="aWNvbg==", mime_type="image/png")
    is_responses = model.api == "openai-responses"
    thoughts = [ThinkingBlock(thinking="hm", signature=REASONING if is_responses else "EqQB")]
    if not is_responses:
        thoughts.append(ThinkingBlock(redacted=True, signature="EmwK"))
    answer = AssistantMessage(
        content=[
            *thoughts,
            TextBlock(text="I look.", signature=SPOKEN if is_responses else None),
            ToolCall(id="c1", name="ls", arguments={"a": 1}, thought_signature="fc_1"),
            ToolCall(id="c2", name="ls"),
        ]
    )
    return LlmContext(
        "Be brief.",
        [
            UserMessage(content=[TextBlock(text="what is this?"), png]),
            answer,
            ToolResultMessage(tool_call_id="c1", content=[TextBlock(text="x"), png]),
            ToolResultMessage(tool_call_id="c2", content=[TextBlock(text="bad")], is_error=True),
            AssistantMessage(content=[TextBlock(text="from elsewhere")]),
            UserMessage(content="and?"),
        ],
        [ToolSchema("ls", "List.", {"type": "object", "properties": {}})],
    )


def bodies(model: Model, level: ThinkingLevel) -> list[dict[str, Any]]:
    """The largest and the smallest request."""
    build = wire_of(model.api).build
    options = StreamOptions(thinking_level=level, session_id="s1", max_output_tokens=4000)
    least = LlmContext(messages=[UserMessage(content="hi")])
    without_tools = everything(model)
    without_tools.tools = []
    return [
        build(model, everything(model), options).body,
        build(model, without_tools, options).body,
        build(model, least, StreamOptions()).body,
    ]


@pytest.mark.parametrize("level", THINKING_LEVELS)
@pytest.mark.parametrize("name", ["claude-haiku-4-5", "claude-opus-4-6", "claude-sonnet-5-5"])
def test_anthropic_knows_every_field(name: str, level: ThinkingLevel) -> None:
    types = import_module("anthropic.types.message_create_params")
    adapter = TypeAdapter[Any](types.MessageCreateParamsStreaming)

    for body in bodies(get_model(f"anthropic/{name}", {}), level):
        check(adapter, body)
    with pytest.raises((AssertionError, ValidationError)):
        check(adapter, body | {"messages": [{"role": "user", "content": [{"type": "odd"}]}]})


@pytest.mark.parametrize("level", THINKING_LEVELS)
@pytest.mark.parametrize("name", ["gpt-4.1", "gpt-5", "gpt-6.2-sol"])
def test_openai_knows_every_field_of_a_response(name: str, level: ThinkingLevel) -> None:
    types = import_module("openai.types.responses.response_create_params")
    adapter = TypeAdapter[Any](types.ResponseCreateParamsStreaming)

    for body in bodies(get_model(f"openai/{name}", {}), level):
        check(adapter, body)
    with pytest.raises((AssertionError, ValidationError)):
        check(adapter, body | {"input": [{"role": "user", "content": [{"type": "odd"}]}]})
