"""Ollama's own API: what its lines come to, and what is asked before."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_tui.core.errors import AgentError
from agent_tui.core.messages import AssistantMessage, TextBlock, ThinkingBlock, ToolCall
from agent_tui.core.model import Model
from agent_tui.core.registry import stream_fn_for
from agent_tui.core.stream import StreamEvent, StreamOptions
from agent_tui.core.usage import Usage
from agent_tui.providers.catalog import get_model
from agent_tui.providers.ollama import Parser, usage_of
from agent_tui.providers.ollama_show import UNKNOWN, Details, details_of, read_details, window_of
from tests.providers.loopback import (
    JSON,
    Loopback,
    Peer,
    Script,
    aborting,
    answer_of,
    asks,
    plays,
    serving,
)

LINES = {"content-type": "application/x-ndjson"}
DONE = {"message": {"role": "assistant", "content": ""}, "done": True, "done_reason": "stop"}
COUNTS = {"prompt_eval_count": 5, "eval_count": 2}
SHOWN = {
    "capabilities": ["completion", "tools", "thinking"],
    "details": {"family": "qwen3"},
    "model_info": {"general.architecture": "qwen3", "qwen3.context_length": 40960},
    "parameters": "stop    <|im_end|>\nnum_ctx                        8192\n",
}


def model(base_url: str = "http://127.0.0.1:11434", **fields: Any) -> Model:
    return Model("ollama", "qwen3:8b", api="ollama", base_url=base_url, **fields)


def line(content: str = "", **fields: Any) -> dict[str, Any]:
    return {"message": {"role": "assistant", "content": content, **fields}, "done": False}


def answer(*payloads: Any, target: Model | None = None) -> AssistantMessage:
    parser = Parser(target or model())
    parser.feed(payloads)
    parser.finish()
    return parser.builder.message


def failure(*payloads: Any) -> AgentError:
    with pytest.raises(AgentError) as caught:
        answer(*payloads)
    return caught.value


def speaking(*payloads: Any) -> bytes:
    return b"".join(json.dumps(payload).encode() + b"\n" for payload in payloads)


def says(text: str) -> Script:
    return plays(speaking(line(text), DONE | COUNTS), headers=LINES)


def at_paths(scripts: Mapping[str, Script]) -> Script:
    """A script for each path, an error 404 for all others."""

    async def script(peer: Peer) -> None:
        missing = plays(b"404 page not found", status=404, headers={"content-type": "text/plain"})
        await scripts.get(peer.request.path, missing)(peer)

    return script


def server(chat: Script, show: Any = SHOWN) -> Script:
    shown = plays(json.dumps(show).encode(), headers=JSON) if isinstance(show, dict) else show
    return at_paths({"/api/show": shown, "/api/chat": chat})


def paths(lab: Loopback) -> list[str]:
    return [request.path for request in lab.requests]


# -- lines -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "payload",
    [
        {},
        None,
        [],
        {"done": False},
        {"message": None, "done": False},
        {"message": {"content": None, "thinking": None, "tool_calls": None}},
        {"message": {"tool_calls": [None, {}, {"function": None}]}},
    ],
)
def test_lines_without_content_are_nothing(payload: Any) -> None:
    message = answer(payload, line("ok"), payload, DONE)

    assert message.content == [TextBlock(text="ok")]


def test_thoughts_text_and_calls_keep_their_order() -> None:
    call = {"id": "c1", "function": {"index": 0, "name": "ls", "arguments": {"path": "a"}}}

    message = answer(
        line(thinking="h"),
        line(thinking="m"),
        line("Look"),
        line("."),
        line(tool_calls=[call]),
        DONE,
    )

    assert message.content == [
        ThinkingBlock(thinking="hm"),
        TextBlock(text="Look."),
        ToolCall(id="c1", name="ls", arguments={"path": "a"}),
    ]
    assert message.stop_reason == "tool_use"


def test_think_tags_at_the_start_of_the_text_are_thinking() -> None:
    message = answer(line("<thi"), line("nk>hm</think>"), line("Hi"), DONE)

    assert message.content == [ThinkingBlock(thinking="hm"), TextBlock(text="Hi")]


def test_think_tags_can_be_switched_off() -> None:
    message = answer(line("<think>hm</think>"), DONE, target=model(compat={"think_tags": "off"}))

    assert message.text == "<think>hm</think>"


def test_what_looks_like_the_start_of_a_tag_is_not_lost() -> None:
    assert answer(line("<thi"), DONE).text == "<thi"


@pytest.mark.parametrize(
    ("reason", "stop", "kept"),
    [
        ("stop", "stop", None),
        ("length", "length", None),
        ("", "stop", None),
        (None, "stop", None),
        ("load", "stop", "load"),
        ("brand_new", "stop", "brand_new"),
    ],
)
def test_done_reasons(reason: Any, stop: str, kept: str | None) -> None:
    message = answer(line("x"), DONE | {"done_reason": reason})

    assert (message.stop_reason, message.raw_stop_reason) == (stop, kept)


@pytest.mark.parametrize(
    ("payloads", "code", "retryable"),
    [
        ([], "stream_incomplete", True),
        ([line("x")], "stream_incomplete", True),
        ([line("x"), {"error": "CUDA error: out of memory"}], "provider", True),
        (
            [{"error": "prompt too long; exceeded max context length by 9"}],
            "context_overflow",
            False,
        ),
        (
            [{"error": "the prompt is longer than the context length currently available"}],
            "context_overflow",
            False,
        ),
    ],
)
def test_endings_that_are_failures(payloads: list[Any], code: str, retryable: bool) -> None:
    error = failure(*payloads)

    assert (error.code, error.retryable) == (code, retryable)


@pytest.mark.parametrize(
    ("raw", "usage"),
    [
        ({}, None),
        ({"prompt_eval_count": None}, None),
        ({"prompt_eval_count": 5, "eval_count": 2}, Usage(input=5, output=2, total=7)),
        ({"eval_count": 2}, Usage(output=2, total=2, incomplete=True)),
        ({"prompt_eval_count": -1, "eval_count": 2}, Usage(output=2, total=2, incomplete=True)),
    ],
)
def test_usage_is_that_of_the_last_line(raw: dict[str, Any], usage: Usage | None) -> None:
    assert usage_of(raw) == usage
    assert answer(line("x"), DONE | raw).usage == (usage or Usage(incomplete=True))


pieces = st.one_of(
    st.builds(line, st.text(max_size=4)),
    st.builds(lambda thought: line(thinking=thought), st.text(max_size=4)),
    st.just(line(tool_calls=[{"function": {"name": "ls", "arguments": {"a": 1}}}])),
    st.sampled_from([line("<think>"), line("</think>"), line("<")]),
)


def finished(batches: list[list[dict[str, Any]]]) -> tuple[list[Any], dict[tuple[int, str], str]]:
    """The blocks, and what the deltas of each block add up to."""
    parser = Parser(model())
    events: list[StreamEvent] = []
    for batch in batches:
        events += parser.feed(batch)
    events += parser.feed([DONE]) + parser.finish()
    streamed: dict[tuple[int, str], str] = {}
    for event in events:
        if event.type.endswith("_delta"):
            key = (getattr(event, "content_index", -1), event.type)
            streamed[key] = streamed.get(key, "") + getattr(event, "delta", "")
    blocks = [block.model_dump(exclude={"id"}) for block in parser.builder.message.content]
    return blocks, streamed


@given(st.lists(pieces, max_size=8), st.data())
def test_joining_lines_into_one_read_changes_nothing(
    each: list[dict[str, Any]], data: st.DataObject
) -> None:
    cut = data.draw(st.integers(0, len(each)))
    one_by_one = finished([[piece] for piece in each])

    assert finished([each[:cut], each[cut:]]) == one_by_one
    assert finished([each]) == one_by_one


# -- what the server knows of a model ----------------------------------------------------------


@pytest.mark.parametrize(
    ("shown", "details"),
    [
        (SHOWN, Details(40960, 8192, frozenset(["completion", "tools", "thinking"]), "qwen3")),
        ({}, UNKNOWN),
        ({"model_info": {"x.context_length": 9}}, Details(9)),
        ({"model_info": {"x.context_length": "9"}, "parameters": 7, "details": []}, UNKNOWN),
        ({"parameters": 'stop "num_ctx 7"\n'}, UNKNOWN),
        ({"capabilities": []}, Details(capabilities=frozenset())),
    ],
)
def test_details_are_read_as_far_as_they_are_there(shown: Any, details: Details) -> None:
    assert read_details(shown) == details


@pytest.mark.parametrize(
    ("details", "fields", "window"),
    [
        (UNKNOWN, {}, 65536),
        (Details(40960), {}, 40960),
        (Details(262144), {}, 65536),
        (Details(40960), {"context_window": 16384}, 16384),
        (Details(40960), {"context_window": 100000}, 40960),
        (Details(262144), {"context_window": 100000}, 65536),
        (Details(40960, num_ctx=8192), {}, 8192),
        (Details(40960, num_ctx=8192), {"context_window": 16384}, 16384),
        (Details(40960), {"compat": {"num_ctx": 131072}}, 131072),
    ],
)
def test_the_window_is_the_least_of_all_limits(
    details: Details, fields: dict[str, Any], window: int
) -> None:
    assert window_of(model(**fields), details) == window


async def test_the_server_is_asked_about_a_model_once() -> None:
    async with serving(server(says("hi"))) as lab:
        target = model(lab.url)
        for _ in range(3):
            await answer_of(target)

    assert paths(lab) == ["/api/show", "/api/chat", "/api/chat", "/api/chat"]
    assert lab.requests[0].body == {"model": "qwen3:8b"}
    assert {json.dumps(request.body["options"]) for request in lab.requests[1:]} == {
        '{"num_ctx": 8192}'
    }
    assert [request.body["think"] for request in lab.requests[1:]] == [False] * 3


@pytest.mark.parametrize(
    "show",
    [
        plays(b'{"error":"no"}', status=500, headers=JSON),
        plays(b"not json", headers=JSON),
        plays(b"[]", headers=JSON),
    ],
    ids=["error", "no json", "no object"],
)
async def test_a_server_that_tells_nothing_is_asked_again_and_still_used(show: Script) -> None:
    async with serving(server(says("hi"), show)) as lab:
        texts = [(await answer_of(model(lab.url))).text for _ in range(2)]

    assert texts == ["hi", "hi"]
    assert paths(lab) == ["/api/show", "/api/chat"] * 2
    assert lab.requests[1].body["options"] == {"num_ctx": 65536}
    assert "think" not in lab.requests[1].body


async def test_the_signal_ends_the_question_about_the_model() -> None:
    options, signal = aborting()
    closed = asyncio.Event()

    async def silent(peer: Peer) -> None:
        await peer.hung_up()
        closed.set()

    async with serving(server(says("hi"), silent)) as lab:
        answering = asyncio.create_task(answer_of(model(lab.url), options=options))
        while not lab.requests:
            await asyncio.sleep(0.001)
        signal.set()
        message = await asyncio.wait_for(answering, 0.5)
        await asyncio.wait_for(closed.wait(), 0.5)

    assert message.stop_reason == "aborted"
    assert paths(lab) == ["/api/show"]


@pytest.mark.parametrize("times", [1, 2])
async def test_cancelling_the_question_about_the_model_closes_its_socket(times: int) -> None:
    closed = asyncio.Event()

    async def silent(peer: Peer) -> None:
        await peer.hung_up()
        closed.set()

    async with serving(server(says("hi"), silent)) as lab:
        answering = asyncio.create_task(answer_of(model(lab.url)))
        while not lab.requests:
            await asyncio.sleep(0.001)
        for _ in range(times):
            answering.cancel()
            await asyncio.sleep(0)
        with pytest.raises(asyncio.CancelledError):
            await answering
        await asyncio.wait_for(closed.wait(), 0.5)


async def test_a_question_that_takes_too_long_is_given_up() -> None:
    async def silent(peer: Peer) -> None:
        await peer.hung_up()

    async with serving(server(says("hi"), silent)) as lab:
        assert await details_of(model(lab.url), seconds=0.05) == UNKNOWN


# -- failures in words -------------------------------------------------------------------------


async def test_nobody_there_asks_whether_ollama_runs() -> None:
    async with serving() as lab:
        url = f"http://127.0.0.1:{lab.port}"

    message = await answer_of(model(url))

    assert message.error is not None
    assert message.error.code == "network"
    assert message.error.message == f"nothing answers there: is Ollama running at {url}?"


async def test_a_model_that_is_not_there_can_be_pulled() -> None:
    missing = plays(b'{"error":"model \\"qwen3:8b\\" not found"}', status=404, headers=JSON)

    async with serving(server(missing, missing)) as lab:
        message = await answer_of(model(lab.url))

    assert message.error is not None
    assert (message.error.code, message.error.status) == ("provider", 404)
    assert message.error.message.endswith("`ollama pull qwen3:8b` fetches it")


async def test_another_server_at_the_address_is_no_missing_model() -> None:
    async with serving(at_paths({})) as lab:
        message = await answer_of(model(lab.url))

    assert message.error is not None
    assert "pull" not in message.error.message
    assert "404 page not found" in message.error.message


@pytest.mark.parametrize(
    ("status", "code", "retryable"),
    [
        (400, "provider", False),
        (401, "auth", False),
        (429, "rate_limit", True),
        (503, "overloaded", True),
    ],
)
async def test_a_refusal_before_the_first_line_is_an_error(
    status: int, code: str, retryable: bool
) -> None:
    refusal = plays(b'{"error":"server busy"}', status=status, headers=JSON)

    async with serving(server(refusal)) as lab:
        message = await answer_of(model(lab.url))

    assert message.error is not None
    assert (message.error.code, message.error.retryable) == (code, retryable)
    assert "server busy" in message.error.message


# -- end to end --------------------------------------------------------------------------------


async def test_the_catalogue_sends_ollama_models_to_this_wire() -> None:
    async with serving(server(says("hi"))) as lab:
        target = get_model("ollama/qwen3:8b", {"OLLAMA_HOST": f"127.0.0.1:{lab.port}"})
        source = stream_fn_for(target)(target, asks(), StreamOptions(api_key="secret"))
        events = [event async for event in source]

    assert events[-1].type == "done"
    assert paths(lab) == ["/api/show", "/api/chat"]
    assert {r.headers["authorization"] for r in lab.requests} == {"Bearer secret"}
