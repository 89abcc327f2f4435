"""Sums of what was spent do not depend on how they are taken."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from agent_tui.core.spending import Spent, ToolShare, add_spent
from agent_tui.core.usage import Usage, round_cost

COUNTS = st.integers(0, 10**7)
USAGES = st.builds(
    Usage,
    input=COUNTS,
    output=COUNTS,
    cache_read=COUNTS,
    total=COUNTS,
    cost_usd=st.none() | st.floats(0, 100).map(round_cost),
    incomplete=st.booleans(),
)
PARTS = st.builds(
    Spent,
    usage=USAGES,
    requests=st.integers(0, 3),
    answers=st.integers(0, 3),
    tokens_are_partial=st.booleans(),
    cost_is_partial=st.booleans(),
    has_own_price=st.booleans(),
)


@given(st.lists(PARTS, max_size=8), st.integers(0, 8))
def test_a_sum_can_be_taken_in_parts(parts: list[Spent], cut: int) -> None:
    assert add_spent(parts[:cut]) + add_spent(parts[cut:]) == add_spent(parts)


def test_the_sum_of_nothing_is_nothing() -> None:
    assert add_spent([]) == Spent()


def test_what_a_tool_cost_is_its_reading_and_its_own_spending() -> None:
    own = Spent(Usage(cost_usd=1e-8))

    assert ToolShare("look", first_units=5, again_units=7, own=own).units == 112
