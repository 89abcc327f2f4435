"""The program in a real terminal: driver, keys, signals, processes, exit codes."""

from __future__ import annotations

import os
import re
import signal
import sys
import time
from pathlib import Path

import psutil
import pytest

from tests.terminal.console import MODES, Console, chat
from tests.terminal.server import openai_server
from tests.tui.pty_program import PtyProgram, modes_left_on

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="a pseudo-terminal")


def processes(mark: str) -> list[str]:
    return [
        " ".join(process.info["cmdline"])
        for process in psutil.process_iter(["cmdline"])
        if any(mark in word for word in process.info["cmdline"] or [])
    ]


def wait_until_gone(mark: str) -> float:
    began = time.monotonic()
    while processes(mark):
        assert time.monotonic() - began < 10
        time.sleep(0.02)
    return time.monotonic() - began


def leave(c: Console) -> int:
    c.types("\x04")
    return c.program.wait()


def test_a_stop_kills_the_whole_process_tree_and_the_chat_goes_on(tmp_path: Path) -> None:
    mark = f"mk-tree-{os.getpid()}"
    agent = ("--agent", "tests.terminal.agents:sleeper", "--mode", "full-auto")
    with chat(tmp_path, *agent, TEST_MARK=mark) as c:
        c.says("run the long job")
        c.sees("running ·")
        assert processes(mark)
        c.types("then this\x1b\r")
        c.sees("when this turn ends")

        c.types("\x03")
        c.sees("Stopped at step 1")
        took = wait_until_gone(mark)
        c.sees("1 pending, on hold")
        c.says("still there?")
        c.sees("STILL HERE")
        c.sees("FOLLOWED")

        assert took < 2
        assert leave(c) == 0
        assert modes_left_on(c.program.output, MODES) == []
        assert c.program.settings() == c.program.settings_before


def test_the_tour_runs_without_any_configuration(tmp_path: Path) -> None:
    with chat(tmp_path) as c:
        c.sees("offline demonstration")
        c.says("hello")
        c.sees("scripted demonstration")
        c.types("\x1b")
        c.sees("Stopped at step")

        assert leave(c) == 0


def test_the_terminal_theme_uses_no_colour_that_the_terminal_does_not_have(tmp_path: Path) -> None:
    with chat(tmp_path, "--theme", "terminal") as c:
        c.says("hello")
        c.sees("scripted demonstration")
        c.types("\x1b")
        c.sees("Stopped at step")
        leave(c)

        assert re.search(rb"[\[;]34[;m]", c.program.output)
        assert not re.findall(rb"[34]8;[25];[\d;]*m", c.program.output)


def test_an_openai_compatible_server_answers(tmp_path: Path) -> None:
    with (
        openai_server() as (url, requests),
        chat(tmp_path, "--base-url", url, "--model", "local-model") as c,
    ):
        c.says("hello server")
        c.sees("Served from LOOPBACK.")
        c.sees("↑1.2k ↓3")

        assert requests[0]["model"] == "local-model"
        assert leave(c) == 0


def test_a_server_that_is_not_there_is_one_sentence_and_the_text_stays(tmp_path: Path) -> None:
    arguments = ("--base-url", "http://127.0.0.1:9/v1", "--model", "m")
    with chat(tmp_path, *arguments) as c:
        c.says("are you there?")
        c.sees("Try 1 of 3")
        c.types("\x1b")
        c.sees("your message is back in the composer")
        c.sees("│ are you there?")
        c.types("\x15")
        c.sees("Say something")

        assert leave(c) == 0


def test_a_termination_puts_the_terminal_back(tmp_path: Path) -> None:
    with chat(tmp_path) as c:
        c.program.signal(signal.SIGTERM)

        assert c.program.wait() == 128 + signal.SIGTERM
        assert modes_left_on(c.program.output, MODES) == []
        assert c.program.settings() == c.program.settings_before


@pytest.mark.parametrize("way", ["/quit", "ctrl+d", "SIGTERM"])
def test_on_the_way_out_one_line_says_how_to_go_on(tmp_path: Path, way: str) -> None:
    with chat(tmp_path, "--agent", "tests.terminal.agents:sleeper", "--mode", "read-only") as c:
        c.says("still there?")
        c.sees("2 steps")
        if way == "/quit":
            c.says("/quit")
        elif way == "ctrl+d":
            c.types("\x04")
        else:
            c.program.signal(signal.SIGTERM)

        assert c.program.wait() == (128 + signal.SIGTERM if way == "SIGTERM" else 0)
        told = re.findall(rb"To go on: agent-tui --resume (\w+)", c.program.output)
        assert len(told) == 1
        assert [*tmp_path.rglob(f"*{told[0].decode()}.jsonl")]


def test_ctrl_c_twice_on_an_idle_empty_composer_leaves(tmp_path: Path) -> None:
    with chat(tmp_path) as c:
        c.types("\x03")
        c.sees("ctrl+c again quits")
        c.types("\x03")

        assert c.program.wait() == 0


def test_an_agent_that_cannot_be_loaded_is_one_sentence_and_exit_code_two(tmp_path: Path) -> None:
    program = PtyProgram(
        "-m", "agent_tui", "chat", "--agent", "nope:x", environ={"AGENT_TUI_HOME": str(tmp_path)}
    )
    try:
        code = program.wait()
        last = program.output.rpartition(b"?1049l")[2]
    finally:
        program.close()

    assert code == 2
    assert b"--agent nope:x" in last
    assert b"Traceback" not in last
