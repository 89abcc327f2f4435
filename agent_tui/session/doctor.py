"""What a start here would find: versions, model, keys, servers, settings. No key is shown."""

from __future__ import annotations

import asyncio
import platform
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from agent_tui.config import ProviderSettings, Settings
from agent_tui.core.errors import AgentError
from agent_tui.core.model import Model
from agent_tui.providers.addresses import is_local
from agent_tui.providers.errors import mask
from agent_tui.providers.keys import KEY_NAMES, OWN_HOSTS, clean_key
from agent_tui.providers.probing import SECONDS, LocalSearch, LocalServer, local_addresses
from agent_tui.providers.vault import find_key, has_keyring
from agent_tui.providers.vendors import VENDORS
from agent_tui.session.first_model import provider_problems, settle_model
from agent_tui.session.models import ModelBook
from agent_tui.session.server_targets import described
from agent_tui.version import __version__

PACKAGES = ("textual", "rich", "httpx", "pydantic", "keyring", "mcp")
MODELS_NAMED = 5
"""So many models of a server are named in a sentence."""


@dataclass(frozen=True, slots=True)
class Key:
    """A key that was found, or one that somebody wanted and that is not there."""

    provider: str
    source: str
    """`GROQ_API_KEY`, `api_key_command` or `keyring`."""
    problem: str | None = None

    @property
    def sentence(self) -> str:
        """`groq: GROQ_API_KEY`, and what is wrong with it."""
        trouble = f" cannot be used: {self.problem}" if self.problem else ""
        return f"{self.provider}: {self.source}{trouble}"


@dataclass(frozen=True, slots=True)
class Report:
    """Everything, as plain data."""

    versions: Mapping[str, str]
    model: str | None
    model_reason: str
    keys: tuple[Key, ...]
    servers: tuple[LocalServer, ...]
    silent: Mapping[str, str]
    """Provider → address of the local servers that did not answer."""
    problems: tuple[str, ...]
    places: Mapping[str, str] = field(default_factory=dict)
    context_window: int | None = None
    """Tokens that the model reads at once; None is unknown."""
    mcp_servers: Mapping[str, str] = field(default_factory=dict)
    """Those of the settings, which are not started, with what is to be known of them."""

    def rows(self) -> list[tuple[str, str]]:
        """The report for people: what it is about, and a sentence."""
        rows = [
            ("versions", " · ".join(f"{name} {number}" for name, number in self.versions.items()))
        ]
        reason = f" ({self.model_reason})" if self.model_reason else ""
        rows.append(("model", f"{self.model}{reason}" if self.model else "none: see problems"))
        if self.context_window is not None:
            rows.append(("window", f"{self.context_window:,} tokens"))
        rows += [("key", key.sentence) for key in self.keys] or [("key", "none was found")]
        rows += [("server", _sentence(server)) for server in self.servers]
        if self.silent:
            places = ", ".join(f"{name} ({url})" for name, url in self.silent.items())
            rows.append(("no server", places))
        rows += [("mcp", f"{name}: {place}") for name, place in self.mcp_servers.items()]
        rows += list(self.places.items())
        rows += [("problem", problem) for problem in self.problems] or [("problems", "none")]
        return rows

    def to_json(self) -> dict[str, Any]:
        """The report for other programs."""
        servers = [
            {"provider": s.provider, "base_url": mask(s.base_url), "models": list(s.models)}
            for s in self.servers
        ]
        keys = [
            {"provider": k.provider, "source": k.source, "problem": k.problem} for k in self.keys
        ]
        return {
            "versions": dict(self.versions),
            "model": self.model,
            "model_reason": self.model_reason,
            "context_window": self.context_window,
            "keys": keys,
            "servers": servers,
            "silent": dict(self.silent),
            "problems": list(self.problems),
            "places": dict(self.places),
            "mcp_servers": dict(self.mcp_servers),
        }


async def examine(settings: Settings, addresses: Mapping[str, str] | None = None) -> Report:
    """Look at everything that a start with these settings depends on.

    Asks the local servers (`addresses`, by default the usual ones), runs the commands for keys and
    reads the keyring; nothing else leaves the machine.
    """
    if addresses is None:
        usual = local_addresses(settings.environ) if settings.local_servers == "find" else {}
        addresses = usual | _own_local_servers(settings)
    search = LocalSearch(addresses)
    keys = await _keys(settings)
    servers = await asyncio.to_thread(search.servers)
    by_preference = [server for server in servers if server.provider in VENDORS]
    problems: list[str] = []
    try:
        settled = settle_model(settings, lambda: by_preference)
    except AgentError as error:
        settled = replace(settings, model=None)
        problems.append(error.message)
    problems += settled.problems
    for table in settings.providers.values():
        problems += provider_problems(table, settings.environ)
    answered = {server.provider for server in servers}
    folders = settings.folders
    return Report(
        versions=_versions(),
        model=settled.model,
        model_reason=settled.model_reason,
        keys=tuple(keys),
        servers=tuple(servers),
        silent={name: mask(url) for name, url in addresses.items() if name not in answered},
        problems=tuple(dict.fromkeys(problems)),
        places={"settings": str(folders.config_file), "data": str(folders.state)},
        context_window=await _window(settled),
        mcp_servers=dict(described(settings)),
    )


async def _window(settings: Settings) -> int | None:
    """What the chosen model reads at once; its server is asked if it is near by."""
    from agent_tui.providers.discovery import described

    if settings.model is None:
        return None
    model = ModelBook(settings).find(settings.model)
    if is_local(model.base_url):
        model = await described(model, seconds=SECONDS)
    return model.context_window


def _sentence(server: LocalServer) -> str:
    named, rest = server.models[:MODELS_NAMED], len(server.models) - MODELS_NAMED
    more = f" and {rest} more" if rest > 0 else ""
    return f"{server.provider} at {mask(server.base_url)}: {', '.join(named)}{more}"


def _versions() -> dict[str, str]:
    found = {"agent-tui": __version__, "python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    found["system"] = f"{platform.system()} {platform.release()}"
    return found


def _own_local_servers(settings: Settings) -> dict[str, str]:
    """The servers of the settings that can be asked without a key and without certificates."""
    return {
        table.name: table.base_url
        for table in settings.providers.values()
        if table.base_url
        and table.base_url.startswith("http:")
        and not (table.api_key_env or table.api_key_command)
    }


async def _keys(settings: Settings) -> list[Key]:
    found = list(_keys_of_the_environment(settings))
    commands = [table for table in settings.providers.values() if table.api_key_command]
    found += [await _key_of_the_command(table) for table in commands]
    names = {key.provider for key in found}
    wanted = [name for name in KEY_NAMES if name not in names] if has_keyring() else []
    in_ring = [name for name in wanted if await _is_in_the_keyring(name)]
    return found + [Key(name, "keyring") for name in in_ring]


def _keys_of_the_environment(settings: Settings) -> Iterable[Key]:
    environ = settings.environ
    named = {
        table.name: (table.api_key_env,)
        for table in settings.providers.values()
        if table.api_key_env
    }
    for provider, names in {**KEY_NAMES, **named}.items():
        for name in names:
            if not environ.get(name, "").strip():
                continue
            try:
                clean_key(environ[name], name)
            except AgentError as error:
                yield Key(provider, name, error.message)
            else:
                yield Key(provider, name)


async def _key_of_the_command(table: ProviderSettings) -> Key:
    model = Model(table.name, "", compat={"api_key_command": table.api_key_command})
    try:
        await find_key(model)
    except AgentError as error:
        return Key(table.name, "api_key_command", error.message)
    return Key(table.name, "api_key_command")


async def _is_in_the_keyring(provider: str) -> bool:
    try:
        own = Model(provider, "", base_url=f"https://{OWN_HOSTS[provider]}")
        return await find_key(own, {}) is not None
    except AgentError:
        return False
