"""What holds for every wire: endings, aborts, silence, cuts, refusals and keys."""

from __future__ import annotations

import asyncio
import json

import pytest

from agent_tui.core.messages import AssistantMessage
from agent_tui.core.stream import StreamError, StreamEvent, StreamOptions
from tests.providers.loopback import (
    CASES,
    JSON,
    Loopback,
    Peer,
    aborting,
    answer_of,
    collect,
    plays,
    serving,
    stalls_after,
)
from tests.providers.wires import SPEECHES, Speech, asked

REFUSALS = sorted(path.name for path in (CASES / "wire-http").glob("*.http.json"))
every_wire = pytest.mark.parametrize("speech", SPEECHES, ids=lambda speech: speech.api)


def fault(message: AssistantMessage) -> tuple[str, bool]:
    """(code, retryable) of a failed answer."""
    assert message.error is not None
    assert message.stop_reason == "error"
    assert message.usage.incomplete
    return message.error.code, message.error.retryable


async def said(
    lab: Loopback, speech: Speech, options: StreamOptions | None = None
) -> AssistantMessage:
    return await answer_of(lab.model(api=speech.api), options=options)


@every_wire
async def test_a_whole_answer_is_read(speech: Speech) -> None:
    async with serving(speech.answers()) as lab:
        events = await collect(lab.model(api=speech.api))

    last = events[-1]
    assert [event.type for event in events if event.type != "text_delta"] == [
        "start",
        "text_start",
        "text_end",
        "done",
    ]
    assert last.type == "done"
    assert last.message.text == "Hello"
    assert last.message.stop_reason == "stop"
    assert (last.message.usage.prompt_tokens, last.message.usage.output) == (5, 2)
    assert (last.message.api, last.message.provider, last.message.model) == (speech.api, "lab", "m")


@every_wire
async def test_a_stream_labelled_as_json_is_read(speech: Speech) -> None:
    async with serving(speech.beside(plays(speech.whole, headers=JSON))) as lab:
        message = await said(lab, speech)

    assert (message.text, message.stop_reason) == ("Hello", "stop")


@every_wire
async def test_a_finished_answer_leaves_its_connection_for_the_next(speech: Speech) -> None:
    async with serving(speech.answers()) as lab:
        texts = [(await said(lab, speech)).text for _ in range(3)]

    assert texts == ["Hello"] * 3
    assert (lab.connections, len(asked(lab))) == (1, 3)


# -- abort -------------------------------------------------------------------------------------


@every_wire
async def test_the_signal_ends_a_stream_and_closes_its_socket(speech: Speech) -> None:
    closed = asyncio.Event()
    options, signal = aborting()
    script = speech.beside(stalls_after(speech.hello, closed, speech.headers))

    async with serving(script) as lab:
        answering = asyncio.create_task(collect(lab.model(api=speech.api), options=options))
        while not asked(lab):
            await asyncio.sleep(0.001)
        await asyncio.sleep(0.02)
        signal.set("stop")
        events: list[StreamEvent] = await asyncio.wait_for(answering, 0.5)
        await asyncio.wait_for(closed.wait(), 0.5)

    last = events[-1]
    assert isinstance(last, StreamError)
    assert (last.reason, last.message.error) == ("aborted", None)
    assert last.message.text == "Hello"


@every_wire
@pytest.mark.parametrize("times", [1, 3])
async def test_cancelling_the_consumer_closes_the_socket_however_often(
    speech: Speech, times: int
) -> None:
    closed = asyncio.Event()
    script = speech.beside(stalls_after(speech.hello, closed, speech.headers))

    async with serving(script) as lab:
        answering = asyncio.create_task(said(lab, speech))
        while not asked(lab):
            await asyncio.sleep(0.001)
        for _ in range(times):
            answering.cancel()
            await asyncio.sleep(0)
        with pytest.raises(asyncio.CancelledError):
            await answering
        await asyncio.wait_for(closed.wait(), 0.5)


# -- silence and cuts --------------------------------------------------------------------------


@every_wire
async def test_a_stream_that_stalls_is_given_up(speech: Speech) -> None:
    script = speech.beside(stalls_after(speech.hello, asyncio.Event(), speech.headers))

    async with serving(script) as lab:
        message = await said(lab, speech, StreamOptions(timeout=0.1))

    assert fault(message) == ("timeout", True)
    assert message.text == "Hello"


@every_wire
@pytest.mark.parametrize("end", ["clean", "cut"])
async def test_an_answer_without_its_end_is_incomplete(speech: Speech, end: str) -> None:
    async def script(peer: Peer) -> None:
        await peer.head(200, speech.headers)
        await peer.send(speech.hello)
        if end == "clean":
            await peer.end()
        peer.writer.close()

    async with serving(speech.beside(script)) as lab:
        message = await said(lab, speech)

    assert fault(message) == ("stream_incomplete", True)
    assert message.text == "Hello"


@every_wire
async def test_an_empty_body_is_incomplete(speech: Speech) -> None:
    async with serving(speech.beside(plays(b"", headers=speech.headers))) as lab:
        assert fault(await said(lab, speech)) == ("stream_incomplete", True)


@every_wire
async def test_a_connection_cut_after_the_end_harms_nothing(speech: Speech) -> None:
    async def script(peer: Peer) -> None:
        await peer.head(200, speech.headers)
        await peer.send(speech.whole)
        peer.writer.close()

    async with serving(speech.beside(script)) as lab:
        message = await said(lab, speech)

    assert (message.text, message.stop_reason) == ("Hello", "stop")


@every_wire
async def test_garbage_in_the_stream_is_an_error(speech: Speech) -> None:
    garbage = b"data: {oops\n\n" if "event-stream" in str(speech.headers) else b"{oops\n"

    async with serving(speech.beside(plays(speech.hello + garbage, headers=speech.headers))) as lab:
        message = await said(lab, speech)

    assert fault(message) == ("provider", True)
    assert message.text == "Hello"


# -- refusals and keys -------------------------------------------------------------------------


@every_wire
@pytest.mark.parametrize("name", REFUSALS)
async def test_a_recorded_refusal_arrives_as_an_error(speech: Speech, name: str) -> None:
    case = json.loads((CASES / "wire-http" / name).read_text("utf-8"))
    http, expect = case["http"], case["expect"]["error"]
    refusal = plays(http["body"].encode(), status=http["status"], headers=http["headers"])

    async with serving(speech.beside(refusal)) as lab:
        message = await said(lab, speech, StreamOptions(api_key="sk-fake-0000"))

    assert fault(message)[1] == expect["retryable"]
    assert message.error is not None
    assert expect.get("message_contains", "") in message.error.message
    assert "sk-fake-0000" not in message.model_dump_json()
    assert len(asked(lab)) == 1


@every_wire
async def test_the_key_goes_into_its_header_and_nowhere_else(speech: Speech) -> None:
    async with serving(speech.answers()) as lab:
        await said(lab, speech, StreamOptions(api_key=" my-key-0001\n"))

    request = asked(lab)[0]
    assert request.headers.pop(speech.key_header).removeprefix("Bearer ") == "my-key-0001"
    assert "my-key-0001" not in f"{request.path} {request.headers} {request.body}"


@every_wire
async def test_a_key_that_the_server_echoes_is_shown_nowhere(speech: Speech) -> None:
    key = "my-very-own-key-0001"
    body = json.dumps({"error": {"message": f"do not know {key}"}}).encode()

    async with serving(speech.beside(plays(body, status=401, headers=JSON))) as lab:
        message = await said(lab, speech, StreamOptions(api_key=key))

    assert fault(message) == ("auth", False)
    assert key not in message.model_dump_json()
