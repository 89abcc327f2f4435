"""A window of any size is survived."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.terminal.console import chat

NO_ROOM = [(1, 1), (1, 40), (3, 5), (300, 1), (2, 100)]


@pytest.mark.parametrize(
    ("opening", "sign"),
    [
        pytest.param("\x10", "Search for commands", id="the palette"),
        pytest.param("/theme\r", "type to narrow", id="the themes"),
        pytest.param("/help\r", "Keys", id="the help"),
    ],
)
def test_keys_in_a_window_without_room_end_nothing(tmp_path: Path, opening: str, sign: str) -> None:
    with chat(tmp_path) as console:
        console.types(opening)
        console.sees(sign)
        for columns, rows in NO_ROOM:
            console.program.resize(columns, rows)
            console.types("\x1b[6~\x1b[5~\x1b[6~")
            console.program.read_some()
        console.program.resize(80, 24)
        console.types("x")
        while sign in (shown := console.text) or "enter send" not in shown:
            console.types("\x1b")
        console.types("and here")
        console.sees("and here")
