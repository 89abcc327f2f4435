"""The `[mcp.servers.X]` tables of a settings file: programs and addresses that offer tools."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from agent_tui.core.tables import Table

START_SECONDS = 30.0
CALL_SECONDS = 120.0
_NAME = re.compile(r"[A-Za-z0-9_-]{1,32}")


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """One server: a program that is started, or an address that is asked."""

    name: str
    command: tuple[str, ...] = ()
    """The program and its arguments; empty if it is an address."""
    url: str | None = None
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Variables for the program beside those that it inherits."""
    cwd: str | None = None
    """The program's folder, from the project's on."""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    api_key_env: str | None = None
    """The variable with the key that goes with every request, as `Authorization: Bearer …`."""
    enabled: bool = True
    start_timeout: float = START_SECONDS
    """Seconds that it may take to be ready."""
    timeout: float = CALL_SECONDS
    """Seconds of a call without any word from the server."""
    tools: tuple[str, ...] = ("*",)
    """Its tools that are used; `*`, `?` and `[…]` stand for others."""
    deny_tools: tuple[str, ...] = ()
    """Its tools that are left out all the same."""
    origin: Literal["file", "project"] = "file"


def read_servers(table: Table) -> dict[str, ServerSettings]:
    """All servers of one file by their names; one that makes no sense is the table's problem."""
    servers = table.table("servers")
    found = {
        name: server
        for name in servers.names()
        if (server := _server(name, servers.table(name), servers)) is not None
    }
    table.finish()
    return found


def with_project_servers(
    user: Mapping[str, ServerSettings],
    project: Mapping[str, ServerSettings],
    file: Path,
    problems: list[str],
) -> dict[str, ServerSettings]:
    """The person's servers and the project's; the project's get no key, and replace none."""
    found = dict(user)
    for name, server in project.items():
        if name in user:
            problems.append(f"{file}: mcp.servers.{name} is your own server and stays as it is")
            continue
        if server.api_key_env is not None:
            problems.append(f"{file}: mcp.servers.{name}.api_key_env is not taken from a project")
        found[name] = replace(server, api_key_env=None, origin="project")
    return found


def _server(name: str, table: Table, servers: Table) -> ServerSettings | None:
    command = (*(table.arguments("command") or ()), *(table.arguments("args") or ()))
    url = table.text("url")
    said = ServerSettings(
        name,
        command=command,
        url=url,
        env=table.table("env").texts(),
        cwd=table.text("cwd"),
        headers=table.table("headers").texts(),
        api_key_env=table.text("api_key_env"),
        enabled=table.switch("enabled") is not False,
        start_timeout=table.amount("start_timeout") or START_SECONDS,
        timeout=table.amount("timeout") or CALL_SECONDS,
        tools=table.words("tools") or ("*",),
        deny_tools=table.words("deny_tools") or (),
    )
    table.finish()
    if not _NAME.fullmatch(name):
        servers.wrong(name, "the name must be letters, digits, - and _, at most 32")
    elif bool(command) == bool(url):
        servers.wrong(name, 'it needs either command = ["program", …] or url = "https://…"')
    elif url and not url.startswith(("http://", "https://")):
        servers.wrong(f"{name}.url", "it must begin with https:// or http://")
    else:
        return said
    return None
