"""Which model answers: what the settings say about providers, laid over the catalog.

A provider of the settings that the catalog knows changes what it names and keeps the rest; any
other one is a server of its own. Where a key may go is decided by `providers/keys.py`; here a
provider only gets the name of the variable that a person chose for it.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from agent_tui.config import ModelSettings, ProviderSettings, Settings
from agent_tui.core.errors import AgentError, ConfigError, InvalidInputError
from agent_tui.core.model import Model
from agent_tui.core.registry import find_model, is_registered, require_wire
from agent_tui.providers.addresses import clean_base_url
from agent_tui.providers.catalog import get_model, list_models, provider_names
from agent_tui.providers.keys import KEY_NAMES, key_from_environment

DEMO = "demo/tour"
FIRST_MODELS: Mapping[str, str] = {
    "openai": "gpt-6.2-sol",
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
}
"""What a provider starts with when nothing but its key was found, in the order of preference."""


class ModelBook:
    """Finds models by name, as the settings see them."""

    def __init__(self, settings: Settings) -> None:
        self._providers = settings.providers
        self._environ = settings.environ

    def find(self, key: str) -> Model:
        """The model that `provider/id` names; an id alone will do where it is unmistakable.

        Raises:
            InvalidInputError: Nothing serves it; the text says what is known.
        """
        model = self._find(key.strip())
        require_wire(model)
        return model

    def all(self) -> list[Model]:
        """Every model that can be named: those of the settings first, then the catalog's."""
        own = [
            self._configured(table, entry.id)
            for table in self._providers.values()
            for entry in table.models
        ]
        keys = {model.key for model in own}
        rest = [self._find(model.key) for model in list_models(self._environ)]
        return own + [model for model in rest if model.key not in keys]

    def _find(self, key: str) -> Model:
        name, slash, model_id = key.partition("/")
        if slash and model_id and name in self._providers:
            return self._configured(self._providers[name], model_id)
        if is_registered(name):
            return find_model(key)
        owners = [t for t in self._providers.values() if key in [m.id for m in t.models]]
        if len(owners) == 1:
            return self._configured(owners[0], key)
        try:
            return get_model(key, self._environ)
        except InvalidInputError as error:
            raise self._with_own_names(error, key) from None

    def _with_own_names(self, error: InvalidInputError, key: str) -> InvalidInputError:
        if not self._providers:
            return error
        own = [f"{t.name}/{m.id}" for t in self._providers.values() for m in t.models]
        near = difflib.get_close_matches(key, own, n=1, cutoff=0.5)
        hint = f"; did you mean {near[0]}?" if near else ""
        names = ", ".join(own or self._providers)
        return InvalidInputError(f"{error.message}; in your settings: {names}{hint}")

    def _configured(self, table: ProviderSettings, model_id: str) -> Model:
        entry = next((entry for entry in table.models if entry.id == model_id), None)
        base = self._base(table, model_id, entry)
        compat: dict[str, Any] = {**base.compat, **table.compat}
        if table.api_key_env or table.origin == "flags":
            compat["api_key_env"] = table.api_key_env or ""
        if table.timeouts:
            compat["timeouts"] = {**compat.get("timeouts", {}), **table.timeouts}
        model = replace(
            base,
            api=table.api or base.api,
            base_url=self._address(table, base),
            headers={**base.headers, **table.headers},
            compat=compat,
        )
        return _with_entry(model, entry)

    def _base(self, table: ProviderSettings, model_id: str, entry: ModelSettings | None) -> Model:
        """What is known of the model before the settings speak."""
        if table.origin == "file" and table.name in provider_names():
            try:
                return get_model(f"{table.name}/{model_id}", self._environ)
            except InvalidInputError:
                if entry is None and table.base_url is None:
                    raise
                sibling = next(m for m in list_models(self._environ) if m.provider == table.name)
                return Model(table.name, model_id, sibling.api, sibling.base_url)
        if table.models and entry is None:
            known = ", ".join(m.id for m in table.models)
            raise InvalidInputError(f"unknown model {model_id!r} of {table.name}; known: {known}")
        if table.base_url is None:
            raise ConfigError(f"providers.{table.name}: base_url is missing", key=table.name)
        return Model(table.name, model_id, "openai-chat")

    def _address(self, table: ProviderSettings, base: Model) -> str:
        if table.base_url is None or self._address_is_from_environment(table):
            return base.base_url
        try:
            return clean_base_url(table.base_url, table.api or base.api)
        except InvalidInputError as error:
            where = "--base-url" if table.origin == "flags" else f"providers.{table.name}.base_url"
            raise ConfigError(f"{where}: {error.message}", key=where) from None

    def _address_is_from_environment(self, table: ProviderSettings) -> bool:
        names = {"openai": "OPENAI_BASE_URL", "ollama": "OLLAMA_HOST"}
        variable = names.get(table.name) if table.origin == "file" else None
        return variable is not None and bool(self._environ.get(variable, "").strip())


def settle_model(settings: Settings) -> Settings:
    """`settings` with a model that can be found, the reason for it, and what is wrong with it.

    Raises:
        ConfigError, InvalidInputError: The model that was asked for does not exist.
    """
    if settings.model is None and settings.agent is not None:
        return replace(settings, model_reason="it is the agent's own")
    problems = list(settings.problems)
    key, reason = settings.model, settings.model_reason
    if key is None:
        key, reason = _first_model(settings, problems)
    try:
        if settings.api_key_env:
            settings = replace(settings, providers=_with_key_name(settings, key))
        model = ModelBook(settings).find(key)
    except AgentError as error:
        raise type(error)(f"{error.message} ({reason})") from None
    table = settings.providers.get(model.provider)
    if table is not None:
        problems += _provider_problems(table, settings.environ)
    return replace(settings, model=model.key, model_reason=reason, problems=tuple(problems))


def _first_model(settings: Settings, problems: list[str]) -> tuple[str, str]:
    for provider, model_id in FIRST_MODELS.items():
        try:
            found = key_from_environment(provider, settings.environ) is not None
        except ConfigError as error:
            problems.append(f"environment: {error.message}")
            continue
        if found:
            names = [n for n in KEY_NAMES[provider] if settings.environ.get(n, "").strip()]
            return f"{provider}/{model_id}", f"{names[0]} is set"
    if settings.environ.get("OPENAI_BASE_URL", "").strip():
        return f"openai/{FIRST_MODELS['openai']}", "OPENAI_BASE_URL is set"
    return DEMO, "no model is configured and no key was found"


def _with_key_name(settings: Settings, key: str) -> dict[str, ProviderSettings]:
    """The providers, with the variable of `--api-key-env` for the one that serves `key`."""
    name = ModelBook(settings).find(key).provider
    table = settings.providers.get(name, ProviderSettings(name))
    return {**settings.providers, name: replace(table, api_key_env=settings.api_key_env)}


def _provider_problems(table: ProviderSettings, environ: Mapping[str, str]) -> list[str]:
    from agent_tui.providers.compat import compat_problems

    place = f"providers.{table.name}"
    problems = [f"{place}.compat: {text}" for text in compat_problems(table.compat)]
    for entry in table.models:
        problems += [
            f"{place}.models {entry.id!r}: compat: {text}" for text in compat_problems(entry.compat)
        ]
    name = table.api_key_env
    if name and not environ.get(name, "").strip():
        problems.append(
            f"{place}.api_key_env: there is no {name} in the environment; requests go without a key"
        )
    return problems


def _with_entry(model: Model, entry: ModelSettings | None) -> Model:
    """`model` with everything that its own table in the settings says."""
    if entry is None:
        return model
    names = ("name", "context_window", "max_output_tokens", "reasoning", "images", "cost")
    said = {name: value for name in names if (value := getattr(entry, name)) is not None}
    return replace(model, **said, compat={**model.compat, **entry.compat})
