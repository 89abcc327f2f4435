"""A few deaths in every run of the suite; `python -m tests.crash 300` is for patient people."""

from __future__ import annotations

import random
import signal
from pathlib import Path

import pytest

from tests.crash.life import Life


@pytest.mark.parametrize("seed", [1])
def test_a_session_that_is_killed_at_random_moments_loses_nothing(
    seed: int, tmp_path: Path
) -> None:
    life = Life(tmp_path, random.Random(seed))

    for _ in range(3):
        life.die_in_the_chat()
    life.die_without_a_screen()
    life.finish()

    assert life.losses == []
    assert life.requests >= 2


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_leaves_a_whole_session(number: int, tmp_path: Path) -> None:
    life = Life(tmp_path, random.Random(number))

    life.die_in_the_chat(number)
    life.finish()

    assert life.losses == []
