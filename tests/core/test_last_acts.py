"""What is still done when the program leaves at once."""

from __future__ import annotations

from agent_tui.core.last_acts import at_last, do_last_acts


def test_every_act_is_done_whatever_becomes_of_the_others() -> None:
    done: list[str] = []

    def broken() -> None:
        raise RuntimeError("no luck")

    forgets = [at_last(broken), at_last(lambda: done.append("kept"))]
    at_last(lambda: done.append("forgotten"))()

    do_last_acts()

    assert done == ["kept"]
    for forget in forgets:
        forget()
