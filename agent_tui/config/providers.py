"""The `[providers.X]` tables of a settings file."""

from __future__ import annotations

from agent_tui.config.settings import APIS, TIMEOUTS, ModelSettings, ProviderSettings
from agent_tui.core.model import ModelCost, PriceTier
from agent_tui.core.tables import Table


def read_providers(table: Table) -> dict[str, ProviderSettings]:
    """All providers of the file, by name."""
    return {name: _provider(name, table.table(name)) for name in table.names()}


def _provider(name: str, table: Table) -> ProviderSettings:
    timeouts = table.table("timeouts")
    limits = {key: limit for key in TIMEOUTS if (limit := timeouts.number(key)) is not None}
    timeouts.finish()
    provider = ProviderSettings(
        name,
        api=table.choice("api", APIS),
        base_url=table.text("base_url"),
        api_key_env=table.text("api_key_env"),
        api_key_command=table.text("api_key_command"),
        ca_bundle=table.text("ca_bundle"),
        insecure_skip_verify=table.switch("insecure_skip_verify"),
        timeouts=limits,
        headers=table.table("headers").texts(),
        compat=table.table("compat").anything(),
        models=tuple(model for inner in table.tables("models") if (model := _model(inner))),
    )
    table.finish()
    return provider


def _model(table: Table) -> ModelSettings | None:
    model_id = table.text("id")
    model = ModelSettings(
        id=model_id or "",
        name=table.text("name"),
        context_window=table.count("context_window"),
        max_output_tokens=table.count("max_output_tokens"),
        reasoning=table.switch("reasoning"),
        images=table.switch("images"),
        cost=_cost(table.table("cost")),
        compat=table.table("compat").anything(),
    )
    table.finish()
    if model_id is None:
        table.missing("id")
        return None
    return model


def _cost(table: Table) -> ModelCost | None:
    tiers = [tier for inner in table.tables("tiers") if (tier := _tier(inner)) is not None]
    prices = _prices(table)
    return None if prices is None else ModelCost(*prices, tiers=tuple(tiers), is_own=True)


def _tier(table: Table) -> PriceTier | None:
    above = table.count("above")
    prices = _prices(table)
    if above is None:
        table.missing("above")
    return None if above is None or prices is None else PriceTier(above, *prices)


def _prices(table: Table) -> tuple[float, float, float | None, float | None] | None:
    """Input, output, cache read, cache write; None if the table does not hold the first two."""
    names = ("input", "output", "cache_read", "cache_write")
    given, asked, read, write = (table.number(name) for name in names)
    table.finish()
    if given is not None and asked is not None:
        return given, asked, read, write
    if table.anything():
        table.missing("input" if given is None else "output")
    return None
