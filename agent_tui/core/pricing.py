"""Usage × model → cost."""

from __future__ import annotations

from agent_tui.core.model import ModelCost
from agent_tui.core.usage import Usage, round_cost


def cost_of(usage: Usage, prices: ModelCost | None) -> float | None:
    """US dollars for these tokens, None when the prices are unknown."""
    if prices is None:
        return None
    read = prices.input if prices.cache_read is None else prices.cache_read
    write = prices.input if prices.cache_write is None else prices.cache_write
    micro_usd = (
        usage.input * prices.input
        + usage.output * prices.output
        + usage.cache_read * read
        + usage.cache_write * write
    )
    return round_cost(micro_usd / 1_000_000)
