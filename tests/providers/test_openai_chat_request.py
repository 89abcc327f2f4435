"""Requests as the server gets them: one context with everything in it, for servers of all kinds."""

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
from agent_tui.providers.openai_chat_request import build
from agent_tui.providers.request import encode

PNG = ImageBlock(data="aWNvbg==", mime_type="image/png")
LS = ToolSchema("ls", "List a folder.", {"type": "object", "properties": {}})
LS_SENT = {
    "type": "function",
    "function": {
        "name": "ls",
        "description": "List a folder.",
        "parameters": {"type": "object", "properties": {}},
    },
}


def model(base_url: str = "http://10.0.0.5:8000/v1", **fields: Any) -> Model:
    return Model("lab", "m", api="openai-chat", base_url=base_url, **fields)


def call(call_id: str, name: str, **arguments: Any) -> ToolCall:
    return ToolCall(id=call_id, name=name, arguments=arguments)


def result(call_id: str, *content: Any, is_error: bool = False) -> ToolResultMessage:
    blocks = [TextBlock(text=item) if isinstance(item, str) else item for item in content]
    return ToolResultMessage(
        tool_call_id=call_id, tool_name="ls", content=blocks, is_error=is_error
    )


def body(context: LlmContext, target: Model | None = None, **options: Any) -> dict[str, Any]:
    return build(target or model(), context, StreamOptions(**options)).body


def messages(*history: LlmMessage, target: Model | None = None) -> list[Any]:
    sent: list[Any] = body(LlmContext(messages=list(history)), target)["messages"]
    return sent


def test_a_context_with_everything_becomes_this_body() -> None:
    context = LlmContext(
        "Be brief.",
        [
            UserMessage(content=[TextBlock(text="what is this?"), PNG]),
            AssistantMessage(
                content=[
                    ThinkingBlock(thinking="an icon", signature="reasoning_content"),
                    TextBlock(text="I look."),
                    call("c1", "ls", path="ä"),
                    call("c2", "ls"),
                ]
            ),
            result("c1", "a.py", "b.py"),
            result("c2", "no such folder", is_error=True),
            UserMessage(content="and?"),
        ],
        [LS],
    )

    assert body(context) == {
        "model": "m",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "what is this?"},
                    {"type": "image_url", "image_url": {"url": "data:image/png;base64,aWNvbg=="}},
                ],
            },
            {
                "role": "assistant",
                "content": "I look.",
                "reasoning_content": "an icon",
                "tool_calls": [
                    {
                        "id": "c1",
                        "type": "function",
                        "function": {"name": "ls", "arguments": '{"path": "ä"}'},
                    },
                    {
                        "id": "c2",
                        "type": "function",
                        "function": {"name": "ls", "arguments": "{}"},
                    },
                ],
            },
            {"role": "tool", "tool_call_id": "c1", "content": "a.py\nb.py"},
            {"role": "tool", "tool_call_id": "c2", "content": "no such folder"},
            {"role": "user", "content": "and?"},
        ],
        "tools": [LS_SENT],
        "stream": True,
        "stream_options": {"include_usage": True},
    }


def test_openai_gets_what_only_openai_understands() -> None:
    sent = build(
        model("https://api.openai.com/v1", reasoning=True),
        LlmContext("Be brief.", [UserMessage(content="hi")]),
        StreamOptions(thinking_level="high", max_output_tokens=99, session_id="s1"),
    )

    assert sent.url == "https://api.openai.com/v1/chat/completions"
    assert sent.body == {
        "model": "m",
        "messages": [
            {"role": "developer", "content": "Be brief."},
            {"role": "user", "content": "hi"},
        ],
        "stream": True,
        "stream_options": {"include_usage": True, "include_obfuscation": False},
        "max_completion_tokens": 99,
        "reasoning_effort": "high",
        "store": False,
        "prompt_cache_key": "s1",
    }


def test_an_unknown_server_gets_no_more_than_everyone_understands() -> None:
    sent = build(
        model(),
        LlmContext(messages=[UserMessage(content="hi")]),
        StreamOptions(max_output_tokens=99, session_id="s1"),
    )

    assert set(sent.body) == {"model", "messages", "stream", "stream_options", "max_tokens"}
    assert sent.headers == {}


@pytest.mark.parametrize(
    ("base_url", "header"),
    [
        ("https://openrouter.ai/api/v1", "x-session-id"),
        ("https://api.fireworks.ai/inference/v1", "x-session-affinity"),
    ],
)
def test_servers_that_route_by_session_get_its_id(base_url: str, header: str) -> None:
    sent = build(model(base_url), LlmContext(), StreamOptions(session_id="s1"))

    assert sent.headers == {header: "s1"}


def test_pictures_of_tools_follow_in_a_message_of_their_own() -> None:
    sent = messages(
        AssistantMessage(content=[call("c1", "see"), call("c2", "ls")]),
        result("c1", PNG),
        result("c2"),
        UserMessage(content="so?"),
    )

    assert [m["role"] for m in sent] == ["assistant", "tool", "tool", "user", "user"]
    assert "image" in sent[1]["content"]
    assert sent[2]["content"] == "(no output)"
    assert sent[3]["content"][1]["image_url"]["url"].startswith("data:image/png")


@pytest.mark.parametrize(
    ("wanted", "content"), [("null", {"content": None}), ("empty", {"content": ""}), ("absent", {})]
)
def test_a_message_with_calls_only_has_the_content_its_server_wants(
    wanted: str, content: dict[str, Any]
) -> None:
    target = model(compat={"content_without_text": wanted})

    sent = messages(AssistantMessage(content=[call("c1", "ls")]), target=target)[0]

    sent.pop("tool_calls")
    assert sent == {"role": "assistant"} | content


def test_an_answer_of_thoughts_alone_is_not_sent_back() -> None:
    assert messages(AssistantMessage(content=[ThinkingBlock(thinking="hm", signature="x")])) == []


def test_reasoning_details_go_back_whole() -> None:
    details = [{"type": "reasoning.encrypted", "data": "E"}]
    thought = ThinkingBlock(thinking="hm", signature=json.dumps(details))

    sent = messages(AssistantMessage(content=[thought, TextBlock(text="x")]))[0]

    assert sent == {"role": "assistant", "content": "x", "reasoning_details": details}


def test_mistral_gets_its_thinking_parts_and_nine_letter_ids() -> None:
    target = model("https://api.mistral.ai/v1")
    thought = ThinkingBlock(thinking="hm", signature="parts")

    sent = messages(
        AssistantMessage(content=[thought, TextBlock(text="x"), call("call_long", "ls")]),
        result("call_long", "ok"),
        AssistantMessage(content=[call("abcDEF123", "ls")]),
        target=target,
    )

    assert sent[0]["content"] == [
        {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]},
        {"type": "text", "text": "x"},
    ]
    new_id = sent[0]["tool_calls"][0]["id"]
    assert len(new_id) == 9
    assert sent[1] == {"role": "tool", "tool_call_id": new_id, "name": "ls", "content": "ok"}
    assert sent[2]["tool_calls"][0]["id"] == "abcDEF123"


def test_deepseek_wants_the_field_even_without_thoughts() -> None:
    target = model("https://api.deepseek.com/v1")

    sent = messages(AssistantMessage(content=[call("c1", "ls")]), target=target)[0]

    assert sent["reasoning_content"] == ""


def test_a_template_that_refuses_user_after_tool_gets_a_word_between() -> None:
    sent = messages(
        AssistantMessage(content=[call("c1", "ls")]),
        result("c1", "ok"),
        UserMessage(content="so?"),
        target=model(compat={"assistant_after_tool": True}),
    )

    assert [m["role"] for m in sent] == ["assistant", "tool", "assistant", "user"]


def test_some_proxies_want_an_empty_list_of_tools_beside_old_calls() -> None:
    history = LlmContext(messages=[AssistantMessage(content=[call("c1", "ls")])])
    target = model(compat={"tools_with_tool_history": True})

    assert body(history, target)["tools"] == []
    assert "tools" not in body(history)


@pytest.mark.parametrize(
    ("compat", "level", "fields"),
    [
        ({}, "off", {}),
        ({}, "minimal", {"reasoning_effort": "low"}),
        ({}, "xhigh", {"reasoning_effort": "high"}),
        ({"efforts": {"off": "none", "low": "low"}}, "off", {"reasoning_effort": "none"}),
        ({"efforts": {"low": "low", "high": "high"}}, "off", {"reasoning_effort": "low"}),
        ({"efforts": {"low": "low", "high": "high"}}, "medium", {"reasoning_effort": "low"}),
        ({"efforts": {"high": "high"}}, "low", {"reasoning_effort": "high"}),
        ({"efforts": {"xhigh": "max"}}, "xhigh", {"reasoning_effort": "max"}),
        ({"reasoning_format": "openrouter"}, "low", {"reasoning": {"effort": "low"}}),
        ({"reasoning_format": "openrouter"}, "off", {"reasoning": {"enabled": False}}),
        ({"reasoning_format": "zai"}, "off", {"thinking": {"type": "disabled"}}),
        ({"reasoning_format": "deepseek"}, "low", {"thinking": {"type": "enabled"}}),
        (
            {"reasoning_format": "deepseek", "efforts": {"high": "high"}},
            "high",
            {"thinking": {"type": "enabled"}, "reasoning_effort": "high"},
        ),
        ({"reasoning_format": "together"}, "low", {"reasoning": {"enabled": True}}),
        ({"reasoning_format": "qwen"}, "low", {"enable_thinking": True}),
        (
            {"reasoning_format": "chat_template"},
            "off",
            {"chat_template_kwargs": {"enable_thinking": False}},
        ),
        ({"reasoning_format": "none"}, "high", {}),
    ],
    ids=str,
)
def test_thinking_is_switched_in_the_servers_own_words(
    compat: dict[str, Any], level: ThinkingLevel, fields: dict[str, Any]
) -> None:
    target = model(compat=compat, reasoning=True)

    sent = body(LlmContext(), target, thinking_level=level)

    assert {k: v for k, v in sent.items() if k not in body(LlmContext(), model())} == fields


def test_a_model_not_known_to_think_is_not_told_to_stop() -> None:
    target = model(compat={"reasoning_format": "zai"})

    assert "thinking" not in body(LlmContext(), target, thinking_level="off")


def test_what_no_json_or_utf8_can_hold_is_replaced() -> None:
    sent = build(
        model(),
        LlmContext(
            messages=[
                UserMessage(content="half \ud83d a character"),
                AssistantMessage(content=[call("c1", "ls", size=float("nan"))]),
            ]
        ),
        StreamOptions(temperature=float("inf")),
    )

    data = json.loads(encode(sent.body).decode())

    assert data["messages"][0]["content"] == "half \ufffd a character"
    assert data["messages"][1]["tool_calls"][0]["function"]["arguments"] == '{"size": null}'
    assert data["temperature"] is None


def test_after_the_boundary_a_request_is_paired_and_its_ids_are_its_own() -> None:
    target = model()
    answer = AssistantMessage(
        provider="lab",
        model="m",
        api="openai-chat",
        content=[
            TextBlock(text=""),
            ToolCall(id="functions.ls:7", name="ls", arguments_error="bad", raw_arguments="{"),
        ],
        stop_reason="tool_use",
    )
    history: list[LlmMessage] = [UserMessage(content="hi"), answer, UserMessage(content="go on")]

    sent = messages(*normalise(history, target), target=target)

    assert [m["role"] for m in sent] == ["user", "assistant", "tool", "user"]
    tool_call = sent[1]["tool_calls"][0]
    assert sent[2]["tool_call_id"] == tool_call["id"]
    assert json.loads(tool_call["function"]["arguments"]) == {}
    assert sent[1]["content"] is None


def test_the_same_context_gives_the_same_bytes() -> None:
    context = LlmContext("s", [UserMessage(content="hi")], [LS])

    assert encode(body(context)) == encode(body(context))
