"""The models as a person picks one: marked ones first, then what can be used as things are."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterable
from dataclasses import dataclass

from agent_tui.config import Settings
from agent_tui.core.errors import AgentError, ConfigError
from agent_tui.core.model import Model, ThinkingLevel
from agent_tui.providers.addresses import host_of, is_local
from agent_tui.providers.catalog import levels_of, read_on
from agent_tui.providers.keys import KEY_NAMES, OWN_HOSTS, key_for
from agent_tui.providers.probing import local_addresses
from agent_tui.providers.vendors import VENDORS
from agent_tui.session.favourites import Favourites
from agent_tui.session.models import ModelBook
from agent_tui.session.saved_lists import SavedLists


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
    """All models that the settings and the catalog know, and what servers add when asked."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._book = ModelBook(settings)
        self._favourites = Favourites(settings.folders.state / "favourites.json")
        self._saved = SavedLists(settings.folders)
        self._live: dict[str, list[Model]] = {}
        """By provider, what its server serves now."""
        self._described: dict[str, Model] = {}

    def items(self, provider: str | None = None) -> list[ShelfItem]:
        """Marked ones in the order of marking, then usable ones, then the rest."""
        marked = self._favourites.keys()
        lacks: dict[tuple[str, str], str] = {}
        items = []
        for model in self._models():
            if provider not in (None, model.provider):
                continue
            place = (model.provider, model.base_url)
            if place not in lacks:
                lacks[place] = self._lacks(model)
            is_marked = model.key in marked
            items.append(ShelfItem(model, tuple(levels_of(model)), lacks[place], is_marked))
        last = len(marked)
        order = {key: place for place, key in enumerate(marked)}
        items.sort(key=lambda item: (order.get(item.model.key, last), bool(item.lacks)))
        return items

    @staticmethod
    def days(items: Iterable[ShelfItem]) -> tuple[str, ...]:
        """The first and last day, `2026-11-20`, on which the program's own lists were read."""
        read = map(read_on, {item.model.provider for item in items})
        days = sorted(day for day in read if day is not None)
        return tuple(dict.fromkeys((*days[:1], *days[-1:])))

    def toggle(self, key: str) -> bool:
        """Mark the model as a favourite, or unmark it; whether it is marked now."""
        return self._favourites.toggle(key)

    async def renew(self, *, hosted: bool = False) -> list[str]:
        """Ask the servers of this machine and of the settings what they serve.

        With `hosted` also the providers whose key is there, unless they were asked within a day.
        Gives a sentence for each that was named in the settings, or has a key, and does not answer.
        """
        own = {table.name for table in self._settings.providers.values() if table.base_url}
        asked = [self.ask(name) for name in own]
        if hosted:
            asked += [self.ask(name) for name in self._hosted() if name not in own]
        problems, _ = await asyncio.gather(_all(asked), self._ask_this_machine(own))
        return [problem for problem in problems if problem]

    async def ask(self, provider: str) -> str:
        """Ask one provider's server; the sentence that says why it does not answer, else empty.

        Raises:
            InvalidInputError: There is no such provider.
        """
        from agent_tui.providers.discovery import served_by

        try:
            server = self._book.server(provider)
        except ConfigError as error:
            return error.message
        served = await served_by(server, find=self._book.find)
        if served.problem:
            return f"{provider}: {served.problem}"
        self._live[provider] = list(served.models)
        if host_of(server.base_url) == OWN_HOSTS.get(provider):
            self._saved.put(provider, served.models)
        return ""

    async def examined(self) -> list[tuple[str, str]]:
        """What a start with these settings finds: what a row is about, and a sentence."""
        from agent_tui.session.doctor import examine

        return (await examine(self._settings)).rows()

    @staticmethod
    def is_near(model: Model) -> bool:
        """Whether its server stands on this machine or near by, so that asking costs nothing."""
        return is_local(model.base_url)

    async def described(self, model: Model) -> Model:
        """`model` with what only its server knows of it, the window above all."""
        from agent_tui.providers.discovery import described

        found = self._described[model.key] = await described(model)
        return found

    async def _ask_this_machine(self, known: set[str]) -> None:
        from agent_tui.providers.discovery import local_models

        if self._settings.local_servers == "ignore":
            return
        usual = local_addresses(self._settings.environ)
        places = {name: url for name, url in usual.items() if name not in known}
        found = await local_models(places, find=self._book.find)
        for name in places:
            self._live[name] = [model for model in found if model.provider == name]

    def _hosted(self) -> list[str]:
        """Providers that may be asked and were not asked lately."""
        names = [name for name in OWN_HOSTS if not VENDORS[name].is_local]
        return [name for name in names if not self._saved.is_fresh(name) and self._is_usable(name)]

    def _is_usable(self, provider: str) -> bool:
        try:
            return not self._lacks(self._book.server(provider))
        except AgentError:
            return False

    def _models(self) -> list[Model]:
        models = {model.key: model for model in self._book.all()}
        models |= {model.key: model for live in self._live.values() for model in live}
        models |= self._described
        return list(models.values())

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


async def _all(asked: list[Coroutine[None, None, str]]) -> list[str]:
    return await asyncio.gather(*asked)
