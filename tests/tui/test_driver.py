"""Keys reach the program at once."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from agent_tui.tui.driver import driver_class
from tests.tui.pty_program import running


def keys(log: Path) -> list[tuple[float, str]]:
    if not log.exists():
        return []
    lines = [json.loads(line) for line in log.read_text().splitlines() if line.endswith("]")]
    return [(when, value) for when, what, value in lines if what == "key"]


def test_a_lone_esc_arrives_without_waiting_for_the_next_key(tmp_path: Path) -> None:
    log = tmp_path / "log"
    with running("-m", "tests.tui.small_chat", "", str(log)) as program:
        program.wait_for(b"\x1b[?2004h")
        took = []
        for _ in range(20):
            seen = len(keys(log))
            began = time.monotonic()
            program.send(b"\x1b")
            while len(keys(log)) == seen:
                program.wait_for(b"")
                assert time.monotonic() - began < 5
            took.append(keys(log)[-1][0] - began)
        program.send(b"\x1b[A\x1bx\x04")
        program.wait()

    print("lone Esc, ms:", [round(seconds * 1000, 1) for seconds in sorted(took)])
    assert sorted(took)[len(took) // 2] < 1.0
    assert [key for _, key in keys(log)] == ["escape"] * 20 + ["up", "alt+x", "ctrl+d"]


def test_a_sequence_that_arrives_in_pieces_is_one_key(tmp_path: Path) -> None:
    log = tmp_path / "log"
    with running("-m", "tests.tui.small_chat", "", str(log)) as program:
        program.wait_for(b"\x1b[?2004h")
        for piece in (b"\x1b[", b"1;", b"3", b"A"):
            program.send(piece)
        program.send(b"\x04")
        program.wait()

    assert [key for _, key in keys(log)] == ["alt+up", "ctrl+d"]


def test_textuals_own_driver_is_used_where_ours_cannot_be(monkeypatch: pytest.MonkeyPatch) -> None:
    assert driver_class() is not None

    monkeypatch.setenv("TEXTUAL_DRIVER", "textual.drivers.web_driver:WebDriver")

    assert driver_class() is None


def test_a_program_that_somebody_starts_neither_writes_into_the_screen_nor_takes_keys(
    tmp_path: Path,
) -> None:
    script = tmp_path / "chat.py"
    script.write_text(
        "import subprocess, sys\n"
        "from pathlib import Path\n"
        "from agent_tui import Agent, tool\n"
        "from agent_tui.testing import ScriptedModel, call, calls, text\n"
        "from agent_tui.tui import ChatApp\n"
        "@tool\n"
        "def build() -> str:\n"
        "    subprocess.run('echo STRAY; echo STRAY >&2; cat > taken', shell=True,"
        " cwd=sys.argv[1])\n"
        "    return 'bui' + 'lt'\n"
        "model = ScriptedModel([calls(call('build', {})), text('fin' + 'ished')])\n"
        "ChatApp(Agent('test/m', tools=[build], stream_fn=model)).run()\n"
        "print('AFTER', flush=True)\n"
    )
    with running(str(script), str(tmp_path)) as program:
        program.wait_for(b"ctrl+d quit")
        program.send(b"go\r")
        program.wait_for(b"asks")
        while b"finished" not in program.output:  # a key typed with the card's appearance is none
            program.send(b"\x1by")
            program.read_some()
        program.send(b"\x04")
        program.wait_for(b"AFTER")
        program.wait()

    assert b"STRAY" not in program.output
    assert (tmp_path / "taken").read_bytes() == b""
