"""Which models a server serves, and what only the server knows of them. Nothing here raises.

What is known already, from the settings or the catalogue, stays; a server's word fills the gaps.
The start of the program, which cannot wait for an HTTP client, has `probing`.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from agent_tui.core.errors import AgentError
from agent_tui.core.model import Model
from agent_tui.providers.addresses import clean_base_url, is_local, with_endpoint
from agent_tui.providers.catalog import get_model
from agent_tui.providers.listings import (
    Listing,
    Reader,
    read_anthropic,
    read_gemini,
    read_lmstudio,
    read_ollama,
    read_openai,
    read_props,
)
from agent_tui.providers.lookup import headers_for, look_up, try_look_up
from agent_tui.providers.ollama_show import details_of, window_of
from agent_tui.providers.probing import SECONDS, local_addresses
from agent_tui.providers.vendors import VENDORS

LIST_SECONDS = 5.0
"""How long a hosted server has to list its models."""
Finder = Callable[[str], Model]
"""`provider/id` → the model as it is known without asking; raises `AgentError` if it is not."""

_LISTS: Mapping[str, tuple[str, str, Reader]] = {
    "openai-chat": ("/models", "", read_openai),
    "openai-responses": ("/models", "", read_openai),
    "anthropic": ("/v1/models", "limit=1000", read_anthropic),
    "gemini": ("/v1beta/models", "pageSize=1000", read_gemini),
    "ollama": ("/api/tags", "", read_ollama),
}
"""By api: the endpoint, its query, and how to read the answer."""


@dataclass(frozen=True, slots=True)
class Served:
    """What one server serves."""

    provider: str
    base_url: str
    models: tuple[Model, ...] = ()
    """In the server's order."""
    problem: str = ""
    """Why there are no models, as one sentence; empty if the server answered."""


async def local_models(
    addresses: Mapping[str, str] | None = None,
    *,
    find: Finder = get_model,
    seconds: float = SECONDS,
) -> list[Model]:
    """The models of all servers on this machine, by preference of the server.

    `addresses` maps providers to base addresses, by default the usual ports. All are asked at once,
    and never through a proxy; each question has `seconds` for its answer.
    """
    places = local_addresses(os.environ) if addresses is None else addresses
    found = await asyncio.gather(
        *(
            served_by(_stranger(name, url), find=find, seconds=seconds, direct=True)
            for name, url in places.items()
        )
    )
    return [model for served in found for model in served.models]


async def served_by(
    template: Model,
    *,
    find: Finder = get_model,
    api_key: str | None = None,
    seconds: float = LIST_SECONDS,
    direct: bool = False,
) -> Served:
    """The models of the server that serves `template`, of which only the id may differ.

    Address, headers and key are those of `template`. With `direct` no proxy is used.
    """
    served = Served(template.provider, template.base_url)
    try:
        headers = await _headers(template, api_key)
        listings = await _list(_Asker(template, headers, seconds, direct))
    except AgentError as error:
        return replace(served, problem=error.message)
    return replace(served, models=tuple(_model(template, each, find) for each in listings))


async def described(
    model: Model, *, api_key: str | None = None, seconds: float = LIST_SECONDS
) -> Model:
    """`model` with its window and abilities as its server knows them, where nothing else does.

    Hosted models whose window is known are not asked about; one of Ollama always is, because the
    window that it will really be loaded with depends on the server.
    """
    if model.api == "ollama":
        details = await details_of(model, api_key=api_key, seconds=seconds)
        return replace(
            model,
            context_window=window_of(model, details),
            reasoning=model.reasoning or bool(details.can("thinking")),
            images=model.images or bool(details.can("vision")),
        )
    if model.context_window is not None or model.api not in _LISTS:
        return model
    served = await served_by(model, find=lambda _: model, api_key=api_key, seconds=seconds)
    same = [found for found in served.models if found.id == model.id]
    # A server with one model answers to any name.
    return replace((same or served.models)[0], id=model.id) if same or _is_only(served) else model


def _is_only(served: Served) -> bool:
    return len(served.models) == 1 and is_local(served.base_url)


def _stranger(provider: str, base_url: str) -> Model:
    """A model without an id, to ask its server with."""
    vendor = VENDORS.get(provider)
    return Model(provider, "", api=vendor.api if vendor else "openai-chat", base_url=base_url)


def _model(template: Model, listing: Listing, find: Finder) -> Model:
    own = {name: value for name, value in template.compat.items() if name != "efforts"}
    try:
        known = find(f"{template.provider}/{listing.id}")
    except AgentError:
        known = Model(template.provider, listing.id)
    return replace(
        known,
        id=listing.id,
        api=template.api,
        base_url=template.base_url,
        headers=template.headers,
        compat={**own, **known.compat},
        name=known.name or listing.name,
        context_window=known.context_window or listing.context_window,
        max_output_tokens=known.max_output_tokens or listing.max_output_tokens,
        reasoning=known.reasoning or bool(listing.reasoning),
        images=known.images or bool(listing.images),
    )


# -- asking ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Asker:
    """Asks one server."""

    model: Model
    headers: Mapping[str, str]
    seconds: float
    direct: bool

    async def get(self, url: str) -> Any:
        return await look_up(
            self.model, url, self.headers, seconds=self.seconds, direct=self.direct
        )

    async def try_get(self, url: str) -> Any:
        return await try_look_up(
            self.model, url, self.headers, seconds=self.seconds, direct=self.direct
        )


async def _list(server: _Asker) -> list[Listing]:
    api = server.model.api
    if api not in _LISTS:
        return []
    endpoint, query, read = _LISTS[api]
    url = with_endpoint(server.model.base_url, endpoint, api)
    if query:
        url += f"{'&' if '?' in url else '?'}{query}"
    listings = read(await server.get(url))
    is_open = any(listing.context_window is None for listing in listings)
    # llama.cpp answers to Anthropic's API as well.
    speaks = api.startswith("openai") or api == "anthropic"
    if is_open and speaks and is_local(server.model.base_url):
        return await _with_local_facts(server, listings)
    return listings


async def _with_local_facts(server: _Asker, listings: list[Listing]) -> list[Listing]:
    """The listings with what LM Studio and llama.cpp say only in answer to another question."""
    root = clean_base_url(server.model.base_url).removesuffix("/v1")
    if server.model.provider == "lmstudio":
        older, newer = await asyncio.gather(
            server.try_get(f"{root}/api/v0/models"), server.try_get(f"{root}/api/v1/models")
        )
        facts = {fact.id: fact for fact in [*read_lmstudio(older), *read_lmstudio(newer)]}
        return [_filled(listing, facts.get(listing.id)) for listing in listings]
    if len(listings) > 1:
        return listings
    props = read_props(await server.try_get(f"{root}/props"))
    return [_filled(listing, props) for listing in listings]


def _filled(listing: Listing, fact: Listing | None) -> Listing:
    if fact is None:
        return listing
    return replace(
        listing,
        context_window=listing.context_window or fact.context_window,
        images=fact.images if listing.images is None else listing.images,
    )


async def _headers(template: Model, api_key: str | None) -> dict[str, str]:
    """The headers of the template's wire."""
    if template.api == "anthropic":
        from agent_tui.providers.anthropic import authorize
        from agent_tui.providers.anthropic_request import VERSION

        return await headers_for(template, authorize, api_key) | {"anthropic-version": VERSION}
    if template.api == "gemini":
        from agent_tui.providers.gemini import authorize
    else:
        from agent_tui.providers.ollama_show import authorize
    return await headers_for(template, authorize, api_key)
