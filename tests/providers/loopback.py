"""A server on 127.0.0.1 that answers as scripted, and what tests need around it."""

from __future__ import annotations

import asyncio
import json
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agent_tui.core.abort import AbortSignal
from agent_tui.core.messages import AssistantMessage, UserMessage
from agent_tui.core.model import Model
from agent_tui.core.registry import stream_fn_for
from agent_tui.core.stream import LlmContext, StreamDone, StreamError, StreamEvent, StreamOptions

CASES = Path(__file__).parent.parent / "cases"
CERTIFICATE = Path(__file__).with_name("loopback.pem")
"""A certificate for 127.0.0.1 and its key, made for these tests."""
EVENTS = {"content-type": "text/event-stream"}
JSON = {"content-type": "application/json"}


@dataclass
class Received:
    """One request."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]


@dataclass
class Peer:
    """The server's end of one connection, while it answers one request."""

    request: Received
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def head(self, status: int = 200, headers: Mapping[str, str] = EVENTS) -> None:
        lines = [f"HTTP/1.1 {status} Words", *(f"{k}: {v}" for k, v in headers.items())]
        lines += ["transfer-encoding: chunked", "", ""]
        self.writer.write("\r\n".join(lines).encode())
        await self.writer.drain()

    async def send(self, data: bytes) -> None:
        """One chunk in one write."""
        self.writer.write(b"%x\r\n%s\r\n" % (len(data), data))
        await self.writer.drain()

    async def end(self) -> None:
        self.writer.write(b"0\r\n\r\n")
        await self.writer.drain()

    async def hung_up(self) -> None:
        """Return when the client closes the connection."""
        try:
            while await self.reader.read(65536):
                pass
        except ConnectionError:
            pass


Script = Callable[[Peer], Awaitable[None]]


@dataclass
class Loopback:
    """Plays one script a request, the last one again and again."""

    scripts: Sequence[Script]
    port: int = 0
    scheme: str = "http"
    requests: list[Received] = field(default_factory=list)
    connections: int = 0
    open: int = 0
    """Connections that neither side has closed."""
    hung_up_at: list[float] = field(default_factory=list)
    """Times of the loop's clock at which a script with `until_hung_up` saw the close."""

    @property
    def url(self) -> str:
        return f"{self.scheme}://127.0.0.1:{self.port}/v1"

    def model(self, **fields: Any) -> Model:
        known: dict[str, Any] = {"api": "openai-chat", "base_url": self.url}
        return Model("lab", "m", **(known | fields))

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self.open += 1
        try:
            while (received := await _receive(reader)) is not None:
                script = self.scripts[min(len(self.requests), len(self.scripts) - 1)]
                self.requests.append(received)
                await script(Peer(received, reader, writer))
                if reader.at_eof() or writer.is_closing():
                    return
        except ConnectionError:
            pass
        finally:
            self.open -= 1
            writer.close()


async def _receive(reader: asyncio.StreamReader) -> Received | None:
    try:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    except asyncio.IncompleteReadError:
        return None
    headers = {
        k.lower(): v.strip() for k, _, v in (line.partition(":") for line in head[1:] if line)
    }
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Received(head[0].split()[1], headers, json.loads(body or b"{}"))


@asynccontextmanager
async def serving(*scripts: Script, tls: bool = False) -> AsyncIterator[Loopback]:
    """Play `scripts`; with `tls` under a certificate that nobody trusts but who reads its file."""
    loopback = Loopback(scripts, scheme="https" if tls else "http")
    tasks: set[asyncio.Task[None]] = set()

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        tasks.add(asyncio.ensure_future(loopback.serve(reader, writer)))

    server = await asyncio.start_server(accept, "127.0.0.1", 0, ssl=_tls() if tls else None)
    loopback.port = server.sockets[0].getsockname()[1]
    try:
        yield loopback
    finally:
        server.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _tls() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERTIFICATE)
    return context


def plays(
    body: bytes,
    cuts: Iterable[int] = (),
    *,
    status: int = 200,
    headers: Mapping[str, str] = EVENTS,
    keep_alive: bool = True,
) -> Script:
    """Send `body`, cut at these offsets, each piece in a read of its own as far as that can be."""

    async def script(peer: Peer) -> None:
        await peer.head(status, headers)
        place = 0
        for cut in [*sorted(set(cuts)), len(body)]:
            if cut > place:
                await peer.send(body[place:cut])
                await asyncio.sleep(0)
                place = cut
        await peer.end()
        if not keep_alive:
            peer.writer.close()

    return script


def stalls_after(body: bytes, closed: asyncio.Event, headers: Mapping[str, str] = EVENTS) -> Script:
    """Send `body`, then nothing, and note when the client hangs up."""

    async def script(peer: Peer) -> None:
        await peer.head(200, headers)
        if body:
            await peer.send(body)
        await peer.hung_up()
        closed.set()

    return script


def chunk(delta: Mapping[str, Any] | None = None, **fields: Any) -> bytes:
    """One event of Chat Completions."""
    choice = {"index": 0, "delta": dict(delta or {}), "finish_reason": fields.pop("finish", None)}
    return b"data: " + json.dumps({"id": "c1", "choices": [choice], **fields}).encode() + b"\n\n"


def says(text: str) -> bytes:
    """A whole answer of one word or many."""
    usage = {"prompt_tokens": 5, "completion_tokens": 1, "total_tokens": 6}
    return (
        chunk({"role": "assistant", "content": text})
        + chunk(finish="stop", usage=usage)
        + b"data: [DONE]\n\n"
    )


def asks(text: str = "hi") -> LlmContext:
    return LlmContext(messages=[UserMessage(content=text)])


async def collect(
    model: Model, context: LlmContext | None = None, options: StreamOptions | None = None
) -> list[StreamEvent]:
    """All events of one response."""
    source = stream_fn_for(model)(model, context or asks(), options or StreamOptions())
    return [event async for event in source]


async def answer_of(
    model: Model, context: LlmContext | None = None, options: StreamOptions | None = None
) -> AssistantMessage:
    """The finished message of one response."""
    last = (await collect(model, context, options))[-1]
    assert isinstance(last, StreamDone | StreamError)
    return last.message


def aborting(**fields: Any) -> tuple[StreamOptions, AbortSignal]:
    signal = AbortSignal()
    return StreamOptions(signal=signal, **fields), signal
