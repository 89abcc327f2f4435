"""Prices: tiers, caches, and what is free."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_tui.core.model import ModelCost, PriceTier
from agent_tui.core.pricing import cost_of, costs_by_class
from agent_tui.core.usage import Usage

TIERED = ModelCost(
    input=1.0,
    output=4.0,
    cache_read=0.1,
    tiers=(PriceTier(500_000, 3.0, 12.0, 0.3), PriceTier(200_000, 2.0, 8.0, 0.2)),
)
SMALL = st.integers(0, 10**6)
PRICES = st.floats(0, 50).map(lambda price: round(price, 4))


@pytest.mark.parametrize(
    ("usage", "usd"),
    [
        (Usage(input=200_000, output=1000), 0.204),
        (Usage(input=200_001, output=1000), 0.408002),
        (Usage(input=100_000, cache_read=100_001), 0.2200002),
        (Usage(input=1, cache_read=100_000, cache_write=100_000), 0.220002),
        (Usage(input=500_001), 1.500003),
        (Usage(input=200_000, output=900_000), 3.8),
    ],
    ids=["at-the-limit", "above", "cached-count", "written-count", "highest", "output-counts-not"],
)
def test_the_size_of_a_request_decides_the_tier_for_all_of_it(usage: Usage, usd: float) -> None:
    assert cost_of(usage, TIERED) == usd


def test_what_stays_long_in_the_cache_costs_twice_the_input() -> None:
    prices = ModelCost(input=3.0, output=15.0, cache_read=0.3, cache_write=3.75)
    usage = Usage(cache_write=1_000_000, cache_write_long=400_000)

    assert cost_of(usage, prices) == pytest.approx(0.6 * 3.75 + 0.4 * 6.0)


def test_long_retention_costs_nothing_more_where_writing_has_no_price() -> None:
    prices = ModelCost(input=3.0, output=15.0)

    assert cost_of(Usage(cache_write=1_000_000, cache_write_long=1_000_000), prices) == 3.0


@given(SMALL, SMALL, SMALL, SMALL, PRICES, PRICES)
def test_the_classes_add_up_to_the_cost(
    sent: int, received: int, read: int, written: int, dear: float, cheap: float
) -> None:
    usage = Usage(input=sent, output=received, cache_read=read, cache_write=written)
    prices = ModelCost(dear, dear, cheap, cheap)

    costs = costs_by_class(usage, prices)

    assert cost_of(usage, prices) == pytest.approx(costs.total / 1e6, abs=1e-10)
    assert costs.cache_read == read * cheap


@pytest.mark.parametrize(
    ("prices", "is_free"),
    [
        (ModelCost(0.0, 0.0), True),
        (ModelCost(0.0, 0.0, 0.0, 0.0), True),
        (ModelCost(0.0, 0.1), False),
        (ModelCost(0.0, 0.0, cache_write=0.1), False),
        (ModelCost(0.0, 0.0, tiers=(PriceTier(10, 1.0, 0.0),)), False),
    ],
    ids=["zeros", "all-zeros", "output", "writing", "tier"],
)
def test_only_prices_of_zero_throughout_are_free(prices: ModelCost, is_free: bool) -> None:
    assert prices.is_free is is_free


def test_prices_are_read_from_a_table() -> None:
    table = {
        "input": 1.0,
        "output": 4.0,
        "cache_read": 0.1,
        "tiers": [
            {"above": 500_000, "input": 3.0, "output": 12.0, "cache_read": 0.3},
            {"above": 200_000, "input": 2.0, "output": 8.0, "cache_read": 0.2},
        ],
    }

    assert ModelCost.from_dict(table) == TIERED


def test_whose_price_it_is_makes_no_other_price() -> None:
    assert ModelCost(1.0, 2.0, is_own=True) == ModelCost(1.0, 2.0)
