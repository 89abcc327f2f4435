"""What all wires share: ask, wait within limits, decode, parse, and end in one terminal event.

A wire is two pure parts: `build`, which turns a request of ours into one of the server's, and a
`Parser`, which turns decoded payloads into stream events. Sockets, clocks, the abort signal and
repeats are here.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from agent_tui.core.errors import (
    AgentError,
    ConfigError,
    NetworkError,
    ProviderError,
    RequestTimeoutError,
)
from agent_tui.core.json_text import read_json
from agent_tui.core.model import Model
from agent_tui.core.stream import LlmContext, StreamEvent, StreamOptions
from agent_tui.core.text import printable
from agent_tui.providers.addresses import host_of
from agent_tui.providers.compat import Compat, compat_for
from agent_tui.providers.errors import http_error, mask, strange_answer
from agent_tui.providers.exchange import AbortedError, Exchange
from agent_tui.providers.http import Connection, StaleConnectionError, connection_to
from agent_tui.providers.keys import clean_key, require_key
from agent_tui.providers.request import (
    Request,
    encode,
    limits_for,
    merged_headers,
    refused_parameter,
    secrets_in,
    without_refused,
)
from agent_tui.providers.sse import MAX_LINE_BYTES, Frame
from agent_tui.providers.stream import MessageBuilder
from agent_tui.providers.vault import find_key

T = TypeVar("T")
ERROR_BODY_BYTES = 64 << 10
ERROR_BODY_SECONDS = 5.0
USAGE_SECONDS = 5.0
"""How long to wait for token counts after the answer is complete."""
DONE_SECONDS = 0.5
"""The same after the server said that all is sent."""


class Parser(Protocol):
    """Turns the payloads of one response into events. Pure: no clock, no socket."""

    builder: MessageBuilder

    @property
    def is_complete(self) -> bool:
        """Whether the answer has ended, so that only token counts may follow."""
        ...

    @property
    def has_usage(self) -> bool:
        """Whether token counts have come."""
        ...

    def feed(self, payloads: Iterable[Any]) -> list[StreamEvent]:
        """The events of these payloads, deltas joined.

        Raises:
            AgentError: A payload reports a failure; events before it are kept in the builder.
        """
        ...

    def finish(self) -> list[StreamEvent]:
        """The last events; the body is over.

        Raises:
            AgentError: The answer is not complete.
        """
        ...


class Decoder(Protocol):
    """Bytes → frames, by any cut."""

    def feed(self, chunk: bytes) -> list[Frame]:
        """The frames that `chunk` completes."""
        ...

    def close(self) -> list[Frame]:
        """What is left when the body ends."""
        ...


@dataclass(frozen=True, slots=True)
class Wire:
    """One wire format."""

    build: Callable[[Model, LlmContext, StreamOptions], Request]
    parser: Callable[[Model], Parser]
    decoder: Callable[[], Decoder]
    authorize: Callable[[str], dict[str, str]]
    """Key → the headers that carry it."""
    swaps: Mapping[str, str | None]
    """Request parameters that servers may refuse → what to send instead, None for nothing."""
    last_types: frozenset[str] = frozenset()
    """Types of payloads after which nothing follows, where an API has them."""
    explain: Callable[[AgentError, Model], None] | None = None
    """Puts a failure into better words where the wire knows what it means."""


async def connect(url: str, compat: Compat, *, direct: bool = False) -> Connection:
    """The connection to the server of `url`, trusting the certificates that `compat` says.

    With `direct` no proxy is used.
    """
    verify = not compat.insecure_skip_verify
    return await connection_to(url, compat.ca_bundle, verify=verify, direct=direct)


async def warm_up(model: Model) -> None:
    """Load what the first request to `model` needs, in a worker thread; failures show up later."""
    if host_of(model.base_url):
        try:
            await connect(model.base_url, compat_for(model))
        except ConfigError:
            return


async def respond(
    wire: Wire, model: Model, context: LlmContext, options: StreamOptions
) -> AsyncIterator[StreamEvent]:
    """The events of one response, the last of which is `done` or `error`. Failures are events."""
    run = _Run(wire, model, options)
    builder = run.parser.builder
    builder.start()
    try:
        await run.open(context)
        for event in builder.take():
            yield event
        while not run.is_over:
            for event in await run.more():
                yield event
        return
    except AbortedError:
        builder.abort()
    except AgentError as error:
        if wire.explain is not None:
            wire.explain(error, model)
        error.message = mask(error.message, run.secrets)
        builder.fail(error)
    finally:
        await run.close()
    for event in builder.take():
        yield event


class _Run:
    """One response from the first byte asked to the last byte read."""

    def __init__(self, wire: Wire, model: Model, options: StreamOptions) -> None:
        self.parser = wire.parser(model)
        self.secrets: list[str] = []
        """What must not be shown: the key, and headers that hold one."""
        self.is_over = False
        self._wire = wire
        self._model = model
        self._signal = options.signal
        self._options = options
        self._compat = compat_for(model)
        self._limits = limits_for(self._compat, options.timeout)
        self._decoder = wire.decoder()
        self._exchange: Exchange | None = None
        self._deadline = 0.0
        self._silence = ""
        self._is_first_read = True
        self._saw_done = False

    async def open(self, context: LlmContext) -> None:
        """Send the request and wait until a good answer begins."""
        key = self._options.api_key or await self._unless_aborted(find_key(self._model))
        request = self._request(context, key)
        connection = await self._unless_aborted(connect(request.url, self._compat))
        refused = connection.refused.setdefault(self._model.id, set())
        repeats = {"stale", "parameter"}
        while True:
            try:
                exchange = await self._send(connection, request, refused)
            except StaleConnectionError:
                if "stale" not in repeats:
                    raise NetworkError(
                        f"{host_of(request.url)} closed the connection without an answer"
                    ) from None
                repeats.discard("stale")
                continue
            if exchange.status < 300:
                return
            error, body = await self._refusal(exchange)
            name = refused_parameter(error, body, self._wire.swaps, request.body, refused)
            if name is None or "parameter" not in repeats:
                raise error
            repeats.discard("parameter")
            refused.add(name)

    async def more(self) -> list[StreamEvent]:
        """Wait for bytes and give their events; `is_over` afterwards if they were the last."""
        exchange = self._exchange
        assert exchange is not None
        if self._is_first_read and _content_type(exchange) == "application/json":
            return await self._unstreamed(exchange)
        try:
            data = await exchange.read(self._deadline)
        except (TimeoutError, NetworkError) as error:
            return self._cut_off(error)
        if self._is_first_read and (
            _content_type(exchange) == "text/html" or data.lstrip().startswith(b"<")
        ):
            raise await self._strange(exchange, data)
        self._is_first_read = False
        frames = self._decoder.feed(data) if data else self._decoder.close()
        events = self.parser.feed(self._payloads(frames))
        self._mind_the_clock(bool(events), exchange)
        if not data or (self._saw_done and self.parser.has_usage):
            events += self._finish(exchange)
        return events

    async def close(self) -> None:
        """Close the socket, or leave the rest of a finished body to its reader."""
        if self._exchange is not None:
            await self._exchange.close()

    # -- asking ------------------------------------------------------------------------------

    def _request(self, context: LlmContext, raw: str | None) -> Request:
        model, options = self._model, self._options
        if raw:
            self.secrets.append(raw.strip())
            raw = clean_key(raw, f"the key for {model.provider}")
        else:
            require_key(model)
        url, headers, body = self._wire.build(model, context, options)
        keyed = self._wire.authorize(raw) if raw else {}
        merged = merged_headers(headers, keyed, model.headers, options.headers)
        self.secrets += secrets_in(merged)
        return Request(url, merged, body | dict(self._compat.extra_body))

    async def _unless_aborted(self, work: Coroutine[None, None, T]) -> T:
        """What `work` gives, unless the signal comes first: importing httpx takes its time."""
        if self._signal.aborted:
            work.close()
            raise AbortedError
        working = asyncio.ensure_future(work)
        aborted = asyncio.ensure_future(self._signal.wait())
        try:
            await asyncio.wait({working, aborted}, return_when=asyncio.FIRST_COMPLETED)
            if not working.done():
                raise AbortedError
            return await working
        finally:
            aborted.cancel()
            working.cancel()

    async def _send(self, connection: Connection, request: Request, refused: set[str]) -> Exchange:
        if self._exchange is not None:
            await self._exchange.close()
        limits = self._limits
        began = asyncio.get_running_loop().time()
        self._exchange = exchange = Exchange(
            connection,
            request.url,
            request.headers,
            encode(without_refused(request.body, refused, self._wire.swaps)),
            connect_limit=limits.connect,
            signal=self._signal,
        )
        try:
            await exchange.head(began + limits.connect + limits.first_byte)
        except TimeoutError:
            raise RequestTimeoutError(
                f"{host_of(request.url)} sent no answer within {limits.first_byte:g} s"
            ) from None
        self._deadline = began + limits.first_event
        self._silence = f"sent no content within {limits.first_event:g} s"
        return exchange

    async def _refusal(self, exchange: Exchange) -> tuple[ProviderError, str]:
        body = await self._error_body(exchange)
        return http_error(exchange.status, exchange.headers, body, self._model, self.secrets), body

    async def _strange(self, exchange: Exchange, start: bytes) -> ProviderError:
        body = start.decode("utf-8", "replace") + await self._error_body(exchange)
        return strange_answer(
            exchange.status,
            exchange.headers.get("content-type", ""),
            body,
            self._model,
            self.secrets,
        )

    async def _error_body(self, exchange: Exchange) -> str:
        limit = asyncio.get_running_loop().time() + ERROR_BODY_SECONDS
        return (await exchange.read_all(limit, ERROR_BODY_BYTES)).decode("utf-8", "replace")

    # -- reading -----------------------------------------------------------------------------

    def _payloads(self, frames: Iterable[Frame]) -> Iterator[Any]:
        for event, data in frames:
            if data.startswith("[DONE]"):
                self._saw_done = True
                continue
            try:
                payload = read_json(data)
            except (ValueError, RecursionError):
                if event == "error":
                    payload = {"message": data}
                else:
                    raise ProviderError(
                        f"{self._model.provider}: the answer holds something that is no JSON: "
                        f"{printable(data)[:200]}",
                        retryable=True,
                    ) from None
            if event == "error" and not (isinstance(payload, dict) and "error" in payload):
                payload = {"error": payload}
            if isinstance(payload, dict) and payload.get("type") in self._wire.last_types:
                self._saw_done = True
            yield payload

    def _mind_the_clock(self, has_content: bool, exchange: Exchange) -> None:
        now = asyncio.get_running_loop().time()
        if has_content:
            self._deadline = now + self._limits.stall
            self._silence = f"sent nothing new for {self._limits.stall:g} s"
        if self.parser.is_complete or self._saw_done:
            exchange.hurry()
            patience = DONE_SECONDS if self._saw_done else USAGE_SECONDS
            self._deadline = min(self._deadline, now + patience)

    def _cut_off(self, error: Exception) -> list[StreamEvent]:
        """No more bytes will come. After the end of the answer that is no loss."""
        self.is_over = True
        if self.parser.is_complete:
            return self.parser.finish()
        if isinstance(error, TimeoutError):
            raise RequestTimeoutError(f"{host_of(self._model.base_url)} {self._silence}") from None
        raise error

    def _finish(self, exchange: Exchange) -> list[StreamEvent]:
        self.is_over = True
        events = self.parser.finish()
        exchange.release()
        return events

    async def _unstreamed(self, exchange: Exchange) -> list[StreamEvent]:
        """Some proxies ignore `stream`; others label events as JSON."""
        body = await exchange.read_all(self._deadline, MAX_LINE_BYTES)
        try:
            payloads: list[Any] = [json.loads(body)]
        except (ValueError, RecursionError):
            frames = [*self._decoder.feed(body), *self._decoder.close()]
            if not frames:
                raise await self._strange(exchange, body) from None
            payloads = list(self._payloads(frames))
        events = self.parser.feed(payloads)
        if not events and not self.parser.is_complete:
            raise await self._strange(exchange, body)
        return events + self._finish(exchange)


def _content_type(exchange: Exchange) -> str:
    return exchange.headers.get("content-type", "").partition(";")[0].strip().lower()
