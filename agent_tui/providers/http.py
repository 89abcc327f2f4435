"""The HTTP client: one per server and event loop, kept open; the only module that knows httpx.

httpx is slow to import and its TLS context slow to make, so both happen in a worker thread at the
first request, or earlier by `connection_to`. A client is closed with its loop.
"""

from __future__ import annotations

import asyncio
import os
import socket
import ssl
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Mapping
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

from agent_tui.core.errors import ConfigError, NetworkError, ProviderError, RequestTimeoutError
from agent_tui.providers.addresses import host_of, proxy_for
from agent_tui.providers.errors import mask

if TYPE_CHECKING:
    import httpx

KEEP_ALIVE = 60.0
"""Seconds for which an idle connection may be used again."""


@dataclass(slots=True, eq=False)
class Connection:
    """The client for one server, and what was learned about the server since the start."""

    client: httpx.AsyncClient
    proxy: str | None = None
    refused: dict[str, set[str]] = field(default_factory=dict)
    """Model id → request parameters that the server named as unwanted."""
    learned: dict[str, Any] = field(default_factory=dict)
    """Model id → what the server said about the model, in the words of its wire."""
    closing: set[asyncio.Task[None]] = field(default_factory=set)
    """Readers that are about to end; kept here so that they are not forgotten."""

    async def aclose(self) -> None:
        """End the readers, then close every socket."""
        for task in self.closing:
            task.cancel()
        if self.closing:
            await asyncio.wait(self.closing)
        await self.client.aclose()


class _Pool:
    """The connections of one event loop."""

    def __init__(self) -> None:
        self.by_server: dict[tuple[str, ...], asyncio.Task[Connection]] = {}
        self._keeper = self._close_with_the_loop()

    async def start(self) -> None:
        await anext(self._keeper)

    async def _close_with_the_loop(self) -> AsyncGenerator[None]:
        """A suspended generator is closed by the loop's `shutdown_asyncgens`: the clients' end."""
        try:
            yield
        finally:
            _pools.pop(asyncio.get_running_loop(), None)
            for making in self.by_server.values():
                if making.done() and not making.cancelled() and making.exception() is None:
                    await making.result().aclose()


_pools: dict[asyncio.AbstractEventLoop, _Pool] = {}
"""Sockets belong to the loop that opened them, so that each loop has its own clients."""


async def connection_to(
    url: str, ca_bundle: str | None = None, *, verify: bool = True, direct: bool = False
) -> Connection:
    """The open connection of this loop for the server of `url`, made now if there is none.

    Without `verify` anybody may pretend to be that server. With `direct` no proxy is used.

    Raises:
        ConfigError: The proxy or the certificate file in the environment cannot be used.
    """
    loop = asyncio.get_running_loop()
    if (pool := _pools.get(loop)) is None:
        pool = _pools[loop] = _Pool()
        await pool.start()
    parts = urlsplit(url)
    proxy = None if direct else proxy_for(url, os.environ)
    key = (parts.scheme, parts.netloc, proxy or "", ca_bundle or "", str(verify))
    making = pool.by_server.get(key)
    if making is None:
        making = loop.create_task(_connect(url, proxy, ca_bundle, verify), name="provider-client")
        pool.by_server[key] = making
        making.add_done_callback(lambda task: _forget_failure(pool, key, task))
    return await asyncio.shield(making)


def _forget_failure(pool: _Pool, key: tuple[str, ...], making: asyncio.Task[Connection]) -> None:
    if making.cancelled() or making.exception() is not None:
        pool.by_server.pop(key, None)


async def _connect(url: str, proxy: str | None, ca_bundle: str | None, verify: bool) -> Connection:
    client = await asyncio.to_thread(_make_client, url, proxy, ca_bundle, verify)
    return Connection(client, proxy)


def _make_client(
    url: str, proxy: str | None, ca_bundle: str | None, verify: bool
) -> httpx.AsyncClient:
    import httpx

    try:
        return httpx.AsyncClient(
            verify=_trust(url, proxy, ca_bundle, verify),
            proxy=proxy,
            trust_env=False,
            follow_redirects=False,
            timeout=httpx.Timeout(None, write=30.0, pool=10.0),
            limits=httpx.Limits(
                max_connections=None, max_keepalive_connections=8, keepalive_expiry=KEEP_ALIVE
            ),
        )
    except (ImportError, ValueError, httpx.InvalidURL) as error:
        raise ConfigError(
            f"the proxy {mask(proxy or '')} from the environment cannot be used: {error}",
            key="proxy",
        ) from None


def _trust(url: str, proxy: str | None, ca_bundle: str | None, verify: bool) -> ssl.SSLContext:
    """The certificates to trust; `SSL_CERT_FILE` and `SSL_CERT_DIR` are honoured."""
    import httpx

    if not url.startswith("https:") and not (proxy or "").startswith("https:"):
        # Loading certificates takes 40 ms; a plain connection never looks at them.
        return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    if not verify:
        context = ssl.create_default_context()
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        return context
    try:
        if ca_bundle:
            return ssl.create_default_context(cafile=ca_bundle)
        return httpx.create_ssl_context(trust_env=True)
    except OSError as error:
        where = ca_bundle or "SSL_CERT_FILE or SSL_CERT_DIR"
        raise ConfigError(f"the certificates of {where} cannot be read: {error}") from None


@asynccontextmanager
async def sent(
    connection: Connection,
    url: str,
    headers: Mapping[str, str],
    body: bytes | None,
    connect_limit: float,
    on_closing: Callable[[], None],
) -> AsyncIterator[Answer]:
    """The answer to a POST, or to a GET if `body` is None; leaving closes or frees the socket.

    The answer's own body is still unread. `on_closing()` is called when httpx begins to clean up
    after it: a task that is cancelled from then on would leave the socket open for ever.

    Raises:
        StaleConnectionError: A kept-open connection turned out to be closed; nothing was answered.
        NetworkError, RequestTimeoutError: Everything else that goes wrong below HTTP.
    """
    import httpx

    opened = False

    async def notice(name: str, info: Mapping[str, Any]) -> None:
        nonlocal opened
        opened = opened or name == "connection.connect_tcp.started"
        if name == "http11.response_closed.started":
            on_closing()

    client = connection.client
    limits = client.timeout.as_dict() | {"connect": connect_limit}
    try:
        request = client.build_request(
            "GET" if body is None else "POST",
            url,
            headers=dict(headers),
            content=body,
            extensions={"trace": notice, "timeout": limits},
        )
        response = await client.send(request, stream=True)
    except (httpx.RemoteProtocolError, httpx.ReadError, httpx.WriteError) as error:
        if not opened:
            raise StaleConnectionError from None
        raise _network_error(error, url, connection.proxy, connect_limit) from None
    except (httpx.HTTPError, httpx.InvalidURL, OSError) as error:
        raise _network_error(error, url, connection.proxy, connect_limit) from None
    try:
        async with aclosing(_pieces(response, url)) as pieces:
            names = {name.lower(): value for name, value in response.headers.items()}
            yield Answer(response.status_code, names, pieces)
    finally:
        await response.aclose()


class NobodyThereError(NetworkError):
    """Nothing listens at the address."""


class StaleConnectionError(Exception):
    """The server had closed the connection before it got the request: it may be sent again."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The head of a response, and its body in the pieces in which it arrives, not yet inflated."""

    status: int
    headers: Mapping[str, str]
    """Lower-case names."""
    pieces: AsyncIterator[bytes]


async def _pieces(response: httpx.Response, url: str) -> AsyncGenerator[bytes]:
    import httpx

    try:
        async with aclosing(cast("AsyncGenerator[bytes]", response.aiter_raw())) as pieces:
            async for piece in pieces:
                yield piece
    except httpx.HTTPError:
        raise NetworkError(
            f"the connection to {host_of(url)} broke off in the middle of the answer",
            code="stream_incomplete",
        ) from None


def _network_error(
    error: Exception, url: str, proxy: str | None, connect_limit: float
) -> ProviderError:
    import httpx

    parts = urlsplit(proxy or url)
    place = f"{parts.hostname}:{parts.port}" if parts.port else str(parts.hostname)
    place = f"the proxy {place}" if proxy else place
    causes = list(_causes(error))
    if isinstance(error, httpx.TimeoutException):
        return RequestTimeoutError(
            f"{place} did not accept a connection within {connect_limit:g} s"
        )
    for cause in causes:
        match cause:
            case ssl.SSLCertVerificationError():
                return NetworkError(
                    f"the certificate of {place} is not trusted ({cause.verify_message}); "
                    "SSL_CERT_FILE, or ca_bundle in the settings, names the certificates to trust",
                    retryable=False,
                )
            case socket.gaierror():
                return NetworkError(
                    f"the name {parts.hostname} cannot be resolved; check network and address"
                )
            case ConnectionRefusedError():
                return NobodyThereError(f"nothing answers at {place}; is the server running?")
    if isinstance(error, httpx.ProxyError):
        return NetworkError(f"{place} refuses: {mask(str(error))}")
    if isinstance(error, httpx.RemoteProtocolError):
        return NetworkError(f"{place} did not answer in HTTP, or hung up: {mask(_said(causes))}")
    return NetworkError(f"no connection to {place}: {mask(_said(causes))}")


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        if isinstance(error, BaseExceptionGroup):
            for inner in error.exceptions:
                yield from _causes(inner)
        error = error.__cause__ or error.__context__


def _said(causes: list[BaseException]) -> str:
    """The most specific words among nested errors."""
    words = [str(cause) for cause in causes if str(cause)]
    return words[-1] if words else type(causes[0]).__name__
