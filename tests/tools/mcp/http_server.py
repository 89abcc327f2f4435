"""A server of the SDK on 127.0.0.1, which may want a login first."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlencode

import uvicorn
from mcp.server.mcpserver import Context, MCPServer
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.types import Receive, Scope, Send

TOKEN = "the-token-9"


def _server() -> MCPServer:
    server = MCPServer("far")

    @server.tool()
    def add(a: int, b: int) -> int:
        """Add two numbers."""
        return a + b

    @server.tool()
    async def slow(ctx: Context) -> str:
        """Reports and waits."""
        await ctx.report_progress(1, 2, "half")
        await asyncio.sleep(60)
        return "late"

    return server


class Gate:
    """Lets nobody in without a token, and gives one to everybody who asks properly."""

    def __init__(self, app: Any, base: str) -> None:
        self._app = app
        self._base = base

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request = Request(scope, receive)
        answer = await self._answer(request)
        if answer is not None:
            await answer(scope, receive, send)
        elif request.headers.get("authorization") == f"Bearer {TOKEN}":
            await self._app(scope, receive, send)
        else:
            await Response("who are you?", 401)(scope, receive, send)

    async def _answer(self, request: Request) -> Response | None:
        base = self._base
        match request.url.path:
            case "/.well-known/oauth-authorization-server":
                return JSONResponse(
                    {
                        "issuer": base,
                        "authorization_endpoint": f"{base}/authorize",
                        "token_endpoint": f"{base}/token",
                        "registration_endpoint": f"{base}/register",
                        "response_types_supported": ["code"],
                        "code_challenge_methods_supported": ["S256"],
                    }
                )
            case "/register":
                about = await request.json()
                return JSONResponse({**about, "client_id": "client-1"}, 201)
            case "/authorize":
                back = request.query_params["redirect_uri"]
                said = {"code": "code-1", "state": request.query_params["state"]}
                return RedirectResponse(f"{back}?{urlencode(said)}")
            case "/token":
                return JSONResponse({"access_token": TOKEN, "token_type": "Bearer"})
        return Response(status_code=404) if "well-known" in request.url.path else None


@contextmanager
def served(*, wants_login: bool = False) -> Iterator[str]:
    """The base address of a server that runs until the block is left."""
    socket = uvicorn.Config(lambda: None, port=0).bind_socket()
    base = f"http://127.0.0.1:{socket.getsockname()[1]}"
    app: Any = _server().streamable_http_app()
    config = uvicorn.Config(
        Gate(app, base) if wants_login else app, log_level="critical", ws="none"
    )
    config.timeout_graceful_shutdown = 1
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, args=([socket],), daemon=True)
    thread.start()
    try:
        while not server.started:
            time.sleep(0.01)
        yield base
    finally:
        server.should_exit = True
        thread.join(10)
        socket.close()
