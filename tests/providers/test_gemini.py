"""What the Gemini parser makes of chunks."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_tui.core.errors import AgentError
from agent_tui.core.messages import AssistantMessage, TextBlock, ThinkingBlock, ToolCall
from agent_tui.core.model import Model, ModelCost
from agent_tui.core.pricing import cost_of
from agent_tui.core.stream import LlmContext, StreamEvent, StreamOptions
from agent_tui.core.usage import Usage
from agent_tui.providers.gemini import Parser, usage_of
from agent_tui.providers.gemini_request import build
from tests.providers.loopback import CASES

MODEL = Model(
    "gemini", "gemini-3.8-flash", api="gemini", base_url="https://generativelanguage.googleapis.com"
)


def chunk(*parts: dict[str, Any], finish: str | None = None, **fields: Any) -> dict[str, Any]:
    candidate: dict[str, Any] = {"content": {"role": "model", "parts": list(parts)}, "index": 0}
    if finish:
        candidate["finishReason"] = finish
    return {"candidates": [candidate], **fields}


def text(words: str, signature: str | None = None, **fields: Any) -> dict[str, Any]:
    return {"text": words, **fields} | ({"thoughtSignature": signature} if signature else {})


def call(name: str, signature: str | None = None, **fields: Any) -> dict[str, Any]:
    part: dict[str, Any] = {"functionCall": {"name": name, **fields}}
    return part | ({"thoughtSignature": signature} if signature else {})


def answer(*payloads: Any) -> AssistantMessage:
    parser = Parser(MODEL)
    parser.feed(payloads)
    parser.finish()
    return parser.builder.message


def failure(*payloads: Any) -> AgentError:
    with pytest.raises(AgentError) as caught:
        answer(*payloads)
    return caught.value


def sent_back(message: AssistantMessage) -> list[Any]:
    """The parts of the answer in the next request."""
    context = LlmContext(messages=[message])
    contents = build(MODEL, context, StreamOptions()).body["contents"]
    return contents[0]["parts"] if contents else []


STOP = chunk(finish="STOP")


# -- shapes ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "payload",
    [
        {},
        None,
        "words",
        {"candidates": None},
        {"candidates": []},
        {"candidates": [None]},
        {"candidates": [{}]},
        {"candidates": [{"content": None}]},
        {"candidates": [{"content": {}}]},
        {"candidates": [{"content": {"parts": None}}]},
        {"usageMetadata": None},
        chunk({}, {"executableCode": {"code": "1"}}, {"text": None}),
        {"candidates": [{"content": {"parts": [None, 7]}}]},
    ],
    ids=str,
)
def test_chunks_without_content_are_nothing(payload: Any) -> None:
    message = answer(payload, chunk(text("ok")), payload, STOP, payload)

    assert message.content == [TextBlock(text="ok")]


def test_a_list_of_chunks_is_read_like_the_chunks() -> None:
    message = answer([chunk(text("Hel")), chunk(text("lo"), finish="STOP")])

    assert message.text == "Hello"


def test_thoughts_and_text_take_turns_as_they_came() -> None:
    message = answer(
        chunk(text("hm", thought=True), text("m", thought=True)),
        chunk(text("Hel")),
        chunk(text("lo"), responseId="r1"),
        STOP,
    )

    assert message.content == [ThinkingBlock(thinking="hmm"), TextBlock(text="Hello")]
    assert message.response_id == "r1"


@pytest.mark.parametrize("finish", ["STOP", "OTHER"])
def test_calls_win_over_a_plain_stop(finish: str) -> None:
    message = answer(chunk(call("ls", args={"path": "a"}, id="g1")), chunk(finish=finish))

    assert message.stop_reason == "tool_use"
    assert message.tool_calls == [ToolCall(id="g1", name="ls", arguments={"path": "a"})]


def test_calls_without_ids_or_with_the_same_get_their_own() -> None:
    message = answer(chunk(call("ls"), call("ls"), call("ls", id="x"), call("ls", id="x")), STOP)

    ids = [found.id for found in message.tool_calls]
    assert len(set(ids)) == 4
    assert ids[2] == "x"
    assert all(found.arguments == {} for found in message.tool_calls)


# -- signatures --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "parts",
    [
        [text("Hello", "s1")],
        [text("Hello"), text("", "s1")],
        [text("Hel"), text("lo", "s1"), text(", you")],
        [text("a", "s1"), text("b", "s2")],
        [text("", "s1")],
        [text("\n", "s1"), call("ls", "s2", args={})],
        [call("ls", "s1", args={}), call("ls", args={}), text("", "s2")],
        [text("hm", "s1", thought=True), text("Hello", "s2")],
        [text("", "s1", thought=True), text("Hello")],
    ],
    ids=str,
)
@pytest.mark.parametrize("at_once", [True, False])
def test_each_signature_goes_back_on_the_part_it_came_with(
    parts: list[dict[str, Any]], at_once: bool
) -> None:
    chunks = [chunk(*parts)] if at_once else [chunk(part) for part in parts]
    message = answer(*chunks, STOP)

    back = sent_back(AssistantMessage.model_validate_json(message.model_dump_json()))

    assert back == parts


def test_a_signature_without_text_is_kept_as_an_empty_part() -> None:
    message = answer(chunk(text("Hello")), chunk({"thoughtSignature": "s1"}), STOP)

    assert message.text == "Hello"
    assert sent_back(message) == [text("Hello"), text("", "s1")]


def test_thoughts_without_a_signature_are_not_sent_back() -> None:
    message = answer(chunk(text("hm", thought=True), text("m", "s1", thought=True)), STOP)

    assert message.content[0].model_dump()["thinking"] == "hmm"
    assert sent_back(message) == [text("m", "s1", thought=True)]


def test_signed_text_is_one_text_for_a_person() -> None:
    message = answer(chunk(text("Hel")), chunk(text("lo", "s1")), STOP)

    assert [block.type for block in message.content] == ["text"]
    assert message.text == "Hello"


# -- endings -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("finish", "reason", "kept"),
    [
        ("STOP", "stop", None),
        ("MAX_TOKENS", "length", None),
        ("LANGUAGE", "stop", "LANGUAGE"),
        ("OTHER", "stop", "OTHER"),
        ("BRAND_NEW", "stop", "BRAND_NEW"),
    ],
)
def test_finish_reasons_of_answers_with_text(finish: str, reason: str, kept: str | None) -> None:
    message = answer(chunk(text("x"), finish=finish))

    assert (message.stop_reason, message.raw_stop_reason) == (reason, kept)


def test_thinking_may_eat_the_whole_limit() -> None:
    message = answer({"candidates": [{"finishReason": "MAX_TOKENS"}]})

    assert (message.content, message.stop_reason) == ([], "length")


BLOCKED = {"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}}


@pytest.mark.parametrize(
    ("payloads", "code", "retryable"),
    [
        ([], "stream_incomplete", True),
        ([chunk(text("x"))], "stream_incomplete", True),
        ([chunk(call("ls"))], "stream_incomplete", True),
        ([chunk(finish="OTHER")], "provider", False),
        ([chunk(text("x"), finish="SAFETY")], "content_policy", False),
        ([chunk(finish="RECITATION")], "content_policy", False),
        ([chunk(finish="SPII")], "content_policy", False),
        ([chunk(finish="IMAGE_SAFETY")], "content_policy", False),
        ([BLOCKED], "content_policy", False),
        ([chunk(finish="MALFORMED_FUNCTION_CALL")], "bad_tool_call", True),
        ([chunk(call("ls"), finish="UNEXPECTED_TOOL_CALL")], "bad_tool_call", True),
        ([chunk(finish="TOO_MANY_TOOL_CALLS")], "bad_tool_call", True),
    ],
    ids=str,
)
def test_endings_that_are_failures(payloads: list[Any], code: str, retryable: bool) -> None:
    error = failure(*payloads)

    assert (error.code, error.retryable) == (code, retryable)


def test_what_the_server_says_of_an_ending_is_shown_without_escapes() -> None:
    payload = chunk(finish="MALFORMED_FUNCTION_CALL")
    payload["candidates"][0]["finishMessage"] = "Malformed call: print(\x1b[2J)"

    assert failure(payload).message.endswith("(MALFORMED_FUNCTION_CALL): Malformed call: print()")


def test_feedback_on_a_prompt_that_was_answered_is_nothing() -> None:
    feedback: dict[str, Any] = {"safetyRatings": []}

    assert answer(chunk(text("x"), finish="STOP", promptFeedback=feedback)).text == "x"


@pytest.mark.parametrize(
    ("payload", "code", "retryable"),
    [
        ({"error": {"code": 503, "status": "UNAVAILABLE", "message": "x"}}, "overloaded", True),
        ([{"error": {"code": 429, "status": "RESOURCE_EXHAUSTED"}}], "rate_limit", True),
        ({"error": {"code": 400, "message": "API key not valid."}}, "auth", False),
        (
            {"error": {"code": 400, "message": "The input token count (9000) exceeds the maximum"}},
            "context_overflow",
            False,
        ),
    ],
    ids=str,
)
def test_errors_in_mid_stream(payload: Any, code: str, retryable: bool) -> None:
    error = failure(chunk(text("x")), payload)

    assert (error.code, error.retryable) == (code, retryable)


# -- usage -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("raw", "usage"),
    [
        ({}, None),
        ({"candidatesTokenCount": 5}, None),
        ({"promptTokenCount": 10}, Usage(input=10, total=10)),
        (
            {
                "promptTokenCount": 100,
                "cachedContentTokenCount": 64,
                "candidatesTokenCount": 4,
                "thoughtsTokenCount": 40,
                "totalTokenCount": 144,
            },
            Usage(input=36, cache_read=64, output=44, reasoning=40, total=144),
        ),
        (
            {"promptTokenCount": 10, "toolUsePromptTokenCount": 5, "candidatesTokenCount": 1},
            Usage(input=15, output=1, total=16),
        ),
        (
            {"promptTokenCount": 10, "cachedContentTokenCount": 12},
            Usage(input=0, cache_read=10, total=10),
        ),
    ],
    ids=str,
)
def test_usage_is_told_in_disjoint_classes(raw: dict[str, Any], usage: Usage | None) -> None:
    assert usage_of(raw) == usage


def test_later_counts_replace_earlier_ones_and_null_is_no_count() -> None:
    message = answer(
        chunk(text("a"), usageMetadata={"promptTokenCount": 7, "candidatesTokenCount": 1}),
        chunk(text("b"), usageMetadata={"promptTokenCount": None, "candidatesTokenCount": 2}),
        STOP,
    )

    assert (message.usage.input, message.usage.output) == (7, 2)


def test_counts_of_a_failed_answer_are_kept() -> None:
    parser = Parser(MODEL)
    parser.feed([chunk(text("x"), usageMetadata={"promptTokenCount": 7})])

    assert parser.has_usage
    assert parser.builder.message.usage.input == 7


def test_unknown_usage_is_marked_and_not_zero() -> None:
    assert answer(chunk(text("a"), finish="STOP")).usage == Usage(incomplete=True)


def test_thoughts_are_paid_as_output() -> None:
    case = json.loads((CASES / "cost/gemini-thoughts-are-output.scenario.json").read_text())
    price = json.loads((CASES / "cost/prices.json").read_text())[case["model"]]
    usage = usage_of(case["provider_usage_objects"][0])
    expect = case["expect"]

    assert usage is not None
    assert (usage.prompt_tokens, usage.output) == (expect["input_total"], expect["output_total"])
    assert usage.reasoning == expect["reasoning"]
    assert cost_of(usage, ModelCost(**price)) == expect["cost"]


# -- any split ---------------------------------------------------------------------------------

parts = st.one_of(
    st.builds(text, st.text(max_size=4), st.none() | st.just("s"), thought=st.booleans()),
    st.builds(call, st.just("ls"), st.none() | st.just("s"), args=st.just({"a": 1})),
)


def finished(batches: list[list[dict[str, Any]]]) -> tuple[list[Any], dict[tuple[int, str], str]]:
    """The blocks, and what the deltas of each block add up to."""
    parser = Parser(MODEL)
    events: list[StreamEvent] = []
    for batch in batches:
        events += parser.feed([chunk(part) for part in batch])
    events += parser.feed([STOP]) + parser.finish()
    streamed: dict[tuple[int, str], str] = {}
    for event in events:
        if event.type.endswith("_delta"):
            key = (getattr(event, "content_index", -1), event.type)
            streamed[key] = streamed.get(key, "") + getattr(event, "delta", "")
    blocks = [block.model_dump(exclude={"id"}) for block in parser.builder.message.content]
    return blocks, streamed


@given(st.lists(parts, max_size=8), st.data())
def test_joining_chunks_into_one_read_changes_nothing(
    each: list[dict[str, Any]], data: st.DataObject
) -> None:
    cut = data.draw(st.integers(0, len(each)))
    one_by_one = finished([[part] for part in each])

    assert finished([each[:cut], each[cut:]]) == one_by_one
    assert finished([each]) == one_by_one


@given(st.lists(parts, max_size=8))
def test_every_signed_part_goes_back_in_its_order(each: list[dict[str, Any]]) -> None:
    message = answer(chunk(*each), STOP)

    signed = [part["thoughtSignature"] for part in each if "thoughtSignature" in part]
    back = [part for part in sent_back(message) if part.get("thoughtSignature") == "s"]
    assert len(back) == len(signed)
    assert [part.get("text") for part in back] == [
        part.get("text") for part in each if part.get("thoughtSignature")
    ]
