"""Every way in which a request can go wrong, on every wire, seen from the session.

Whatever it is: afterwards no socket of it is open, nothing that was queued is lost or sent twice,
and the next prompt works.
"""

from __future__ import annotations

import asyncio
import gzip
import json
import socket
import struct
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from email.utils import formatdate
from pathlib import Path

import pytest

from agent_tui.agent.agent import Agent
from agent_tui.core.errors import ErrorInfo
from agent_tui.core.events import AgentEndEvent, TurnStartEvent
from agent_tui.core.messages import AssistantMessage, UserMessage, text_of
from agent_tui.core.model import Model, ModelCost
from agent_tui.session.events import AnyEvent, AutoRetryStartEvent
from agent_tui.session.session import Session
from tests.providers.loopback import CASES, JSON, Loopback, Peer, Script, plays, serving
from tests.providers.wires import SPEECHES, Speech, events, is_aside
from tests.session.rig import Clock, until

LIMITS = {"connect": 0.4, "first_byte": 0.1, "first_event": 0.15, "stall": 0.1}
every_wire = pytest.mark.parametrize("speech", SPEECHES, ids=lambda speech: speech.api)

Fault = Callable[[Speech], Script]
"""One way to go wrong, in the words of a wire."""


@dataclass
class Bench:
    """A session whose model is served on this machine, with something queued in its first turn."""

    lab: Loopback
    session: Session
    clock: Clock
    told: list[AnyEvent]

    @property
    def failures(self) -> list[ErrorInfo]:
        """What runs ended with, in order."""
        ended = [event.error for event in self.told if isinstance(event, AgentEndEvent)]
        return [error for error in ended if error is not None]

    @property
    def waits(self) -> list[float]:
        """The waits for retries, in seconds."""
        return [event.delay for event in self.told if isinstance(event, AutoRetryStartEvent)]

    @property
    def said(self) -> list[str]:
        """The transcript as `user: text` and `assistant: text`, failures marked."""
        lines = []
        for message in self.session.agent.state.messages:
            if isinstance(message, UserMessage):
                lines.append(f"user: {text_of(message.content)}")
            elif isinstance(message, AssistantMessage):
                lines.append("failure" if message.error else f"assistant: {message.text}")
        return lines

    async def is_sound(self, failures: int = 0) -> None:
        """Assert that all is well after a turn with a fault, and one more prompt."""
        if failures:
            assert [item.kind for item in self.session.agent.queued()] == ["follow_up"]
            assert self.session.queue_state == "paused"
        await self.session.prompt("next")
        said = [line for line in self.said if line != "failure"]
        queued_at = said.index("user: queued")
        assert said.count("user: queued") == said.count("user: next") == 1
        assert said[queued_at + 1] == said[said.index("user: next") + 1] == "assistant: Hello"
        assert self.session.agent.queued() == []
        await until(lambda: self.lab.open <= 1)  # the one that is kept for the next request


@asynccontextmanager
async def bench(speech: Speech, *scripts: Script) -> AsyncIterator[Bench]:
    """Requests for an answer meet `scripts` in turn; those after them get a proper answer."""
    left = list(scripts)

    async def script(peer: Peer) -> None:
        await (left.pop(0) if left else speech.answers())(peer)

    before = open_sockets()
    async with serving(speech.beside(script)) as lab:
        model = lab.model(api=speech.api, compat={"timeouts": LIMITS})
        yield session_at(lab, model)
    await until(lambda: open_sockets() <= before + 1)


def session_at(lab: Loopback, model: Model) -> Bench:
    """A session with that model, in whose first step something is queued."""
    agent = Agent(model, get_api_key=lambda provider: "sk-very-secret-0001")
    clock = Clock()
    session = Session.open(agent, mode="full-auto", sleep=clock.sleep, jitter=lambda: 1.0)
    told: list[AnyEvent] = []

    def see(event: AnyEvent, signal: object) -> None:
        told.append(event)
        if isinstance(event, TurnStartEvent) and sum(e.type == "turn_start" for e in told) == 1:
            session.follow_up("queued")

    session.subscribe(see)
    return Bench(lab, session, clock, told)


def open_sockets() -> int:
    """How many sockets this process holds."""
    count = 0
    for handle in Path("/proc/self/fd").iterdir():
        try:
            count += str(handle.readlink()).startswith("socket:")
        except OSError:
            continue
    return count


def cut(peer: Peer) -> None:
    """Reset the connection."""
    own: socket.socket = peer.writer.get_extra_info("socket")
    own.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    peer.writer.transport.abort()


# -- faults that pass --------------------------------------------------------------------------


def reset_at_once(speech: Speech) -> Script:
    async def script(peer: Peer) -> None:
        cut(peer)

    return script


def reset_in_mid_stream(speech: Speech) -> Script:
    async def script(peer: Peer) -> None:
        await peer.head(200, speech.headers)
        await peer.send(speech.hello)
        await asyncio.sleep(0.02)
        cut(peer)

    return script


def stall_with_keep_alives(speech: Speech) -> Script:
    sign = b": still here\n\n" if "event-stream" in speech.headers["content-type"] else b"\n"

    async def script(peer: Peer) -> None:
        await peer.head(200, speech.headers)
        await peer.send(speech.hello)
        while True:
            await peer.send(sign)
            await asyncio.sleep(0.01)

    return script


def half_open(speech: Speech) -> Script:
    async def script(peer: Peer) -> None:
        await peer.head(200, speech.headers)
        await peer.send(speech.hello)
        await peer.hung_up()

    return script


def slow_headers(speech: Speech) -> Script:
    async def script(peer: Peer) -> None:
        peer.writer.write(b"HTTP/1.1 200 OK\r\n")
        while True:
            peer.writer.write(b"x-slow: 1\r\n")
            await peer.writer.drain()
            await asyncio.sleep(0.01)

    return script


def truncated_gzip(speech: Speech) -> Script:
    whole = gzip.compress(speech.whole)
    headers = {**speech.headers, "content-encoding": "gzip"}
    return plays(whole[: len(whole) // 2], headers=headers)


def error_in_mid_stream(speech: Speech) -> Script:
    error = {"message": "Overloaded", "type": "overloaded_error", "code": "server_error"}
    match speech.api:
        case "ollama":
            said = json.dumps({"error": "the server is overloaded"}).encode() + b"\n"
        case "anthropic":
            said = events({"type": "error", "error": error})
        case "openai-responses":
            failed = {"id": "r1", "status": "failed", "error": error}
            said = events({"type": "response.failed", "response": failed})
        case "gemini":
            said = events({"error": {"code": 503, "message": "busy", "status": "UNAVAILABLE"}})
        case _:
            said = events({"error": error})
    return plays(speech.hello + said, headers=speech.headers)


PASSING: list[tuple[Fault, set[str]]] = [
    (reset_at_once, {"network"}),
    (reset_in_mid_stream, {"stream_incomplete"}),
    (stall_with_keep_alives, {"timeout"}),
    (half_open, {"timeout"}),
    (slow_headers, {"timeout"}),
    (truncated_gzip, {"stream_incomplete", "provider"}),
    (error_in_mid_stream, {"overloaded"}),
]


@every_wire
@pytest.mark.parametrize(
    ("fault", "codes"), PASSING, ids=lambda value: getattr(value, "__name__", "")
)
async def test_a_fault_that_passes_is_tried_again_and_the_queue_follows(
    speech: Speech, fault: Fault, codes: set[str]
) -> None:
    # Ollama is asked for its window first: a reset of a kept connection is repeated at once.
    times = 2 if fault is reset_at_once and speech.api == "ollama" else 1
    async with bench(speech, *[fault(speech)] * times) as b:
        await asyncio.wait_for(b.session.prompt("first"), 5)

        assert b.failures[0].code in codes
        assert b.waits == [2.0]
        assert b.said == ["user: first", "assistant: Hello", "user: queued", "assistant: Hello"]
        await b.is_sound()


@every_wire
async def test_nobody_at_the_address_ends_the_turn_and_harms_nothing(speech: Speech) -> None:
    async with serving() as gone:
        nobody = gone.model(api=speech.api)
    async with bench(speech) as b:
        alive = b.session.agent.state.model
        b.session.set_model(nobody)
        await b.session.prompt("first")

        assert b.waits == [2.0, 4.0, 8.0]
        assert b.failures[-1].code == "network"
        b.session.set_model(alive)
        await b.is_sound(failures=1)


# -- faults that stay --------------------------------------------------------------------------


def html_instead(speech: Speech) -> Script:
    page = b"<html><title>Sign in</title><body>Please sign in.</body></html>"
    return plays(page, headers={"content-type": "text/html"})


def too_long_a_wait(speech: Speech) -> Script:
    return plays(b'{"error":"slow down"}', status=429, headers=JSON | {"retry-after": "3600"})


STAYING: list[tuple[Fault, str]] = [(html_instead, "Sign in"), (too_long_a_wait, "3600 s")]


@every_wire
@pytest.mark.parametrize(
    ("fault", "words"), STAYING, ids=lambda value: getattr(value, "__name__", "")
)
async def test_a_fault_that_stays_ends_the_turn_with_the_queue_on_hold(
    speech: Speech, fault: Fault, words: str
) -> None:
    async with bench(speech, fault(speech)) as b:
        await b.session.prompt("first")

        assert b.waits == []
        assert words in b.failures[0].message
        await b.is_sound(failures=1)


@every_wire
async def test_no_key_follows_a_redirect(speech: Speech) -> None:
    async with serving(speech.answers()) as thief:
        place = {"location": f"http://127.0.0.1:{thief.port}/v1/elsewhere"}
        async with bench(speech, plays(b"", status=307, headers=place)) as b:
            await b.session.prompt("first")

            assert "elsewhere" in b.failures[0].message
            assert "sk-very-secret-0001" not in repr(b.told)
            await b.is_sound(failures=1)
    assert [request for request in thief.requests if not is_aside(request)] == []


# -- waits that a server asks for --------------------------------------------------------------


def limited(headers: dict[str, str], body: dict[str, object] | None = None) -> Script:
    said = json.dumps(body or {"error": {"message": "slow down", "code": 429}}).encode()
    return plays(said, status=429, headers=JSON | headers)


_IN_GOOGLES_DETAILS: dict[str, object] = {
    "error": {
        "code": 429,
        "message": "slow down",
        "details": [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "7s"}],
    }
}


@every_wire
@pytest.mark.parametrize(
    ("answer", "seconds"),
    [
        (lambda: limited({"retry-after": "7"}), 7),
        (lambda: limited({"retry-after-ms": "7500"}), 7.5),
        (lambda: limited({"retry-after": formatdate(time.time() + 20, usegmt=True)}), 19),
        (lambda: limited({}, _IN_GOOGLES_DETAILS), 7),
        (lambda: limited({}, {"error": {"message": "Please try again in 7.2s."}}), 7.2),
        (lambda: limited({"x-ratelimit-reset-requests": "7s"}), 7),
        (lambda: limited({}), 2),
    ],
    ids=["seconds", "milliseconds", "date", "details", "wording", "reset", "unsaid"],
)
async def test_the_delay_that_a_server_asks_for_is_kept_in_each_form(
    speech: Speech, answer: Callable[[], Script], seconds: float
) -> None:
    async with bench(speech, answer()) as b:
        await b.session.prompt("first")

        assert b.failures[0].code == "rate_limit"
        assert b.clock.slept == [pytest.approx(seconds, abs=1.1 if seconds == 19 else 0.01)]
        await b.is_sound()


def stop_retrying(event: AnyEvent, session: Session) -> None:
    """The first failure is the last."""
    if isinstance(event, AutoRetryStartEvent):
        session.abort()


# -- what an answer that broke off has cost ----------------------------------------------------


@pytest.mark.parametrize(
    ("replay", "known"),
    [
        ("wire-anthropic/ends-inside-tool-input.sse", 80),
        ("wire-openai-responses/ends-without-terminal-event.sse", None),
    ],
)
async def test_what_was_reported_before_an_answer_broke_off_counts_once(
    replay: str, known: int | None
) -> None:
    """The case aborted-turn: what nobody reported is unknown, not zero."""
    case = json.loads((CASES / "cost" / "aborted-turn.scenario.json").read_text("utf-8"))
    assert {"replay": replay} in case["turns"]
    api = replay.partition("/")[0].removeprefix("wire-")
    async with serving(plays((CASES / replay).read_bytes())) as lab:
        model = lab.model(api=api, cost=ModelCost(3.0, 15.0))
        session = Session.open(Agent(model), sleep=Clock().sleep)
        session.subscribe(lambda event, signal: stop_retrying(event, session))
        await session.prompt("go")

    spent = session.spent
    assert spent.usage.input == (known or 0)
    assert spent.tokens_are_partial
    assert spent.cost_is_partial
    assert (spent.usage.cost_usd is None) == (known is None)
