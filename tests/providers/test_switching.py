"""Models are switched in any direction, in the middle of any history: every wire takes the rest.

Each answer is made by one of six models, two of them on the same wire, with the opaque data that
such a model attaches. What a request must be is checked here in the words of its own API.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter

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
from agent_tui.core.model import THINKING_LEVELS, Model, ThinkingLevel
from agent_tui.core.stream import LlmContext, StreamOptions, ToolSchema
from agent_tui.providers.ollama_request import build as build_for_ollama
from agent_tui.providers.ollama_show import UNKNOWN
from agent_tui.providers.signatures import with_signature
from tests.providers.recordings import wire_of
from tests.providers.test_vendor_types import known_fields

SPEAKERS = [
    Model("openai", "gpt-6", "openai-responses", "https://api.openai.com/v1", reasoning=True),
    Model("anthropic", "claude-sonnet-5-5", "anthropic", "https://api.anthropic.com"),
    Model("anthropic", "claude-haiku-4-5", "anthropic", "https://api.anthropic.com", images=True),
    Model("gemini", "gemini-4-pro", "gemini", "https://generativelanguage.googleapis.com"),
    Model("lab", "qwen", "openai-chat", "http://127.0.0.1:8080/v1"),
    Model("ollama", "qwen3", "ollama", "http://127.0.0.1:11434", reasoning=True),
]
TOOLS = [ToolSchema("ls", "List.", {"type": "object", "properties": {}})]
Json = dict[str, Any]


def sealed(model: Model, what: str) -> str:
    """Opaque data that only `model` can read; base64, as all of them demand."""
    data = f"seal-{model.id}-{what}"
    return data + "A" * (-len(data) % 4)


# -- histories ---------------------------------------------------------------------------------

WORDS = st.sampled_from(["", " ", "word", "two\nlines", '"}', "é"])
PICTURE = ImageBlock(data="aWNvbg==", mime_type="image/png")


def texts_of(model: Model) -> st.SearchStrategy[TextBlock]:
    def block(text: str, is_signed: bool) -> TextBlock:
        signature = None
        if is_signed and model.api == "openai-responses":
            signature = json.dumps({"id": sealed(model, "msg"), "phase": "commentary"})
        elif is_signed and model.api == "gemini":
            signature = with_signature(None, 0, len(text), sealed(model, "text"))
        return TextBlock(text=text, signature=signature)

    return st.builds(block, WORDS, st.booleans())


def thoughts_of(model: Model) -> st.SearchStrategy[ThinkingBlock]:
    def block(thinking: str, is_signed: bool, redacted: bool) -> ThinkingBlock:
        data = sealed(model, "thought")
        match model.api if is_signed else "":
            case "openai-responses":
                item = {"type": "reasoning", "id": data, "summary": [], "encrypted_content": data}
                return ThinkingBlock(thinking=thinking, signature=json.dumps(item))
            case "anthropic" if redacted:
                return ThinkingBlock(redacted=True, signature=data)
            case "anthropic":
                return ThinkingBlock(thinking=thinking, signature=data)
            case "gemini":
                signature = with_signature(None, 0, len(thinking), data)
                return ThinkingBlock(thinking=thinking, signature=signature)
            case "openai-chat":
                return ThinkingBlock(thinking=thinking, signature="reasoning_content")
        return ThinkingBlock(thinking=thinking)

    return st.builds(block, WORDS, st.booleans(), st.booleans())


def calls_of(model: Model) -> st.SearchStrategy[ToolCall]:
    signature = sealed(model, "call") if model.api in ("gemini", "openai-responses") else None
    return st.builds(
        ToolCall,
        id=st.sampled_from(["c1", "c2", "call|fc 3", "x" * 80, "tool:4"]),
        name=st.just("ls"),
        arguments=st.sampled_from([{}, {"path": "ü", "deep": [1, None, {"a": True}]}]),
        thought_signature=st.sampled_from([None, signature]),
    )


def answers_of(model: Model) -> st.SearchStrategy[AssistantMessage]:
    return st.builds(
        AssistantMessage,
        content=st.lists(
            st.one_of(texts_of(model), thoughts_of(model), calls_of(model)),
            max_size=4,
            unique_by=lambda block: block.id if isinstance(block, ToolCall) else id(block),
        ),
        stop_reason=st.sampled_from(["stop", "tool_use", "stop", "tool_use", "error", "aborted"]),
        api=st.just(model.api),
        provider=st.just(model.provider),
        model=st.just(model.id),
    )


@st.composite
def histories(draw: st.DrawFn) -> list[LlmMessage]:
    """Turns of several models; some results are missing, displaced, or twice there."""
    out: list[LlmMessage] = []
    for _ in range(draw(st.integers(1, 4))):
        parts = draw(st.lists(st.sampled_from([TextBlock(text="word"), PICTURE]), max_size=2))
        out.append(UserMessage(content=draw(st.one_of(WORDS, st.just(parts)))))
        for _ in range(draw(st.integers(0, 3))):
            answer = draw(answers_of(draw(st.sampled_from(SPEAKERS))))
            out.append(answer)
            results: list[LlmMessage] = [
                ToolResultMessage(
                    tool_call_id=call.id,
                    tool_name=call.name,
                    content=draw(st.sampled_from([[], [TextBlock(text="ok")], [PICTURE]])),
                    is_error=draw(st.booleans()),
                )
                for call in answer.tool_calls
                if draw(st.integers(0, 9))
            ]
            if draw(st.booleans()):
                results.reverse()
            if results and not draw(st.integers(0, 4)):
                results.insert(draw(st.integers(0, 1)), UserMessage(content="steer"))
            out += results
    return [*out, UserMessage(content="go on")]


# -- what each API demands ---------------------------------------------------------------------


def strings_in(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from strings_in(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from strings_in(inner)


def check_chat(body: Json) -> None:
    open_calls: list[str] = []
    for message in body["messages"]:
        if message["role"] == "tool":
            assert message["tool_call_id"] == open_calls.pop(0)
            assert message["content"].strip()
            continue
        assert open_calls == []
        calls = message.get("tool_calls", [])
        open_calls = [call["id"] for call in calls]
        assert len(set(open_calls)) == len(calls)
        assert calls or message["content"]
        for call in calls:
            arguments = call["function"]["arguments"]
            assert isinstance(
                arguments if isinstance(arguments, dict) else json.loads(arguments), dict
            )
    assert open_calls == []


def check_anthropic(body: Json) -> None:
    roles = [message["role"] for message in body["messages"]]
    assert roles == ["user", "assistant"] * (len(roles) // 2) + ["user"]
    open_calls: list[str] = []
    for message in body["messages"]:
        blocks = message["content"]
        assert blocks
        assert all(block["text"].strip() for block in blocks if block["type"] == "text")
        if message["role"] == "user":
            first = blocks[: len(open_calls)]
            assert [block.get("tool_use_id") for block in first] == open_calls
            assert "tool_result" not in [block["type"] for block in blocks[len(first) :]]
            continue
        open_calls = [block["id"] for block in blocks if block["type"] == "tool_use"]
        assert len(set(open_calls)) == len(open_calls)
        assert all(re.fullmatch(r"[A-Za-z0-9_-]{1,64}", call_id) for call_id in open_calls)


def check_responses(body: Json) -> None:
    open_calls: list[str] = []
    places = body["input"]
    for place, item in enumerate(places):
        match item.get("type"):
            case "function_call":
                assert isinstance(json.loads(item["arguments"]), dict)
                assert item["call_id"] not in open_calls
                open_calls.append(item["call_id"])
            case "function_call_output":
                assert item["call_id"] == open_calls.pop(0)
                assert item["output"]
            case "reasoning":
                assert places[place + 1]["type"] in ("reasoning", "message", "function_call")
            case _:
                assert open_calls == [] or item.get("role") == "assistant"
                assert item["content"]
    assert open_calls == []


def check_gemini(body: Json) -> None:
    open_calls: list[str] = []
    for content in body["contents"]:
        assert content["parts"]
        answered = [
            p["functionResponse"]["name"] for p in content["parts"] if "functionResponse" in p
        ]
        assert answered == open_calls
        calls = [part["functionCall"] for part in content["parts"] if "functionCall" in part]
        assert not calls or content["role"] == "model"
        open_calls = [call["name"] for call in calls]
    assert open_calls == []


CHECKS: dict[str, Callable[[Json], None]] = {
    "openai-chat": check_chat,
    "ollama": check_chat,
    "anthropic": check_anthropic,
    "openai-responses": check_responses,
    "gemini": check_gemini,
}


def body_for(model: Model, messages: list[LlmMessage], level: ThinkingLevel) -> Json:
    context = LlmContext("Be brief.", messages, TOOLS)
    options = StreamOptions(thinking_level=level)
    if model.api == "ollama":
        return build_for_ollama(model, context, options, UNKNOWN).body
    return wire_of(model.api).build(model, context, options).body


# -- properties --------------------------------------------------------------------------------

LEVELS = st.sampled_from(THINKING_LEVELS)
every_target = pytest.mark.parametrize("target", SPEAKERS, ids=lambda model: model.key)


@every_target
@settings(max_examples=30, deadline=None)
@given(history=histories(), level=LEVELS)
def test_any_history_becomes_a_request_that_the_target_takes(
    target: Model, history: list[LlmMessage], level: ThinkingLevel
) -> None:
    body = body_for(target, normalise(history, target), level)

    CHECKS[target.api](body)


@every_target
@settings(max_examples=30, deadline=None)
@given(history=histories())
def test_nobody_sees_the_opaque_data_of_another_model(
    target: Model, history: list[LlmMessage]
) -> None:
    body = body_for(target, normalise(history, target), "medium")

    sent = [text for text in strings_in(body) if "seal-" in text]
    assert all(f"seal-{target.id}-" in text for text in sent)


@every_target
@settings(max_examples=30, deadline=None)
@given(history=histories())
def test_twice_is_once_and_the_same_bytes(target: Model, history: list[LlmMessage]) -> None:
    once = normalise(history, target)

    assert normalise(once, target) is once
    assert json.dumps(body_for(target, once, "low")) == json.dumps(body_for(target, once, "low"))


@settings(max_examples=30, deadline=None)
@given(history=histories(), way=st.lists(st.sampled_from(SPEAKERS), min_size=1, max_size=5))
def test_a_way_through_other_models_leads_to_no_worse_a_request(
    history: list[LlmMessage], way: list[Model]
) -> None:
    """As after a summary by another model, or an agent that stores what it was shown."""
    for model in way:
        history = normalise(history, model)

    CHECKS[way[-1].api](body_for(way[-1], history, "medium"))


@every_target
def test_an_unchanged_history_is_the_same_object(target: Model) -> None:
    own = {"api": target.api, "provider": target.provider, "model": target.id}
    history: list[LlmMessage] = [
        UserMessage(content="go"),
        AssistantMessage(content=[TextBlock(text="I look."), ToolCall(id="c1", name="ls")], **own),
        ToolResultMessage(tool_call_id="c1", tool_name="ls", content=[TextBlock(text="ok")]),
        AssistantMessage(content=[ThinkingBlock(thinking="hm"), TextBlock(text="Done.")], **own),
        UserMessage(content="more"),
    ]

    assert normalise(history, target) is history


@settings(max_examples=25, deadline=None)
@given(history=histories(), level=LEVELS)
def test_anthropics_own_types_find_nothing_wrong(
    history: list[LlmMessage], level: ThinkingLevel
) -> None:
    types = import_module("anthropic.types.message_create_params")
    adapter = TypeAdapter[Any](types.MessageCreateParamsStreaming)
    for target in SPEAKERS[1:3]:
        body = body_for(target, normalise(history, target), level)
        assert known_fields(adapter.validate_python(body)) == body


@settings(max_examples=25, deadline=None)
@given(history=histories(), level=LEVELS)
def test_openais_own_types_find_nothing_wrong(
    history: list[LlmMessage], level: ThinkingLevel
) -> None:
    types = import_module("openai.types.responses.response_create_params")
    adapter = TypeAdapter[Any](types.ResponseCreateParamsStreaming)
    body = body_for(SPEAKERS[0], normalise(history, SPEAKERS[0]), level)
    assert known_fields(adapter.validate_python(body)) == body


@settings(max_examples=25, deadline=None)
@given(history=histories())
def test_openais_own_types_of_a_chat_find_nothing_wrong(history: list[LlmMessage]) -> None:
    types = import_module("openai.types.chat.completion_create_params")
    adapter = TypeAdapter[Any](types.CompletionCreateParamsStreaming)
    target = Model("openai", "gpt-4.1", "openai-chat", "https://api.openai.com/v1", images=True)
    body = body_for(target, normalise(history, target), "off")
    sent = {name: value for name, value in body.items() if name != "stream_options"}
    assert known_fields(adapter.validate_python(sent)) == sent


@settings(max_examples=25, deadline=None)
@given(history=histories())
def test_googles_own_types_find_nothing_wrong(history: list[LlmMessage]) -> None:
    types = import_module("google.genai.types")
    target = next(model for model in SPEAKERS if model.api == "gemini")
    for content in body_for(target, normalise(history, target), "medium")["contents"]:
        types.Content.model_validate(content)


@settings(max_examples=25, deadline=None)
@given(history=histories())
def test_ollamas_own_types_find_nothing_wrong(history: list[LlmMessage]) -> None:
    types = import_module("ollama")
    target = SPEAKERS[-1]
    for message in body_for(target, normalise(history, target), "off")["messages"]:
        types.Message.model_validate(message)


@every_target
@settings(max_examples=15, deadline=None)
@given(history=histories())
def test_what_was_sent_before_is_sent_again_byte_for_byte(
    target: Model, history: list[LlmMessage]
) -> None:
    """A server can go on from what it has cached; only its marks move."""
    history = normalise(history, target)
    more: list[LlmMessage] = [
        AssistantMessage(content=[TextBlock(text="Well.")], api=target.api, model=target.id),
        UserMessage(content="and?"),
    ]

    before, after = (sent_by(target, said) for said in (history, [*history, *more]))

    assert after[: len(before)] == before


def sent_by(target: Model, history: list[LlmMessage]) -> list[str]:
    """The transcript in the request, entry by entry."""
    body = body_for(target, normalise(history, target), "off")
    entries = next(body[name] for name in ("messages", "input", "contents") if name in body)
    for entry in entries:
        if target.api == "anthropic":
            for block in entry["content"]:
                block.pop("cache_control", None)
        # Ollama wants thoughts back as long as the turn runs, and not after it.
        entry.pop("thinking", None)
    return [json.dumps(entry) for entry in entries]
