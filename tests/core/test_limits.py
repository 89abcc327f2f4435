"""Budgets in words and figures."""

from __future__ import annotations

import pytest

from agent_tui.core.limits import Limits, Meter


@pytest.mark.parametrize(
    ("meter", "words"),
    [
        (Meter("turn", "cost", 0.52, 0.5), "$0.52 of this turn's $0.50"),
        (Meter("session", "cost", 5.0, 5.0, is_partial=True), "≥$5.00 of the session's $5.00"),
        (Meter("session", "tokens", 1.2e6, 1e6), "1.2M of the session's 1M tokens"),
        (Meter("turn", "tokens", 900, 1000, is_partial=True), "≥900 of this turn's 1k tokens"),
        (Meter("turn", "cost", 0.0, 0.5, is_partial=True), "$? of this turn's $0.50"),
        (Meter("turn", "tokens", 0, 1000, is_partial=True), "? of this turn's 1k tokens"),
        (Meter("turn", "iterations", 100, 100), "100 of this turn's 100 steps"),
        (Meter("turn", "time", 602.4, 600), "10m02s of this turn's 10m00s"),
    ],
    ids=[
        "cost",
        "partly-known",
        "tokens",
        "partly-counted",
        "unknown",
        "uncounted",
        "steps",
        "time",
    ],
)
def test_a_budget_is_told_in_one_phrase(meter: Meter, words: str) -> None:
    assert meter.words == words


def test_a_share_of_one_is_all_of_it() -> None:
    assert Meter("turn", "cost", 0.4, 0.5).share == 0.8
    assert Meter("turn", "cost", 1.0, 0.5).share == 2.0


def test_without_a_limit_there_is_none() -> None:
    assert Limits(cost=1.0).get("tokens") is None
    assert Limits(cost=1.0).get("cost") == 1.0
