"""Requests over the Responses wire: one context with everything in it, and each rule by itself."""

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
from agent_tui.providers.catalog import get_model
from agent_tui.providers.openai_responses import Parser
from agent_tui.providers.openai_responses_request import build
from agent_tui.providers.request import encode
from agent_tui.providers.sse import SseDecoder
from tests.providers.loopback import CASES

PNG = ImageBlock(data="aWNvbg==", mime_type="image/png")
PNG_SENT = {
    "type": "input_image",
    "image_url": "data:image/png;base64,aWNvbg==",
    "detail": "auto",
}
LS = ToolSchema("ls", "List a folder.", {"type": "object", "properties": {}})
REASONING = {
    "type": "reasoning",
    "id": "rs_1",
    "summary": [{"type": "summary_text", "text": "hm"}],
    "encrypted_content": "gAAAA",
}


def model(model_id: str = "gpt-5", base_url: str = "http://10.0.0.5/v1", **fields: Any) -> Model:
    return Model("openai", model_id, api="openai-responses", base_url=base_url, **fields)


def says(words: str) -> dict[str, Any]:
    return {"type": "input_text", "text": words}


def asks(words: str) -> UserMessage:
    return UserMessage(content=words)


def own(*content: Any, **fields: Any) -> AssistantMessage:
    return AssistantMessage(
        provider="openai", api="openai-responses", model="gpt-5", content=list(content), **fields
    )


def thought(**changes: Any) -> ThinkingBlock:
    return ThinkingBlock(thinking="hm", signature=json.dumps(REASONING | changes))


def spoken(words: str, **known: str) -> TextBlock:
    return TextBlock(text=words, signature=json.dumps({"id": "msg_1"} | known))


def call(call_id: str, item_id: str | None = "fc_1", **arguments: Any) -> ToolCall:
    return ToolCall(id=call_id, name="ls", arguments=arguments, thought_signature=item_id)


def result(call_id: str, *content: Any) -> ToolResultMessage:
    blocks = [TextBlock(text=item) if isinstance(item, str) else item for item in content]
    return ToolResultMessage(tool_call_id=call_id, tool_name="ls", content=blocks)


def body(context: LlmContext, target: Model | None = None, **options: Any) -> dict[str, Any]:
    return build(target or model(), context, StreamOptions(**options)).body


def items(*history: LlmMessage, target: Model | None = None) -> list[Any]:
    sent: list[Any] = body(LlmContext(messages=list(history)), target)["input"]
    return sent


# -- everything at once ------------------------------------------------------------------------


def test_a_context_with_everything_becomes_this_body() -> None:
    context = LlmContext(
        "Be brief.",
        [
            UserMessage(content=[TextBlock(text="what is this?"), PNG]),
            own(
                thought(),
                spoken("I look.", phase="commentary"),
                call("c1", path="ä"),
                call("c2", "fc_2"),
            ),
            result("c1", "a.py", "b.py"),
            result("c2", "see", PNG),
            asks("and?"),
        ],
        [LS],
    )

    sent = build(
        model(base_url="https://api.openai.com/v1", reasoning=True),
        context,
        StreamOptions(thinking_level="high", max_output_tokens=99, session_id="s1"),
    )

    assert sent.url == "https://api.openai.com/v1/responses"
    assert sent.body == {
        "model": "gpt-5",
        "instructions": "Be brief.",
        "input": [
            {"role": "user", "content": [says("what is this?"), PNG_SENT]},
            REASONING,
            {
                "type": "message",
                "role": "assistant",
                "phase": "commentary",
                "id": "msg_1",
                "status": "completed",
                "content": [{"type": "output_text", "text": "I look.", "annotations": []}],
            },
            {
                "type": "function_call",
                "id": "fc_1",
                "call_id": "c1",
                "name": "ls",
                "arguments": '{"path": "ä"}',
            },
            {
                "type": "function_call",
                "id": "fc_2",
                "call_id": "c2",
                "name": "ls",
                "arguments": "{}",
            },
            {"type": "function_call_output", "call_id": "c1", "output": "a.py\nb.py"},
            {"type": "function_call_output", "call_id": "c2", "output": [says("see"), PNG_SENT]},
            {"role": "user", "content": [says("and?")]},
        ],
        "tools": [
            {
                "type": "function",
                "name": "ls",
                "description": "List a folder.",
                "parameters": {"type": "object", "properties": {}},
                "strict": False,
            }
        ],
        "reasoning": {"effort": "high", "summary": "auto"},
        "include": ["reasoning.encrypted_content"],
        "max_output_tokens": 99,
        "store": False,
        "stream": True,
        "stream_options": {"include_obfuscation": False},
        "prompt_cache_key": "s1",
    }


def test_an_unknown_server_gets_no_more_than_it_must() -> None:
    sent = build(model(), LlmContext(messages=[asks("hi")]), StreamOptions(session_id="s1"))

    assert set(sent.body) == {"model", "input", "store", "stream"}
    assert sent.body["store"] is False
    assert sent.headers == {}


def test_servers_that_route_by_session_get_its_id() -> None:
    target = model(base_url="https://openrouter.ai/api/v1")

    sent = build(target, LlmContext(), StreamOptions(session_id="s1"))

    assert sent.url == "https://openrouter.ai/api/v1/responses"
    assert sent.headers == {"x-session-id": "s1"}


@pytest.mark.parametrize(
    ("key", "level", "reasoning"),
    [
        ("gpt-5", "off", {"effort": "minimal"}),
        ("gpt-5", "medium", {"effort": "medium", "summary": "auto"}),
        ("gpt-5.5", "off", {"effort": "none"}),
        ("gpt-5.5", "xhigh", {"effort": "xhigh", "summary": "auto"}),
        ("gpt-6.2-sol", "off", {"effort": "low"}),
    ],
)
def test_reasoning_is_switched_in_the_models_own_words(
    key: str, level: ThinkingLevel, reasoning: dict[str, str]
) -> None:
    sent = body(LlmContext(), get_model(f"openai/{key}", {}), thinking_level=level)

    assert sent["reasoning"] == reasoning
    assert sent["include"] == ["reasoning.encrypted_content"]


def test_a_model_that_does_not_reason_is_asked_for_nothing_of_the_kind() -> None:
    sent = body(LlmContext(), get_model("openai/gpt-4.1", {}), thinking_level="off")

    assert not {"reasoning", "include"} & set(sent)


def test_the_same_context_gives_the_same_bytes() -> None:
    context = LlmContext("s", [asks("hi"), own(thought(), call("c1")), result("c1", "x")], [LS])

    assert encode(body(context)) == encode(body(context))


# -- what goes back ----------------------------------------------------------------------------


def test_the_recorded_reasoning_stands_right_before_its_call() -> None:
    target = model()
    parser, decoder = Parser(target), SseDecoder()
    recorded = (CASES / "wire-openai-responses/reasoning-item-with-call.sse").read_bytes()
    parser.feed(json.loads(data) for _, data in decoder.feed(recorded))
    parser.finish()
    answer = parser.builder.message
    history: list[LlmMessage] = [asks("q"), answer, result("call_r1", "ok")]

    sent = items(*normalise(history, target))

    assert [item.get("type") for item in sent] == [
        None,
        "reasoning",
        "function_call",
        "function_call_output",
    ]
    assert sent[1]["encrypted_content"] == "gAAAAABenc1"
    assert (sent[2]["id"], sent[2]["call_id"]) == ("fc_01", "call_r1")


def test_reasoning_without_what_it_led_to_is_left_out() -> None:
    assert items(own(thought(), thought(id="rs_2"), stop_reason="length")) == []
    assert [item["type"] for item in items(own(thought(), spoken("x"), thought()))] == [
        "reasoning",
        "message",
    ]


@pytest.mark.parametrize(
    "lost",
    [thought(encrypted_content=None), ThinkingBlock(thinking="hm"), ThinkingBlock(signature="[")],
    ids=["not_encrypted", "unsigned", "damaged"],
)
def test_without_reasoning_to_send_back_the_ids_stay_here(lost: ThinkingBlock) -> None:
    sent = items(own(lost, spoken("x", phase="final_answer"), call("c1")))

    assert sent == [
        {"type": "message", "role": "assistant", "phase": "final_answer", "content": "x"},
        {"type": "function_call", "call_id": "c1", "name": "ls", "arguments": "{}"},
    ]


def test_open_reasoning_goes_back_in_the_clear() -> None:
    content = [{"type": "reasoning_text", "text": "hm"}]
    open_thought = thought(encrypted_content=None, content=content)

    assert items(own(open_thought, spoken("x")))[0]["content"] == content


def test_a_server_may_want_no_reasoning_back() -> None:
    target = model(compat={"replay_reasoning": False})

    sent = items(own(thought(), call("c1")), target=target)

    assert [item["type"] for item in sent] == ["function_call"]
    assert "id" not in sent[0]


def test_ids_that_are_too_long_are_left_out() -> None:
    sent = items(own(spoken("x", id="m" * 65), call("c1", "f" * 65), call("c2", "f" * 64)))

    assert ["id" in item for item in sent] == [False, False, True]


def test_what_was_interrupted_goes_back_as_words() -> None:
    target = model()
    aborted = own(thought(), spoken("So far"), call("c1"), stop_reason="aborted")

    sent = items(*normalise([asks("q"), aborted, asks("go on")], target))

    assert [item.get("type", "user") for item in sent] == ["user", "message", "message", "user"]
    assert not any("id" in item for item in sent)


def test_another_models_answer_goes_without_its_ids() -> None:
    answer = own(thought(), spoken("x"), call("c1"))

    sent = items(*normalise([asks("q"), answer, result("c1", "ok")], model("gpt-5.5")))

    assert sent[1:4] == [
        {"type": "message", "role": "assistant", "content": "hm"},
        {"type": "message", "role": "assistant", "content": "x"},
        {"type": "function_call", "call_id": "c1", "name": "ls", "arguments": "{}"},
    ]


@pytest.mark.parametrize(
    ("content", "output"),
    [((), "(no output)"), ((" ",), "(no output)"), ((PNG,), [PNG_SENT]), ((" ", PNG), [PNG_SENT])],
    ids=["nothing", "blank", "picture", "blank and picture"],
)
def test_a_result_is_never_empty(content: tuple[Any, ...], output: Any) -> None:
    assert items(own(call("c1")), result("c1", *content))[1]["output"] == output


def test_blank_texts_are_left_out_and_numbers_that_json_lacks_are_null() -> None:
    sent = items(own(TextBlock(text=" "), call("c1", size=float("inf"))))

    assert [item["type"] for item in sent] == ["function_call"]
    assert json.loads(sent[0]["arguments"]) == {"size": None}
