"""Logging in to a server by OAuth: in the person's browser, by the person's wish.

What the login gives is kept in a file that only the person can read.
"""

from __future__ import annotations

import asyncio
import html
import json
import os
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlsplit

if TYPE_CHECKING:
    import httpx2
    from mcp.shared.auth import OAuthClientInformationFull, OAuthToken

LOGIN_SECONDS = 300.0
_ASKED_BYTES = 16_384


class LoginNeeded(Exception):
    """The server wants a login, and nobody has asked for one."""


class LoginFailed(Exception):
    """The login came to nothing; says why."""


class TokenFile:
    """The SDK's storage in one file of mode 0600; what cannot be read counts as nothing."""

    def __init__(self, path: Path) -> None:
        self._path = path

    async def get_tokens(self) -> OAuthToken | None:
        """What the last login or renewal gave."""
        from mcp.shared.auth import OAuthToken

        found: OAuthToken | None = self._read("tokens", OAuthToken)
        return found

    async def set_tokens(self, tokens: OAuthToken) -> None:
        """Keep them."""
        self._keep("tokens", tokens)

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        """How this program is registered there."""
        from mcp.shared.auth import OAuthClientInformationFull

        found: OAuthClientInformationFull | None = self._read("client", OAuthClientInformationFull)
        return found

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        """Keep it."""
        self._keep("client", client_info)

    def forget(self) -> None:
        """Begin anew."""
        self._path.unlink(missing_ok=True)

    def _all(self) -> dict[str, Any]:
        try:
            found = json.loads(self._path.read_text("utf-8"))
        except (OSError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}

    def _read(self, key: str, kind: Any) -> Any:
        found = self._all().get(key)
        try:
            return None if found is None else kind.model_validate(found)
        except ValueError:
            return None

    def _keep(self, key: str, value: Any) -> None:
        told = self._all() | {key: value.model_dump(mode="json", exclude_none=True)}
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        fresh = self._path.with_suffix(".new")
        fresh.unlink(missing_ok=True)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
        with os.fdopen(os.open(fresh, flags, 0o600), "w", encoding="utf-8") as out:
            json.dump(told, out)
        fresh.replace(self._path)


def stored_login(url: str, tokens: Path) -> httpx2.Auth | None:
    """What an earlier login gave, renewed when it is old; None if there was none.

    A request that needs a new login raises `LoginNeeded`.
    """
    if not tokens.exists():
        return None

    async def refuse(_: str) -> None:
        raise LoginNeeded

    return _provider(url, TokenFile(tokens), "http://127.0.0.1/callback", refuse, None)


@asynccontextmanager
async def new_login(
    url: str, tokens: Path, show: Callable[[str], None]
) -> AsyncIterator[httpx2.Auth]:
    """A login that begins with the first request: `show` gets the page to open.

    Inside the block a server on 127.0.0.1 waits for the browser to come back.
    """
    storage = TokenFile(tokens)
    storage.forget()
    answer: asyncio.Future[Mapping[str, str]] = asyncio.get_running_loop().create_future()

    async def came_back(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(10):
                asked = await _query(reader)
                writer.write(_page(asked))
                await writer.drain()
        except (OSError, TimeoutError, ValueError, asyncio.IncompleteReadError):
            return
        finally:
            writer.close()
        if asked and not answer.done():
            answer.set_result(asked)

    async def open_page(address: str) -> None:
        parts = urlsplit(address)
        if parts.scheme != "https" and parts.hostname not in ("127.0.0.1", "localhost", "::1"):
            raise LoginFailed("the page for the login is not on https")
        show(address)

    async def wait() -> Any:
        from mcp.shared.auth import AuthorizationCodeResult

        try:
            said = await asyncio.wait_for(answer, LOGIN_SECONDS)
        except TimeoutError:
            raise LoginFailed("nobody logged in in time") from None
        if "code" not in said:
            raise LoginFailed(said.get("error_description") or said.get("error") or "no code came")
        return AuthorizationCodeResult(
            code=said["code"], state=said.get("state"), iss=said.get("iss")
        )

    server = await asyncio.start_server(came_back, "127.0.0.1", 0, limit=_ASKED_BYTES)
    port = server.sockets[0].getsockname()[1]
    try:
        yield _provider(url, storage, f"http://127.0.0.1:{port}/callback", open_page, wait)
    finally:
        server.close()
        await server.wait_closed()


def _provider(url: str, storage: TokenFile, back: str, show: Any, wait: Any) -> httpx2.Auth:
    from mcp.client.auth import OAuthClientProvider
    from mcp.shared.auth import OAuthClientMetadata

    about = OAuthClientMetadata.model_validate(
        {
            "client_name": "agent-tui",
            "redirect_uris": [back],
            # A program on the person's machine keeps no secret.
            "token_endpoint_auth_method": "none",
        }
    )
    return OAuthClientProvider(url, about, storage, redirect_handler=show, callback_handler=wait)


async def _query(reader: asyncio.StreamReader) -> dict[str, str]:
    """The parameters of `GET /callback?…`; empty for anything else."""
    head = await reader.readuntil(b"\r\n\r\n")
    method, _, rest = head.split(b"\r\n", 1)[0].decode("ascii").partition(" ")
    parts = urlsplit(rest.partition(" ")[0])
    if method != "GET" or parts.path != "/callback":
        return {}
    return dict(parse_qsl(parts.query))


def _page(asked: Mapping[str, str]) -> bytes:
    done = "code" in asked
    text = "agent-tui has what it needs: you can close this page." if done else "Nothing came back."
    body = f"<!doctype html><meta charset=utf-8><p>{html.escape(text)}".encode()
    head = f"HTTP/1.1 {200 if done else 400} -\r\nContent-Type: text/html\r\nConnection: close\r\n"
    return f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body
