"""The status lines: what is shown at which width, and how unknown figures look."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_tui.core.limits import Limits
from agent_tui.core.spending import Spent
from agent_tui.core.usage import Usage
from agent_tui.tui.status import Counters, Span, Status, status_lines, summary_line

TURN = Counters(
    Spent(Usage(input=1650, cache_read=16_800, output=2100, cost_usd=0.043, total=20_550), 7), 7
)
SESSION = Counters(Spent(Usage(input=412_000, output=38_000, cost_usd=0.87, total=450_000), 40), 40)


def counted(requests: int, *, tokens_are_partial: bool = False, **usage: object) -> Counters:
    """The counters after so many model calls, whose price is unknown without `cost_usd`."""
    found = Usage(input=900, output=70, total=970, **usage)
    is_partial = tokens_are_partial or found.cost_usd is None
    spent = Spent(found, requests, requests, tokens_are_partial, is_partial)
    return Counters(spent, requests)


def status(**changes: object) -> Status:
    known: dict[str, object] = {
        "state": "running",
        "turn": TURN,
        "session": SESSION,
        "max_steps": 100,
        "seconds": 72.0,
        "tokens_per_second": 63.2,
        "context_tokens": 84_000,
        "context_window": 200_000,
    }
    return Status(**(known | changes))  # type: ignore[arg-type]


def text(line: list[Span]) -> str:
    return "".join(part for part, _ in line)


def test_a_wide_screen_shows_every_counter() -> None:
    turn, session = status_lines(status(), 120)

    assert text(turn) == (
        "turn  step 7/100 · 1m12s · ↑18.4k (91% cached) ↓2.1k · 63 tok/s · $0.043"
    )
    assert text(session) == "session $0.87 · ↑412k ↓38k · context ▓▓▓░░░ 84k/200k 42%"


@pytest.mark.parametrize(
    ("width", "turn", "session"),
    [
        (
            68,
            "turn  step 7/100 · 1m12s · ↑18.4k (91% cached) ↓2.1k · $0.043",
            "session $0.87 · ↑412k ↓38k · context ▓▓▓░░░ 84k/200k 42%",
        ),
        (
            50,
            "step 7/100 · 1m12s · ↑18.4k ↓2.1k · $0.043",
            "session $0.87 · context ▓▓▓░░░ 84k/200k 42%",
        ),
        (40, "step 7/100 · 1m12s · $0.043", "session $0.87 · context 84k/200k 42%"),
        (27, "step 7/100 · $0.043", "context 84k/200k 42%"),
    ],
)
def test_fields_leave_a_narrow_line_in_a_fixed_order(width: int, turn: str, session: str) -> None:
    lines = status_lines(status(), width)

    assert [text(line) for line in lines] == [turn, session]


ORDER = {
    "turn": "bash,63 tok/s,(91% cached),↑18.4k,1m12s,try 2,/100,/$5.00,$0.043,step 7",
    "session": "↑412k,▓▓▓░░░,/$9.00,session $0.87,84k/200k,42%",
}
"""What leaves each line, first to go first, as the documentation says."""


def test_from_120_to_20_columns_fields_leave_in_the_documented_order() -> None:
    turn = Counters(TURN.spent, 7, attempt=2, limits=Limits(cost=5.0))
    session = Counters(SESSION.spent, 40, limits=Limits(cost=9.0))
    now = status(activity="bash", turn=turn, session=session)
    for width in range(120, 19, -1):
        for order, line in zip(ORDER.values(), map(text, status_lines(now, width)), strict=True):
            there = [field in line for field in order.split(",")]

            assert there == sorted(there), line
            assert all(there) or width < 100, line
            assert "…" not in line

    assert [*map(text, status_lines(now, 20))] == ["step 7 · $0.043", "context 42%"]


@given(width=st.integers(1, 140))
def test_no_line_is_wider_than_the_screen(width: int) -> None:
    lines = status_lines(status(activity="bash", notice="stopping… 1 s (ctrl+c: kill)"), width)

    assert all(len(text(line)) <= max(1, width - 2) for line in lines)


def test_a_stop_is_said_first_and_stays_longest() -> None:
    turn, _ = status_lines(status(state="stopping", notice="stopping… 1 s (ctrl+c: kill)"), 40)

    assert text(turn).startswith("stopping… 1 s (ctrl+c: kill)")


@pytest.mark.parametrize(
    ("counters", "shown"),
    [
        pytest.param(Counters(), "0 steps · 5 s · ↑0 ↓0 · $0", id="nothing-yet"),
        pytest.param(
            Counters(Spent(Usage(), 1, 1, True, True), 1),
            "1 step · 5 s · ↑? ↓? · $?",
            id="never-reported",
        ),
        pytest.param(
            Counters(Spent(Usage(incomplete=True), 1, 0, True, True), 1),
            "1 step · 5 s · ↑? ↓? · $?",
            id="aborted-early",
        ),
        pytest.param(
            counted(2, cost_usd=0.01, tokens_are_partial=True),
            "2 steps · 5 s · ↑≥900 ↓≥70 · ≥$0.010",
            id="one-step-aborted",
        ),
        pytest.param(counted(1), "1 step · 5 s · ↑900 ↓70 · $?", id="unknown-price"),
        pytest.param(counted(1, cost_usd=0.0), "1 step · 5 s · ↑900 ↓70 · $0", id="free-model"),
        pytest.param(
            Counters(Spent(Usage(cost_usd=0.0, incomplete=True), 1, 0, True, False), 1),
            "1 step · 5 s · ↑? ↓? · $0",
            id="free-model-aborted",
        ),
        pytest.param(
            Counters(Spent(Usage(input=900, total=900, cost_usd=0.01), 2, 2, False, True), 2),
            "2 steps · 5 s · ↑900 ↓? · ≥$0.010",
            id="one-price-unknown",
        ),
        pytest.param(
            Counters(Spent(Usage(input=9, output=1, cost_usd=0.5), 1, has_own_price=True), 1),
            "1 step · 5 s · ↑9 ↓1 · $0.50*",
            id="price-of-ones-own",
        ),
    ],
)
def test_unknown_is_never_printed_as_zero(counters: Counters, shown: str) -> None:
    assert summary_line(counters, 5.0) == shown


def test_an_answer_on_its_way_is_an_estimate() -> None:
    turn = Counters(Spent(Usage(input=100, output=50, total=150), 1), 2, arriving=25)

    line = text(status_lines(status(turn=turn, rate_is_estimate=True), 120)[0])

    assert "↓~75" in line
    assert "~63 tok/s" in line


def test_before_the_first_answer_has_ended_nothing_is_claimed_about_tokens_and_money() -> None:
    begun = Counters(steps=1, arriving=151)

    turn, session = status_lines(status(turn=begun, session=begun, tokens_per_second=None), 120)

    assert text(turn) == "turn  step 1/100 · 1m12s · ↓~151"
    assert text(session) == "session · context ▓▓▓░░░ 84k/200k 42%"


@pytest.mark.parametrize(
    ("used", "window", "shown"),
    [
        (None, 200_000, "context ?/200k"),
        (None, None, "context ?"),
        (8000, None, "context 8k/?"),
        (0, 8192, "context ░░░░░░ 0/8.2k 0%"),
        (190_000, 200_000, "context ▓▓▓▓▓▓ 190k/200k 95%"),
    ],
)
def test_the_context_meter_says_what_it_does_not_know(
    used: int | None, window: int | None, shown: str
) -> None:
    line = status_lines(status(context_tokens=used, context_window=window), 120)[1]

    assert text(line).endswith(shown)


def test_the_last_steps_and_a_full_window_are_warnings() -> None:
    near = status(turn=Counters(TURN.spent, 81), context_tokens=170_000)

    turn, session = status_lines(near, 120)

    assert ("step 81/100", "warning") in turn
    assert session[-1][1] == "warning"


def test_a_budget_stands_behind_the_cost_and_warns_near_its_end() -> None:
    turn = Counters(TURN.spent, 7, limits=Limits(cost=0.5))
    session = Counters(SESSION.spent, 40, limits=Limits(cost=1.0))

    first, second = status_lines(status(turn=turn, session=session), 120)

    assert first[-1] == ("$0.043/$0.50", "")
    assert second[0] == ("session $0.87/$1.00", "warning")
