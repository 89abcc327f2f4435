"""Vim's keys for the composer: a small machine over a text and a cursor. Knows no widget.

There is NORMAL and INSERT. What is not one of its keys is left to the composer, so Enter sends and
Ctrl+C stops in both. Offsets count characters from the beginning of the text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_WORD = re.compile(r"\w+|[^\w\s]+")
_COMMAND = re.compile(r"(?P<n>[1-9]\d*)?(?P<op>[dcy])?(?P<m>[1-9]\d*)?(?P<rest>.*)", re.DOTALL)
_MOTIONS = "hlwbe0^$GjkfFtT"
_MOST_COUNT = 10_000


@dataclass(frozen=True, slots=True)
class Effect:
    """What a key does: replace `start` to `end` by `text` if they differ, then go to `cursor`."""

    cursor: int | None = None
    start: int = 0
    end: int = 0
    text: str = ""
    action: str = ""
    """What the composer does itself: `undo`, `redo`, `cursor_up`, `cursor_down`."""

    @property
    def is_edit(self) -> bool:
        """Whether the text changes."""
        return self.start != self.end or bool(self.text)


NOTHING = Effect()


class Vim:
    """The state of the keys."""

    def __init__(self) -> None:
        self.is_normal = False
        self._register = ""
        self._is_linewise = False
        self._keys = ""
        """What of a command has been typed: counts, an operator, a key that waits for another."""

    @property
    def words(self) -> str:
        """For the hint line."""
        return f"NORMAL {self._keys}".rstrip() if self.is_normal else "INSERT"

    def leave_insert(self) -> bool:
        """Esc: to NORMAL, or forget half a command; False if it means nothing here."""
        if not self.is_normal:
            self.is_normal = True
            return True
        had, self._keys = bool(self._keys), ""
        return had

    def begin(self) -> None:
        """A new draft is typed into."""
        self.is_normal, self._keys = False, ""

    def press(self, key: str, character: str | None, text: str, cursor: int) -> Effect | None:
        """What a key does to the text; None if it is not one of these keys."""
        if not self.is_normal:
            return None
        if key == "ctrl+r":
            self._keys = ""
            return Effect(action="redo")
        if key in ("backspace", "left", "space") and not self._keys:
            return Effect(cursor=max(0, cursor - 1)) if key == "backspace" else None
        if character is None or len(character) != 1 or not character.isprintable():
            self._keys = ""
            return None
        if not text and character in "/!@?":
            if character != "?":
                self.begin()
            return None
        self._keys += character
        effect = self._command(text, cursor)
        if effect is not None:
            self._keys = ""
        return effect or NOTHING

    # -- commands ----------------------------------------------------------------------------

    def _command(self, text: str, cursor: int) -> Effect | None:
        """What the keys so far come to; None while more are needed."""
        match = _COMMAND.fullmatch(self._keys)
        assert match is not None  # every part of it may be missing
        count = min(int(match["n"] or 1) * int(match["m"] or 1), _MOST_COUNT)
        operator, rest = match["op"] or "", match["rest"]
        if not rest:
            return None
        if operator:
            return self._operate(operator, rest, count, text, cursor)
        if rest in ("g", "r", "f", "F", "t", "T"):
            return None
        if rest[0] in "rfFtT" or rest == "gg" or rest in _MOTIONS:
            return self._moved_or_replaced(rest, count, text, cursor)
        return self._simple(rest, count, text, cursor)

    def _moved_or_replaced(self, rest: str, count: int, text: str, cursor: int) -> Effect:
        if rest[0] == "r":
            end = min(cursor + count, _line_end(text, cursor))
            return Effect(max(cursor, end - 1), cursor, end, rest[1] * (end - cursor))
        if rest in ("j", "k"):
            return Effect(action="cursor_down" if rest == "j" else "cursor_up")
        place = _motion(rest, count, text, cursor)
        return NOTHING if place is None else Effect(place)

    def _simple(self, key: str, count: int, text: str, cursor: int) -> Effect:
        start, end = _line_start(text, cursor), _line_end(text, cursor)
        match key:
            case "i" | "a" | "I" | "A":
                self.is_normal = False
                place = {
                    "i": cursor,
                    "a": min(cursor + 1, end),
                    "I": _indent(text, start),
                    "A": end,
                }
                return Effect(place[key])
            case "o" | "O":
                self.is_normal = False
                at = end if key == "o" else start
                return Effect(at + (key == "o"), at, at, "\n")
            case "x" | "X":
                first, last = (cursor, min(cursor + count, end)) if key == "x" else (
                    max(cursor - count, start), cursor
                )  # fmt: skip
                return self._take(text, first, last)
            case "D" | "C":
                self.is_normal = key == "D"
                return self._take(text, cursor, end)
            case "s":
                self.is_normal = False
                return self._take(text, cursor, min(cursor + count, end))
            case "p" | "P":
                return self._put(key, count, text, cursor)
            case "u":
                return Effect(action="undo")
            case "J" if end < len(text):
                after = end + 1 + len(text[end + 1 :]) - len(text[end + 1 :].lstrip(" \t"))
                return Effect(end, end, after, " ")
            case "~" if cursor < end:
                last = min(cursor + count, end)
                return Effect(last, cursor, last, text[cursor:last].swapcase())
        return NOTHING

    def _operate(
        self, operator: str, rest: str, count: int, text: str, cursor: int
    ) -> Effect | None:
        if rest in ("g", "f", "F", "t", "T"):
            return None
        if rest == operator:
            return self._lines(operator, count, text, cursor)
        if rest in ("iw", "aw"):
            return self._on_word(operator, rest, text, cursor)
        if rest in ("i", "a"):
            return None
        motion = "e" if (operator, rest) == ("c", "w") else rest  # as ever
        place = _motion(motion, count, text, cursor)
        if place is None:
            return NOTHING
        first, last = sorted((cursor, place))
        if motion[0] in "eft" and place >= cursor:
            last = min(last + 1, len(text))
        return self._apply(operator, text, first, last)

    def _on_word(self, operator: str, rest: str, text: str, cursor: int) -> Effect:
        for found in _WORD.finditer(text):
            if found.start() <= cursor < found.end():
                end = found.end()
                if rest == "aw":
                    end += len(text[end:]) - len(text[end:].lstrip(" "))
                return self._apply(operator, text, found.start(), end)
        return NOTHING

    def _lines(self, operator: str, count: int, text: str, cursor: int) -> Effect:
        start, end = _line_start(text, cursor), _line_end(text, cursor)
        for _ in range(count - 1):
            end = _line_end(text, min(end + 1, len(text)))
        if operator == "c":
            return self._apply(operator, text, start, end)
        self._register, self._is_linewise = text[start:end], True
        if operator == "y":
            return Effect(cursor)
        if end < len(text):
            return Effect(start, start, end + 1)
        return Effect(_line_start(text, max(0, start - 1)), max(0, start - 1), end)

    def _apply(self, operator: str, text: str, first: int, last: int) -> Effect:
        if operator == "y":
            self._register, self._is_linewise = text[first:last], False
            return Effect(first)
        self.is_normal = operator != "c"
        return self._take(text, first, last)

    def _take(self, text: str, first: int, last: int) -> Effect:
        if last > first:
            self._register, self._is_linewise = text[first:last], False
        return Effect(first, first, last)

    def _put(self, key: str, count: int, text: str, cursor: int) -> Effect:
        if not self._register:
            return NOTHING
        if self._is_linewise:
            lines = "\n".join([self._register] * count)
            if key == "P":
                at = _line_start(text, cursor)
                return Effect(at, at, at, f"{lines}\n")
            at = _line_end(text, cursor)
            return Effect(at + 1, at, at, f"\n{lines}")
        at = min(cursor + (key == "p"), _line_end(text, cursor))
        put = self._register * count
        return Effect(at + len(put) - 1, at, at, put)


def _line_start(text: str, at: int) -> int:
    return text.rfind("\n", 0, at) + 1


def _line_end(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end


def _indent(text: str, start: int) -> int:
    line = text[start : _line_end(text, start)]
    return start + len(line) - len(line.lstrip())


def _motion(keys: str, count: int, text: str, cursor: int) -> int | None:
    """Where a motion leads; None if nowhere."""
    start, end = _line_start(text, cursor), _line_end(text, cursor)
    match keys[0]:
        case "h":
            return max(start, cursor - count)
        case "l":
            return min(end, cursor + count)
        case "0":
            return start
        case "^":
            return _indent(text, start)
        case "$":
            return end
        case "G":
            return len(text)
        case "g":
            return 0
        case "w":
            return _nth([found.start() for found in _WORD.finditer(text, cursor)
                         if found.start() > cursor], count, len(text))  # fmt: skip
        case "e":
            return _nth([found.end() - 1 for found in _WORD.finditer(text, cursor)
                         if found.end() - 1 > cursor], count, len(text))  # fmt: skip
        case "b":
            before = [found.start() for found in _WORD.finditer(text) if found.start() < cursor]
            return before[-min(count, len(before))] if before else 0
        case "f" | "t" if len(keys) > 1:
            at = cursor
            for _ in range(count):
                at = text.find(keys[1], at + 1, end)
                if at < 0:
                    return None
            return at - (keys[0] == "t")
        case "F" | "T" if len(keys) > 1:
            at = cursor
            for _ in range(count):
                at = text.rfind(keys[1], start, at)
                if at < 0:
                    return None
            return at + (keys[0] == "T")
    return None


def _nth(places: list[int], count: int, last: int) -> int:
    return places[count - 1] if len(places) >= count else last
