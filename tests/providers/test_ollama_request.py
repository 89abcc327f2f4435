"""Requests as Ollama gets them: one context with everything in it, and each rule by itself."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agent_tui.agent.boundary import normalise
from agent_tui.core.messages import (
    AssistantMessage,
    ImageBlock,
    LlmMessage,
    TextBlock,
    ThinkingBlock,
    ToolCall,
    ToolResultMessage,
    UserMessage,
)
from agent_tui.core.model import Model, ThinkingLevel
from agent_tui.core.stream import LlmContext, StreamOptions, ToolSchema
from agent_tui.providers.ollama_request import build
from agent_tui.providers.ollama_show import UNKNOWN, Details
from agent_tui.providers.request import encode

PNG = ImageBlock(data="aWNvbg==", mime_type="image/png")
THINKS = Details(40960, capabilities=frozenset(["completion", "tools", "thinking"]))
PLAIN = Details(40960, capabilities=frozenset(["completion"]))


def model(model_id: str = "qwen3:8b", **fields: Any) -> Model:
    known: dict[str, Any] = {"api": "ollama", "base_url": "http://127.0.0.1:11434"}
    return Model("ollama", model_id, **(known | fields))


def call(call_id: str, **arguments: Any) -> ToolCall:
    return ToolCall(id=call_id, name="ls", arguments=arguments)


def result(call_id: str, *content: Any) -> ToolResultMessage:
    blocks = [TextBlock(text=item) if isinstance(item, str) else item for item in content]
    return ToolResultMessage(tool_call_id=call_id, tool_name="ls", content=blocks)


def messages(*history: LlmMessage) -> list[Any]:
    sent: list[Any] = build(model(), LlmContext(messages=list(history)), StreamOptions()).body[
        "messages"
    ]
    return sent


def test_a_context_with_everything_becomes_this_request() -> None:
    context = LlmContext(
        "Be brief.",
        [
            UserMessage(content=[TextBlock(text="what is this?"), PNG]),
            AssistantMessage(
                content=[
                    ThinkingBlock(thinking="an icon"),
                    TextBlock(text="I look."),
                    call("c1", path="ä"),
                    call("c2"),
                ]
            ),
            result("c1", "a.py", "b.py"),
            result("c2", "no such folder"),
        ],
        [ToolSchema("ls", "List a folder.", {"type": "object", "properties": {}})],
    )
    options = StreamOptions(thinking_level="high", max_output_tokens=99, temperature=0.5)

    sent = build(model(), context, options, THINKS)

    assert sent.url == "http://127.0.0.1:11434/api/chat"
    assert sent.headers == {"accept": "application/x-ndjson"}
    assert sent.body == {
        "model": "qwen3:8b",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "what is this?", "images": ["aWNvbg=="]},
            {
                "role": "assistant",
                "content": "I look.",
                "thinking": "an icon",
                "tool_calls": [
                    {
                        "id": "c1",
                        "function": {"index": 0, "name": "ls", "arguments": {"path": "ä"}},
                    },
                    {"id": "c2", "function": {"index": 1, "name": "ls", "arguments": {}}},
                ],
            },
            {"role": "tool", "tool_name": "ls", "tool_call_id": "c1", "content": "a.py\nb.py"},
            {"role": "tool", "tool_name": "ls", "tool_call_id": "c2", "content": "no such folder"},
        ],
        "tools": [
            {
                "type": "function",
                "function": {
                    "name": "ls",
                    "description": "List a folder.",
                    "parameters": {"type": "object", "properties": {}},
                },
            }
        ],
        "stream": True,
        "think": True,
        "options": {"num_ctx": 40960, "num_predict": 99, "temperature": 0.5},
        "keep_alive": "10m",
        "truncate": False,
    }


@pytest.mark.parametrize(
    ("base_url", "url"),
    [
        ("http://box:11434/v1", "http://box:11434/api/chat"),
        ("https://ollama.com/", "https://ollama.com/api/chat"),
        ("http://gate/box", "http://gate/box/api/chat"),
    ],
)
def test_the_address_may_be_that_of_the_other_api(base_url: str, url: str) -> None:
    assert build(model(base_url=base_url), LlmContext(), StreamOptions()).url == url


def test_nothing_is_said_of_tools_where_there_are_none() -> None:
    assert "tools" not in build(model(), LlmContext(), StreamOptions()).body


# -- history -----------------------------------------------------------------------------------


def test_thoughts_go_back_only_while_the_loop_runs() -> None:
    thought = ThinkingBlock(thinking="hm")

    sent = messages(
        UserMessage(content="a"),
        AssistantMessage(content=[thought, TextBlock(text="x")]),
        UserMessage(content="b"),
        AssistantMessage(content=[thought, call("c1")]),
        result("c1", "ok"),
    )

    assert ["thinking" in message for message in sent] == [False, False, False, True, False]


def test_an_answer_of_thoughts_alone_is_not_sent_back() -> None:
    assert messages(AssistantMessage(content=[ThinkingBlock(thinking="hm")])) == []


def test_pictures_of_tools_follow_behind_all_results() -> None:
    sent = messages(
        AssistantMessage(content=[call("c1"), call("c2")]),
        result("c1", PNG),
        result("c2", " "),
        UserMessage(content="so?"),
    )

    assert [m["role"] for m in sent] == ["assistant", "tool", "tool", "user", "user"]
    assert "image" in sent[1]["content"]
    assert sent[2]["content"] == "(no output)"
    assert sent[3]["images"] == ["aWNvbg=="]


def test_pictures_of_the_last_results_are_sent_too() -> None:
    sent = messages(AssistantMessage(content=[call("c1")]), result("c1", "seen", PNG))

    assert [m["role"] for m in sent] == ["assistant", "tool", "user"]


def test_after_the_boundary_a_request_is_paired() -> None:
    target = model()
    own: dict[str, Any] = {"provider": "ollama", "api": "ollama", "model": target.id}
    answer = AssistantMessage(content=[TextBlock(text=""), call("functions.ls:7")], **own)
    history: list[LlmMessage] = [UserMessage(content="hi"), answer, UserMessage(content="go on")]

    sent = messages(*normalise(history, target))

    assert [m["role"] for m in sent] == ["user", "assistant", "tool", "user"]
    assert sent[2]["tool_call_id"] == sent[1]["tool_calls"][0]["id"]


# -- thinking ----------------------------------------------------------------------------------


GPT_OSS = Details(131072, capabilities=frozenset(["thinking"]), family="gptoss")


@pytest.mark.parametrize(
    ("fields", "details", "level", "sent"),
    [
        ({}, PLAIN, "high", {}),
        ({"reasoning": True}, PLAIN, "high", {}),
        ({}, UNKNOWN, "high", {}),
        ({"reasoning": True}, UNKNOWN, "high", {"think": True}),
        ({}, THINKS, "off", {"think": False}),
        ({}, THINKS, "minimal", {"think": True}),
        ({}, GPT_OSS, "off", {"think": "low"}),
        ({}, GPT_OSS, "medium", {"think": "medium"}),
        ({}, GPT_OSS, "xhigh", {"think": "high"}),
        ({"model_id": "gpt-oss:20b"}, THINKS, "low", {"think": "low"}),
        ({"compat": {"efforts": {"xhigh": "max"}}}, THINKS, "xhigh", {"think": "max"}),
        ({"compat": {"efforts": {"xhigh": "max"}}}, THINKS, "off", {"think": False}),
    ],
)
def test_thinking_is_switched_by_what_the_model_can(
    fields: dict[str, Any], details: Details, level: ThinkingLevel, sent: dict[str, Any]
) -> None:
    body = build(model(**fields), LlmContext(), StreamOptions(thinking_level=level), details).body

    assert {name: value for name, value in body.items() if name == "think"} == sent


# -- bytes -------------------------------------------------------------------------------------


def test_what_no_json_can_hold_is_replaced() -> None:
    context = LlmContext(messages=[AssistantMessage(content=[call("a", size=float("nan"))])])

    data = json.loads(encode(build(model(), context, StreamOptions()).body))

    assert data["messages"][0]["tool_calls"][0]["function"]["arguments"] == {"size": None}


def test_the_same_context_gives_the_same_bytes() -> None:
    context = LlmContext("s", [UserMessage(content="hi")])

    first = encode(build(model(), context, StreamOptions()).body)

    assert encode(build(model(), context, StreamOptions()).body) == first
