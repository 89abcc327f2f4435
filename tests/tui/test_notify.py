"""Calling somebody back who looks elsewhere."""

from __future__ import annotations

from collections.abc import Coroutine
from pathlib import Path
from typing import Any

import pytest

from agent_tui.config import NotifyBy
from agent_tui.tui.notify import STALLED_SECONDS, Notifier, Way


class Away:
    """A notifier, and everything it reaches."""

    def __init__(self, way: Way, *, is_seen: bool = False, words: str = "fix the tests") -> None:
        self.written: list[str] = []
        self.started: list[Coroutine[Any, Any, None]] = []
        self.now = 0.0
        self.notifier = Notifier(
            way,
            {"PATH": "/usr/bin:/bin", "SECRET_API_KEY": "sk-1"},
            write=self.written.append,
            start=self.started.append,
            clock=lambda: self.now,
            words=lambda: words,
            is_seen=lambda: is_seen,
        )


@pytest.mark.parametrize(
    ("by", "written"),
    [
        ("bell", ["\x07"]),
        ("osc9", ["\x1b]9;agent-tui: needs you. fix the tests\x07"]),
        ("osc777", ["\x1b]777;notify;agent-tui: needs you;fix the tests\x07"]),
        ("off", []),
    ],
)
def test_a_question_calls_in_the_chosen_way(by: NotifyBy, written: list[str]) -> None:
    away = Away(Way(by))

    away.notifier.hear("approval_request")

    assert away.written == written


@pytest.mark.parametrize("event", ["agent_settled", "approval_request", "budget_request"])
def test_nobody_is_called_who_looks(event: str) -> None:
    away = Away(Way(command="true"), is_seen=True)

    away.notifier.hear(event)

    assert (away.written, away.started) == ([], [])


@pytest.mark.parametrize("event", ["agent_start", "message_update", "tool_execution_end"])
def test_work_in_progress_calls_nobody(event: str) -> None:
    away = Away(Way())

    away.notifier.hear(event)

    assert away.written == []


def test_a_turn_without_any_sign_calls_once() -> None:
    away = Away(Way())
    away.notifier.hear("turn_start")

    for _ in range(4):
        away.now += STALLED_SECONDS / 2
        away.notifier.tick()

    assert away.written == ["\x07"]


def test_a_turn_that_waits_for_an_answer_is_not_stalled() -> None:
    away = Away(Way())
    away.notifier.hear("approval_request")

    away.now += 2 * STALLED_SECONDS
    away.notifier.tick()

    assert away.written == ["\x07"]


def test_what_is_said_cannot_end_the_sequence_it_stands_in() -> None:
    away = Away(Way("osc777"), words="a;b\x07\x1b]52;c;AAAA\x07\nend")

    away.notifier.hear("agent_settled")

    (sequence,) = away.written
    assert sequence.count("\x1b") == sequence.count("\x07") == 1
    assert sequence.count(";") == 3


async def test_a_command_gets_the_words_and_no_key(tmp_path: Path) -> None:
    away = Away(Way("off", f"env > {tmp_path / 'told'}"))

    away.notifier.hear("agent_settled")
    for work in away.started:
        await work

    told = (tmp_path / "told").read_text()
    assert "AGENT_TUI_OCCASION=finished" in told
    assert "AGENT_TUI_TEXT=fix the tests" in told
    assert "sk-1" not in told


async def test_a_command_that_does_not_exist_harms_nothing() -> None:
    away = Away(Way("off", "no-such-command-anywhere"))

    away.notifier.hear("agent_settled")

    for work in away.started:
        await work
