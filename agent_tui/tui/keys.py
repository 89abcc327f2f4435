"""What terminals really send: bytes in, Textual's events out, at once and each one whole.

Textual's parser gets complete sequences only. Three things are done before it sees anything:
a paste is cut out in one piece (the parser takes an escape character inside a paste for keys, a
newline after it for Enter); a lone Esc acts after 10 ms while a sequence that arrives in pieces is
waited for; replies that nobody asked for are dropped instead of being typed.
"""

from __future__ import annotations

import codecs
import re
import time
from collections.abc import Callable, Iterator, Mapping
from types import SimpleNamespace
from typing import Any, cast

from textual import events
from textual._ansi_sequences import ANSI_SEQUENCES_KEYS
from textual._xterm_parser import XTermParser
from textual.message import Message

from agent_tui.config.keys import ACTIONS

ESC_SECONDS = 0.010
"""How long an escape character alone may still become a sequence."""
ALT_SECONDS = 0.1
"""How long ESC [ or ESC O may still become more than Alt+[ or Alt+O."""
SEQUENCE_SECONDS = 1.0
"""How long a sequence may take to arrive before it is given up."""

_SELECTING = {
    "select_left": "cursor_left(True)",
    "select_right": "cursor_right(True)",
    "select_up": "cursor_up(True)",
    "select_down": "cursor_down(True)",
    "select_line_start": "cursor_line_start(True)",
    "select_line_end": "cursor_line_end(True)",
    "select_word_left": "cursor_word_left(True)",
    "select_word_right": "cursor_word_right(True)",
}
COMPOSER_KEYS: Mapping[str, str] = {
    **{
        key: _SELECTING.get(name, name)
        for name, action in ACTIONS.items()
        if action.place == "composer"
        for key in action.keys
    },
    "escape": "close_popup",
    "ctrl+c": "copy",
    "super+c": "copy",
    "ctrl+x": "cut",
    "super+x": "cut",
}
"""What each usual key does in the composer; every other key goes on to the app."""

_ESC = "\x1b"
_PASTE_START = "\x1b[200~"
_PASTE_END = "\x1b[201~"

_SEQUENCE = re.compile(
    r"(?P<alt>\x1b\x1b(?:\[|O)[A-DFH]|\x1b\x1b\[[0-9]~)"  # Alt as a second ESC
    r"|(?P<reply>\x1b\][0-9]+;[^\x07\x1b]*(?:\x07|\x1b\\)"  # OSC, DCS, APC
    r"|\x1bP[0-9]?[$+!>][^\x1b]*\x1b\\|\x1b_G[^\x1b]*\x1b\\)"
    r"|(?P<other>\x1b\[27;[0-9]+;[0-9]+~)"
    r"|\x1b\[M[\s\S]{3}"  # mouse, old style
    r"|\x1b\[\[[A-E]"  # function keys of the Linux console
    r"|\x1b\[[0-9]{1,2}\$(?![a-z])"  # Shift on rxvt
    r"|\x1b\[(?![M\[])[0-?]*[ -/]*[@-~]"
    r"|\x1bO[0-9;]*[@-~]"
    r"|\x1b[^\x1b\[O]"  # Alt and a character
)
_BEGUN = re.compile(
    r"\x1b\x1b?(?:"
    r"\[?|\[[0-?]+[ -/]*|\[M[\s\S]{0,2}|\[\[|O[0-9;]*"
    r"|\](?:[0-9]+(?:;[^\x07\x1b]{0,4096}\x1b?)?)?"
    r"|P(?:[0-9]?(?:[$+!>][^\x1b]{0,4096}\x1b?)?)?|_(?:G[^\x1b]{0,4096}\x1b?)?"
    r")\Z"
)

_REPLY_STARTS = ("]", "P", "_")

_ALT_ENTER = (SimpleNamespace(value="alt+enter"),)
ALT_ENTER_SEQUENCES = ("\x1b\r", "\x1b\n")
"""Alt+Enter on terminals without the kitty protocol, which Textual 8.2.8 takes for Enter
(Textualize/textual#6663). To be removed when it does not; a test notices."""


def teach_alt_enter() -> None:
    """Make Textual's parser know Alt+Enter on plain terminals."""
    table = cast("dict[str, Any]", ANSI_SEQUENCES_KEYS)  # a dict that is declared read-only
    table.update(dict.fromkeys(ALT_ENTER_SEQUENCES, _ALT_ENTER))


class _Piece(str):
    """A sequence in the form that the parser reads."""

    __slots__ = ("raw",)
    raw: str
    """As the terminal sent it."""


def raw_of(event: events.Key) -> str:
    """What the terminal sent for a key; empty if it did not come from one."""
    raw = vars(event).get("raw", "")
    return str(raw)


class InputReader:
    """Turns what a terminal sends into events, whatever pieces it arrives in."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        teach_alt_enter()
        self._clock = clock
        self._decode = codecs.getincrementaldecoder("utf-8")(errors="replace").decode
        self._parser = XTermParser()
        self._held = ""
        self._held_since = 0.0
        self._paste: list[str] | None = None
        self._esc_given_up_at = float("-inf")

    @property
    def wait_seconds(self) -> float | None:
        """How long to wait for more input before calling `expire`; None for as long as it takes."""
        if not self._held or self._paste is not None:
            return None
        return max(self._held_since + self._patience() - self._clock(), 0.0)

    def feed(self, data: bytes) -> list[Message]:
        """The events that are complete with `data`."""
        text = self._held + self._decode(data)
        if not self._held and self._continues_an_esc(text):
            text = _ESC + text
        self._held = ""
        found = [event for piece in self._cut(text) for event in self._events_of(piece)]
        self._held_since = self._clock()
        return found

    def expire(self) -> list[Message]:
        """The events that are complete because nothing more came within `wait_seconds`."""
        held, self._held = self._held, ""
        found: list[Message] = []
        while held.startswith(_ESC) and held[1:2] in ("", _ESC):
            self._esc_given_up_at = self._clock()
            found += self._events_of(_ESC)
            held = held[1:]
        if len(held) == 2 or held[1:2] in _REPLY_STARTS:
            found += self._events_of(_alt_key(held[:2]))
            found += self._events_of(held[2:])
        return found

    def _patience(self) -> float:
        if self._held.strip(_ESC) == "":
            return ESC_SECONDS
        is_short = len(self._held) == 2 or self._held[1] in _REPLY_STARTS
        return ALT_SECONDS if is_short else SEQUENCE_SECONDS

    def _continues_an_esc(self, text: str) -> bool:
        """Whether `text` is the rest of a sequence whose ESC has already counted as a key."""
        if len(text) < 2 or self._clock() - self._esc_given_up_at > ALT_SECONDS:
            return False
        whole = _ESC + text
        return text[0] in "[O" and bool(_SEQUENCE.fullmatch(whole) or _BEGUN.fullmatch(whole))

    def _cut(self, text: str) -> Iterator[str | events.Paste]:
        """Pastes, whole sequences and the plain text between; keeps back what is unfinished."""
        at = 0
        while at < len(text):
            if self._paste is not None:
                at = self._take_paste(text, at)
                if at < 0:
                    return
                yield events.Paste("".join(self._paste))
                self._paste = None
                continue
            escape = text.find(_ESC, at)
            if escape != at:
                end = escape if escape > 0 else len(text)
                yield text[at:end]
                at = end
            elif (match := _SEQUENCE.match(text, at)) and not self._may_grow(text, match):
                at = match.end()
                if match[0] == _PASTE_START:
                    self._paste = []
                elif not match["reply"]:
                    yield _usual(match)
            elif _BEGUN.match(text, at):
                self._held = text[at:]
                return
            else:
                yield _ESC
                at += 1

    @staticmethod
    def _may_grow(text: str, match: re.Match[str]) -> bool:
        """Whether `match` is Alt and a character, or the begin of an OSC, DCS or APC reply."""
        return match[0][1:] in _REPLY_STARTS and bool(_BEGUN.match(text, match.start()))

    def _take_paste(self, text: str, at: int) -> int:
        """Add to the paste up to its end mark; where to go on, or -1 when it is not complete."""
        assert self._paste is not None
        end = text.find(_PASTE_END, at)
        if end >= 0:
            self._paste.append(text[at:end])
            return end + len(_PASTE_END)
        kept = next(
            (n for n in range(len(_PASTE_END) - 1, 0, -1) if text.endswith(_PASTE_END[:n], at)), 0
        )
        self._paste.append(text[at : len(text) - kept])
        self._held = text[len(text) - kept :]
        return -1

    def _events_of(self, piece: str | events.Paste) -> list[Message]:
        if not piece:
            return []
        if isinstance(piece, events.Paste):
            return [piece]
        # The parser is foreign code and raises on numbers that are no characters.
        try:
            found = list(self._parser.feed(piece))
            if not found and piece.startswith(_ESC):
                found = list(self._parser.feed("")) if len(piece) <= 2 else []
                self._renew_parser()
        except Exception:
            self._renew_parser()
            return []
        for event in found:
            if isinstance(event, events.Key):
                sent = getattr(piece, "raw", piece)
                vars(event)["raw"] = sent if sent.startswith(_ESC) else event.character or sent
        return found

    def _renew_parser(self) -> None:
        """A parser that waits for nothing and knows what the old one knew about the mouse."""
        old, self._parser = self._parser, XTermParser()
        self._parser.mouse_pixels = old.mouse_pixels
        self._parser.terminal_size = old.terminal_size
        self._parser.terminal_pixel_size = old.terminal_pixel_size
        self._parser.last_x, self._parser.last_y = old.last_x, old.last_y


def _usual(match: re.Match[str]) -> _Piece:
    """The sequence in a form whose modifiers Textual's parser reads."""
    piece = _Piece(_readable(match))
    piece.raw = match[0]
    return piece


def _readable(match: re.Match[str]) -> str:
    sequence = match[0]
    last = sequence[-1]
    if match["alt"]:
        return f"\x1b[{sequence[3]};3~" if last == "~" else f"\x1b[1;3{last}"
    if match["other"]:  # xterm's modifyOtherKeys
        _, modifiers, code = sequence[2:-1].split(";")
        return f"\x1b[{code};{modifiers}u"
    return _alt_key(sequence)


def _alt_key(sequence: str) -> str:
    """Alt and a punctuation mark in kitty's form; anything else as it is."""
    mark = sequence[1:]
    is_mark = len(mark) == 1 and mark.isprintable() and not mark.isalnum()
    return f"\x1b[{ord(mark)};3u" if is_mark else sequence
