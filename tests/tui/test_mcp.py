"""MCP servers on the screen: /mcp, prompts as commands, a broken one in the header."""

from __future__ import annotations

import json
from pathlib import Path

from agent_tui.config import Flags, load_settings
from agent_tui.session.servers import Servers
from agent_tui.testing import call, calls, text
from agent_tui.tui.screens.output import OutputScreen
from tests.tools.mcp.servers import odd
from tests.tui.chat import Chat, chat


async def with_servers(c: Chat, home: Path) -> Servers:
    """Give the chat's session a server that works and one that cannot."""
    commands = {"odd": odd(), "dead": ("no-such-program-9",)}
    toml = [f"[mcp.servers.{n}]\ncommand = {json.dumps(list(w))}" for n, w in commands.items()]
    (home / "config.toml").write_text("\n".join(toml))
    servers = Servers(load_settings(Flags(), {"AGENT_TUI_HOME": str(home)}, home))
    c.session.connect(servers)
    servers.start()
    await c.until(lambda: [view.state for view in servers.views()] == ["ready", "failed"])
    await c.until(servers.prompts)
    return servers


async def test_a_broken_server_is_in_the_header_and_said_once(tmp_path: Path) -> None:
    async with chat(text("ok")) as c:
        await with_servers(c, tmp_path)

        await c.until(lambda: "mcp 1/2" in c.line("header"))
        told = [shown for shown in c.shown if "dead is not there" in shown]
        assert len(told) == 1


async def test_a_prompt_of_a_server_is_a_command(tmp_path: Path) -> None:
    async with chat(text("ok")) as c:
        await with_servers(c, tmp_path)

        await c.say("/odd:re-view this")
        await c.until(lambda: c.said)
        await c.idle()
        await c.say("/odd:nothing")

        assert c.said == ["Look at it."]
        assert c.draft == "/odd:nothing"
        assert "has no such prompt: it has odd:re-view" in c.line("hint")


async def test_the_tool_of_a_server_has_a_panel(tmp_path: Path) -> None:
    async with chat(calls(call("mcp__odd__echo", {"text": "[b]x[/b]"})), text("ok")) as c:
        await with_servers(c, tmp_path)
        c.session.approvals.mode = "full-auto"

        await c.say("go")
        await c.idle()

        assert "[b]x[/b]" in c.panels[0]


async def test_the_screen_of_servers_shows_all_about_them(tmp_path: Path) -> None:
    async with chat(text("ok")) as c:
        await with_servers(c, tmp_path)

        await c.say("/mcp wrong")
        assert c.draft == "/mcp wrong"
        await c.say("/mcp restart nobody")
        assert "There is no MCP server 'nobody'" in c.line("hint")
        await c.say("/mcp")
        await c.until(lambda: isinstance(c.app.screen, OutputScreen))
