"""What the parser of Anthropic's wire makes of a message, and of servers that imitate it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_tui.core.errors import AgentError
from agent_tui.core.messages import AssistantMessage, TextBlock, ThinkingBlock
from agent_tui.core.model import Model, ModelCost
from agent_tui.core.pricing import cost_of
from agent_tui.core.stream import StreamEvent
from agent_tui.core.usage import Usage
from agent_tui.providers.anthropic import Parser, authorize, usage_of
from tests.providers.loopback import CASES, EVENTS, Peer, answer_of, plays, serving
from tests.providers.wires import SPEECHES, events

MODEL = Model("lab", "m", api="anthropic", base_url="http://127.0.0.1:1")
BEGIN = {
    "type": "message_start",
    "message": {"id": "msg_1", "usage": {"input_tokens": 5, "output_tokens": 1}},
}
STOP = {"type": "message_stop"}
(SPEECH,) = (speech for speech in SPEECHES if speech.api == "anthropic")


def opens(index: int, kind: str, **fields: Any) -> dict[str, Any]:
    block = {"type": kind, **fields}
    return {"type": "content_block_start", "index": index, "content_block": block}


def adds(index: int, kind: str, **fields: Any) -> dict[str, Any]:
    delta = {"type": kind, **fields}
    return {"type": "content_block_delta", "index": index, "delta": delta}


def closes(index: int) -> dict[str, Any]:
    return {"type": "content_block_stop", "index": index}


def ends(reason: str | None, **fields: Any) -> dict[str, Any]:
    delta = {"stop_reason": reason, **fields}
    return {"type": "message_delta", "delta": delta, "usage": {"output_tokens": 7}}


def says(text: str, index: int = 0) -> list[dict[str, Any]]:
    return [
        opens(index, "text", text=""),
        adds(index, "text_delta", text=text),
        closes(index),
    ]


def calls(index: int, call_id: str | None, *pieces: str, **fields: Any) -> list[dict[str, Any]]:
    start = {"id": call_id, "name": "ls", "input": {}} | fields
    deltas = [adds(index, "input_json_delta", partial_json=piece) for piece in pieces]
    return [opens(index, "tool_use", **start), *deltas, closes(index)]


def read(*payloads: Any) -> AssistantMessage:
    parser = Parser(MODEL)
    parser.feed([BEGIN, *payloads])
    parser.finish()
    return parser.builder.message


def answer(*payloads: Any, reason: str | None = "end_turn") -> AssistantMessage:
    return read(*payloads, ends(reason), STOP)


def failure(*payloads: Any) -> AgentError:
    with pytest.raises(AgentError) as caught:
        read(*payloads)
    return caught.value


# -- thoughts ----------------------------------------------------------------------------------


def test_a_thought_keeps_its_signature_and_its_place() -> None:
    message = answer(
        opens(0, "thinking", thinking="", signature=""),
        adds(0, "thinking_delta", thinking="Let me "),
        adds(0, "thinking_delta", thinking="see."),
        adds(0, "signature_delta", signature="Eq"),
        adds(0, "signature_delta", signature="QB"),
        closes(0),
        opens(1, "redacted_thinking", data="EmwK"),
        closes(1),
        *says("I look.", 2),
        *calls(3, "c1", "{}"),
        reason="tool_use",
    )

    assert message.content[:3] == [
        ThinkingBlock(thinking="Let me see.", signature="EqQB"),
        ThinkingBlock(signature="EmwK", redacted=True),
        TextBlock(text="I look."),
    ]
    assert [call.id for call in message.tool_calls] == ["c1"]
    assert message.stop_reason == "tool_use"


@pytest.mark.parametrize("blank", ["", " \n"])
def test_a_signed_thought_without_words_is_a_block_of_its_own(blank: str) -> None:
    message = answer(
        opens(0, "thinking", thinking="one", signature="S1"),
        closes(0),
        opens(1, "thinking", thinking=blank, signature=""),
        adds(1, "signature_delta", signature="S2"),
        closes(1),
        *says("ok", 2),
    )

    assert message.content[:2] == [
        ThinkingBlock(thinking="one", signature="S1"),
        ThinkingBlock(thinking=blank, signature="S2"),
    ]


@pytest.mark.parametrize(
    ("fields", "signature"), [({"signature": ""}, ""), ({}, None), ({"signature": None}, None)]
)
def test_a_server_may_sign_nothing(fields: dict[str, Any], signature: str | None) -> None:
    message = answer(opens(0, "thinking", thinking="hm", **fields), closes(0), *says("ok", 1))

    assert message.content[0] == ThinkingBlock(thinking="hm", signature=signature)


def test_unsigned_thoughts_without_words_are_nothing() -> None:
    message = answer(opens(0, "thinking", thinking="", signature=""), closes(0), *says("ok", 1))

    assert message.content == [TextBlock(text="ok")]


def test_blocks_of_unknown_kinds_are_kept_whole_and_show_nothing() -> None:
    use = {"id": "srv_1", "name": "web_search"}
    message = answer(
        opens(0, "server_tool_use", **use, input={}),
        adds(0, "input_json_delta", partial_json='{"query": '),
        adds(0, "input_json_delta", partial_json='"ä"}'),
        closes(0),
        opens(1, "compaction", content="a"),
        adds(1, "compaction_delta", content="b"),
        closes(1),
        *says("ok", 2),
    )

    kept = [block for block in message.content if isinstance(block, ThinkingBlock)]
    assert [json.loads(block.signature or "") for block in kept] == [
        {"type": "server_tool_use", **use, "input": {"query": "ä"}},
        {"type": "compaction", "content": "ab"},
    ]
    assert all(block.redacted and not block.thinking for block in kept)
    assert message.text == "ok"


# -- calls -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pieces", "given", "arguments", "raw"),
    [
        (["", ""], {}, {}, ""),
        ([], {"a": 1}, {"a": 1}, ""),
        (['{"b"', ": 2}"], {"a": 1}, {}, '{"b": 2}'),
        ([], '{"c": 3}', {}, '{"c": 3}'),
        ([], None, {}, ""),
    ],
    ids=["empty", "given", "placeholder", "text", "null"],
)
def test_the_input_of_a_call_comes_in_pieces_or_at_once(
    pieces: list[str], given: Any, arguments: dict[str, Any], raw: str
) -> None:
    parser = Parser(MODEL)
    told = parser.feed([BEGIN, *calls(0, "c1", *pieces, input=given), ends("tool_use"), STOP])
    parser.finish()

    (call,) = parser.builder.message.tool_calls
    assert call.arguments == arguments
    assert "".join(e.delta for e in told if e.type == "toolcall_delta") == raw


def test_calls_may_be_open_side_by_side() -> None:
    parser = Parser(MODEL)
    told = parser.feed([
        opens(0, "tool_use", id="a", name="ls"), opens(1, "tool_use", id="b", name="ls"),
        adds(0, "input_json_delta", partial_json='{"x":'),
        adds(1, "input_json_delta", partial_json='{"y":'),
        adds(0, "input_json_delta", partial_json="1}"), closes(0),
        adds(1, "input_json_delta", partial_json="2}"), closes(1),
    ])  # fmt: skip

    pieces = ["", ""]
    for event in told:
        if event.type == "toolcall_delta":
            pieces[event.content_index] += event.delta
    assert pieces == ['{"x":1}', '{"y":2}']


@pytest.mark.parametrize("call_id", [None, "", " ", 7, "c1"])
def test_every_call_has_an_id_of_its_own_and_a_trimmed_name(call_id: Any) -> None:
    message = answer(*calls(0, "c1", name=" ls "), *calls(1, call_id, name="ls"))

    first, second = message.tool_calls
    assert first.id == "c1"
    assert second.id.strip()
    assert second.id != "c1"
    assert [first.name, second.name] == ["ls", "ls"]


# -- gateways ----------------------------------------------------------------------------------


def test_pieces_without_an_announced_block_are_read() -> None:
    message = answer(
        adds(0, "thinking_delta", thinking="hm"),
        adds(1, "text_delta", text="ok"),
        adds(2, "input_json_delta", partial_json="{}"),
        adds(3, "future_delta", foo="bar"),
    )

    assert message.content == [ThinkingBlock(thinking="hm"), TextBlock(text="ok")]


def test_a_block_that_is_not_ended_ends_where_the_next_begins() -> None:
    message = answer(
        opens(0, "thinking", thinking="hm"),
        adds(0, "signature_delta", signature="S"),
        opens(1, "text", text="one"),
        opens(1, "text", text="two"),
        opens(2, "tool_use", id="c1", name="ls"),
    )

    assert message.content[:3] == [
        ThinkingBlock(thinking="hm", signature="S"),
        TextBlock(text="one"),
        TextBlock(text="two"),
    ]
    assert message.stop_reason == "tool_use"


def test_a_whole_message_instead_of_a_stream_is_read() -> None:
    parser = Parser(MODEL)
    parser.feed(
        [
            {
                "type": "message",
                "id": "msg_9",
                "content": [
                    {"type": "thinking", "thinking": "hm", "signature": "S"},
                    {"type": "text", "text": "Look."},
                    {"type": "tool_use", "id": "c1", "name": "ls", "input": {"a": 1}},
                    None,
                ],
                "stop_reason": "tool_use",
                "usage": {"input_tokens": 5, "output_tokens": 2},
            }
        ]
    )
    parser.finish()

    message = parser.builder.message
    assert message.response_id == "msg_9"
    assert message.content[0] == ThinkingBlock(thinking="hm", signature="S")
    assert (message.text, message.tool_calls[0].arguments) == ("Look.", {"a": 1})
    assert (message.stop_reason, message.usage.input) == ("tool_use", 5)


@pytest.mark.parametrize(
    "payload",
    [
        None,
        [],
        {},
        {"type": "ping"},
        {"type": "future_event", "detail": {}},
        {"type": "content_block_start", "index": 9},
        {"type": "content_block_delta", "index": 9, "delta": None},
        {"type": "content_block_stop", "index": 9},
        {"type": "message_delta", "delta": None, "usage": None},
        opens(9, "text", text=None),
        adds(9, "text_delta", text=None),
    ],
    ids=str,
)
def test_what_says_nothing_is_nothing(payload: Any) -> None:
    parser = Parser(MODEL)

    assert parser.feed([payload]) == []
    assert answer(payload, *says("ok")).text == "ok"


# -- endings -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("raw", "reason", "kept"),
    [
        ("end_turn", "stop", None),
        ("stop_sequence", "stop", "stop_sequence"),
        ("tool_use", "stop", None),
        ("pause_turn", "stop", "pause_turn"),
        ("max_tokens", "length", None),
        ("model_context_window_exceeded", "length", "model_context_window_exceeded"),
        ("brand_new", "stop", "brand_new"),
        (None, "stop", None),
    ],
)
def test_stop_reasons_of_answers_with_text(raw: str, reason: str, kept: str | None) -> None:
    message = answer(*says("x"), reason=raw)

    assert (message.stop_reason, message.raw_stop_reason) == (reason, kept)


@pytest.mark.parametrize("raw", ["end_turn", "brand_new", None])
def test_calls_win_over_the_stop_reason(raw: str | None) -> None:
    assert answer(*calls(0, "c1", "{}"), reason=raw).stop_reason == "tool_use"


def test_a_stop_reason_is_enough_of_an_end() -> None:
    parser = Parser(MODEL)
    parser.feed([*says("x"), ends("end_turn")])

    assert parser.finish()[-1].type == "done"


@pytest.mark.parametrize(
    ("payloads", "code", "words"),
    [
        (says("x"), "stream_incomplete", "broke off"),
        ([], "stream_incomplete", "is empty"),
        ([STOP], "stream_incomplete", "is empty"),
        ([opens(0, "tool_use", id="c1", name="ls"), STOP], "stream_incomplete", "broke off"),
        ([ends("brand_new"), STOP], "provider", "brand_new"),
        ([*says("x"), ends("sensitive"), STOP], "content_policy", "a filter stopped it"),
        (
            [ends("refusal", stop_details={"category": "c", "explanation": "Bio\x1b[2J."}), STOP],
            "content_policy",
            "the model refused to answer: Bio.",
        ),
    ],
    ids=["cut", "nothing", "empty", "open_call", "unknown_and_empty", "sensitive", "refusal"],
)
def test_endings_that_are_failures(payloads: list[Any], code: str, words: str) -> None:
    error = failure(*payloads)

    assert error.code == code
    assert words in error.message


@pytest.mark.parametrize(
    ("kind", "code", "retryable"),
    [
        ("overloaded_error", "overloaded", True),
        ("api_error", "overloaded", True),
        ("rate_limit_error", "rate_limit", True),
        ("timeout_error", "timeout", True),
        ("authentication_error", "auth", False),
        ("permission_error", "auth", False),
        ("billing_error", "quota", False),
        ("invalid_request_error", "provider", False),
        ("not_found_error", "provider", False),
        ("request_too_large", "context_overflow", False),
        ("brand_new_error", "provider", True),
    ],
)
def test_errors_in_mid_stream(kind: str, code: str, retryable: bool) -> None:
    fault = {"type": "error", "error": {"type": kind, "message": "Sorry"}, "request_id": "req_1"}

    error = failure(*says("x"), fault)

    assert (error.code, error.retryable) == (code, retryable)
    assert "Sorry" in error.message
    assert getattr(error, "request_id", None) == "req_1"


# -- usage -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("raw", "usage"),
    [
        (
            {"input_tokens": 3, "cache_read_input_tokens": 1111, "output_tokens": 90,
             "cache_creation_input_tokens": 418, "output_tokens_details": {"thinking_tokens": 60}},
            Usage(input=3, cache_read=1111, cache_write=418, output=90, reasoning=60, total=1622),
        ),
        (
            {"input_tokens": 3, "cache_creation_input_tokens": 300, "output_tokens": 1,
             "cache_creation": {"ephemeral_5m_input_tokens": 100,
                                "ephemeral_1h_input_tokens": 200}},
            Usage(input=3, cache_write=300, cache_write_long=200, output=1, total=304),
        ),
        (
            {"input_tokens": 3, "cache_creation": {"ephemeral_5m_input_tokens": 9}},
            Usage(input=3, cache_write=9, total=12),
        ),
        (
            {"output_tokens": 5, "output_tokens_details": {"thinking_tokens": 6}},
            Usage(output=5, reasoning=5, total=5),
        ),
        ({"input_tokens": None}, None),
        ({"input_tokens": "many"}, None),
    ],
    ids=["cached", "kept_long", "no_sum", "clamped", "none", "odd"],
)  # fmt: skip
def test_usage_is_told_in_disjoint_classes(raw: dict[str, Any], usage: Usage | None) -> None:
    assert usage_of(raw) == usage


def test_later_counts_replace_earlier_ones_unless_they_are_missing() -> None:
    parser = Parser(MODEL)
    start = {"input_tokens": 50, "cache_read_input_tokens": 1000, "output_tokens": 3}
    parser.feed([{"type": "message_start", "message": {"usage": start}}])
    assert parser.builder.message.usage.prompt_tokens == 1050
    assert not parser.has_usage

    final = {"input_tokens": None, "cache_read_input_tokens": 1000, "output_tokens": 120}
    parser.feed([*says("x"), {"type": "message_delta", "delta": {}, "usage": final}, STOP])
    parser.finish()

    usage = parser.builder.message.usage
    assert (usage.input, usage.cache_read, usage.output) == (50, 1000, 120)
    assert not usage.incomplete


def test_without_final_counts_the_first_ones_are_a_lower_bound() -> None:
    parser = Parser(MODEL)
    parser.feed([BEGIN, *says("x"), STOP])
    parser.finish()

    assert parser.builder.message.usage == Usage(input=5, output=1, total=6, incomplete=True)


def test_what_was_read_from_the_cache_is_no_part_of_the_input() -> None:
    case = json.loads((CASES / "cost/anthropic-cached-is-extra.scenario.json").read_text())
    price = json.loads((CASES / "cost/prices.json").read_text())[case["model"]]
    usage = usage_of(case["provider_usage_objects"][0])
    expect = case["expect"]

    assert usage is not None
    assert usage.prompt_tokens == expect["input_total"]
    assert (usage.cache_read, usage.cache_write) == (expect["cache_read"], expect["cache_write"])
    assert cost_of(usage, ModelCost(**price)) == expect["cost"]


async def test_an_answer_that_was_cut_has_counted_its_input() -> None:
    body = (CASES / "wire-anthropic/ends-inside-tool-input.sse").read_bytes()

    async with serving(plays(body)) as lab:
        usage = (await answer_of(lab.model(api="anthropic"))).usage

    assert (usage.input, usage.incomplete) == (80, True)


# -- the connection ----------------------------------------------------------------------------


async def test_pings_are_no_content() -> None:
    async def script(peer: Peer) -> None:
        await peer.head(200, EVENTS)
        await peer.send(SPEECH.hello)
        try:
            while True:
                await peer.send(events({"type": "ping"}))
        except ConnectionError:
            pass

    async with serving(script) as lab:
        message = await answer_of(lab.model(api="anthropic", compat={"timeouts": {"stall": 0.1}}))

    assert message.error is not None
    assert message.error.code == "timeout"


async def test_after_message_stop_the_end_of_the_body_is_not_waited_for() -> None:
    async def script(peer: Peer) -> None:
        await peer.head(200, EVENTS)
        await peer.send(SPEECH.whole)
        await peer.hung_up()

    async with serving(script) as lab:
        message = await answer_of(lab.model(api="anthropic", compat={"timeouts": {"stall": 60}}))

    assert (message.text, message.stop_reason) == ("Hello", "stop")
    assert not message.usage.incomplete


@pytest.mark.parametrize(
    ("key", "headers"),
    [
        ("sk-ant-api03-x", {"x-api-key": "sk-ant-api03-x"}),
        ("sk-ant-oat01-x", {"authorization": "Bearer sk-ant-oat01-x"}),
        ("gateway-token", {"authorization": "Bearer gateway-token"}),
    ],
)
def test_tokens_go_out_as_bearer_and_keys_do_not(
    key: str, headers: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "gateway-token\n")

    assert authorize(key) == headers


# -- any cut, any nonsense ---------------------------------------------------------------------

words = st.text(alphabet="ab й\n", max_size=6)
indexes = st.integers(0, 2)
payloads = st.one_of(
    st.builds(
        opens,
        indexes,
        st.sampled_from(["text", "thinking", "tool_use", "redacted_thinking", "odd"]),
        text=words,
        thinking=words,
        data=words,
        id=words,
        name=words,
    ),
    st.builds(
        adds,
        indexes,
        st.sampled_from(["text_delta", "thinking_delta", "signature_delta", "input_json_delta"]),
        text=words,
        thinking=words,
        signature=words,
        partial_json=words,
    ),
    st.builds(closes, indexes),
)


def finished(batches: list[list[Any]]) -> tuple[list[Any], dict[tuple[int, str], str], list[str]]:
    """The blocks, what the deltas of each block add up to, and how blocks begin and end."""
    parser = Parser(MODEL)
    told: list[StreamEvent] = []
    for batch in batches:
        told += parser.feed(batch)
    told += parser.feed([*says("!", 9), ends("end_turn"), STOP]) + parser.finish()
    streamed: dict[tuple[int, str], str] = {}
    for event in told:
        if event.type.endswith("_delta"):
            key = (getattr(event, "content_index", -1), event.type)
            streamed[key] = streamed.get(key, "") + getattr(event, "delta", "")
    frame = [
        f"{e.type} {getattr(e, 'content_index', '')}" for e in told if not e.type.endswith("_delta")
    ]
    blocks = [block.model_dump(exclude={"id"}) for block in parser.builder.message.content]
    return blocks, streamed, frame


@given(st.lists(payloads, max_size=12), st.data())
def test_joining_events_into_one_read_changes_nothing(
    told: list[dict[str, Any]], data: st.DataObject
) -> None:
    cut = data.draw(st.integers(0, len(told)))
    one_by_one = finished([[payload] for payload in told])

    assert finished([told[:cut], told[cut:]]) == one_by_one
    assert finished([told]) == one_by_one


@given(st.lists(payloads, max_size=12))
def test_every_block_begins_once_and_ends_once(told: list[dict[str, Any]]) -> None:
    blocks, streamed, frame = finished([told])

    begun = [word for word in frame if "_start" in word]
    assert len(begun) == len(blocks) == len([word for word in frame if "_end" in word])
    for place, block in enumerate(blocks):
        if block["type"] == "text":
            assert streamed.get((place, "text_delta"), "") == block["text"]
        if block["type"] == "thinking":
            assert streamed.get((place, "thinking_delta"), "") == block["thinking"]
