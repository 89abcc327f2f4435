"""Usage × model → cost, by class of tokens."""

from __future__ import annotations

from dataclasses import dataclass

from agent_tui.core.model import ModelCost, PriceTier
from agent_tui.core.usage import Usage, round_cost

_LONG_RETENTION = 2.0
"""What it costs to keep a token in the cache for long, as a multiple of the input price."""


@dataclass(frozen=True, slots=True)
class Costs:
    """Millionths of a US dollar, by class of tokens; not rounded."""

    input: float
    output: float
    cache_read: float
    cache_write: float

    @property
    def total(self) -> float:
        """All four classes."""
        return self.input + self.output + self.cache_read + self.cache_write


def cost_of(usage: Usage, prices: ModelCost | None) -> float | None:
    """US dollars for these tokens, None when the prices are unknown."""
    if prices is None:
        return None
    return round_cost(costs_by_class(usage, prices).total / 1_000_000)


def costs_by_class(usage: Usage, prices: ModelCost) -> Costs:
    """What the tokens of one request cost; its size decides the tier for all of them."""
    row = _row(usage.prompt_tokens, prices)
    read = row.input if row.cache_read is None else row.cache_read
    write = row.input if row.cache_write is None else row.cache_write
    long = min(usage.cache_write_long, usage.cache_write) if row.cache_write else 0
    return Costs(
        input=usage.input * row.input,
        output=usage.output * row.output,
        cache_read=usage.cache_read * read,
        cache_write=(usage.cache_write - long) * write + long * row.input * _LONG_RETENTION,
    )


def _row(prompt_tokens: int, prices: ModelCost) -> ModelCost | PriceTier:
    exceeded = [tier for tier in prices.tiers if prompt_tokens > tier.above]
    return max(exceeded, key=lambda tier: tier.above, default=prices)
