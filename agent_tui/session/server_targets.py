"""From the settings of MCP servers to what is connected to, and to what a person reads of them."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path

from agent_tui.config import ServerSettings, Settings
from agent_tui.core.errors import InvalidInputError
from agent_tui.tools.mcp import Endpoint, Program, RemotePrompt, Target

MISSING = "the package mcp is not installed: pip install 'agent-tui[mcp]'"


def place_of(server: ServerSettings) -> str:
    """The command line or the address, without what may be secret."""
    if server.url is not None:
        return server.url.partition("?")[0].rpartition("@")[2]
    return shlex.join(server.command)


def described(settings: Settings) -> list[tuple[str, str]]:
    """Name and place of every server of the settings, and what is to be known of it."""
    rows = []
    for server in settings.mcp_servers.values():
        notes = [
            "" if server.enabled else "switched off",
            "from the project" if server.origin == "project" else "",
        ]
        if server.api_key_env is not None and not settings.environ.get(server.api_key_env):
            notes.append(f"{server.api_key_env} is not set")
        if server.enabled and not has_sdk():
            notes.append(MISSING)
        rows.append((server.name, " · ".join([place_of(server), *filter(None, notes)])))
    return rows


def target_of_server(
    server: ServerSettings, settings: Settings, environ: Mapping[str, str]
) -> Target:
    """Everything that is decided about one server.

    Raises:
        InvalidInputError: A key that it needs is not there.
    """
    place: Program | Endpoint
    if server.url is None:
        cwd = settings.cwd / Path(server.cwd or ".").expanduser()
        place = Program(server.command, cwd, {**environ, **server.env})
    else:
        headers = dict(server.headers)
        tokens: Path | None = None
        if server.api_key_env is not None:
            key = settings.environ.get(server.api_key_env, "").strip()
            if not key:
                raise InvalidInputError(f"{server.api_key_env} is not set")
            headers["Authorization"] = f"Bearer {key}"
        elif not any(name.lower() == "authorization" for name in headers):
            mark = sha256(server.url.encode()).hexdigest()[:16]
            tokens = settings.folders.logins / f"{server.name}-{mark}.json"
        place = Endpoint(server.url, headers, tokens)
    return Target(
        server.name,
        place,
        settings.cwd,
        server.start_timeout,
        server.timeout,
        server.tools,
        server.deny_tools,
        settings.folders.logs / f"mcp-{server.name}.log",
        settings.folders.output,
    )


def arguments_of(prompt: RemotePrompt, words: str) -> dict[str, str]:
    """`name=value` where that is said; the other words in the order of the arguments.

    Raises:
        InvalidInputError: An argument is missing.
    """
    try:
        parts = shlex.split(words)
    except ValueError:
        parts = words.split()
    found: dict[str, str] = {}
    rest: list[str] = []
    for part in parts:
        name, is_named, value = part.partition("=")
        if is_named and name in prompt.arguments:
            found[name] = value
        else:
            rest.append(part)
    free = [name for name in prompt.arguments if name not in found]
    for place, name in enumerate(free):
        mine = rest[place:] if place == len(free) - 1 else rest[place : place + 1]
        if mine:
            found[name] = " ".join(mine)
    missing = [name for name in prompt.arguments if name in prompt.required and name not in found]
    if missing:
        raise InvalidInputError(f"It needs {', '.join(missing)}: name=value, or in this order.")
    return found


def has_sdk() -> bool:
    """Whether the extra is installed."""
    return find_spec("mcp") is not None
