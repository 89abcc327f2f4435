"""What terminals really send, and which keys the program makes of it."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual import events
from textual._xterm_parser import XTermParser
from textual.message import Message

from agent_tui.tui.keys import (
    ALT_SECONDS,
    ESC_SECONDS,
    InputReader,
    teach_alt_enter,
)


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


class Terminal:
    """A reader whose clock stands still until a test moves it."""

    def __init__(self) -> None:
        self.clock = Clock()
        self.reader = InputReader(self.clock)

    def sends(self, *pieces: bytes) -> list[str]:
        """What the pieces become, one after the other without a pause."""
        return [name(event) for piece in pieces for event in self.reader.feed(piece)]

    def pauses(self, seconds: float) -> list[str]:
        """What is complete after so long without input."""
        self.clock.now += seconds
        wait = self.reader.wait_seconds
        return [] if wait is None or wait > 0 else [name(e) for e in self.reader.expire()]


def name(event: Message) -> str:
    if isinstance(event, events.Key):
        return event.key
    if isinstance(event, events.Paste):
        return f"paste {event.text!r}"
    return type(event).__name__


LEGACY = {
    b"\r": "enter",
    b"\n": "ctrl+j",
    b"\x1b\r": "alt+enter",
    b"\x1b\n": "alt+enter",
    b"\x1bOM": "enter",
    b"\x1b[27;2;13~": "shift+enter",
    b"\x1b[27;5;13~": "ctrl+enter",
    b"\x1b[27;3;13~": "alt+enter",
    b"\t": "tab",
    b"\x1b[Z": "shift+tab",
    b"\x03": "ctrl+c",
    b"\x04": "ctrl+d",
    b"\x07": "ctrl+g",
    b"\x08": "backspace",
    b"\x0c": "ctrl+l",
    b"\x0f": "ctrl+o",
    b"\x10": "ctrl+p",
    b"\x12": "ctrl+r",
    b"\x13": "ctrl+s",
    b"\x14": "ctrl+t",
    b"\x18": "ctrl+x",
    b"\x1a": "ctrl+z",
    b"\x7f": "backspace",
    b"\x1b\x7f": "ctrl+w",
    b"\x1b[A": "up",
    b"\x1bOA": "up",
    b"\x1b[1;3A": "alt+up",
    b"\x1b\x1b[A": "alt+up",
    b"\x1b\x1bOB": "alt+down",
    b"\x1b[1;4A": "alt+shift+up",
    b"\x1b[1;5A": "ctrl+up",
    b"\x1b\x1b[5~": "alt+pageup",
    b"\x1b[3~": "delete",
    b"\x1bOQ": "f2",
    b"\x1b[[B": "f2",
    b"\x1bOR": "f3",
    b"\x1b[17~": "f6",
    b"\x1by": "alt+y",
    b"\x1bN": "alt+shift+n",
    b"\x1b]": "alt+right_square_bracket",
    b"\x1bP": "alt+shift+p",
    b"a": "a",
    b"\xc3\xa9": "é",
}
KITTY = {
    b"\x1b[13u": "enter",
    b"\x1b[13;2u": "shift+enter",
    b"\x1b[13;3u": "alt+enter",
    b"\x1b[13;5u": "ctrl+enter",
    b"\x1b[106;5u": "ctrl+j",
    b"\x1b[9u": "tab",
    b"\x1b[9;2u": "shift+tab",
    b"\x1b[27u": "escape",
    b"\x1b[99;5u": "ctrl+c",
    b"\x1b[100;5u": "ctrl+d",
    b"\x1b[115;5u": "ctrl+s",
    b"\x1b[120;5u": "ctrl+x",
    b"\x1b[121;3u": "alt+y",
    b"\x1b[127u": "backspace",
    b"\x1b[127;3u": "alt+backspace",
    b"\x1b[1;3A": "alt+up",
    b"\x1b[97;;97u": "a",
    b"\x1b[57414u": "enter",
}


@pytest.mark.parametrize(
    ("data", "key"),
    [
        pytest.param(data, key, id=f"{kind} {data!r}")
        for kind, table in (("legacy", LEGACY), ("kitty", KITTY))
        for data, key in table.items()
    ],
)
def test_each_key_arrives_under_its_name(data: bytes, key: str) -> None:
    terminal = Terminal()

    assert terminal.sends(data) + terminal.pauses(ALT_SECONDS) == [key]


def test_textual_still_takes_alt_enter_for_enter() -> None:
    """The canary: when Textual knows Alt+Enter, `teach_alt_enter` goes."""
    code = (
        "from textual._xterm_parser import XTermParser\n"
        "parser = XTermParser()\n"
        "print([e.key for e in [*parser.feed('\\x1b\\r'), *parser.feed('')]])"
    )

    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)

    assert printed.stdout.strip() == "['enter']"


def test_textuals_own_parser_learns_alt_enter() -> None:
    teach_alt_enter()

    assert [name(event) for event in XTermParser().feed("\x1b\r")] == ["alt+enter"]


def test_a_lone_esc_is_a_key_after_ten_milliseconds() -> None:
    terminal = Terminal()

    assert terminal.sends(b"\x1b") == []
    assert terminal.pauses(ESC_SECONDS * 0.9) == []
    assert terminal.pauses(ESC_SECONDS * 0.2) == ["escape"]
    assert terminal.reader.wait_seconds is None


def test_two_escs_are_two_keys() -> None:
    terminal = Terminal()

    assert terminal.sends(b"\x1b\x1b") + terminal.pauses(ESC_SECONDS) == ["escape", "escape"]


@pytest.mark.parametrize("data", [*LEGACY, *KITTY], ids=repr)
def test_a_sequence_may_arrive_in_any_pieces(data: bytes) -> None:
    whole, pieces = Terminal(), Terminal()

    expected = whole.sends(data) + whole.pauses(ALT_SECONDS)
    found = pieces.sends(*[data[n : n + 1] for n in range(len(data))])

    assert found + pieces.pauses(ALT_SECONDS) == expected


@given(st.lists(st.sampled_from([*LEGACY, *KITTY, b"\x1b[200~p\x1b[A\r\x1b[201~"])), st.data())
def test_any_cut_of_any_keys_gives_the_same_keys(keys: list[bytes], data: st.DataObject) -> None:
    stream = b"".join(keys)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)))))
    whole, pieces = Terminal(), Terminal()

    expected = whole.sends(stream) + whole.pauses(1.1)
    found = pieces.sends(
        *[stream[a:b] for a, b in zip([0, *cuts], [*cuts, len(stream)], strict=True)]
    )

    assert found + pieces.pauses(1.1) == expected


def test_the_late_rest_of_a_sequence_is_not_typed() -> None:
    terminal = Terminal()

    terminal.sends(b"\x1b")
    assert terminal.pauses(0.05) == ["escape"]
    assert terminal.sends(b"[A") == ["up"]


def test_brackets_typed_later_are_typed() -> None:
    terminal = Terminal()
    terminal.sends(b"\x1b")
    terminal.pauses(0.05)

    terminal.clock.now += 1.0

    assert terminal.sends(b"[A") == ["left_square_bracket", "A"]


def test_a_sequence_that_never_ends_is_given_up() -> None:
    terminal = Terminal()

    assert terminal.sends(b"\x1b[1;5") == []
    assert terminal.pauses(1.1) == []
    assert terminal.sends(b"a") == ["a"]


@pytest.mark.parametrize(
    "reply",
    [
        pytest.param(b"\x1b]11;rgb:0000/0000/0000\x07", id="background colour"),
        pytest.param(b"\x1b]11;rgb:0000/0000/0000\x1b\\", id="the same, other end"),
        pytest.param(b"\x1bP>|XTerm(390)\x1b\\", id="version"),
        pytest.param(b"\x1b_Gi=1;OK\x1b\\", id="graphics"),
        pytest.param(b"\x1b[?62;c", id="attributes"),
        pytest.param(b"\x1b[9999999999u", id="a key that is no character"),
    ],
)
@pytest.mark.parametrize("size", [1, 1000])
def test_what_nobody_asked_for_is_not_typed(reply: bytes, size: int) -> None:
    terminal = Terminal()
    pieces = [reply[n : n + size] for n in range(0, len(reply), size)]

    assert terminal.sends(*pieces, b"x") == ["x"]


def test_alt_p_is_a_key_even_when_text_follows_at_once() -> None:
    terminal = Terminal()

    assert terminal.sends(b"\x1bPhello") == ["alt+shift+p", "h", "e", "l", "l", "o"]


@pytest.mark.parametrize("size", [1, 3, 1000])
def test_a_paste_is_one_event_whatever_is_in_it(size: int) -> None:
    terminal = Terminal()
    inside = b"one\r\x1b[31mtwo\x1b\x1b[A\n\x03 \x1b[201 three"
    stream = b"a\x1b[200~" + inside + b"\x1b[201~b"

    found = terminal.sends(*[stream[n : n + size] for n in range(0, len(stream), size)])

    assert found == ["a", f"paste {inside.decode()!r}", "b"]


def test_bytes_that_are_no_utf8_become_marks() -> None:
    terminal = Terminal()

    found = [
        event for piece in (b"caf\xe9 ", b"\xf0\x9f\x98 ok") for event in feed(terminal, piece)
    ]

    assert "".join(found) == "caf\ufffd \ufffd ok"


def feed(terminal: Terminal, data: bytes) -> list[str]:
    return [e.character or "" for e in terminal.reader.feed(data) if isinstance(e, events.Key)]


def test_a_character_cut_by_a_read_is_whole() -> None:
    terminal = Terminal()

    assert feed(terminal, b"\xf0\x9f") + feed(terminal, b"\x98\x80") == ["😀"]


def test_the_mouse_and_the_focus_arrive_too() -> None:
    terminal = Terminal()

    found = terminal.sends(b"\x1b[<0;3;4M\x1b[<0;3;4m", b"\x1b[I\x1b[O")

    assert found == ["MouseDown", "MouseUp", "AppFocus", "AppBlur"]


def test_a_large_paste_is_one_event_however_it_is_read() -> None:
    reader = InputReader()
    stream = b"\x1b[200~" + b"a line of a log\r\n" * 60_000 + b"\x1b[201~"

    found = [e for n in range(0, len(stream), 4096) for e in reader.feed(stream[n : n + 4096])]

    (paste,) = found
    assert isinstance(paste, events.Paste)
    assert paste.text == "a line of a log\r\n" * 60_000
