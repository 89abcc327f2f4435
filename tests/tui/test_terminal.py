"""The terminal is checked before, and put back after, whatever happens in between."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from agent_tui.tui.terminal import RESET, size_reason, title_sequence, unfit_reason
from tests.tui.pty_program import PtyProgram, modes_left_on, running

MODES = (1000, 1002, 1003, 1004, 1006, 1049, 2004)


class Tty(io.StringIO):
    def isatty(self) -> bool:
        return True


def ready(program: PtyProgram) -> None:
    """The screen stands and keys are read."""
    program.wait_for(b"READY")
    program.wait_for(b"\x1b[?2004h")


def assert_put_back(program: PtyProgram) -> None:
    for mode in MODES:
        assert b"\x1b[?%dl" % mode in program.output
    assert modes_left_on(program.output, MODES) == []
    assert program.output.rfind(b"\x1b[?25h") > program.output.rfind(b"\x1b[?25l")
    assert program.output.rfind(b"\x1b[<u") > program.output.rfind(b"\x1b[>25u")
    assert program.settings() == program.settings_before


@pytest.mark.parametrize(
    ("streams", "environ", "word"),
    [
        pytest.param((io.StringIO(), Tty(), Tty()), {}, "input", id="input is a file"),
        pytest.param((None, Tty(), Tty()), {}, "input", id="no input"),
        pytest.param((Tty(), Tty(), io.StringIO()), {}, "error", id="error is a file"),
        pytest.param((Tty(), Tty(), Tty()), {"TERM": "dumb"}, "TERM=dumb", id="dumb terminal"),
    ],
)
def test_an_unfit_terminal_is_refused_with_a_way_out(
    streams: tuple[Tty, Tty, Tty], environ: dict[str, str], word: str
) -> None:
    reason = unfit_reason(*streams, environ)

    assert reason is not None
    assert word in reason
    assert "agent-tui run" in reason


def test_a_terminal_is_fit_even_when_output_goes_to_a_file() -> None:
    assert unfit_reason(Tty(), io.StringIO(), Tty(), {"TERM": "xterm"}) is None


def test_a_closed_stream_is_no_terminal() -> None:
    closed = io.StringIO()
    closed.close()

    assert unfit_reason(closed, Tty(), Tty(), {}) is not None


def test_a_window_that_is_too_small_is_told_how_large_it_must_be() -> None:
    assert size_reason(40, 12) is None
    assert "20×5" in (size_reason(20, 5) or "")


def test_a_title_cannot_carry_a_sequence_or_a_newline() -> None:
    evil = "fix\x1b]0;x\x07 \x9d8;;y\x07the\nbug\x1b[31m" + "!" * 200

    sequence = title_sequence(evil, "needs you")

    assert sequence.startswith("\x1b]0;? fix the bug!")
    assert sequence[1:].count("\x1b") == 0
    assert sequence.index("\x07") == len(sequence) - 1
    assert len(sequence) < 120


def test_the_reset_text_switches_everything_off() -> None:
    assert [mode for mode in MODES if f"\x1b[?{mode}l" not in RESET] == []
    assert "\x1b[?25h" in RESET


def test_the_module_needs_no_textual() -> None:
    code = "import sys, agent_tui.tui.terminal; print('textual' in sys.modules)"

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)

    assert done.stdout.strip() == "False"


@pytest.mark.parametrize(
    ("way_out", "code", "words"),
    [
        pytest.param("handler", 1, b"broken handler", id="an error in a handler"),
        pytest.param("task", 1, b"broken task", id="an error in a task"),
        pytest.param("past textual", 7, b"", id="an exit that passes the framework"),
    ],
)
def test_a_crash_puts_the_terminal_back_and_shows_the_error_after(
    way_out: str, code: int, words: bytes, tmp_path: Path
) -> None:
    with running("-m", "tests.tui.small_chat", way_out, str(tmp_path / "log")) as program:
        ready(program)
        program.send(b"hi\r")

        assert program.wait() == code
        assert_put_back(program)
        assert words in program.output[program.output.rfind(b"\x1b[?1049l") :]


@pytest.mark.parametrize(
    ("way_out", "code", "words"),
    [
        pytest.param("uncaught", 1, b"nobody caught me", id="an uncaught exception"),
        pytest.param("exit", 5, b"", id="an exit"),
    ],
)
def test_the_interpreter_itself_puts_the_terminal_back(
    way_out: str, code: int, words: bytes
) -> None:
    with running("-m", "tests.tui.small_chat", way_out) as program:
        assert program.wait() == code
        assert modes_left_on(program.output, MODES) == []
        assert words in program.output[program.output.rfind(b"\x1b[?1049l") :]
        assert program.settings() == program.settings_before


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
@pytest.mark.parametrize("way_out", ["orderly", "hangs", "busy"])
def test_a_signal_ends_the_program_and_puts_the_terminal_back(
    number: signal.Signals, way_out: str, tmp_path: Path
) -> None:
    with running("-m", "tests.tui.small_chat", way_out, str(tmp_path / "log")) as program:
        ready(program)
        program.signal(number)

        assert program.wait() == 128 + number
        assert_put_back(program)


def test_quitting_puts_the_terminal_and_the_title_back(tmp_path: Path) -> None:
    with running("-m", "tests.tui.small_chat", "quit", str(tmp_path / "log")) as program:
        ready(program)
        program.wait_for("● small chat".encode())
        program.send(b"\x04")

        assert program.wait() == 0
        assert_put_back(program)
        assert program.output.count(b"\x1b[22;0t") == program.output.count(b"\x1b[23;0t") == 1


@pytest.mark.parametrize("stop", [signal.SIGSTOP, signal.SIGTSTP])
def test_after_a_stop_and_a_continue_keys_count_once_and_all_is_put_back(
    stop: signal.Signals, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    with running("-m", "tests.tui.small_chat", "", str(log)) as program:
        ready(program)
        program.signal(stop)
        program.wait_until_stopped()
        seen = len(program.output)
        program.signal(signal.SIGCONT)
        program.wait_for(b"READY", after=seen)
        program.wait_for("● small chat".encode(), after=seen)
        program.wait_for(b"\x1b[?2004h", after=seen)
        program.send(b"once\r\x04")

        assert program.wait() == 0
        assert noted(log, "sent") == ["once"]
        assert_put_back(program)


def test_a_terminal_that_goes_away_ends_the_program(tmp_path: Path) -> None:
    with running("-m", "tests.tui.small_chat", "quit", str(tmp_path / "log")) as program:
        ready(program)
        program.hang_up()

        assert program.wait() == 128 + signal.SIGHUP


def test_reset_repairs_a_terminal_that_was_left_broken() -> None:
    break_and_reset = (
        "import os, tty; from agent_tui.tui import terminal\n"
        "os.write(1, b'\\x1b[?1049h\\x1b[?1000h\\x1b[?25l'); tty.setraw(0); terminal.reset()"
    )
    with running("-c", break_and_reset) as program:
        assert program.wait() == 0
        assert modes_left_on(program.output, MODES) == []
        before, after = program.settings_before, program.settings()
        assert after[1] & before[1] == before[1]
        assert after[3] & before[3] == before[3]


# The external editor


def editor(tmp_path: Path, script: str) -> dict[str, str]:
    path = tmp_path / "my editor.sh"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return {"VISUAL": f"'{path}' --flag"}


def noted(log: Path, what: str) -> list[str]:
    if not log.exists():
        return []
    return [line[2] for line in map(json.loads, log.read_text().splitlines()) if line[1] == what]


def test_the_editor_gets_the_whole_draft_and_the_terminal(tmp_path: Path) -> None:
    log = tmp_path / "log"
    script = 'test "$1" = --flag && stty -a | grep -q " icanon" && echo IN-EDITOR && ' + (
        f'cp "$2" {tmp_path}/seen && printf "changed\\r\\nby editor\\n" > "$2"'
    )
    with running(
        "-m", "tests.tui.small_chat", "", str(log), environ=editor(tmp_path, script)
    ) as it:
        ready(it)
        it.send(b"draft \x1b[200~" + b"x\r" * 30 + b"\x1b[201~\x07")
        it.wait_for(b"IN-EDITOR")
        it.wait_for(b"by editor")
        it.send(b"!\r")
        it.send(b"\x04")

        assert it.wait() == 0
        assert (tmp_path / "seen").read_text() == "draft " + "x\n" * 30
        assert noted(log, "sent") == ["changed\nby editor!"]
        assert noted(log, "notice") == []
        assert b"READY" in it.output[it.output.rfind(b"\x1b[?1049h") :]
        assert_put_back(it)


def test_the_program_goes_on_and_paints_nothing_while_the_editor_has_the_screen(
    tmp_path: Path,
) -> None:
    log = tmp_path / "log"
    script = f"echo IN-EDITOR; until grep -q tick-200 {log}; do sleep 0.02; done; echo OUT-OF-IT"
    environ = editor(tmp_path, script)
    with running("-m", "tests.tui.small_chat", "ticks", str(log), environ=environ) as it:
        ready(it)
        it.send(b"\x07")
        it.wait_for(b"OUT-OF-IT")
        it.wait_for(b"tick-2")
        it.send(b"\x04")

        assert it.wait() == 0
        in_editor = it.output.partition(b"IN-EDITOR")[2].partition(b"OUT-OF-IT")[0]
        assert in_editor.strip() == b""


@pytest.mark.parametrize(
    ("environ", "words"),
    [
        pytest.param(
            {"VISUAL": "", "EDITOR": "/no/such/editor"}, "cannot be started", id="missing"
        ),
        pytest.param({"VISUAL": "false"}, "code 1", id="it fails"),
        pytest.param({"VISUAL": "'open"}, "cannot be read", id="it cannot be read"),
    ],
)
def test_an_editor_that_fails_leaves_the_draft_and_a_sentence(
    environ: dict[str, str], words: str, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    with running("-m", "tests.tui.small_chat", "", str(log), environ=environ) as it:
        ready(it)
        it.send(b"draft\x07")
        while not noted(log, "notice"):
            it.wait_for(b"draft")
            os.sched_yield()
        it.send(b" kept\r\x04")

        assert it.wait() == 0
        assert words in noted(log, "notice")[0]
        assert noted(log, "sent") == ["draft kept"]
        assert_put_back(it)
