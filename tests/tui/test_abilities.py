"""What is known about the terminal."""

from __future__ import annotations

import io
import os
import sys
import threading
from collections.abc import Mapping

import pytest

from agent_tui.tui.abilities import QUESTION, Abilities, terminal_abilities

KITTY = b"\x1b[?0u\x1b[?2026;2$y\x1b[?62;c"


class Screen(io.StringIO):
    """A stream that says that it is a terminal, of unknown size."""

    encoding = "UTF-8"

    def isatty(self) -> bool:
        return True


def found(answer: bytes = KITTY, /, **environ: str) -> Abilities:
    names: Mapping[str, str] = {"TERM": "xterm-256color"} | environ
    return terminal_abilities(Screen(), Screen(), names, lambda keys, screen: answer)


def test_a_modern_terminal_tells_its_abilities() -> None:
    known = found(COLORTERM="truecolor", TERM_PROGRAM="ghostty")

    assert (known.name, known.colours) == ("ghostty · xterm-256color", "16 million")
    assert (known.tells_keys_apart, known.paints_at_once) == (True, True)
    assert known.unfit is None


def test_a_plain_terminal_answers_only_who_it_is() -> None:
    known = found(b"\x1b[?1;2c")

    assert (known.tells_keys_apart, known.paints_at_once) == (False, False)
    assert "Ctrl+J" in dict(known.rows())["keys"]


def test_a_silent_terminal_leaves_it_open() -> None:
    known = found(b"")

    assert (known.tells_keys_apart, known.paints_at_once) == (None, None)
    assert "unknown" in dict(known.rows())["keys"]


@pytest.mark.parametrize(
    ("environ", "colours"),
    [
        ({}, "256"),
        ({"TERM": "xterm"}, "16"),
        ({"TERM": "xterm-direct"}, "16 million"),
        ({"NO_COLOR": "1", "COLORTERM": "truecolor"}, "none"),
        ({"TERM": "dumb"}, "none"),
    ],
)
def test_colours_are_told_by_the_environment(environ: dict[str, str], colours: str) -> None:
    assert found(**environ).colours == colours


def test_it_says_what_lies_between_the_program_and_the_person() -> None:
    known = found(TMUX="/tmp/x", SSH_CONNECTION="a b")

    assert known.inside == "tmux, ssh"
    assert "inside tmux, ssh" in dict(known.rows())["terminal"]


def test_what_is_no_terminal_is_not_asked_and_said() -> None:
    known = terminal_abilities(io.StringIO(), io.StringIO(), {}, lambda keys, screen: KITTY)

    assert known.tells_keys_apart is None
    assert "standard input is none" in dict(known.rows())["chat"]


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
def test_a_real_terminal_is_asked_and_left_as_it_was() -> None:
    import pty
    import termios

    ours, theirs = pty.openpty()
    before = termios.tcgetattr(theirs)
    with os.fdopen(theirs, "r", closefd=False) as keys, os.fdopen(theirs, "w") as screen:

        def answer() -> None:
            asked = b""
            while not asked.endswith(QUESTION[-3:]):
                asked += os.read(ours, 100)
            os.write(ours, KITTY)

        thread = threading.Thread(target=answer)
        thread.start()
        known = terminal_abilities(keys, screen, {"TERM": "xterm"})
        thread.join()

        assert known.tells_keys_apart is True
        assert termios.tcgetattr(theirs) == before
    os.close(ours)
