"""Requests as Gemini gets them: one context with everything in it, and each rule by itself."""

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
from agent_tui.providers.gemini_request import (
    MADE_ID,
    NO_SIGNATURE,
    build,
    enum_for_const,
    generation_of,
)
from agent_tui.providers.request import encode
from agent_tui.providers.signatures import with_signature

PNG = ImageBlock(data="aWNvbg==", mime_type="image/png")
PNG_SENT = {"inlineData": {"mimeType": "image/png", "data": "aWNvbg=="}}
HOST = "https://generativelanguage.googleapis.com"
SIGNED = with_signature(None, 0, 7, "s1")


def model(model_id: str = "gemini-3.8-flash", base_url: str = HOST, **fields: Any) -> Model:
    return Model("gemini", model_id, api="gemini", base_url=base_url, **fields)


def own(*content: Any, of: Model | None = None) -> AssistantMessage:
    target = of or model()
    return AssistantMessage(
        provider=target.provider, api=target.api, model=target.id, content=list(content)
    )


def call(call_id: str, name: str = "ls", signature: str | None = None, **args: Any) -> ToolCall:
    return ToolCall(id=call_id, name=name, arguments=args, thought_signature=signature)


def result(call_id: str, *content: Any, is_error: bool = False) -> ToolResultMessage:
    blocks = [TextBlock(text=item) if isinstance(item, str) else item for item in content]
    return ToolResultMessage(
        tool_call_id=call_id, tool_name="ls", content=blocks, is_error=is_error
    )


def contents(*history: LlmMessage, target: Model | None = None) -> list[Any]:
    body = build(target or model(), LlmContext(messages=list(history)), StreamOptions()).body
    sent: list[Any] = body["contents"]
    return sent


def config(target: Model, **options: Any) -> dict[str, Any]:
    body = build(target, LlmContext(), StreamOptions(**options)).body
    found: dict[str, Any] = body.get("generationConfig", {})
    return found


def test_a_context_with_everything_becomes_this_request() -> None:
    schema = {"type": "object", "properties": {"path": {"const": "."}}}
    context = LlmContext(
        "Be brief.",
        [
            UserMessage(content=[TextBlock(text="what is this?"), PNG]),
            own(
                ThinkingBlock(thinking="an icon", signature=SIGNED),
                ThinkingBlock(thinking="for people"),
                TextBlock(text="I look."),
                call("g1", signature="s2", path="ä"),
                call(f"{MADE_ID}2"),
            ),
            result("g1", "a.py", "b.py"),
            result(f"{MADE_ID}2", "no such folder", is_error=True),
            UserMessage(content="and?"),
        ],
        [ToolSchema("ls", "List a folder.", schema)],
    )
    options = StreamOptions(thinking_level="high", max_output_tokens=99, temperature=0.5)

    sent = build(model(reasoning=True), context, options)

    assert sent.url == f"{HOST}/v1beta/models/gemini-3.8-flash:streamGenerateContent?alt=sse"
    assert sent.headers == {}
    assert sent.body == {
        "systemInstruction": {"parts": [{"text": "Be brief."}]},
        "contents": [
            {"role": "user", "parts": [{"text": "what is this?"}, PNG_SENT]},
            {
                "role": "model",
                "parts": [
                    {"text": "an icon", "thoughtSignature": "s1", "thought": True},
                    {"text": "I look."},
                    {
                        "functionCall": {"id": "g1", "name": "ls", "args": {"path": "ä"}},
                        "thoughtSignature": "s2",
                    },
                    {"functionCall": {"name": "ls", "args": {}}},
                ],
            },
            {
                "role": "user",
                "parts": [
                    {
                        "functionResponse": {
                            "id": "g1",
                            "name": "ls",
                            "response": {"output": "a.py\nb.py"},
                        }
                    },
                    {
                        "functionResponse": {
                            "name": "ls",
                            "response": {"error": "no such folder"},
                        }
                    },
                ],
            },
            {"role": "user", "parts": [{"text": "and?"}]},
        ],
        "tools": [
            {
                "functionDeclarations": [
                    {
                        "name": "ls",
                        "description": "List a folder.",
                        "parametersJsonSchema": {
                            "type": "object",
                            "properties": {"path": {"enum": ["."]}},
                        },
                    }
                ]
            }
        ],
        "generationConfig": {
            "maxOutputTokens": 99,
            "temperature": 0.5,
            "thinkingConfig": {"includeThoughts": True, "thinkingLevel": "HIGH"},
        },
    }


@pytest.mark.parametrize(
    ("base_url", "model_id", "url"),
    [
        (f"{HOST}/v1beta/", "m", f"{HOST}/v1beta/models/m:streamGenerateContent?alt=sse"),
        ("http://h/google", "m", "http://h/google/v1beta/models/m:streamGenerateContent?alt=sse"),
        ("http://h?k=1", "m", "http://h/v1beta/models/m:streamGenerateContent?k=1&alt=sse"),
        (HOST, "tunedModels/m", f"{HOST}/v1beta/tunedModels/m:streamGenerateContent?alt=sse"),
        (HOST, "a b?c", f"{HOST}/v1beta/models/a%20b%3Fc:streamGenerateContent?alt=sse"),
    ],
)
def test_the_address_names_the_model(base_url: str, model_id: str, url: str) -> None:
    assert build(model(model_id, base_url), LlmContext(), StreamOptions()).url == url


# -- calls and results -------------------------------------------------------------------------


def test_the_first_call_of_another_model_says_that_it_has_no_signature() -> None:
    foreign = AssistantMessage(content=[call("toolu_1"), call("toolu_2")])

    sent = contents(foreign, result("toolu_1", "a"), result("toolu_2", "b"))

    assert sent[0]["parts"] == [
        {"functionCall": {"name": "ls", "args": {}}, "thoughtSignature": NO_SIGNATURE},
        {"functionCall": {"name": "ls", "args": {}}},
    ]
    assert "id" not in sent[1]["parts"][0]["functionResponse"]


@pytest.mark.parametrize("model_id", ["gemini-2.5-pro", "gemma-4-31b-it"])
def test_models_that_demand_no_signature_get_none(model_id: str) -> None:
    sent = contents(AssistantMessage(content=[call("c1")]), target=model(model_id))

    assert "thoughtSignature" not in sent[0]["parts"][0]


def test_a_signed_call_behind_an_unsigned_one_keeps_its_signature() -> None:
    parts = contents(own(call("a"), call("b", signature="s1")))[0]["parts"]

    assert [part.get("thoughtSignature") for part in parts] == [NO_SIGNATURE, "s1"]


def test_each_batch_of_results_is_a_content_right_behind_its_calls() -> None:
    sent = contents(
        own(call("a"), call("b")),
        result("a", "1"),
        result("b", "2"),
        own(call("c")),
        result("c", "3"),
    )

    assert [(content["role"], len(content["parts"])) for content in sent] == [
        ("model", 2),
        ("user", 2),
        ("model", 1),
        ("user", 1),
    ]


def test_a_result_without_text_says_so() -> None:
    sent = contents(own(call("a")), result("a", "  "))

    assert sent[1]["parts"][0]["functionResponse"]["response"] == {"output": "(no output)"}


def test_pictures_of_tools_are_parts_of_their_result() -> None:
    sent = contents(own(call("a")), result("a", PNG), UserMessage(content="so?"))

    response = sent[1]["parts"][0]["functionResponse"]
    assert response["parts"] == [PNG_SENT]
    assert "image" in response["response"]["output"]
    assert len(sent) == 3


def test_pictures_for_an_older_model_follow_behind_all_results() -> None:
    old = model("gemini-2.5-flash")

    sent = contents(
        own(call("a"), call("b"), of=old),
        result("a", "one", PNG),
        result("b", PNG),
        target=old,
    )

    assert [len(content["parts"]) for content in sent] == [2, 2, 3]
    assert sent[2]["parts"][1:] == [PNG_SENT, PNG_SENT]


def test_an_answer_without_anything_to_send_is_left_out() -> None:
    sent = contents(own(ThinkingBlock(thinking="hm")), own(), UserMessage(content="so?"))

    assert [content["role"] for content in sent] == ["user"]


def test_after_the_boundary_a_request_is_paired() -> None:
    target = model()
    answer = own(TextBlock(text=""), TextBlock(text="", signature=SIGNED), call("functions.ls:7"))
    history: list[LlmMessage] = [UserMessage(content="hi"), answer, UserMessage(content="go on")]

    sent = contents(*normalise(history, target), target=target)

    assert [content["role"] for content in sent] == ["user", "model", "user", "user"]
    assert sent[1]["parts"][0] == {"text": "", "thoughtSignature": "s1"}
    sent_id = sent[1]["parts"][1]["functionCall"]["id"]
    assert sent[2]["parts"][0]["functionResponse"]["id"] == sent_id


# -- thinking ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("key", "level", "thinking"),
    [
        ("gemini-3.8-flash", "off", {"thinkingLevel": "LOW"}),
        ("gemini-3.8-flash", "minimal", {"includeThoughts": True, "thinkingLevel": "LOW"}),
        ("gemini-3.8-flash", "xhigh", {"includeThoughts": True, "thinkingLevel": "HIGH"}),
        ("gemini-3.5-flash", "off", {"thinkingLevel": "MINIMAL"}),
        ("gemini-3.5-flash", "medium", {"includeThoughts": True, "thinkingLevel": "MEDIUM"}),
        ("gemini-2.5-flash", "off", {"thinkingBudget": 0}),
        ("gemini-2.5-flash", "minimal", {"includeThoughts": True, "thinkingBudget": 1024}),
        ("gemini-2.5-flash", "xhigh", {"includeThoughts": True, "thinkingBudget": 24576}),
        ("gemini-2.5-pro", "off", {"thinkingBudget": 128}),
        ("gemini-2.5-pro", "xhigh", {"includeThoughts": True, "thinkingBudget": 32768}),
    ],
)
def test_thinking_is_switched_as_the_generation_wants(
    key: str, level: ThinkingLevel, thinking: dict[str, Any]
) -> None:
    target = get_model(f"gemini/{key}", {})

    assert config(target, thinking_level=level) == {"thinkingConfig": thinking}


@pytest.mark.parametrize("level", ["off", "high"])
def test_a_model_without_thoughts_is_told_nothing_of_them(level: ThinkingLevel) -> None:
    assert config(model("gemini-2.0-flash"), thinking_level=level) == {}


def test_a_model_not_known_to_think_is_not_told_to_stop() -> None:
    assert config(model("my-own"), thinking_level="off") == {}
    assert config(model("my-own"), thinking_level="low") == {
        "thinkingConfig": {"includeThoughts": True, "thinkingLevel": "LOW"}
    }


def test_a_budget_for_thoughts_comes_on_top_of_the_limit() -> None:
    target = model("gemini-2.5-flash", reasoning=True, max_output_tokens=65536)

    limits = [
        config(target, thinking_level="high", max_output_tokens=limit)["maxOutputTokens"]
        for limit in (1000, 60000, 70000)
    ]

    assert limits == [25576, 65536, 70000]


@pytest.mark.parametrize(
    ("model_id", "generation"),
    [
        ("gemini-2.5-pro", 2.5),
        ("gemini-3-flash-preview", 3.0),
        ("models/gemini-4-neon", 4.0),
        ("gemini-flash-latest", float("inf")),
        ("gemma-4-31b-it", float("inf")),
    ],
)
def test_the_generation_is_read_from_the_id(model_id: str, generation: float) -> None:
    assert generation_of(model_id) == generation


# -- schemas and bytes -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("schema", "sent"),
    [
        ({"const": 1}, {"enum": [1]}),
        ({"const": 1, "enum": [1, 2]}, {"const": 1, "enum": [1, 2]}),
        (
            {"anyOf": [{"const": "a"}, {"const": None}]},
            {"anyOf": [{"enum": ["a"]}, {"enum": [None]}]},
        ),
        ({"properties": {"const": {"const": 1}}}, {"properties": {"const": {"enum": [1]}}}),
        ({"default": {"const": 1}}, {"default": {"const": 1}}),
        ({"$defs": {"enum": {"const": 1}}}, {"$defs": {"enum": {"enum": [1]}}}),
        (
            {"items": {"const": 1}, "required": ["const"]},
            {"items": {"enum": [1]}, "required": ["const"]},
        ),
        ({"additionalProperties": False}, {"additionalProperties": False}),
    ],
    ids=str,
)
def test_a_const_becomes_an_enum_where_it_is_a_keyword(schema: Any, sent: Any) -> None:
    assert enum_for_const(schema) == sent


def test_what_no_json_can_hold_is_replaced() -> None:
    context = LlmContext(messages=[own(call("a", size=float("nan")))])

    data = json.loads(encode(build(model(), context, StreamOptions()).body))

    assert data["contents"][0]["parts"][0]["functionCall"]["args"] == {"size": None}


def test_the_same_context_gives_the_same_bytes() -> None:
    context = LlmContext("s", [UserMessage(content="hi"), own(call("a")), result("a", "x")])

    first = encode(build(model(), context, StreamOptions()).body)

    assert encode(build(model(), context, StreamOptions()).body) == first
