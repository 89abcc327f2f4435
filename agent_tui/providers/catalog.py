"""The models that are known without asking anybody: `models.toml`, read once.

Prices and windows were read from public lists on the day that the file names. What is unknown is
absent, never zero.
"""

from __future__ import annotations

import difflib
import os
import re
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from agent_tui.core.errors import InvalidInputError
from agent_tui.core.model import Model, ModelCost
from agent_tui.providers.addresses import clean_base_url, is_local, ollama_base_url

_VARIANT = re.compile(r"(-\d{4}-\d\d-\d\d|-\d{8}|-\d{4}|-latest|:[a-z]+|@[\w.-]+)$")
_Provider = Mapping[str, Any]


def list_models(environ: Mapping[str, str] | None = None) -> list[Model]:
    """Every model of the catalog, by provider in the file's order."""
    return [
        _model(name, provider, entry, entry["id"], environ)
        for name, provider in _providers().items()
        for entry in provider.get("models", ())
    ]


def provider_names() -> list[str]:
    """The providers of the catalog, in the file's order."""
    return list(_providers())


def get_model(key: str, environ: Mapping[str, str] | None = None) -> Model:
    """The model that `provider/id` names; an id alone will do where only one provider has it.

    A dated id (`gpt-5-2025-08-07`) takes its figures from the undated one; a variant (`…:free`) all
    but the price. Providers with countless models, and those whose address `OPENAI_BASE_URL` or
    `OLLAMA_HOST` changes, take any id, with figures unknown.

    Raises:
        InvalidInputError: Nothing of that name; the text lists what is known.
    """
    key = key.strip()
    name, slash, model_id = key.partition("/")
    provider = _providers().get(name)
    if not slash or provider is None:
        found = [(n, p, e) for n, p, e in _entries() if e["id"] == key]
        if len(found) == 1:
            name, provider, entry = found[0]
            return _model(name, provider, entry, key, environ)
        raise InvalidInputError(_unknown(key, name if slash else None))
    known = _entry(provider, model_id)
    takes_any = provider.get("any_model") or _base_url(
        name, provider, _env(environ)
    ) != provider.get("base_url", "")
    if known is None and not (model_id and takes_any):
        raise InvalidInputError(_unknown_id(name, provider, model_id))
    return _model(name, provider, known or {}, model_id, environ)


@cache
def _providers() -> Mapping[str, _Provider]:
    data = tomllib.loads(Path(__file__).with_name("models.toml").read_text("utf-8"))
    providers: dict[str, _Provider] = data["providers"]
    return providers


def _entries() -> Iterator[tuple[str, _Provider, Mapping[str, Any]]]:
    for name, provider in _providers().items():
        for entry in provider.get("models", ()):
            yield name, provider, entry


def _entry(provider: _Provider, model_id: str) -> Mapping[str, Any] | None:
    """The entry of that id, else of the id without its date, `-latest` or `:variant`."""
    by_id = {entry["id"]: entry for entry in provider.get("models", ())}
    return by_id.get(model_id) or by_id.get(_VARIANT.sub("", model_id))


def _model(
    name: str,
    provider: _Provider,
    entry: Mapping[str, Any],
    model_id: str,
    environ: Mapping[str, str] | None,
) -> Model:
    base_url = _base_url(name, provider, _env(environ))
    is_variant = bool(entry) and ":" in model_id and entry["id"] != model_id
    cost = None if is_variant else entry.get("cost")
    if provider.get("is_local") and is_local(base_url):
        cost = {"input": 0.0, "output": 0.0}
    compat = dict(entry.get("compat", {}))
    if "efforts" in entry:
        compat["efforts"] = dict(entry["efforts"])
    return Model(
        provider=name,
        id=model_id,
        api=provider["api"],
        base_url=base_url,
        name=entry.get("name") if entry.get("id") == model_id else None,
        context_window=entry.get("context_window"),
        max_output_tokens=entry.get("max_output_tokens"),
        reasoning=entry.get("reasoning", False),
        images=entry.get("images", False),
        cost=ModelCost.from_dict(cost) if cost else None,
        compat=compat,
    )


def _env(environ: Mapping[str, str] | None) -> Mapping[str, str]:
    return os.environ if environ is None else environ


def _base_url(name: str, provider: _Provider, environ: Mapping[str, str]) -> str:
    base_url: str = provider.get("base_url", "")
    if name == "openai" and (chosen := environ.get("OPENAI_BASE_URL", "").strip()):
        return clean_base_url(chosen)
    if name == "ollama" and (host := environ.get("OLLAMA_HOST", "").strip()):
        return ollama_base_url(host)
    return base_url


def _unknown(key: str, provider: str | None) -> str:
    names = ", ".join(_providers())
    keys = [f"{name}/{entry['id']}" for name, _, entry in _entries()]
    same_id = [k for k in keys if k.partition("/")[2] == key]
    near = same_id or difflib.get_close_matches(key, keys, n=4, cutoff=0.5)
    hint = f"; did you mean {' or '.join(near)}?" if near else ""
    if provider is None:
        return f"unknown model {key!r}: write PROVIDER/ID; known providers: {names}{hint}"
    return f"unknown provider {provider!r} in {key!r}; known: {names}{hint}"


def _unknown_id(name: str, provider: _Provider, model_id: str) -> str:
    known = ", ".join(entry["id"] for entry in provider.get("models", ()))
    if not known:
        return f"{name} needs the id of a model, as in {name}/ID"
    return f"unknown model {model_id!r} of {name}; known: {known}"
