"""Servers that are addresses, with and without a login."""

from __future__ import annotations

import asyncio
import stat
import urllib.request
from pathlib import Path

from agent_tui.core.abort import AbortSignal
from agent_tui.core.tool import ToolContext, ToolResult
from agent_tui.tools.mcp import Endpoint
from tests.tools.mcp.http_server import TOKEN, served
from tests.tools.mcp.servers import call, connected, until


async def test_a_tool_is_called_by_http() -> None:
    with served() as base:
        async with connected(Endpoint(f"{base}/mcp")) as server:
            assert server.snapshot.problem == ""
            assert (await call(server, "add", a=2, b=40)).text == "42"


async def test_a_call_by_http_shows_progress_and_can_be_stopped() -> None:
    signal, shown = AbortSignal(), list[str]()

    def show(update: ToolResult | str) -> None:
        shown.append(str(update))
        signal.set()

    with served() as base:
        async with connected(Endpoint(f"{base}/mcp")) as server:
            result = await asyncio.wait_for(call(server, "slow", ToolContext(signal, show)), 5)

    assert shown == ["1 of 2 · half"]
    assert result.is_error


async def test_an_address_where_nobody_is_has_failed() -> None:
    async with connected(Endpoint("http://127.0.0.1:9/mcp")) as server:
        assert server.snapshot.state == "failed"
        assert server.snapshot.problem


async def test_a_key_that_is_refused_is_said_so() -> None:
    with served(wants_login=True) as base:
        place = Endpoint(f"{base}/mcp", {"Authorization": "Bearer wrong"})
        async with connected(place) as server:
            assert server.snapshot.state == "login"
            assert server.snapshot.problem == "it refused the key (401)"


async def test_a_login_begins_when_the_person_asks_and_lasts(tmp_path: Path) -> None:
    tokens = tmp_path / "logins" / "s.json"
    with served(wants_login=True) as base:
        place = Endpoint(f"{base}/mcp", {}, tokens)
        log = tmp_path / "s.log"
        async with connected(place, log=log) as server:
            assert server.snapshot.state == "login"
            pages: list[str] = []

            server.restart(pages.append)
            await until(lambda: pages)
            opened = await asyncio.to_thread(urllib.request.urlopen, pages[0])
            with opened:
                assert b"you can close this page" in opened.read()

            await until(lambda: server.snapshot.state == "ready")
            assert (await call(server, "add", a=1, b=1)).text == "2"

        assert stat.S_IMODE(tokens.stat().st_mode) == 0o600
        assert TOKEN in tokens.read_text()
        assert TOKEN not in (log.read_text() if log.exists() else "")
        async with connected(place) as server:
            assert server.snapshot.state == "ready"
