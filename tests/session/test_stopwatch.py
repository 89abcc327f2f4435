"""The time of turns, with and without the waits for a person."""

from __future__ import annotations

from agent_tui.session.stopwatch import Stopwatch
from tests.session.rig import Clock


def watch_of() -> tuple[Stopwatch, Clock]:
    clock = Clock()
    return Stopwatch(clock), clock


def test_before_the_first_turn_no_time_has_passed() -> None:
    watch, clock = watch_of()
    clock.now += 5

    assert (watch.elapsed, watch.worked, watch.worked_in_all) == (0, 0, 0)


def test_a_turn_takes_from_its_start_to_its_stop() -> None:
    watch, clock = watch_of()
    watch.start()
    clock.now += 5
    running = watch.elapsed
    watch.stop()
    clock.now += 7
    watch.stop()

    assert (running, watch.elapsed) == (5, 5)


def test_turns_add_up() -> None:
    watch, clock = watch_of()
    watch.start()
    clock.now += 5
    watch.stop()
    clock.now += 100
    watch.start()
    clock.now += 2

    assert (watch.worked, watch.worked_in_all) == (2, 7)


def test_open_questions_are_no_work() -> None:
    watch, clock = watch_of()
    watch.start()
    clock.now += 1
    watch.pause()
    watch.pause()
    clock.now += 10
    watch.resume()
    clock.now += 10
    during = watch.worked
    watch.resume()
    clock.now += 1

    assert during == 1
    assert (watch.elapsed, watch.worked) == (22, 2)


def test_a_question_that_is_open_at_the_end_is_no_work_either() -> None:
    watch, clock = watch_of()
    watch.start()
    clock.now += 1
    watch.pause()
    clock.now += 10
    watch.stop()
    watch.resume()

    assert (watch.elapsed, watch.worked) == (11, 1)


def test_a_question_before_the_turn_takes_nothing_from_it() -> None:
    watch, clock = watch_of()
    watch.pause()
    clock.now += 10
    watch.resume()
    watch.start()
    clock.now += 1

    assert watch.worked == 1
