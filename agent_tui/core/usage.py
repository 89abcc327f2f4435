"""Token counts and money of one response, and how they add up. Unknown is not zero."""

from __future__ import annotations

from pydantic import BaseModel

_UNITS_PER_USD = 10**10
"""Costs are rounded to a ten-thousandth of a micro-dollar: a sum does not depend on how it is
taken. Fine enough for prices of four decimals a million tokens, coarse enough for a float to tell
sums apart up to a hundred thousand dollars.
"""


class Usage(BaseModel):
    """Disjoint token counts: `input` excludes cached tokens, `reasoning` is part of `output`."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    cache_write_long: int = 0
    """The part of `cache_write` that is kept for long and costs more (an hour, at Anthropic)."""
    reasoning: int = 0
    total: int = 0
    """The provider's own total, else the sum of the four classes."""
    cost_usd: float | None = None
    """US dollars; None is unknown, never free."""
    incomplete: bool = False
    """The figures are a lower bound: the response ended before they were all reported."""

    def __add__(self, other: Usage) -> Usage:
        """The sum of two. An unknown cost beside a known one makes the sum a lower bound."""
        return add_usage([self, other])

    @property
    def is_empty(self) -> bool:
        """Nothing was counted and nothing is known to be missing."""
        return not (self.has_tokens or self.incomplete) and self.cost_usd is None

    @property
    def has_tokens(self) -> bool:
        """At least one token was counted, of whatever class."""
        return bool(self.total or self.output or self.prompt_tokens)

    @property
    def prompt_tokens(self) -> int:
        """Every token that was sent, cached or not."""
        return self.input + self.cache_read + self.cache_write


def round_cost(usd: float) -> float:
    """Dollars on the grid on which sums are exact."""
    return usd_of(units_of(usd))


def units_of(usd: float) -> int:
    """Dollars as whole steps of that grid, for sums and shares that must be exact."""
    return round(usd * _UNITS_PER_USD)


def usd_of(units: int) -> float:
    """Dollars again."""
    return units / _UNITS_PER_USD


def add_usage(parts: list[Usage]) -> Usage:
    """The sum of any number of usages; `Usage()` for none.

    `cost_usd` is the sum of what is known and None if nothing is; where a part that counted
    tokens has no cost while another has one, the sum is marked `incomplete`.
    """
    total = Usage()
    units: int | None = None
    unpriced = False
    for part in parts:
        total.input += part.input
        total.output += part.output
        total.cache_read += part.cache_read
        total.cache_write += part.cache_write
        total.cache_write_long += part.cache_write_long
        total.reasoning += part.reasoning
        total.total += part.total
        total.incomplete |= part.incomplete
        if part.cost_usd is not None:
            units = (units or 0) + units_of(part.cost_usd)
        elif part.has_tokens:
            unpriced = True
    if units is not None:
        total.cost_usd = usd_of(units)
        total.incomplete |= unpriced
    return total
