"""Counting tokens and money."""

from __future__ import annotations

import random

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from agent_tui import ModelCost, Usage
from agent_tui.core.pricing import cost_of
from agent_tui.core.usage import add_usage, round_cost

COSTS = st.floats(0, 10_000, allow_nan=False).map(round_cost)
USAGES = st.builds(
    Usage,
    input=st.integers(0, 10**9),
    output=st.integers(0, 10**9),
    cache_read=st.integers(0, 10**9),
    cache_write=st.integers(0, 10**9),
    reasoning=st.integers(0, 10**9),
    total=st.integers(0, 10**9),
    cost_usd=st.one_of(st.none(), COSTS),
    incomplete=st.booleans(),
)


def test_no_usage_is_zeros_with_unknown_cost() -> None:
    usage = Usage()

    assert (usage.input, usage.output, usage.cache_read, usage.cache_write) == (0, 0, 0, 0)
    assert (usage.reasoning, usage.total) == (0, 0)
    assert usage.cost_usd is None
    assert not usage.incomplete
    assert usage.is_empty


def test_ten_dimes_are_a_dollar() -> None:
    assert add_usage([Usage(total=1, cost_usd=0.1)] * 10).cost_usd == 1.0
    assert add_usage([Usage(total=1, cost_usd=0.1)] * 3).cost_usd == 0.3


@given(st.lists(USAGES, max_size=12), st.randoms(use_true_random=False))
def test_the_order_of_adding_does_not_matter(parts: list[Usage], chance: random.Random) -> None:
    shuffled = list(parts)
    chance.shuffle(shuffled)

    assert add_usage(shuffled) == add_usage(parts)


@given(st.lists(USAGES, max_size=12), st.integers(0, 12))
@example(
    [
        Usage(cost_usd=cost)
        for cost in (450.0, 773.0, 144.764409846761, *[432.524039914145] * 3, 651.878713846747)
    ]
    + [Usage(cost_usd=779.480383145416)],
    0,
)
def test_a_sum_of_known_costs_can_be_taken_in_parts(parts: list[Usage], cut: int) -> None:
    priced = [part for part in parts if part.cost_usd is not None]

    at_once = add_usage(priced)
    in_parts = add_usage([add_usage(priced[:cut]), add_usage(priced[cut:])])

    assert in_parts.cost_usd == at_once.cost_usd
    assert in_parts.total == at_once.total


def test_every_class_is_added() -> None:
    one = Usage(input=1, output=2, cache_read=3, cache_write=4, reasoning=5, total=6, cost_usd=0.5)

    assert one + one == Usage(
        input=2, output=4, cache_read=6, cache_write=8, reasoning=10, total=12, cost_usd=1.0
    )


def test_adding_changes_no_part() -> None:
    parts = [Usage(input=1, total=1, cost_usd=0.5), Usage(input=2, total=2, cost_usd=0.5)]

    add_usage(parts)

    assert [part.input for part in parts] == [1, 2]


def test_a_partly_unknown_cost_is_the_known_part_and_incomplete() -> None:
    total = Usage(input=10, total=10, cost_usd=0.25) + Usage(input=10, total=10)

    assert total.cost_usd == 0.25
    assert total.incomplete


def test_an_unknown_cost_stays_unknown() -> None:
    total = Usage(input=10, total=10) + Usage(input=10, total=10)

    assert total.cost_usd is None
    assert not total.incomplete


def test_a_response_that_counted_nothing_does_not_make_the_cost_uncertain() -> None:
    total = Usage(input=10, total=10, cost_usd=0.25) + Usage()

    assert total.cost_usd == 0.25
    assert not total.incomplete


def test_free_is_not_unknown() -> None:
    assert (Usage(total=1, cost_usd=0.0) + Usage(total=1, cost_usd=0.0)).cost_usd == 0.0


def test_one_lower_bound_makes_the_sum_a_lower_bound() -> None:
    assert (Usage(total=1) + Usage(total=1, incomplete=True)).incomplete


def test_the_sum_of_nothing_is_nothing() -> None:
    assert add_usage([]) == Usage()


# -- prices ----------------------------------------------------------------------------------------

PRICES = ModelCost(input=3.0, output=15.0, cache_read=0.3, cache_write=3.75)


@pytest.mark.parametrize(
    ("usage", "usd"),
    [
        (Usage(input=1_000_000), 3.0),
        (Usage(output=1_000_000), 15.0),
        (Usage(cache_read=1_000_000), 0.3),
        (Usage(cache_write=1_000_000), 3.75),
        (Usage(input=1, output=1), 0.000018),
        (Usage(output=100, reasoning=100), 0.0015),
        (Usage(), 0.0),
    ],
    ids=["input", "output", "cache-read", "cache-write", "tiny", "reasoning-is-output", "nothing"],
)
def test_a_cost_is_tokens_times_the_price_of_a_million(usage: Usage, usd: float) -> None:
    assert cost_of(usage, PRICES) == usd


def test_cached_tokens_cost_as_much_as_input_where_no_price_is_given() -> None:
    plain = ModelCost(input=3.0, output=15.0)

    assert cost_of(Usage(cache_read=1_000_000, cache_write=1_000_000), plain) == 6.0


def test_a_free_cache_is_free() -> None:
    prices = ModelCost(input=3.0, output=15.0, cache_read=0.0, cache_write=0.0)

    assert cost_of(Usage(cache_read=1_000_000, cache_write=1_000_000), prices) == 0.0


def test_one_token_of_the_cheapest_model_is_not_free() -> None:
    assert cost_of(Usage(input=1), ModelCost(input=0.0001, output=0.0)) == 1e-10


def test_unknown_prices_make_an_unknown_cost() -> None:
    assert cost_of(Usage(input=1_000), None) is None


def test_prompt_tokens_are_all_that_was_sent() -> None:
    assert Usage(input=1, cache_read=2, cache_write=3, output=9).prompt_tokens == 6
