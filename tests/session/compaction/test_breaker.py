"""When nothing is summarised by itself any more."""

from __future__ import annotations

from agent_tui.session.compaction.breaker import Breaker


def test_three_failures_in_a_row_are_too_many_and_passing_ones_do_not_count() -> None:
    breaker = Breaker()

    for is_transient in (False, True, False, True):
        breaker.failed(is_transient=is_transient)
    assert breaker.reason is None
    breaker.failed(is_transient=False)

    assert breaker.reason is not None


def test_a_success_begins_the_count_anew() -> None:
    breaker = Breaker()

    for _ in range(3):
        breaker.failed(is_transient=False)
        breaker.failed(is_transient=False)
        breaker.succeeded()
        for _ in range(10):
            breaker.step()

    assert breaker.reason is None


def test_three_summaries_close_to_each_other_are_too_many() -> None:
    breaker = Breaker()

    for _ in range(3):
        assert breaker.reason is None
        breaker.succeeded()
        breaker.step()

    assert breaker.reason is not None
    breaker.reset()
    assert breaker.reason is None


def test_summaries_with_enough_steps_between_them_are_none_too_many() -> None:
    breaker = Breaker()

    for _ in range(6):
        breaker.succeeded()
        for _ in range(4):
            breaker.step()

    assert breaker.reason is None
