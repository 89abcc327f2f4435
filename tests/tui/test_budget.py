"""The card of a budget question as text, and the amount of an extension."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from agent_tui.core.limits import LimitKind, Meter
from agent_tui.tui.budget import budget_rows, more_of
from tests.tui.chat import as_text


@dataclass
class Question:
    id: str = "q"
    message: str = "$6.00 of this turn's $5.00"
    offer: str = "$10.00"


def meter(kind: LimitKind) -> Meter:
    return Meter("turn", kind, 6, 5)


@given(st.integers(1, 140))
def test_no_row_is_wider_than_the_screen(width: int) -> None:
    rows = budget_rows(Question(), width)

    assert all(cell_len(line) <= max(8, width - 4) for line in as_text(rows).split("\n"))


@pytest.mark.parametrize(
    ("width", "answers"),
    [
        (120, "alt+x extend to $10.00 · alt+l one last answer, without tools · alt+s stop here"),
        (80, "alt+x extend to $10.00 · alt+l last answer, no tools · alt+s stop"),
        (60, "alt+x extend · alt+l last answer · alt+s stop"),
        (40, "/extend · /finish · /stop"),
    ],
)
def test_the_ways_to_answer_are_on_the_card_at_any_width(width: int, answers: str) -> None:
    assert as_text(budget_rows(Question(), width)).split("\n")[-1] == answers


@pytest.mark.parametrize(
    ("kind", "argument", "more"),
    [
        ("cost", "", None),
        ("cost", "2.50", 2.5),
        ("cost", "$2", 2.0),
        ("tokens", "5000", 5000.0),
        ("time", "90", 90.0),
    ],
)
def test_an_amount_is_a_number(kind: LimitKind, argument: str, more: float | None) -> None:
    assert more_of([meter(kind)], argument) == (more, None)


@pytest.mark.parametrize(
    ("kind", "argument", "measure"),
    [
        ("cost", "much", "dollars"),
        ("cost", "0", "dollars"),
        ("cost", "nan", "dollars"),
        ("tokens", "1.5", "tokens"),
        ("iterations", "-1", "steps"),
        ("time", "inf", "seconds"),
    ],
)
def test_what_is_no_amount_is_told_the_measure(
    kind: LimitKind, argument: str, measure: str
) -> None:
    assert more_of([meter(kind)], argument) == (None, f"/extend takes a number: {measure} more.")


def test_one_amount_cannot_extend_two_budgets() -> None:
    more, reason = more_of([meter("cost"), meter("tokens")], "5")

    assert more is None
    assert "extends them all" in (reason or "")
