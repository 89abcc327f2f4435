"""Numbers as a person reads them."""

from __future__ import annotations

import pytest

from agent_tui.tui.figures import clip, clock, count, money, plural, span


@pytest.mark.parametrize(
    ("number", "shown"),
    [
        (0, "0"),
        (340, "340"),
        (999, "999"),
        (1000, "1k"),
        (2100, "2.1k"),
        (18_432, "18.4k"),
        (84_000, "84k"),
        (412_400, "412k"),
        (999_499, "999k"),
        (999_500, "1M"),
        (1_234_567, "1.2M"),
    ],
)
def test_counts_are_short(number: int, shown: str) -> None:
    assert count(number) == shown


@pytest.mark.parametrize(
    ("usd", "incomplete", "shown"),
    [
        (None, False, "$?"),
        (None, True, "$?"),
        (0.0, False, "$0"),
        (0.00001, False, "<$0.0001"),
        (0.0004, False, "$0.0004"),
        (0.0036, False, "$0.0036"),
        (0.043, False, "$0.043"),
        (0.043, True, "≥$0.043"),
        (0.87, False, "$0.87"),
        (12.3, False, "$12.30"),
    ],
)
def test_money_keeps_the_digits_that_matter(
    usd: float | None, incomplete: bool, shown: str
) -> None:
    assert money(usd, incomplete=incomplete) == shown


def test_a_clock_shows_whole_seconds() -> None:
    assert [clock(t) for t in (0.9, 14.2, 60, 7500)] == ["0 s", "14 s", "1m00s", "2h05m"]


def test_a_duration_has_tenths_while_it_is_short() -> None:
    assert [span(t) for t in (0.04, 9.94, 9.96, 71.6)] == ["0.0 s", "9.9 s", "10 s", "1m12s"]


def test_one_is_not_plural() -> None:
    assert [plural(1, "step"), plural(2, "step")] == ["1 step", "2 steps"]


def test_text_is_clipped_by_cells_and_not_by_characters() -> None:
    assert [clip("plain", 5), clip("東京タワー", 5), clip("abc", 0)] == ["plain", "東京…", ""]
