"""What the chat-completions parser makes of real servers' habits."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_tui.core.errors import (
    AgentError,
    ContentPolicyError,
    ContextOverflowError,
    NetworkError,
    OverloadedError,
    ProviderError,
)
from agent_tui.core.messages import AssistantMessage, TextBlock, ThinkingBlock
from agent_tui.core.model import Model, ModelCost
from agent_tui.core.pricing import cost_of
from agent_tui.core.stream import StreamEvent
from agent_tui.core.usage import Usage
from agent_tui.providers.openai_chat import Parser, usage_of
from tests.providers.loopback import CASES


def lab(**compat: Any) -> Model:
    return Model("lab", "m", api="openai-chat", base_url="http://10.0.0.5:8000/v1", compat=compat)


def delta(finish: str | None = None, **fields: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": fields, "finish_reason": finish}]}


def answer(*payloads: Any, model: Model | None = None) -> AssistantMessage:
    parser = Parser(model or lab())
    parser.feed(payloads)
    parser.finish()
    return parser.builder.message


def failure(*payloads: Any, model: Model | None = None) -> AgentError:
    with pytest.raises(AgentError) as caught:
        answer(*payloads, model=model)
    return caught.value


STOP = delta("stop")


# -- shapes ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "payload",
    [
        {"choices": None},
        {"choices": []},
        {"choices": [{"index": 0, "delta": None, "finish_reason": None}]},
        {"choices": [{"index": 0}]},
        {"choices": [None]},
        {},
        [],
        None,
        delta(content=None, tool_calls=None, role="assistant"),
        delta(content=[{"type": "audio"}, None], reasoning=None),
    ],
    ids=str,
)
def test_chunks_without_content_are_nothing(payload: Any) -> None:
    message = answer(payload, delta(content="ok"), payload, STOP, payload)

    assert message.content == [TextBlock(text="ok")]


def test_a_body_that_was_not_streamed_is_read_as_one_chunk() -> None:
    call = {"id": "1", "type": "function", "function": {"name": "ls", "arguments": "{}"}}
    whole = {"role": "assistant", "content": "Look.", "tool_calls": [call]}

    message = answer(
        {"id": "x", "choices": [{"index": 0, "message": whole, "finish_reason": "tool_calls"}]}
    )

    assert message.text == "Look."
    assert [(c.id, c.name) for c in message.tool_calls] == [("1", "ls")]
    assert message.response_id == "x"


def test_the_ancient_function_call_is_a_call() -> None:
    message = answer(
        delta(function_call={"name": "ls", "arguments": ""}),
        delta(function_call={"arguments": "{}"}),
        delta("function_call"),
    )

    assert [call.name for call in message.tool_calls] == ["ls"]
    assert message.stop_reason == "tool_use"


def test_thoughts_and_text_of_one_chunk_keep_their_order() -> None:
    message = answer(delta(content="42", reasoning_content="hm"), STOP)

    assert [block.type for block in message.content] == ["thinking", "text"]


def test_thoughts_sent_twice_are_shown_once_and_remember_their_field() -> None:
    message = answer(delta(reasoning="hm", reasoning_content="hm"), delta(content="42"), STOP)

    assert message.content[0] == ThinkingBlock(thinking="hm", signature="reasoning_content")


def test_mistral_sends_thoughts_as_parts() -> None:
    parts = [
        {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]},
        {"type": "text", "text": "42"},
    ]

    message = answer(delta(content=parts), STOP)

    assert message.content == [
        ThinkingBlock(thinking="hm", signature="parts"),
        TextBlock(text="42"),
    ]


def test_openrouter_reasoning_details_are_kept_whole_for_replay() -> None:
    first = {"type": "reasoning.text", "text": "h", "index": 0, "format": "x"}
    more = {"type": "reasoning.text", "text": "m", "index": 0, "signature": "S"}
    secret = {"type": "reasoning.encrypted", "data": "E", "index": 1}

    message = answer(
        delta(reasoning="h", reasoning_details=[first]),
        delta(reasoning="m", reasoning_details=[more]),
        delta(reasoning_details=[secret]),
        delta(content="42"),
        STOP,
    )

    thought = message.content[0]
    assert isinstance(thought, ThinkingBlock)
    assert thought.thinking == "hm"
    assert json.loads(thought.signature or "") == [
        {"type": "reasoning.text", "text": "hm", "index": 0, "format": "x", "signature": "S"},
        secret,
    ]


def test_details_alone_are_shown_too() -> None:
    message = answer(
        delta(reasoning_details=[{"type": "reasoning.summary", "summary": "hm"}]), STOP
    )

    assert isinstance(message.content[0], ThinkingBlock)
    assert message.content[0].thinking == "hm"


def test_think_tags_can_be_switched_off() -> None:
    message = answer(delta(content="<think>a</think>b"), STOP, model=lab(think_tags=False))

    assert message.text == "<think>a</think>b"


# -- endings -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("raw", "reason", "kept"),
    [
        ("stop", "stop", None),
        ("end", "stop", "end"),
        ("eos", "stop", "eos"),
        ("tool_calls", "stop", None),
        ("length", "length", None),
        ("model_length", "length", "model_length"),
        ("brand_new", "stop", "brand_new"),
    ],
)
def test_finish_reasons_of_answers_with_text(raw: str, reason: str, kept: str | None) -> None:
    message = answer(delta(content="x"), delta(raw))

    assert (message.stop_reason, message.raw_stop_reason) == (reason, kept)


@pytest.mark.parametrize("raw", ["stop", "end", "brand_new"])
def test_calls_win_over_the_finish_reason(raw: str) -> None:
    call = {"index": 0, "id": "1", "function": {"name": "ls", "arguments": "{}"}}

    assert answer(delta(tool_calls=[call]), delta(raw)).stop_reason == "tool_use"


def test_a_later_null_does_not_clear_the_finish_reason() -> None:
    message = answer(delta(content="x"), STOP, {**delta(content=""), "usage": None})

    assert message.stop_reason == "stop"


@pytest.mark.parametrize(
    ("payloads", "kind", "code"),
    [
        ([delta(content="x")], NetworkError, "stream_incomplete"),
        ([], NetworkError, "stream_incomplete"),
        ([delta("brand_new")], ProviderError, "provider"),
        ([delta(content="x"), delta("content_filter")], AgentError, "content_policy"),
        ([delta(content="x"), delta("sensitive")], AgentError, "content_policy"),
        ([delta(content="x"), delta("network_error")], OverloadedError, "overloaded"),
        ([delta("model_context_window_exceeded")], ContextOverflowError, "context_overflow"),
    ],
    ids=["cut_off", "empty", "unknown_and_empty", "filter", "z_ai", "z_ai_network", "window"],
)
def test_endings_that_are_failures(payloads: list[Any], kind: type[AgentError], code: str) -> None:
    error = failure(*payloads)

    assert isinstance(error, kind)
    assert error.code == code


def test_a_refusal_is_shown_and_is_an_error() -> None:
    parser = Parser(lab())
    parser.feed([delta("stop", refusal="I can't.")])

    with pytest.raises(ContentPolicyError, match="refused"):
        parser.finish()

    assert parser.builder.message.text == "I can't."


def test_a_server_may_be_known_to_send_no_finish_reason() -> None:
    message = answer(delta(content="x"), model=lab(sends_finish_reason=False))

    assert (message.text, message.stop_reason) == ("x", "stop")


@pytest.mark.parametrize(
    ("payload", "code", "retryable"),
    [
        ({"error": {"message": "Overloaded", "type": "overloaded_error"}}, "overloaded", True),
        ({"error": {"message": "slow down", "code": 429}}, "rate_limit", True),
        (
            {"error": {"message": "boom", "code": 502}, "choices": [{"delta": {}}]},
            "overloaded",
            True,
        ),
        ({"error": "CUDA out of memory"}, "provider", True),
        ({"type": "error", "message": "bad"}, "provider", True),
        ({"object": "error", "message": "no", "type": "BadRequestError"}, "provider", False),
        ({"error": {"code": "context_length_exceeded"}}, "context_overflow", False),
        ({"x_groq": {"error": "server_error"}, "choices": []}, "overloaded", True),
    ],
    ids=str,
)
def test_errors_in_mid_stream(payload: Any, code: str, retryable: bool) -> None:
    error = failure(delta(content="x"), payload)

    assert (error.code, error.retryable) == (code, retryable)


# -- usage -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("raw", "usage"),
    [
        (
            {"prompt_tokens": 1200, "completion_tokens": 90, "total_tokens": 1290,
             "prompt_tokens_details": {"cached_tokens": 1024, "cache_write_tokens": 100},
             "completion_tokens_details": {"reasoning_tokens": 60}},
            Usage(input=76, cache_read=1024, cache_write=100, output=90, reasoning=60, total=1290),
        ),
        (
            {"prompt_tokens": 30, "completion_tokens": 5, "prompt_cache_hit_tokens": 20,
             "prompt_cache_miss_tokens": 10},
            Usage(input=10, cache_read=20, output=5, total=35),
        ),
        (
            {"prompt_tokens": 30, "completion_tokens": 5, "cached_tokens": 8},
            Usage(input=22, cache_read=8, output=5, total=35),
        ),
        (
            {"prompt_tokens": 30, "completion_tokens": 10, "cost": 0.0125,
             "completion_tokens_details": {"reasoning_tokens": 11}},
            Usage(input=30, output=10, reasoning=10, total=40, cost_usd=0.0125),
        ),
        (
            {"prompt_tokens": 5, "completion_tokens": 1,
             "prompt_tokens_details": {"cached_tokens": 9}},
            Usage(input=0, cache_read=9, output=1, total=10),
        ),
        (
            {"prompt_tokens": 5, "completion_tokens": None, "prompt_tokens_details": None},
            Usage(input=5, total=5, incomplete=True),
        ),
        ({"prompt_tokens": 5, "completion_tokens": 0, "cost": 0},
         Usage(input=5, total=5, cost_usd=0.0)),
        ({"total_tokens": 5}, None),
        ({"prompt_tokens": "many"}, None),
    ],
    ids=["openai", "deepseek", "moonshot", "openrouter", "clamped", "half", "free", "none", "odd"],
)  # fmt: skip
def test_usage_is_told_in_disjoint_classes(raw: dict[str, Any], usage: Usage | None) -> None:
    assert usage_of(raw) == usage


def test_llama_cpp_tells_cached_tokens_in_its_timings() -> None:
    usage = usage_of({"prompt_tokens": 30, "completion_tokens": 2}, {"cache_n": 25, "prompt_n": 5})

    assert usage == Usage(input=5, cache_read=25, output=2, total=32)


def test_usage_on_every_chunk_replaces_and_never_adds() -> None:
    def counted(prompt: int, output: int) -> dict[str, Any]:
        return {"usage": {"prompt_tokens": prompt, "completion_tokens": output}}

    message = answer(
        {**delta(content="a"), **counted(9, 1)}, {**STOP, **counted(9, 2)}, {"usage": None}
    )

    assert (message.usage.input, message.usage.output) == (9, 2)


@pytest.mark.parametrize(
    "payload",
    [
        {"choices": [{"delta": {}, "usage": {"prompt_tokens": 7, "completion_tokens": 1}}]},
        {"choices": [], "x_groq": {"usage": {"prompt_tokens": 7, "completion_tokens": 1}}},
    ],
    ids=["moonshot", "groq"],
)
def test_usage_is_found_where_servers_put_it(payload: Any) -> None:
    assert answer(delta(content="a"), STOP, payload).usage.input == 7


def test_unknown_usage_is_marked_and_not_zero() -> None:
    assert answer(delta(content="a"), STOP).usage == Usage(incomplete=True)


def test_cached_tokens_are_part_of_the_prompt_when_money_is_counted() -> None:
    case = json.loads((CASES / "cost/openai-cached-is-a-part.scenario.json").read_text())
    price = json.loads((CASES / "cost/prices.json").read_text())[case["model"]]
    usage = usage_of(case["provider_usage_objects"][0])
    expect = case["expect"]

    assert usage is not None
    assert usage.prompt_tokens == expect["input_total"]
    assert (usage.cache_read, usage.output) == (expect["cache_read"], expect["output_total"])
    assert cost_of(usage, ModelCost(**price)) == expect["cost"]


def test_an_unknown_price_leaves_the_cost_unknown() -> None:
    case = json.loads((CASES / "cost/unknown-price.scenario.json").read_text())
    usage = usage_of(case["provider_usage_objects"][0])

    assert usage is not None
    assert usage.prompt_tokens == case["expect"]["input_total"]
    assert cost_of(usage, None) is None
    assert cost_of(usage, ModelCost(0.0, 0.0)) == 0


counts = st.one_of(st.none(), st.integers(-5, 10**9), st.text(max_size=2), st.booleans())


@given(st.fixed_dictionaries({
    "prompt_tokens": counts, "completion_tokens": counts, "cached_tokens": counts,
    "prompt_tokens_details": st.one_of(
        st.none(), st.fixed_dictionaries({"cached_tokens": counts, "cache_write_tokens": counts})
    ),
    "completion_tokens_details": st.one_of(
        st.none(), st.fixed_dictionaries({"reasoning_tokens": counts})
    ),
}))  # fmt: skip
def test_no_count_is_ever_negative(raw: dict[str, Any]) -> None:
    usage = usage_of(raw) or Usage()

    assert min(usage.input, usage.cache_read, usage.cache_write, usage.output, usage.total) >= 0
    assert 0 <= usage.reasoning <= usage.output


# -- any cut -----------------------------------------------------------------------------------

words = st.text(alphabet="ab <>/thinkй\n", max_size=8)
call_pieces: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries({
    "index": st.one_of(st.none(), st.integers(0, 2)),
    "id": st.one_of(st.none(), st.sampled_from(["", "a", "b"])),
    "function": st.one_of(st.none(), st.fixed_dictionaries({
        "name": st.one_of(st.none(), st.sampled_from(["ls", "read", ""])),
        "arguments": st.one_of(st.none(), st.sampled_from(["", "{}", '{"a"', ": 1}"]), st.just({})),
    })),
})  # fmt: skip
deltas: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries({}, optional={
    "content": st.one_of(st.none(), words), "reasoning": st.one_of(st.none(), words),
    "tool_calls": st.one_of(st.none(), st.lists(call_pieces, max_size=2)),
})  # fmt: skip


def finished(batches: list[list[dict[str, Any]]]) -> tuple[list[Any], dict[tuple[int, str], str]]:
    """The blocks, and what the deltas of each block add up to."""
    parser = Parser(lab())
    events: list[StreamEvent] = []
    for batch in batches:
        events += parser.feed([delta(**fields) for fields in batch])
    events += parser.feed([delta("stop")]) + parser.finish()
    streamed: dict[tuple[int, str], str] = {}
    for event in events:
        if event.type.endswith("_delta"):
            key = (getattr(event, "content_index", -1), event.type)
            streamed[key] = streamed.get(key, "") + getattr(event, "delta", "")
    blocks = [block.model_dump(exclude={"id"}) for block in parser.builder.message.content]
    return blocks, streamed


@given(st.lists(deltas, max_size=8), st.data())
def test_joining_chunks_into_one_read_changes_nothing(
    chunks: list[dict[str, Any]], data: st.DataObject
) -> None:
    cut = data.draw(st.integers(0, len(chunks)))
    one_by_one = finished([[fields] for fields in chunks])

    assert finished([chunks[:cut], chunks[cut:]]) == one_by_one
    assert finished([chunks]) == one_by_one
