"""The MCP servers of the settings: which there are, and whether one works."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from agent_tui.cli.options import load
from agent_tui.cli.program import app
from agent_tui.core.text import printable
from agent_tui.launch import exit_with

if TYPE_CHECKING:
    from agent_tui.config import Settings
    from agent_tui.session.servers import ServerView

TEST_SECONDS = 60.0

mcp_app = typer.Typer(
    help="MCP servers: programs and addresses that offer tools.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
app.add_typer(mcp_app, name="mcp")


@mcp_app.command("list")
def list_servers() -> None:
    """List the servers of the settings; none of them is started."""
    from agent_tui.session.server_targets import described

    settings = _settings()
    for name, sentence in described(settings):
        typer.echo(f"{name:<16} {printable(sentence)}")
    for problem in settings.problems:
        typer.echo(f"agent-tui: {printable(problem)}", err=True)


@mcp_app.command("test")
def test_server(name: Annotated[str, typer.Argument(help="As in the settings.")]) -> None:
    """Start one server, say what it offers, and end it."""
    settings = _settings()
    if name not in settings.mcp_servers:
        known = ", ".join(settings.mcp_servers) or "none"
        exit_with(f"there is no MCP server {name!r}; there is {known}")
    view = asyncio.run(_tried(settings, name))
    offers = [(tool, about) for tool, about in view.tools]
    offers += [(f"/{command}", about) for command, about in view.prompts]
    for offered, about in offers:
        typer.echo(f"{offered:<40} {printable(' '.join(about.split())[:100])}")
    for notice in view.notices:
        typer.echo(f"agent-tui: {printable(notice)}", err=True)
    if view.state != "ready":
        for line in view.log[-10:]:
            typer.echo(printable(line), err=True)
        problem = view.problem or f"it was not ready within {TEST_SECONDS:g} s"
        typer.echo(f"agent-tui: {name} is not there: {printable(problem)}", err=True)
        raise typer.Exit(1)


def _settings() -> Settings:
    from agent_tui.config import Flags

    return load(Flags(cwd=Path.cwd()))


async def _tried(settings: Settings, name: str) -> ServerView:
    from dataclasses import replace

    from agent_tui.session.servers import Servers

    server = replace(settings.mcp_servers[name], enabled=True)
    servers = Servers(replace(settings, mcp_servers={name: server}))
    servers.start()
    try:
        await servers.ready(TEST_SECONDS)
        return servers.views()[0]
    finally:
        servers.close()
