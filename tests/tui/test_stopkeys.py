"""Ctrl+C and Esc: always a stop while something runs, never a way out of a stop."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from agent_tui.tui.stopkeys import StopKeys


class Clock:
    def __init__(self) -> None:
        self.time = 100.0

    def __call__(self) -> float:
        return self.time


def press(keys: StopKeys, **state: bool) -> str:
    defaults = {"running": False, "has_selection": False, "has_draft": False}
    return keys.ctrl_c(**(defaults | state))


def test_a_press_while_a_turn_runs_aborts_even_with_text_selected() -> None:
    keys = StopKeys(Clock())

    assert press(keys, running=True, has_selection=True, has_draft=True) == "abort"


def test_the_second_press_while_stopping_kills() -> None:
    keys = StopKeys(Clock())

    acts = [press(keys, running=True) for _ in range(3)]

    assert acts == ["abort", "kill", "kill"]


def test_presses_shortly_after_a_stop_are_ignored() -> None:
    clock = Clock()
    keys = StopKeys(clock)
    press(keys, running=True)
    keys.settled()

    early = press(keys)
    clock.time += 1.6
    late = press(keys)

    assert [early, late] == ["ignore", "arm_quit"]


def test_a_turn_that_ended_by_itself_has_no_guard_time() -> None:
    keys = StopKeys(Clock())

    keys.settled()

    assert press(keys) == "arm_quit"


def test_when_idle_a_selection_goes_before_a_draft_and_a_draft_before_leaving() -> None:
    keys = StopKeys(Clock())

    acts = [
        press(keys, has_selection=True, has_draft=True),
        press(keys, has_draft=True),
        press(keys),
        press(keys),
    ]

    assert acts == ["copy", "stash", "arm_quit", "quit"]


def test_an_armed_quit_is_forgotten_after_two_seconds() -> None:
    clock = Clock()
    keys = StopKeys(clock)
    press(keys)

    clock.time += 2.1

    assert press(keys) == "arm_quit"


def test_escape_stops_once_and_never_kills() -> None:
    keys = StopKeys(Clock())

    acts = [keys.escape(running=True), keys.escape(running=True), keys.escape(running=False)]

    assert acts == ["abort", "ignore", "ignore"]


def test_escape_twice_at_rest_goes_back_but_not_after_a_pause() -> None:
    clock = Clock()
    keys = StopKeys(clock)

    acts = [keys.escape(running=False)]
    clock.time += 5
    acts += [keys.escape(running=False), keys.escape(running=False), keys.escape(running=False)]

    assert acts == ["ignore", "ignore", "rewind", "ignore"]


def test_a_run_that_follows_a_stop_can_be_stopped_again() -> None:
    keys = StopKeys(Clock())
    press(keys, running=True)

    keys.run_began()

    assert press(keys, running=True) == "abort"


@given(st.lists(st.sampled_from(["ctrl_c", "escape", "wait", "begin", "settle"]), max_size=40))
def test_no_stop_key_quits_within_the_guard_time_of_a_stop(steps: list[str]) -> None:
    clock = Clock()
    keys = StopKeys(clock)
    running, stopped_at = False, -10.0
    for step in steps:
        if step == "begin":
            running = True
            keys.run_began()
        elif step == "settle" and running:
            if keys.stopping_since is not None:
                stopped_at = clock.time
            running = False
            keys.settled()
        elif step == "wait":
            clock.time += 0.4
        elif step == "escape":
            given = keys.escape(running=running)
            assert str(given) in (("abort", "ignore") if running else ("rewind", "ignore"))
            assert str(given) != "rewind" or clock.time - stopped_at >= 1.5
        elif step == "ctrl_c":
            act = press(keys, running=running)
            assert act in ("abort", "kill") if running else act not in ("abort", "kill")
            assert act != "quit" or clock.time - stopped_at >= 1.5
