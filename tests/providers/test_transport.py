"""Requests over real sockets: time limits, aborts, repeats, and answers that are none."""

from __future__ import annotations

import asyncio
import gzip
import json
import socket
import ssl
import zlib
from typing import Any

import httpx
import pytest

from agent_tui.core.abort import AbortSignal
from agent_tui.core.errors import NetworkError
from agent_tui.core.messages import AssistantMessage
from agent_tui.core.model import Model
from agent_tui.core.stream import StreamError, StreamEvent, StreamOptions
from agent_tui.providers import openai_chat
from agent_tui.providers.http import Connection, connection_to, sent
from tests.providers.loopback import (
    CASES,
    EVENTS,
    JSON,
    Loopback,
    Peer,
    Script,
    aborting,
    answer_of,
    asks,
    chunk,
    collect,
    plays,
    says,
    serving,
    stalls_after,
)

HELLO = chunk({"content": "Hel"}) + chunk({"content": "lo"})


def fault(message: AssistantMessage) -> tuple[str, bool, str]:
    """(code, retryable, words) of a failed answer."""
    assert message.error is not None
    assert message.stop_reason == "error"
    assert message.usage.incomplete
    return message.error.code, message.error.retryable, message.error.message


def silent(closed: asyncio.Event) -> Script:
    """Not even a head."""

    async def script(peer: Peer) -> None:
        await peer.hung_up()
        closed.set()

    return script


def quick(lab: Loopback, **timeouts: float) -> Model:
    return lab.model(compat={"timeouts": timeouts})


async def soon(event: asyncio.Event) -> None:
    async with asyncio.timeout(0.2):
        await event.wait()


# -- abort -------------------------------------------------------------------------------------


async def test_the_signal_ends_a_stream_and_closes_its_socket() -> None:
    closed = asyncio.Event()
    options, signal = aborting()

    async with serving(stalls_after(HELLO, closed)) as lab:
        events: list[StreamEvent] = []
        async for event in openai_chat.stream(lab.model(), asks(), options):
            events.append(event)
            if event.type == "text_delta":
                signal.set("stop")
                signal.set("stop, I said")
        await soon(closed)

    last = events[-1]
    assert isinstance(last, StreamError)
    assert last.reason == "aborted"
    assert last.message.text == "Hello"
    assert [event.type for event in events][-2:] == ["text_end", "error"]


@pytest.mark.parametrize("make", [silent, lambda closed: stalls_after(b"", closed)])
async def test_the_signal_ends_the_wait_for_the_first_word(make: Any) -> None:
    closed = asyncio.Event()
    options, signal = aborting()

    async with serving(make(closed)) as lab:
        answering = asyncio.create_task(answer_of(lab.model(), options=options))
        while not lab.requests:
            await asyncio.sleep(0.001)
        signal.set()
        message = await asyncio.wait_for(answering, 0.2)
        await soon(closed)

    assert (message.stop_reason, message.error) == ("aborted", None)


async def test_a_signal_from_another_thread_is_heard() -> None:
    closed = asyncio.Event()
    options, signal = aborting()

    async with serving(silent(closed)) as lab:
        answering = asyncio.create_task(answer_of(lab.model(), options=options))
        while not lab.requests:
            await asyncio.sleep(0.001)
        await asyncio.to_thread(signal.set)
        message = await asyncio.wait_for(answering, 0.2)

    assert message.stop_reason == "aborted"


async def test_with_the_signal_set_nothing_is_sent() -> None:
    options, signal = aborting()
    signal.set()

    async with serving(plays(says("hi"))) as lab:
        message = await answer_of(lab.model(), options=options)

    assert message.stop_reason == "aborted"
    assert lab.requests == []


async def test_an_abort_does_not_wait_for_the_pause_of_a_fast_stream() -> None:
    closed = asyncio.Event()
    options, signal = aborting()

    async def endless(peer: Peer) -> None:
        await peer.head()
        try:
            while True:
                await peer.send(chunk({"content": "word "}))
                await asyncio.sleep(0.002)
        except ConnectionError:
            closed.set()

    async with serving(endless) as lab:
        loop = asyncio.get_running_loop()
        loop.call_later(0.3, signal.set)
        began = loop.time()
        message = await answer_of(lab.model(), options=options)
        took = loop.time() - began
        await soon(closed)

    assert message.stop_reason == "aborted"
    assert took < 0.4


@pytest.mark.parametrize("times", [1, 2, 3])
@pytest.mark.parametrize("place", ["before the head", "in the stream"])
async def test_cancelling_the_consumer_closes_the_socket_however_often(
    times: int, place: str
) -> None:
    closed = asyncio.Event()
    script = silent(closed) if place == "before the head" else stalls_after(HELLO, closed)

    async with serving(script) as lab:
        answering = asyncio.create_task(collect(lab.model()))
        while not lab.requests:
            await asyncio.sleep(0.001)
        await asyncio.sleep(0.01)
        for _ in range(times):
            answering.cancel()
            await asyncio.sleep(0)
        with pytest.raises(asyncio.CancelledError):
            await answering
        await soon(closed)
        connection = await connection_to(lab.url)
        while connection.closing:
            await asyncio.sleep(0.001)


async def test_leaving_the_loop_and_closing_the_generator_closes_the_socket() -> None:
    closed = asyncio.Event()

    async with serving(stalls_after(HELLO, closed)) as lab:
        source: Any = openai_chat.stream(lab.model(), asks(), StreamOptions())
        async for event in source:
            if event.type == "text_delta":
                break
        await source.aclose()
        await soon(closed)


# -- time limits -------------------------------------------------------------------------------


async def test_a_server_that_never_answers_is_given_up() -> None:
    async with serving(silent(asyncio.Event())) as lab:
        code, retryable, words = fault(await answer_of(quick(lab, first_byte=0.05, connect=0.05)))

    assert (code, retryable) == ("timeout", True)
    assert "0.05 s" in words


async def test_keep_alives_are_no_content() -> None:
    closed = asyncio.Event()

    async def script(peer: Peer) -> None:
        await peer.head()
        try:
            while True:
                await peer.send(b": PROCESSING\n\n" + chunk({"content": ""}))
                await asyncio.sleep(0.01)
        except ConnectionError:
            closed.set()

    async with serving(script) as lab:
        code, retryable, words = fault(await answer_of(quick(lab, first_event=0.1)))
        await soon(closed)

    assert (code, retryable) == ("timeout", True)
    assert "no content within 0.1 s" in words


async def test_a_stream_that_stalls_behind_a_living_connection_is_given_up() -> None:
    async def script(peer: Peer) -> None:
        await peer.head()
        await peer.send(HELLO)
        try:
            while True:
                await peer.send(b": still here\n\n")
                await asyncio.sleep(0.01)
        except ConnectionError:
            pass

    async with serving(script) as lab:
        message = await answer_of(quick(lab, stall=0.1))

    assert fault(message)[:2] == ("timeout", True)
    assert message.text == "Hello"


async def test_the_options_timeout_bounds_every_silence() -> None:
    async with serving(stalls_after(HELLO, asyncio.Event())) as lab:
        message = await answer_of(lab.model(), options=StreamOptions(timeout=0.05))

    assert "nothing new for 0.05 s" in fault(message)[2]


async def test_after_the_last_word_the_wait_for_counts_is_short() -> None:
    body = HELLO + chunk(finish="stop") + b"data: [DONE]\n\n"

    async with serving(stalls_after(body, asyncio.Event())) as lab:
        message = await asyncio.wait_for(answer_of(lab.model()), 2)

    assert (message.text, message.stop_reason) == ("Hello", "stop")
    assert message.usage.incomplete


async def test_counts_after_the_end_mark_still_count() -> None:
    usage = {"prompt_tokens": 5, "completion_tokens": 2}
    body = HELLO + chunk(finish="stop") + b"data: [DONE]\n\n" + chunk(usage=usage)

    async with serving(plays(body, [len(body) - 40])) as lab:
        message = await answer_of(lab.model())

    assert message.usage.input == 5


# -- broken answers ----------------------------------------------------------------------------


async def test_a_cut_connection_is_an_incomplete_answer() -> None:
    async def script(peer: Peer) -> None:
        await peer.head()
        await peer.send(HELLO)
        peer.writer.close()

    async with serving(script) as lab:
        message = await answer_of(lab.model())

    assert fault(message)[:2] == ("stream_incomplete", True)
    assert message.text == "Hello"


async def test_a_connection_cut_after_the_last_word_harms_nothing() -> None:
    async def script(peer: Peer) -> None:
        await peer.head()
        await peer.send(HELLO + chunk(finish="stop"))
        peer.writer.close()

    async with serving(script) as lab:
        message = await answer_of(lab.model())

    assert (message.text, message.stop_reason) == ("Hello", "stop")


@pytest.mark.parametrize("body", [b"", b": hello\n\n", HELLO, HELLO + b"data: [DONE]\n\n"])
async def test_a_clean_end_without_a_finish_reason_is_an_incomplete_answer(body: bytes) -> None:
    async with serving(plays(body)) as lab:
        assert fault(await answer_of(lab.model()))[:2] == ("stream_incomplete", True)


async def test_nobody_there_is_one_sentence() -> None:
    async with serving() as lab:
        model = lab.model()

    code, retryable, words = fault(await answer_of(model))

    assert (code, retryable) == ("network", True)
    assert words == f"nothing answers at 127.0.0.1:{lab.port}; is the server running?"


CERTIFICATE = ssl.SSLCertVerificationError(1, "certificate verify failed")
CERTIFICATE.verify_message = "self-signed certificate"


@pytest.mark.parametrize(
    ("cause", "words", "retryable"),
    [
        (socket.gaierror(-2, "Name or service not known"), "lab.test cannot be resolved", True),
        (CERTIFICATE, "not trusted (self-signed certificate)", False),
        (ConnectionResetError(104, "Connection reset by peer"), "Connection reset by peer", True),
        (
            ExceptionGroup("all failed", [ConnectionRefusedError(111, "no")]),
            "nothing answers",
            True,
        ),
    ],
    ids=["name", "certificate", "reset", "several addresses refused"],
)
async def test_what_goes_wrong_before_the_answer_is_one_sentence(
    cause: Exception, words: str, retryable: bool
) -> None:
    class Broken(httpx.AsyncBaseTransport):
        async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
            raise httpx.ConnectError("All connection attempts failed") from cause

    connection = Connection(httpx.AsyncClient(transport=Broken()))
    with pytest.raises(NetworkError) as caught:
        async with sent(connection, "https://lab.test/v1", {}, b"", 1.0, lambda: None):
            pass

    assert words in caught.value.message
    assert caught.value.retryable is retryable


async def test_html_is_no_answer() -> None:
    page = b"<!DOCTYPE html><title>Sign in</title>"

    async with serving(plays(page, headers={"content-type": "text/html; charset=utf-8"})) as lab:
        code, retryable, words = fault(await answer_of(lab.model()))

    assert (code, retryable) == ("provider", False)
    assert "text/html" in words
    assert "Sign in" in words


async def test_html_labelled_as_a_stream_is_no_answer() -> None:
    async with serving(plays(b"  <html><body>Hello</body></html>")) as lab:
        assert "Hello" in fault(await answer_of(lab.model()))[2]


async def test_json_instead_of_a_stream_is_read() -> None:
    whole = {
        "choices": [{"message": {"content": "Hello"}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 5, "completion_tokens": 1},
    }

    async with serving(plays(json.dumps(whole, indent=1).encode(), [9], headers=JSON)) as lab:
        message = await answer_of(lab.model())

    assert (message.text, message.stop_reason, message.usage.input) == ("Hello", "stop", 5)


async def test_a_stream_labelled_as_json_is_read() -> None:
    async with serving(plays(says("Hello"), headers=JSON)) as lab:
        assert (await answer_of(lab.model())).text == "Hello"


async def test_an_error_in_json_with_status_200_is_an_error() -> None:
    body = json.dumps({"error": {"message": "no", "code": 429}}).encode()

    async with serving(plays(body, headers=JSON)) as lab:
        assert fault(await answer_of(lab.model()))[:2] == ("rate_limit", True)


async def test_json_that_is_neither_answer_nor_error_is_shown() -> None:
    async with serving(plays(b'{"status": "warming up"}', headers=JSON)) as lab:
        code, _, words = fault(await answer_of(lab.model()))

    assert code == "provider"
    assert "warming up" in words


async def test_an_error_event_of_plain_text_is_an_error() -> None:
    body = HELLO + b"event: error\ndata: upstream is overloaded\n\n"

    async with serving(plays(body)) as lab:
        message = await answer_of(lab.model())

    assert fault(message)[0] == "overloaded"
    assert message.text == "Hello"


async def test_data_that_is_no_json_is_an_error() -> None:
    async with serving(plays(b"data: oops \x1b[2J\n\n")) as lab:
        code, retryable, words = fault(await answer_of(lab.model()))

    assert (code, retryable) == ("provider", True)
    assert words.endswith("no JSON: oops ")


@pytest.mark.parametrize("encoding", ["gzip", "deflate"])
async def test_an_answer_compressed_unasked_is_read(encoding: str) -> None:
    squeeze = gzip.compress if encoding == "gzip" else zlib.compress
    body = squeeze(says("Hello"))

    async with serving(
        plays(body, range(1, len(body)), headers=EVENTS | {"content-encoding": encoding})
    ) as lab:
        message = await answer_of(lab.model())

    assert message.text == "Hello"
    assert lab.requests[0].headers["accept-encoding"] == "identity"


@pytest.mark.parametrize(
    ("encoding", "body"), [("br", b"whatever"), ("gzip", b"this is not gzip at all")]
)
async def test_an_answer_that_cannot_be_inflated_is_an_error(encoding: str, body: bytes) -> None:
    async with serving(plays(body, headers=EVENTS | {"content-encoding": encoding})) as lab:
        code, _, words = fault(await answer_of(lab.model()))

    assert code == "provider"
    assert "compressed" in words


async def test_a_compressed_bomb_fills_no_memory() -> None:
    bomb = gzip.compress(b"data: " + b"0" * (64 << 20))

    async with serving(plays(bomb, headers=EVENTS | {"content-encoding": "gzip"})) as lab:
        assert "32 MiB" in fault(await answer_of(lab.model()))[2]


async def test_a_redirect_is_not_followed_with_the_key() -> None:
    async with serving(plays(says("stolen"))) as thief:
        target = f"http://127.0.0.1:{thief.port}/v1/chat/completions"
        async with serving(plays(b"", status=307, headers={"location": target})) as lab:
            options = StreamOptions(api_key="secret-key")
            code, retryable, words = fault(await answer_of(lab.model(), options=options))

    assert (code, retryable) == ("provider", False)
    assert target in words
    assert thief.requests == []


# -- refusals ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", sorted(path.name for path in (CASES / "wire-http").glob("*.http.json"))
)
async def test_a_recorded_refusal_arrives_as_an_error(name: str) -> None:
    case = json.loads((CASES / "wire-http" / name).read_text("utf-8"))
    http, expect = case["http"], case["expect"]["error"]

    async with serving(
        plays(http["body"].encode(), status=http["status"], headers=http["headers"])
    ) as lab:
        message = await answer_of(lab.model(), options=StreamOptions(api_key="sk-fake-0000"))

    _, retryable, words = fault(message)
    assert retryable == expect["retryable"]
    assert expect.get("message_contains", "") in words
    assert "sk-fake-0000" not in message.model_dump_json()
    assert len(lab.requests) == 1


async def test_an_endless_error_body_is_not_waited_for() -> None:
    async def script(peer: Peer) -> None:
        await peer.head(500, {"content-type": "text/plain"})
        try:
            while True:
                await peer.send(b"x" * 4096)
        except ConnectionError:
            pass

    async with serving(script) as lab:
        message = await asyncio.wait_for(answer_of(lab.model()), 3)

    assert fault(message)[0] == "overloaded"


@pytest.mark.parametrize("where", ["error body", "error event", "request id"])
async def test_a_key_that_the_server_echoes_is_shown_nowhere(where: str) -> None:
    key = "my-very-own-key-0001"
    body = json.dumps({"error": {"message": f"do not know {key}", "type": key}}).encode()
    script = {
        "error body": plays(body, status=401, headers=JSON),
        "error event": plays(b"data: " + body + b"\n\n"),
        "request id": plays(b"", status=500, headers={"x-request-id": key}),
    }[where]

    async with serving(script) as lab:
        message = await answer_of(lab.model(), options=StreamOptions(api_key=f" {key}\n"))

    assert lab.requests[0].headers["authorization"] == f"Bearer {key}"
    assert key not in message.model_dump_json()


# -- repeats -----------------------------------------------------------------------------------


def refusing(words: str, **fields: Any) -> Script:
    body = json.dumps({"error": {"message": words, **fields}}).encode()
    return plays(body, status=400, headers=JSON)


async def test_a_parameter_that_the_server_names_is_left_out_from_then_on() -> None:
    async with serving(
        refusing("Unsupported parameter: 'stream_options'"), plays(says("Hello"))
    ) as lab:
        first = await answer_of(lab.model())
        second = await answer_of(lab.model())

    assert (first.text, second.text) == ("Hello", "Hello")
    assert ["stream_options" in request.body for request in lab.requests] == [True, False, False]


async def test_a_parameter_with_another_name_is_sent_under_that() -> None:
    words = "'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."

    async with serving(refusing(words, param="max_tokens"), plays(says("Hello"))) as lab:
        await answer_of(lab.model(), options=StreamOptions(max_output_tokens=9))

    assert "max_tokens" not in lab.requests[1].body
    assert lab.requests[1].body["max_completion_tokens"] == 9


async def test_only_one_parameter_is_dropped_for_one_answer() -> None:
    async with serving(
        refusing("unknown field stream_options"), refusing("unknown field temperature")
    ) as lab:
        message = await answer_of(lab.model(), options=StreamOptions(temperature=0.5))

    assert fault(message)[0] == "provider"
    assert len(lab.requests) == 2


@pytest.mark.parametrize("words", ["messages[0].content is missing", "no thinking allowed"])
async def test_a_refusal_that_names_nothing_optional_is_final(words: str) -> None:
    async with serving(refusing(words)) as lab:
        await answer_of(lab.model())

    assert len(lab.requests) == 1


async def test_a_finished_answer_leaves_its_connection_for_the_next() -> None:
    async with serving(plays(says("Hello"))) as lab:
        for _ in range(3):
            await answer_of(lab.model())

    assert (lab.connections, len(lab.requests)) == (1, 3)


async def test_a_body_that_ends_late_still_leaves_its_connection() -> None:
    async def script(peer: Peer) -> None:
        await peer.head()
        await peer.send(says("Hello"))
        await asyncio.sleep(0.02)
        await peer.end()

    async with serving(script) as lab:
        await answer_of(lab.model())
        connection = await connection_to(lab.url)
        while connection.closing:
            await asyncio.sleep(0.001)
        await answer_of(lab.model())

    assert lab.connections == 1


async def test_a_kept_connection_that_the_server_dropped_is_replaced_at_once() -> None:
    async def drops(peer: Peer) -> None:
        peer.writer.close()

    async with serving(plays(says("one")), drops, plays(says("two"))) as lab:
        first = await answer_of(lab.model())
        second = await answer_of(lab.model())

    assert (first.text, second.text) == ("one", "two")
    assert (lab.connections, len(lab.requests)) == (2, 3)


async def test_a_fresh_connection_that_is_dropped_is_not_tried_again() -> None:
    async def drops(peer: Peer) -> None:
        peer.writer.close()

    async with serving(drops) as lab:
        message = await answer_of(lab.model())

    code, retryable, words = fault(message)
    assert (code, retryable) == ("network", True)
    assert "hung up" in words
    assert len(lab.requests) == 1


# -- many at once ------------------------------------------------------------------------------


async def test_answers_side_by_side_do_not_mix() -> None:
    async def script(peer: Peer) -> None:
        word = peer.request.body["messages"][0]["content"]
        await peer.head()
        for letter in word:
            await peer.send(chunk({"content": letter}))
            await asyncio.sleep(0.001)
        await peer.send(chunk(finish="stop"))
        await peer.end()

    async with serving(script) as lab:
        words = [f"word number {n}" for n in range(20)]
        answers = await asyncio.gather(*(answer_of(lab.model(), asks(w)) for w in words))

    assert [message.text for message in answers] == words


async def test_a_fast_stream_comes_in_few_events() -> None:
    async def script(peer: Peer) -> None:
        await peer.head()
        for _ in range(300):
            await peer.send(chunk({"content": "word "}))
            await asyncio.sleep(0.001)
        await peer.send(chunk(finish="stop"))
        await peer.end()

    async with serving(script) as lab:
        events = await collect(lab.model())

    deltas = [event for event in events if event.type == "text_delta"]
    assert "".join(getattr(event, "delta", "") for event in deltas) == "word " * 300
    assert len(deltas) < 150


def test_each_event_loop_has_clients_of_its_own_and_closes_them() -> None:
    async def talk() -> str:
        async with serving(plays(says("Hello"))) as lab:
            return (await answer_of(lab.model(), options=StreamOptions(signal=AbortSignal()))).text

    assert [asyncio.run(talk()), asyncio.run(talk())] == ["Hello", "Hello"]
