"""Events as lines of JSON."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agent_tui import (
    AgentEndEvent,
    AgentEvent,
    AgentStartEvent,
    AssistantMessage,
    ErrorInfo,
    MessageEndEvent,
    MessageStartEvent,
    MessageUpdateEvent,
    TextBlock,
    ToolExecutionEndEvent,
    ToolExecutionStartEvent,
    ToolExecutionUpdateEvent,
    ToolResult,
    ToolResultMessage,
    TurnEndEvent,
    TurnStartEvent,
    Usage,
    UserMessage,
)
from agent_tui.core.events import json_line
from agent_tui.core.stream import TextDelta

USER = UserMessage(content="grüße 👋")
ANSWER = AssistantMessage(content=[TextBlock(text="hi")])
RESULT = ToolResult("done", details={"lines": 3})
EVENTS: list[AgentEvent] = [
    AgentStartEvent(),
    AgentEndEvent([USER, ANSWER], "error", ErrorInfo(code="auth", message="no key")),
    TurnStartEvent(2),
    TurnEndEvent(ANSWER, [ToolResultMessage(tool_call_id="c1")]),
    MessageStartEvent(USER),
    MessageUpdateEvent(ANSWER, TextDelta(0, "hi", ANSWER)),
    MessageEndEvent(ANSWER),
    ToolExecutionStartEvent("c1", "echo", {"a": 1}),
    ToolExecutionUpdateEvent("c1", "echo", {"a": 1}, RESULT),
    ToolExecutionEndEvent("c1", "echo", RESULT, False),
]


def parsed(event: AgentEvent) -> dict[str, Any]:
    data: dict[str, Any] = json.loads(event.to_json())
    return data


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: event.type)
def test_an_event_is_one_line_of_json_with_its_type_first(event: AgentEvent) -> None:
    line = event.to_json()

    assert "\n" not in line
    assert line.startswith('{"type":')
    assert json.loads(line)["type"] == event.type


def test_there_are_ten_types() -> None:
    assert {event.type for event in EVENTS} == {
        "agent_start",
        "agent_end",
        "turn_start",
        "turn_end",
        "message_start",
        "message_update",
        "message_end",
        "tool_execution_start",
        "tool_execution_update",
        "tool_execution_end",
    }


def test_text_is_not_escaped_to_ascii() -> None:
    assert "grüße 👋" in MessageStartEvent(USER).to_json()


def test_a_message_is_written_whole() -> None:
    data = parsed(MessageEndEvent(ANSWER))

    assert data["message"]["role"] == "assistant"
    assert data["message"]["id"] == ANSWER.id
    assert data["message"]["content"][0]["text"] == "hi"
    assert data["message"]["usage"]["cost_usd"] is None


def test_an_update_carries_only_the_id_and_the_delta() -> None:
    data = parsed(MessageUpdateEvent(ANSWER, TextDelta(0, "hi", ANSWER)))

    assert data == {
        "type": "message_update",
        "message": {"id": ANSWER.id},
        "assistant_message_event": {"type": "text_delta", "content_index": 0, "delta": "hi"},
    }


def test_the_end_says_why() -> None:
    data = parsed(EVENTS[1])

    assert data["reason"] == "error"
    assert data["error"]["code"] == "auth"
    assert data["will_retry"] is False
    assert [message["role"] for message in data["messages"]] == ["user", "assistant"]


def test_a_result_is_written_as_an_object() -> None:
    data = parsed(ToolExecutionEndEvent("c1", "echo", RESULT, True))

    assert data["result"]["content"] == [{"type": "text", "text": "done"}]
    assert data["result"]["details"] == {"lines": 3}
    assert data["is_error"] is True
    assert (data["tool_call_id"], data["tool_name"]) == ("c1", "echo")


def test_a_turn_lists_its_results() -> None:
    data = parsed(TurnEndEvent(ANSWER, [ToolResultMessage(tool_call_id="c1")]))

    assert data["tool_results"][0]["tool_call_id"] == "c1"
    assert data["message"]["id"] == ANSWER.id


def test_details_of_any_kind_do_not_break_the_line() -> None:
    class Strange:
        def __str__(self) -> str:
            return "strange"

    result = ToolResult("x", details={"object": Strange(), "set": {1}, "nan": float("nan")})

    data = parsed(ToolExecutionEndEvent("c1", "echo", result, False))

    assert data["result"]["details"]["object"] == "strange"
    assert data["result"]["details"]["nan"] is None


def test_usage_of_a_tool_is_written() -> None:
    data = parsed(ToolExecutionEndEvent("c", "t", ToolResult("x", usage=Usage(input=3)), False))

    assert data["result"]["usage"]["input"] == 3


def test_lone_surrogates_do_not_break_the_line() -> None:
    message = UserMessage(content="a\ud800b é")

    line = json_line({"message": message, "nan": float("nan"), "result": RESULT})

    assert line.encode("utf-8")
    assert "\n" not in line
    assert json.loads(line)["message"]["content"] == "a\ufffdb é"
    assert json.loads(line)["nan"] is None
    assert json.loads(line)["result"]["details"] == {"lines": 3}


def test_run_ids_differ() -> None:
    assert AgentStartEvent().run_id != AgentStartEvent().run_id
