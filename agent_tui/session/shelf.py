"""The models as a person picks one: marked ones first, then what can be used as things are."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from agent_tui.config import Settings
from agent_tui.core.errors import AgentError
from agent_tui.core.model import Model, ThinkingLevel
from agent_tui.providers.addresses import host_of
from agent_tui.providers.catalog import levels_of
from agent_tui.providers.keys import KEY_NAMES, OWN_HOSTS, key_for
from agent_tui.providers.probing import LocalSearch, local_addresses
from agent_tui.session.favourites import Favourites
from agent_tui.session.models import ModelBook


@dataclass(frozen=True, slots=True)
class ShelfItem:
    """One model that can be picked."""

    model: Model
    levels: tuple[ThinkingLevel, ...]
    """The thinking levels that make a difference; only `off` if it does not think."""
    lacks: str
    """What must be set before it can be used, `GROQ_API_KEY`; empty if nothing is missing."""
    is_favourite: bool


class ModelShelf:
    """All models that the settings and the catalog know."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._book = ModelBook(settings)
        self._favourites = Favourites(settings.folders.state / "favourites.json")
        self._live: list[Model] = []

    def items(self) -> list[ShelfItem]:
        """Marked ones in the order of marking, then usable ones, then the rest."""
        marked = self._favourites.keys()
        lacks: dict[tuple[str, str], str] = {}
        items = []
        known = self._book.all()
        keys = {model.key for model in known}
        for model in [*known, *(model for model in self._live if model.key not in keys)]:
            place = (model.provider, model.base_url)
            if place not in lacks:
                lacks[place] = self._lacks(model)
            is_marked = model.key in marked
            items.append(ShelfItem(model, tuple(levels_of(model)), lacks[place], is_marked))
        last = len(marked)
        order = {key: place for place, key in enumerate(marked)}
        items.sort(key=lambda item: (order.get(item.model.key, last), bool(item.lacks)))
        return items

    async def renew(self) -> None:
        """Ask the local servers what they serve; `items` has it from then on."""
        if self._settings.local_servers == "ignore":
            return
        search = LocalSearch(local_addresses(self._settings.environ))
        servers = await asyncio.to_thread(search.servers)
        self._live = [
            self._book.find(f"{server.provider}/{model_id}")
            for server in servers
            for model_id in server.models
        ]

    def toggle(self, key: str) -> bool:
        """Mark the model as a favourite, or unmark it; whether it is marked now."""
        return self._favourites.toggle(key)

    def _lacks(self, model: Model) -> str:
        if model.compat.get("api_key_command"):
            return ""
        if host_of(model.base_url) != OWN_HOSTS.get(model.provider):
            return ""
        try:
            found = key_for(model, self._settings.environ) is not None
        except AgentError:
            found = False
        named = model.compat.get("api_key_env")
        return "" if found else named or KEY_NAMES[model.provider][0]
