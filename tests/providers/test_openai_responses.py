"""What the parser of the Responses wire makes of items, and of servers that leave things out."""

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
from agent_tui.core.stream import StreamEvent, StreamOptions
from agent_tui.core.usage import Usage
from agent_tui.providers.openai_responses import Parser, usage_of
from tests.providers.loopback import CASES, EVENTS, JSON, Peer, answer_of, plays, serving
from tests.providers.wires import SPEECHES

MODEL = Model("lab", "m", api="openai-responses", base_url="http://127.0.0.1:1/v1")
(SPEECH,) = (speech for speech in SPEECHES if speech.api == "openai-responses")


def event(name: str, **fields: Any) -> dict[str, Any]:
    return {"type": f"response.{name}", **fields}


def added(index: int | None, item: dict[str, Any]) -> dict[str, Any]:
    return event("output_item.added", item=item, **at(index))


def done(index: int | None, item: dict[str, Any]) -> dict[str, Any]:
    return event("output_item.done", item=item, **at(index))


def at(index: int | None, item_id: str | None = None) -> dict[str, Any]:
    fields = {"output_index": index, "item_id": item_id}
    return {name: value for name, value in fields.items() if value is not None}


def message_item(*texts: str, item_id: str = "msg_1", **fields: Any) -> dict[str, Any]:
    content = [{"type": "output_text", "text": text, "annotations": []} for text in texts]
    return {"type": "message", "id": item_id, "role": "assistant", "content": content, **fields}


def reasoning_item(*summary: str, **fields: Any) -> dict[str, Any]:
    parts = [{"type": "summary_text", "text": text} for text in summary]
    return {"type": "reasoning", "id": "rs_1", "summary": parts, **fields}


def call_item(arguments: Any, name: str = "a") -> dict[str, Any]:
    known = {"id": f"fc_{name}", "call_id": f"call_{name}", "name": "ls"}
    return {"type": "function_call", **known, "arguments": arguments}


def completes(*items: Any, status: str = "completed", **fields: Any) -> dict[str, Any]:
    usage = {"input_tokens": 5, "output_tokens": 2, "total_tokens": 7}
    response = {"id": "resp_1", "status": status, "output": list(items), "usage": usage}
    return event(status, response=response | fields)


def read(*payloads: Any) -> AssistantMessage:
    parser = Parser(MODEL)
    parser.feed(payloads)
    parser.finish()
    return parser.builder.message


def failure(*payloads: Any) -> AgentError:
    with pytest.raises(AgentError) as caught:
        read(*payloads)
    return caught.value


def arguments_in(told: list[StreamEvent]) -> dict[int, str]:
    """The argument text of each call, by content index."""
    found: dict[int, str] = {}
    for item in told:
        if item.type == "toolcall_start":
            found[item.content_index] = ""
        elif item.type == "toolcall_delta":
            found[item.content_index] += item.delta
    return found


# -- reasoning ---------------------------------------------------------------------------------


def test_parts_of_a_summary_are_told_apart_by_a_blank_line() -> None:
    message = read(
        added(0, reasoning_item()),
        event("reasoning_summary_part.added", summary_index=0, **at(0)),
        event("reasoning_summary_text.delta", summary_index=0, delta="**One**", **at(0)),
        event("reasoning_summary_text.done", summary_index=0, text="**One**", **at(0)),
        event("reasoning_summary_part.done", summary_index=0, **at(0)),
        event("reasoning_summary_part.added", summary_index=1, **at(0)),
        event("reasoning_summary_text.delta", summary_index=1, delta="Tw", **at(0)),
        event("reasoning_summary_text.delta", summary_index=1, delta="o", **at(0)),
        done(0, reasoning_item("**One**", "Two", encrypted_content="gA", status=None)),
        completes(reasoning_item("**One**", "Two", encrypted_content="other")),
    )

    (thought,) = message.content
    assert isinstance(thought, ThinkingBlock)
    assert thought.thinking == "**One**\n\nTwo"
    assert json.loads(thought.signature or "") == reasoning_item(
        "**One**", "Two", encrypted_content="gA"
    )


@pytest.mark.parametrize("form", ["summary", "content"])
def test_thoughts_in_two_forms_are_shown_once(form: str) -> None:
    names = {"summary": "reasoning_summary_text.delta", "content": "reasoning_text.delta"}
    other = "content" if form == "summary" else "summary"
    content = [{"type": "reasoning_text", "text": "in content"}]
    message = read(
        added(0, reasoning_item()),
        event(names[form], delta=f"in {form}", **at(0)),
        event(names[other], delta=f"in {other}", **at(0)),
        done(0, reasoning_item("in summary", content=content)),
        completes(),
    )

    assert isinstance(message.content[0], ThinkingBlock)
    assert message.content[0].thinking == f"in {form}"


def test_encrypted_reasoning_without_words_is_kept_in_its_place() -> None:
    item = reasoning_item(encrypted_content="gA")

    message = read(added(0, item), done(0, item), done(1, message_item("ok")), completes())

    assert [block.type for block in message.content] == ["thinking", "text"]
    assert isinstance(message.content[0], ThinkingBlock)
    assert json.loads(message.content[0].signature or "")["encrypted_content"] == "gA"


def test_reasoning_that_says_and_keeps_nothing_is_nothing() -> None:
    message = read(done(0, reasoning_item()), done(1, message_item("ok")), completes())

    assert [block.type for block in message.content] == ["text"]


def test_encrypted_reasoning_may_come_only_with_the_end() -> None:
    message = read(
        done(0, reasoning_item("hm")),
        done(1, message_item("ok")),
        completes(reasoning_item("hm", encrypted_content="gA"), message_item("ok")),
    )

    assert isinstance(message.content[0], ThinkingBlock)
    assert json.loads(message.content[0].signature or "")["encrypted_content"] == "gA"


# -- messages ----------------------------------------------------------------------------------


def test_a_message_keeps_its_id_and_its_phase() -> None:
    message = read(done(0, message_item("ok", phase="commentary")), completes())

    (block,) = message.content
    assert isinstance(block, TextBlock)
    assert json.loads(block.signature or "") == {"id": "msg_1", "phase": "commentary"}


def test_two_messages_are_two_blocks() -> None:
    message = read(
        added(0, message_item()),
        event("output_text.delta", delta="one", **at(0, "msg_1")),
        added(1, message_item(item_id="msg_2")),
        event("output_text.delta", delta=" ", **at(1, "msg_2")),
        event("output_text.delta", delta="two", **at(1, "msg_2")),
        done(0, message_item("one")),
        done(1, message_item(" two", item_id="msg_2")),
        completes(),
    )

    assert [block.text for block in message.content if isinstance(block, TextBlock)] == [
        "one",
        " two",
    ]
    assert '"msg_2"' in str(message.content[1].model_dump()["signature"])


def test_what_the_pieces_lack_is_added_from_the_whole() -> None:
    parser = Parser(MODEL)
    told = parser.feed([
        added(0, message_item()),
        event("output_text.delta", delta="Hel", content_index=0, **at(0)),
        event("output_text.done", text="Hello", content_index=0, **at(0)),
        done(0, message_item("Hello", " you")),
    ])  # fmt: skip

    assert parser.builder.message.text == "Hello you"
    assert "".join(e.delta for e in told if e.type == "text_delta") == "Hello you"


def test_the_whole_wins_over_pieces_that_say_something_else() -> None:
    message = read(
        event("output_text.delta", delta="Hallo", **at(0)),
        done(0, message_item("Hello")),
        event("reasoning_text.delta", delta="hum", **at(1)),
        done(1, reasoning_item("hm", content=[{"text": "hm"}])),
        completes(),
    )

    assert message.text == "Hello"
    assert isinstance(message.content[1], ThinkingBlock)
    assert message.content[1].thinking == "hm"


# -- calls -------------------------------------------------------------------------------------


def test_a_call_has_the_id_for_its_result_and_remembers_that_of_its_item() -> None:
    (call,) = read(done(0, call_item("{}")), completes()).tool_calls

    assert (call.id, call.name, call.thought_signature) == ("call_a", "ls", "fc_a")


@pytest.mark.parametrize("keyed_by", ["index", "id"])
def test_pieces_of_calls_that_are_open_side_by_side_are_told_apart(keyed_by: str) -> None:
    def where(index: int) -> dict[str, Any]:
        return at(index) if keyed_by == "index" else at(None, f"fc_{'ab'[index]}")

    parser = Parser(MODEL)
    told = parser.feed([
        added(0 if keyed_by == "index" else None, call_item("")),
        added(1 if keyed_by == "index" else None, call_item("", "b")),
        event("function_call_arguments.delta", delta='{"x":', **where(0)),
        event("function_call_arguments.delta", delta='{"y":', **where(1)),
        event("function_call_arguments.delta", delta="1}", **where(0)),
        event("function_call_arguments.delta", delta="2}", **where(1)),
    ])  # fmt: skip

    assert arguments_in(told) == {0: '{"x":1}', 1: '{"y":2}'}


def test_without_index_and_id_a_piece_belongs_to_the_newest_open_item() -> None:
    parser = Parser(MODEL)
    told = parser.feed([
        event("output_text.delta", delta="Look."),
        added(None, {"type": "function_call", "call_id": "c1", "name": "ls"}),
        event("function_call_arguments.delta", delta="{}"),
        done(None, {"type": "function_call", "call_id": "c1", "name": "ls", "arguments": "{}"}),
        added(None, {"type": "function_call", "call_id": "c2", "name": "rm"}),
        event("function_call_arguments.delta", delta="[]"),
        completes(),
    ])  # fmt: skip

    assert arguments_in(told) == {1: "{}", 2: "[]"}
    assert [call.id for call in parser.builder.message.tool_calls] == ["c1", "c2"]


@pytest.mark.parametrize(
    ("arguments", "raw", "given"),
    [('{"a":1}', '{"a":1}', {}), ({"a": 1}, "", {"a": 1}), ("", "", {}), (None, "", {})],
    ids=["text", "object", "empty", "null"],
)
def test_arguments_may_come_only_with_the_whole_item(
    arguments: Any, raw: str, given: dict[str, Any]
) -> None:
    parser = Parser(MODEL)
    told = parser.feed([done(0, call_item(arguments))])

    assert arguments_in(told) == {0: raw}
    assert parser.builder.message.tool_calls[0].arguments == given


def test_arguments_that_came_twice_and_differ_are_not_run() -> None:
    pieces = event("function_call_arguments.delta", delta='{"path":"a"}', **at(0))

    same = read(added(0, call_item("")), pieces, done(0, call_item('{"path": "a"}')), completes())
    error = failure(added(0, call_item("")), pieces, done(0, call_item('{"path":"b"}')))

    assert same.stop_reason == "tool_use"
    assert error.retryable
    assert "ls" in error.message


@pytest.mark.parametrize("call_id", ["call_a", "", None])
def test_every_call_has_an_id_of_its_own(call_id: Any) -> None:
    second = call_item("{}", "b") | {"call_id": call_id}

    calls = read(done(0, call_item("{}")), done(1, second), completes()).tool_calls

    assert len({call.id for call in calls} - {""}) == 2


# -- servers that leave things out -------------------------------------------------------------


def test_items_that_only_the_end_tells_of_are_read() -> None:
    parser = Parser(MODEL)
    told = parser.feed(
        [completes(reasoning_item("hm"), message_item("Look."), call_item('{"a":1}'))]
    )
    parser.finish()

    message = parser.builder.message
    assert [block.type for block in message.content] == ["thinking", "text", "tool_call"]
    assert (message.text, message.stop_reason) == ("Look.", "tool_use")
    assert arguments_in(told) == {2: '{"a":1}'}


def test_items_that_came_before_are_not_read_again() -> None:
    message = read(
        done(None, message_item("Look.")),
        done(None, call_item("{}")),
        completes(message_item("Look."), call_item("{}")),
    )

    assert [block.type for block in message.content] == ["text", "tool_call"]


def test_items_without_any_name_are_known_again_by_their_order() -> None:
    message = read(
        event("output_text.delta", delta="Look."),
        added(None, {"type": "function_call", "call_id": "c1", "name": "ls"}),
        event("function_call_arguments.delta", delta="{}"),
        completes(
            message_item("Look.", item_id="msg_9"),
            {"type": "function_call", "call_id": "c1", "name": "ls", "arguments": "{}"},
        ),
    )

    assert [block.type for block in message.content] == ["text", "tool_call"]


def test_ids_that_change_from_event_to_event_do_no_harm() -> None:
    message = read(
        added(0, message_item(item_id="x1")),
        event("output_text.delta", delta="one", **at(0, "x2")),
        event("output_text.delta", delta=" two", **at(0, "x3")),
        done(0, message_item("one two", item_id="x4")),
        completes(message_item("one two", item_id="x5")),
    )

    assert message.text == "one two"
    assert len(message.content) == 1


def test_a_whole_response_instead_of_a_stream_is_read() -> None:
    response = completes(message_item("Hello"))["response"] | {"object": "response"}

    message = read(response)

    assert (message.text, message.response_id, message.usage.input) == ("Hello", "resp_1", 5)


@pytest.mark.parametrize(
    "payload",
    [
        None,
        [],
        {},
        event("queued", response=None),
        event("content_part.added", part={"type": "output_text"}, **at(9)),
        event("output_text.annotation.added", **at(9)),
        event("web_search_call.searching", **at(9)),
        event("brand_new"),
        {"type": "keepalive"},
        done(9, {"type": "web_search_call", "id": "ws_1"}),
        done(9, {}),
        event("output_item.added", item=None),
    ],
    ids=str,
)
def test_what_says_nothing_is_nothing(payload: Any) -> None:
    message = read(payload, done(0, message_item("ok")), payload, completes())

    assert [block.type for block in message.content] == ["text"]


# -- endings -----------------------------------------------------------------------------------


def cut_by(reason: str | None) -> dict[str, Any]:
    return completes(status="incomplete", incomplete_details={"reason": reason})


@pytest.mark.parametrize(
    ("end", "reason", "kept"),
    [
        (completes(), "stop", None),
        (cut_by("max_output_tokens"), "length", None),
        (cut_by("brand_new"), "stop", "brand_new"),
        (cut_by(None), "stop", "incomplete"),
    ],
    ids=["completed", "max_tokens", "other", "unknown"],
)
def test_statuses_of_answers_with_text(end: Any, reason: str, kept: str | None) -> None:
    message = read(done(0, message_item("x")), end)

    assert (message.stop_reason, message.raw_stop_reason) == (reason, kept)
    assert message.usage == Usage(input=5, output=2, total=7)


def test_a_call_that_the_limit_cut_has_no_end_of_its_own() -> None:
    parser = Parser(MODEL)
    told = parser.feed([
        added(0, call_item("")),
        event("function_call_arguments.delta", delta='{"pa', **at(0)),
        cut_by("max_output_tokens"),
    ])  # fmt: skip
    last = parser.finish()[-1]

    assert arguments_in(told) == {0: '{"pa'}
    assert last.type == "done"
    assert last.reason == "length"


CUT = [
    added(0, call_item("")),
    event("function_call_arguments.delta", delta='{"pa', **at(0)),
    completes(),
]


@pytest.mark.parametrize(
    ("payloads", "code", "words"),
    [
        ([done(0, message_item("x"))], "stream_incomplete", "broke off"),
        ([event("created", response={"id": "r"})], "stream_incomplete", "is empty"),
        (CUT, "stream_incomplete", "broke off"),
        ([completes(status="in_progress")], "stream_incomplete", "is empty"),
        ([cut_by("brand_new")], "provider", "brand_new"),
        ([cut_by("content_filter")], "content_policy", "a filter"),
        ([event("refusal.delta", delta="No."), completes()], "content_policy", "refused"),
        (
            [done(0, {"type": "message", "content": [{"type": "refusal", "refusal": "No."}]}),
             completes()],
            "content_policy", "refused",
        ),
        ([completes(status="cancelled")], "provider", "cancelled"),
        ([completes(status="failed")], "provider", "without a reason"),
    ],
    ids=["cut", "nothing", "open_call", "not_over", "unknown_and_empty", "filter", "refusal",
         "refusal_at_once", "cancelled", "failed"],
)  # fmt: skip
def test_endings_that_are_failures(payloads: list[Any], code: str, words: str) -> None:
    if payloads[-1]["type"] == "response.in_progress":
        payloads = [payloads[-1]["response"] | {"object": "response"}]

    error = failure(*payloads)

    assert error.code == code
    assert words in error.message


def test_a_refusal_is_shown() -> None:
    parser = Parser(MODEL)
    parser.feed([event("refusal.delta", delta="I "), event("refusal.done", refusal="I can't.")])

    assert parser.builder.message.text == "I can't."


@pytest.mark.parametrize("nested", [True, False], ids=["nested", "flat"])
@pytest.mark.parametrize(
    ("fault", "code", "retryable", "delay"),
    [
        ("server_is_overloaded", "overloaded", True, None),
        ("server_error", "overloaded", True, None),
        ("rate_limit_exceeded", "rate_limit", True, 1.2),
        ("insufficient_quota", "quota", False, None),
        ("context_length_exceeded", "context_overflow", False, None),
        ("invalid_prompt", "content_policy", False, None),
        ("bio_policy", "content_policy", False, None),
        ("misalignment_policy_violation", "content_policy", False, None),
        ("image_too_large", "provider", False, None),
        ("brand_new", "provider", True, None),
    ],
)
def test_errors_in_mid_stream(
    fault: str, code: str, retryable: bool, delay: float | None, nested: bool
) -> None:
    words = "Sorry. Please try again in 1.2s." if delay else "Sorry."
    error = {"code": fault, "message": words, "param": None}
    payload = {"type": "error", "error": error} if nested else {"type": "error", **error}

    found = failure(done(0, message_item("x")), payload)
    failed = failure(completes(status="failed", error=error))

    assert (found.code, found.retryable) == (failed.code, failed.retryable) == (code, retryable)
    assert "Sorry" in found.message
    assert getattr(found, "retry_after", None) == getattr(failed, "retry_after", None) == delay


# -- usage -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("raw", "usage"),
    [
        (
            {"input_tokens": 1200, "output_tokens": 90, "total_tokens": 1290,
             "input_tokens_details": {"cached_tokens": 1024, "cache_write_tokens": 100},
             "output_tokens_details": {"reasoning_tokens": 60}},
            Usage(input=76, cache_read=1024, cache_write=100, output=90, reasoning=60, total=1290),
        ),
        ({"input_tokens": 5, "output_tokens": 1, "cost": 0.5},
         Usage(input=5, output=1, total=6, cost_usd=0.5)),
        ({"input_tokens": 5, "output_tokens": None}, Usage(input=5, total=5, incomplete=True)),
        ({}, None),
    ],
    ids=["openai", "openrouter", "half", "none"],
)  # fmt: skip
def test_usage_is_told_in_disjoint_classes(raw: dict[str, Any], usage: Usage | None) -> None:
    assert usage_of(raw) == usage


def test_unknown_usage_is_marked_and_not_zero() -> None:
    message = read(done(0, message_item("x")), completes(usage=None))

    assert message.usage == Usage(incomplete=True)


def test_what_a_failed_response_has_used_is_counted() -> None:
    parser = Parser(MODEL)
    with pytest.raises(AgentError):
        parser.feed([completes(status="failed", error={"code": "server_error"})])

    assert parser.builder.message.usage.input == 5


def test_reasoning_is_a_part_of_the_output_when_money_is_counted() -> None:
    case = json.loads((CASES / "cost/responses-reasoning-once.scenario.json").read_text())
    price = json.loads((CASES / "cost/prices.json").read_text())[case["model"]]
    usage = usage_of(case["provider_usage_objects"][0])
    expect = case["expect"]

    assert usage is not None
    assert usage.prompt_tokens == expect["input_total"]
    assert (usage.output, usage.reasoning) == (expect["output_total"], expect["reasoning"])
    assert cost_of(usage, ModelCost(**price)) == expect["cost"]


# -- the connection ----------------------------------------------------------------------------


async def test_after_the_last_event_the_end_of_the_body_is_not_waited_for() -> None:
    async def script(peer: Peer) -> None:
        await peer.head(200, EVENTS)
        await peer.send(SPEECH.whole)
        await peer.hung_up()

    async with serving(script) as lab:
        message = await answer_of(
            lab.model(api="openai-responses", compat={"timeouts": {"stall": 60}})
        )

    assert (message.text, message.usage.input) == ("Hello", 5)


async def test_summaries_that_an_organisation_may_not_have_are_not_asked_for_again() -> None:
    words = "Your organization must be verified to generate reasoning summaries."
    refusal = json.dumps({"error": {"message": words, "param": "reasoning.summary"}}).encode()

    async with serving(
        plays(refusal, status=400, headers=JSON), plays(SPEECH.whole, headers=EVENTS)
    ) as lab:
        options = StreamOptions(thinking_level="low")
        texts = [
            (await answer_of(lab.model(api="openai-responses"), options=options)).text
            for _ in range(2)
        ]

    assert texts == ["Hello", "Hello"]
    assert [request.body["reasoning"] for request in lab.requests] == [
        {"effort": "low", "summary": "auto"},
        {"effort": "low"},
        {"effort": "low"},
    ]


# -- any cut, any nonsense ---------------------------------------------------------------------

words = st.text(alphabet="ab й\n{}", max_size=5)
kinds = st.sampled_from(["message", "reasoning", "function_call", "odd"])
places = st.one_of(
    st.builds(at, st.integers(0, 2), st.sampled_from([None, "i1", "i2"])),
    st.builds(at, st.none(), st.sampled_from([None, "i1", "i2"])),
)
raw_items = st.fixed_dictionaries(
    {"type": kinds},
    optional={
        "id": st.sampled_from(["i1", "i2"]),
        "name": words,
        "call_id": words,
        "content": st.lists(st.fixed_dictionaries({"text": words}), max_size=2),
        "summary": st.lists(st.fixed_dictionaries({"text": words}), max_size=2),
        "encrypted_content": words,
    },
)
payloads = st.one_of(
    st.builds(lambda item, where: event("output_item.added", item=item) | where, raw_items, places),
    st.builds(lambda item, where: event("output_item.done", item=item) | where, raw_items, places),
    st.builds(
        lambda name, delta, number, where: (
            event(name, delta=delta, summary_index=number, content_index=number) | where
        ),
        st.sampled_from([
            "output_text.delta", "reasoning_text.delta", "reasoning_summary_text.delta",
            "function_call_arguments.delta",
        ]),
        words, st.integers(0, 2), places,
    ),
)  # fmt: skip


def finished(batches: list[list[Any]]) -> tuple[list[Any], dict[tuple[int, str], str], list[str]]:
    """The blocks, what the deltas of each block add up to, and how blocks begin and end."""
    parser = Parser(MODEL)
    told: list[StreamEvent] = []
    for batch in batches:
        told += parser.feed(batch)
    told += parser.feed([cut_by("max_output_tokens")]) + parser.finish()
    streamed: dict[tuple[int, str], str] = {}
    for item in told:
        if item.type.endswith("_delta"):
            key = (getattr(item, "content_index", -1), item.type)
            streamed[key] = streamed.get(key, "") + getattr(item, "delta", "")
    frame = [
        f"{e.type} {getattr(e, 'content_index', '')}" for e in told if not e.type.endswith("_delta")
    ]
    blocks = [block.model_dump(exclude={"id"}) for block in parser.builder.message.content]
    return blocks, streamed, frame


@given(st.lists(payloads, max_size=10), st.data())
def test_joining_events_into_one_read_changes_nothing(
    told: list[dict[str, Any]], data: st.DataObject
) -> None:
    cut = data.draw(st.integers(0, len(told)))
    one_by_one = finished([[payload] for payload in told])

    assert finished([told[:cut], told[cut:]]) == one_by_one
    assert finished([told]) == one_by_one


@given(st.lists(payloads, max_size=10))
def test_every_block_begins_once_and_ends_once(told: list[dict[str, Any]]) -> None:
    blocks, _, frame = finished([told])

    for suffix in ("_start", "_end"):
        places = sorted(int(word.split()[1]) for word in frame if f"{suffix} " in word)
        assert places == list(range(len(blocks)))
