"""The models that are known without asking anybody: `models/PROVIDER.json`, each read when needed.

Prices and windows were read from public lists on the day that each file names. What is unknown is
absent, never zero. `scripts/update_models.py` renews the files.
"""

from __future__ import annotations

import difflib
import json
import os
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from agent_tui.core.errors import InvalidInputError
from agent_tui.core.model import THINKING_LEVELS, Model, ModelCost, ThinkingLevel
from agent_tui.providers.addresses import clean_base_url, is_local, ollama_base_url
from agent_tui.providers.vendors import VENDORS, Vendor

_VARIANT = re.compile(
    r"(-\d{4}-\d\d-\d\d|-\d{8}|-\d{6}|-\d{4}|-\d\d-\d\d|-latest|-preview|:[\w.-]+|@[\w.-]+)+"
)
"""What may follow a model's id without making another model of it: dates, channels, routes."""
_DIGITS = re.compile(r"\d+")
_NAMED = 12
"""So many models of a provider are named to somebody who mistyped one."""
_PLAIN_LEVELS: tuple[ThinkingLevel, ...] = ("off", "low", "medium", "high")
_Entry = Mapping[str, Any]


def list_models(
    environ: Mapping[str, str] | None = None, provider: str | None = None
) -> list[Model]:
    """Every model of the catalog, or of one provider, by provider in a fixed order, then by id."""
    return [
        _model(vendor, entry, entry["id"], _env(environ))
        for vendor in VENDORS.values()
        if provider in (None, vendor.name)
        for entry in _entries(vendor.name).values()
    ]


def read_on(provider: str) -> str | None:
    """The day (`2026-11-20`) on which this provider's list was read; None if it has no date."""
    read: str | None = _file(provider).get("read")
    return read


def levels_of(model: Model) -> list[ThinkingLevel]:
    """The thinking levels that make a difference to `model`; only `off` if it does not think."""
    if not model.reasoning:
        return ["off"]
    efforts = model.compat.get("efforts")
    return [level for level in THINKING_LEVELS if level in (efforts or _PLAIN_LEVELS)]


def get_model(key: str, environ: Mapping[str, str] | None = None) -> Model:
    """The model that `provider/id` names; an id alone will do where only one provider has it.

    A dated id (`gpt-5-2025-08-07`) takes its figures from the undated one; a variant (`…:free`) all
    but the price. Providers with countless models, and those whose address `OPENAI_BASE_URL`,
    `ANTHROPIC_BASE_URL` or `OLLAMA_HOST` changes, take any id, with figures unknown.

    Raises:
        InvalidInputError: Nothing of that name; the text lists what is known.
    """
    key = key.strip()
    name, slash, model_id = key.partition("/")
    vendor = VENDORS.get(name)
    if not slash or vendor is None:
        owners = [owner for owner in VENDORS.values() if key in _entries(owner.name)]
        if len(owners) == 1:
            return _model(owners[0], _entries(owners[0].name)[key], key, _env(environ))
        raise InvalidInputError(_unknown(key, name if slash else None))
    entry = _entry(name, model_id)
    moved = _base_url(vendor, _env(environ)) != vendor.base_url
    if entry is None and not (model_id and (vendor.takes_any_model or moved)):
        raise InvalidInputError(_unknown_id(name, model_id))
    return _model(vendor, entry or {}, model_id, _env(environ))


def ids_like(provider: str, model_id: str) -> list[str]:
    """Known ids of a provider that look like this one, best first."""
    return difflib.get_close_matches(model_id, list(_entries(provider)), n=3, cutoff=0.5)


def is_misspelt(provider: str, model_id: str) -> bool:
    """Whether an unknown id is rather a slip than a new model: other numbers make a new one."""
    near = difflib.get_close_matches(model_id, list(_entries(provider)), n=3, cutoff=0.85)
    return any(_DIGITS.findall(known) == _DIGITS.findall(model_id) for known in near)


def server_of(provider: str, environ: Mapping[str, str] | None = None) -> Model:
    """A model without an id and without figures, to ask the server of a known provider with."""
    return _model(VENDORS[provider], {}, "", _env(environ))


@cache
def _file(provider: str) -> Mapping[str, Any]:
    path = Path(__file__).with_name("models") / f"{provider}.json"
    if not path.is_file():
        return {"models": []}
    data: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return data


@cache
def _entries(provider: str) -> Mapping[str, _Entry]:
    return {entry["id"]: entry for entry in _file(provider)["models"]}


def _entry(provider: str, model_id: str) -> _Entry | None:
    """The entry of that id, else of the longest id from which only a date or the like differs."""
    by_id = _entries(provider)
    if (exact := by_id.get(model_id)) is not None:
        return exact
    shorter = [
        known
        for known in by_id
        if model_id.startswith(known) and _VARIANT.fullmatch(model_id, len(known))
    ]
    return by_id[max(shorter, key=len)] if shorter else None


def _model(vendor: Vendor, entry: _Entry, model_id: str, environ: Mapping[str, str]) -> Model:
    base_url = _base_url(vendor, environ)
    is_exact = entry.get("id") == model_id
    cost = None if ":" in model_id and not is_exact else entry.get("cost")
    if vendor.is_local and is_local(base_url):
        cost = {"input": 0.0, "output": 0.0}
    compat = dict(entry.get("compat", {}))
    if "efforts" in entry:
        compat["efforts"] = dict(entry["efforts"])
    return Model(
        provider=vendor.name,
        id=model_id,
        api=vendor.api_at(base_url),
        base_url=base_url,
        name=entry.get("name") if is_exact else None,
        context_window=entry.get("context_window"),
        max_output_tokens=entry.get("max_output_tokens"),
        reasoning=entry.get("reasoning", False),
        images=entry.get("images", False),
        cost=ModelCost.from_dict(cost) if cost else None,
        compat=compat,
    )


def _env(environ: Mapping[str, str] | None) -> Mapping[str, str]:
    return os.environ if environ is None else environ


def _base_url(vendor: Vendor, environ: Mapping[str, str]) -> str:
    chosen = environ.get(vendor.address_variable, "").strip() if vendor.address_variable else ""
    if not chosen:
        return vendor.base_url
    if vendor.name == "ollama":
        return ollama_base_url(chosen)
    return clean_base_url(chosen, vendor.api)


def _unknown(key: str, provider: str | None) -> str:
    names = ", ".join(VENDORS)
    keys = [f"{name}/{model_id}" for name in VENDORS for model_id in _entries(name)]
    same_id = [known for known in keys if known.partition("/")[2] == key]
    near = same_id[:4] or difflib.get_close_matches(key, keys, n=4, cutoff=0.5)
    hint = f"; did you mean {' or '.join(near)}?" if near else ""
    if provider is None:
        return f"unknown model {key!r}: write PROVIDER/ID; known providers: {names}{hint}"
    return f"unknown provider {provider!r} in {key!r}; known: {names}{hint}"


def _unknown_id(name: str, model_id: str) -> str:
    known = list(_entries(name))
    if not model_id or not known:
        return f"{name} needs the id of a model, as in {name}/ID"
    near = difflib.get_close_matches(model_id, known, n=_NAMED, cutoff=0.5) or known[-_NAMED:]
    rest = len(known) - len(near)
    more = f" and {rest} more (agent-tui models --provider {name})" if rest else ""
    return f"unknown model {model_id!r} of {name}; known: {', '.join(near)}{more}"
