"""Which model answers: what the settings say about providers, laid over the catalog.

A provider of the settings that the catalog knows changes what it names and keeps the rest; any
other one is a server of its own. Where a key may go is decided by `providers/keys.py`; here a
provider only gets the name of the variable, or the command, that a person chose for it.
"""

from __future__ import annotations

import difflib
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from agent_tui.config import ModelSettings, ProviderSettings, Settings
from agent_tui.core.errors import AgentError, ConfigError, InvalidInputError
from agent_tui.core.model import Model
from agent_tui.core.registry import find_model, is_registered, require_wire
from agent_tui.providers.addresses import clean_base_url, host_of
from agent_tui.providers.catalog import get_model, ids_like, is_misspelt, list_models, server_of
from agent_tui.providers.keys import OWN_HOSTS, key_for
from agent_tui.providers.vendors import VENDORS, Vendor
from agent_tui.session.saved_lists import SavedLists


class ModelBook:
    """Finds models by name, as the settings see them."""

    def __init__(self, settings: Settings) -> None:
        self._providers = settings.providers
        self._environ = settings.environ
        self._saved = SavedLists(settings.folders)

    def find(self, key: str) -> Model:
        """The model that `provider/id` names; an id alone will do where it is unmistakable.

        Raises:
            InvalidInputError: Nothing serves it; the text says what is known.
        """
        model = self._find(key.strip())
        require_wire(model)
        return model

    @staticmethod
    def doubt(model: Model) -> str:
        """What to say about a model that no list has; empty for all others."""
        is_hosted = host_of(model.base_url) == OWN_HOSTS.get(model.provider)
        if not is_hosted or VENDORS[model.provider].takes_any_model:
            return ""
        if model.context_window is not None or model.cost is not None:
            return ""
        near = ids_like(model.provider, model.id)
        hint = f"; it looks like {', '.join(near)}" if near else ""
        return f"{model.key} is not in the catalogue: its window and price are unknown{hint}"

    def all(self) -> list[Model]:
        """Every model that can be named: those of the settings first, then what was ever listed.

        Tables that cannot be used are passed over.
        """
        own = [f"{t.name}/{entry.id}" for t in self._providers.values() for entry in t.models]
        listed = [model.key for model in list_models(self._environ)]
        found = []
        for key in dict.fromkeys([*own, *listed, *self._saved.named()]):
            with suppress(AgentError):
                found.append(self._find(key))
        return found

    def server(self, provider: str) -> Model:
        """A model without an id and without figures, to ask the provider's server with.

        Raises:
            ConfigError, InvalidInputError: There is no such provider, or its table is no good.
        """
        table = self._providers.get(provider)
        if provider not in VENDORS and table is None:
            known = ", ".join(dict.fromkeys([*self._providers, *VENDORS]))
            raise InvalidInputError(f"unknown provider {provider!r}; known: {known}")
        if table is None:
            return server_of(provider, self._environ)
        if self._vendor(table) is not None:
            return self._laid_over(table, server_of(provider, self._environ))
        return self._laid_over(table, self._stranger(table, ""))

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
            return self._listed(key)
        except InvalidInputError as error:
            raise self._with_own_names(error, key) from None

    def _listed(self, key: str) -> Model:
        """What the catalog says, or what the provider's server once said."""
        try:
            return get_model(key, self._environ)
        except InvalidInputError:
            name, _, model_id = key.partition("/")
            if name not in VENDORS:
                raise
            facts = self._saved.facts(key)
            if facts is None and not (model_id and self._may_be_new(name, model_id)):
                raise
            return replace(server_of(name, self._environ), id=model_id, **(facts or {}))

    def _may_be_new(self, provider: str, model_id: str) -> bool:
        """Whether the provider can be asked for a model that no list has yet."""
        return self._has_key(provider) and not is_misspelt(provider, model_id)

    def _has_key(self, provider: str) -> bool:
        table = self._providers.get(provider)
        if table is not None and table.api_key_command:
            return True
        if table is not None and table.api_key_env:
            return bool(self._environ.get(table.api_key_env, "").strip())
        try:
            return key_for(server_of(provider, self._environ), self._environ) is not None
        except AgentError:
            return False

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
        return _with_entry(self._laid_over(table, self._base(table, model_id, entry)), entry)

    def _laid_over(self, table: ProviderSettings, base: Model) -> Model:
        """`base` with everything that the table says about the provider."""
        compat: dict[str, Any] = {**base.compat, **table.compat}
        if table.api_key_env or table.origin != "file":
            compat["api_key_env"] = table.api_key_env or ""
        if table.api_key_command:
            compat["api_key_command"] = table.api_key_command
        if table.ca_bundle:
            compat["ca_bundle"] = str(Path(table.ca_bundle).expanduser())
        if table.insecure_skip_verify is not None:
            compat["insecure_skip_verify"] = table.insecure_skip_verify
        if table.timeouts:
            compat["timeouts"] = {**compat.get("timeouts", {}), **table.timeouts}
        base_url = self._address(table, base)
        vendor = self._vendor(table)
        return replace(
            base,
            api=table.api or (vendor.api_at(base_url) if vendor else base.api),
            base_url=base_url,
            headers={**base.headers, **table.headers},
            compat=compat,
        )

    def _base(self, table: ProviderSettings, model_id: str, entry: ModelSettings | None) -> Model:
        """What is known of the model before the settings speak."""
        if self._vendor(table) is not None:
            try:
                return self._listed(f"{table.name}/{model_id}")
            except InvalidInputError:
                if entry is None and table.base_url is None:
                    raise
                return replace(server_of(table.name, self._environ), id=model_id)
        if table.models and entry is None:
            known = ", ".join(m.id for m in table.models)
            raise InvalidInputError(f"unknown model {model_id!r} of {table.name}; known: {known}")
        return self._stranger(table, model_id)

    @staticmethod
    def _stranger(table: ProviderSettings, model_id: str) -> Model:
        """A model of a server of the person's own."""
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

    @staticmethod
    def _vendor(table: ProviderSettings) -> Vendor | None:
        """The known provider that the table changes; None for a server of the person's own."""
        return VENDORS.get(table.name) if table.origin == "file" else None

    def _address_is_from_environment(self, table: ProviderSettings) -> bool:
        vendor = self._vendor(table)
        variable = vendor.address_variable if vendor else ""
        return bool(variable and self._environ.get(variable, "").strip())


def _with_entry(model: Model, entry: ModelSettings | None) -> Model:
    """`model` with everything that its own table in the settings says."""
    if entry is None:
        return model
    names = ("name", "context_window", "max_output_tokens", "reasoning", "images", "cost")
    said = {name: value for name in names if (value := getattr(entry, name)) is not None}
    return replace(model, **said, compat={**model.compat, **entry.compat})
