"""Which model a start begins with, and why: the person's word, a key, a local server, the tour.

A key in the environment counts before a server on this machine; without either the offline
demonstration answers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from agent_tui.config import ProviderSettings, Settings, unset_variable
from agent_tui.core.errors import AgentError, ConfigError
from agent_tui.providers.keys import KEY_NAMES, key_from_environment
from agent_tui.providers.vendors import VENDORS
from agent_tui.session.models import ModelBook

if TYPE_CHECKING:
    from agent_tui.providers.probing import LocalServer

DEMO = "demo/tour"
FIRST_MODELS: Mapping[str, str] = {
    "anthropic": "claude-sonnet-5-5",
    "openai": "gpt-6.2-sol",
    "gemini": "gemini-4-hydrogen",
    "openrouter": "anthropic/claude-sonnet-5.5",
    "deepseek": "deepseek-flash",
    "groq": "openai/gpt-oss-120b",
    "mistral": "mistral-medium-latest",
    "xai": "grok-4.7",
    "zai": "glm-5.3",
    "moonshot": "kimi-k3",
    "together": "openai/gpt-oss-120b",
    "fireworks": "accounts/fireworks/models/glm-5p3",
    "cerebras": "gpt-oss-120b",
    "minimax": "MiniMax-M3",
}
"""What a provider starts with when nothing but its key was found, in the order of preference."""

FindLocal: TypeAlias = "Callable[[], Sequence[LocalServer]]"


def local_search(settings: Settings) -> FindLocal | None:
    """Begins to look for local servers; None if something else decides on the model."""
    if settings.local_servers == "ignore" or settings.agent or settings.model:
        return None
    if _by_settings_or_key(settings, []) is not None:
        return None
    from agent_tui.providers.probing import LocalSearch, local_addresses

    return LocalSearch(local_addresses(settings.environ)).servers


def settle_model(settings: Settings, find_local: FindLocal | None = None) -> Settings:
    """`settings` with a model that can be found, the reason for it, and what is wrong with it.

    `find_local` gives the servers of this machine; it is called only if they matter.

    Raises:
        ConfigError, InvalidInputError: The model that was asked for does not exist.
    """
    if settings.model is None and settings.agent is not None:
        return replace(settings, model_reason="it is the agent's own")
    problems = list(settings.problems)
    key, reason = settings.model, settings.model_reason
    if key is None:
        key, reason = _first_model(settings, problems, find_local)
    try:
        if settings.api_key_env:
            settings = replace(settings, providers=_with_key_name(settings, key))
        model = ModelBook(settings).find(key)
    except AgentError as error:
        raise type(error)(f"{error.message} ({reason})") from None
    if doubt := ModelBook.doubt(model):
        problems.append(doubt)
    problems += _fallback_problems(settings)
    table = settings.providers.get(model.provider)
    if table is not None:
        problems += provider_problems(table, settings.environ)
    return replace(
        settings, model=model.key, model_reason=reason, problems=tuple(dict.fromkeys(problems))
    )


def _fallback_problems(settings: Settings) -> list[str]:
    """One sentence for each fallback that nothing serves."""
    problems = []
    for name in settings.fallback:
        try:
            ModelBook(settings).find(name)
        except AgentError as error:
            problems.append(f"fallback {name!r} is not used: {error.message}")
    return problems


def provider_problems(table: ProviderSettings, environ: Mapping[str, str]) -> list[str]:
    """One sentence for each thing in the table that will not work, or that is dangerous."""
    from agent_tui.providers.compat import compat_problems

    place = f"providers.{table.name}"
    problems = [f"{place}.compat: {text}" for text in compat_problems(table.compat)]
    if table.base_url is None and table.name not in VENDORS:
        problems.append(f"{place}: base_url is missing")
    for entry in table.models:
        problems += [
            f"{place}.models {entry.id!r}: compat: {text}" for text in compat_problems(entry.compat)
        ]
    name = table.api_key_env
    if name and not table.api_key_command and not environ.get(name, "").strip():
        problems.append(f"{place}.api_key_env {unset_variable(name)}; requests go without a key")
    if table.ca_bundle and not Path(table.ca_bundle).expanduser().is_file():
        problems.append(f"{place}.ca_bundle: there is no file {table.ca_bundle}")
    if table.insecure_skip_verify:
        problems.append(
            f"{place}.insecure_skip_verify: whoever stands between you and this server can read "
            "and change everything; ca_bundle names a certificate to trust instead"
        )
    return problems


def _first_model(
    settings: Settings, problems: list[str], find_local: FindLocal | None
) -> tuple[str, str]:
    if (chosen := _by_settings_or_key(settings, problems)) is not None:
        return chosen
    if find_local is None:
        return DEMO, "no model is configured and no key was found"
    for server in find_local():
        reason = f"no key was found, but {server.provider} answers at {server.address}"
        return f"{server.provider}/{server.models[0]}", reason
    return DEMO, "no model is configured, no key was found and no local server answers"


def _by_settings_or_key(settings: Settings, problems: list[str]) -> tuple[str, str] | None:
    for table in settings.providers.values():
        if table.models and table.name not in VENDORS:
            reason = f"it is the first one in {settings.folders.config_file}"
            return f"{table.name}/{table.models[0].id}", reason
    for provider, model_id in FIRST_MODELS.items():
        if (why := _key_of(provider, settings, problems)) is not None:
            return f"{provider}/{model_id}", why
    for vendor in VENDORS.values():
        name = vendor.address_variable
        if vendor.name in FIRST_MODELS and name and settings.environ.get(name, "").strip():
            return f"{vendor.name}/{FIRST_MODELS[vendor.name]}", f"{name} is set"
    return None


def _key_of(provider: str, settings: Settings, problems: list[str]) -> str | None:
    """What says that there is a key for the provider; None if there is none."""
    table = settings.providers.get(provider)
    if table is not None and table.api_key_command:
        return f"providers.{provider}.api_key_command is set"
    named = table.api_key_env if table is not None else None
    names = (named,) if named else KEY_NAMES[provider]
    found = next((name for name in names if settings.environ.get(name, "").strip()), None)
    try:
        if found is not None and not named:
            key_from_environment(provider, settings.environ)
    except ConfigError as error:
        problems.append(f"environment: {error.message}")
        return None
    return f"{found} is set" if found else None


def _with_key_name(settings: Settings, key: str) -> dict[str, ProviderSettings]:
    """The providers, with the variable of `--api-key-env` for the one that serves `key`."""
    name = ModelBook(settings).find(key).provider
    table = settings.providers.get(name, ProviderSettings(name))
    return {**settings.providers, name: replace(table, api_key_env=settings.api_key_env)}
