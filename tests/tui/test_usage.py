"""What `/usage` shows: by model, by tool and by step, at any width."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_tui.core.limits import Meter
from agent_tui.core.spending import Charge, Spent, ToolShare, UsageReport, add_spent
from agent_tui.core.usage import Usage, units_of
from agent_tui.tui.usage import usage_text

DEAR = Spent(Usage(input=5000, cache_read=15_000, output=300, total=20_300, cost_usd=0.024), 1, 1)
FAILED = Spent(Usage(incomplete=True), 1, 0, tokens_are_partial=True, cost_is_partial=True)
OWN = Spent(Usage(input=100, output=10, total=110, cost_usd=0.5))
CHARGES = (
    Charge(0, 1, "lab/old", "", "answered", DEAR),
    Charge(1, 1, "lab/qwen", "", "answered", DEAR, 12.4),
    Charge(1, 1, "", "agent", "inside_tool", OWN),
    Charge(1, 2, "lab/qwen", "", "failed", FAILED, 0.4),
)
REPORT = UsageReport(
    session=add_spent(charge.spent for charge in CHARGES),
    turn=add_spent(charge.spent for charge in CHARGES[1:]),
    charges=CHARGES,
    models=(("", OWN), ("lab/qwen", DEAR + FAILED), ("lab/old", DEAR)),
    tools=(
        ToolShare("agent", calls=1, own=OWN),
        ToolShare("read", 2, 18_400, units_of(0.01), 140_000, units_of(0.004)),
        ToolShare("web", 1, 10, again=20, is_partial=True),
    ),
    other_units=units_of(0.034),
)


def rows(title: str, width: int = 120) -> list[list[str]]:
    """The cells of one table."""
    text = usage_text(REPORT, [], width)
    table = text.partition(f"\n{title}\n")[2].partition("\n\n")[0]
    return [line.split() for line in table.split("\n")]


def test_the_beginning_says_what_it_comes_to() -> None:
    lines = usage_text(REPORT, [Meter("turn", "cost", 0.52, 0.6)], 120).split("\n")

    assert lines[:4] == [
        "Session: 3 calls · ↑≥40k (74% cached) ↓≥610 · ≥$0.55",
        "Turn: 2 calls · ↑≥20k (74% cached) ↓≥310 · ≥$0.52",
        "Budget: $0.52 of this turn's $0.60",
        "1 call failed or stopped; they count too",
    ]


def test_models_have_a_row_each_and_so_has_what_tools_spent() -> None:
    assert rows("By model") == [
        ["model", "calls", "in", "cached", "out", "cost"],
        ["inside", "tools", "–", "100", "–", "10", "$0.50"],
        ["lab/qwen", "2", "≥20k", "75%", "≥300", "≥$0.024"],
        ["lab/old", "1", "20k", "75%", "300", "$0.024"],
    ]


def test_tools_tell_what_reading_their_results_cost() -> None:
    table = rows("By tool")

    assert table[1] == ["agent", "1", "~0", "$0", "~0", "$0", "$0.50", "~$0.50"]
    assert table[2] == [
        *["read", "2", "~18.4k", "~$0.010"],
        *["~140k", "~$0.0040", "–", "~$0.014"],
    ]
    assert table[3] == ["web", "1", "~10", "$?", "~20", "$?", "–", "$?"]
    assert table[4] == ["everything", "else", "~$0.034"]


def test_steps_tell_turn_outcome_and_time() -> None:
    assert rows("By step")[1:] == [
        ["before", "old", "–", "20k", "75%", "300", "$0.024"],
        ["1.1", "qwen", "12", "s", "20k", "75%", "300", "$0.024"],
        ["1.1", "tool", "agent", "–", "100", "–", "10", "$0.50"],
        ["1.2", "failed", "qwen", "0", "s", "?", "–", "?", "$?"],
    ]


@pytest.mark.parametrize(("width", "heads"), [(38, "tool added cost"), (20, "tool cost")])
def test_a_narrow_table_keeps_what_matters(width: int, heads: str) -> None:
    assert rows("By tool", width)[0] == heads.split()


@given(st.integers(1, 140))
def test_tables_fit_as_far_as_a_name_and_a_figure_can(width: int) -> None:
    text = usage_text(REPORT, [], width)
    table = text.partition("\nBy model\n")[2].partition("\n\n")[0]

    assert max(map(len, table.split("\n"))) <= max(width, 12)


def test_names_are_plain_text() -> None:
    charge = Charge(1, 1, "lab/\x1b[31mred", "", "answered", DEAR)
    tool = ToolShare("\x1b]0;title\x07", 1)
    report = UsageReport(DEAR, DEAR, (charge,), (("lab/\x1b[31mred", DEAR),), (tool,), 0)

    assert "\x1b" not in usage_text(report, [], 80)


def test_a_price_of_ones_own_is_explained() -> None:
    own = Spent(DEAR.usage, 1, 1, has_own_price=True)
    charge = Charge(1, 1, "lab/qwen", "", "answered", own)
    report = UsageReport(own, own, (charge,), (("lab/qwen", own),), (), 0)

    text = usage_text(report, [], 80)

    assert "* by a price of your settings" in text
    assert "$0.024*" in text
