"""What must still be done when the program leaves at once, without closing anything."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

_acts: list[Callable[[], object]] = []


def at_last(act: Callable[[], object]) -> Callable[[], None]:
    """Have `act` called, in any thread, before the program leaves at once; returns how to forget.

    It must be quick, and must not wait for anything.
    """
    _acts.append(act)

    def forget() -> None:
        if act in _acts:
            _acts.remove(act)

    return forget


def do_last_acts() -> None:
    """Call them all; one that fails does not keep the others from it."""
    for act in _acts:
        with suppress(Exception):
            act()
