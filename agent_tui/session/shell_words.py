"""What a shell makes of one word, as far as that is sure, and a strict reading of a command line.

A word whose value depends on anything but its own text (variables, patterns, substitutions) has no
literal value here. `read_line` knows less of the language than a shell; what it does not know it
refuses, so that its reading can be held against that of a full grammar.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from pathlib import Path

_NAME = re.compile(r"[A-Za-z_]\w*=")
_BRACES = re.compile(r"\{[^}]*(,|\.\.)")
_SEPARATORS = ("&&", "||", "|&", ";", "&", "|", "\n", "(", ")")
_OPENINGS = ("(", "{", "[", "'", '"')
"""What makes more of a `$` than the name of a variable."""
_REDIRECTS = ("&>>", "&>", "<>", ">>", ">|", ">&", "<&", ">", "<")


@dataclass(frozen=True, slots=True)
class Word:
    """One word of a command."""

    text: str
    """As it was written."""
    literal: str | None
    """What the program gets; None if that is not sure."""

    @property
    def known(self) -> str:
        """The literal value, else what was written without its quotes: a hint, not more."""
        return self.text.replace('"', "").replace("'", "") if self.literal is None else self.literal


def read_word(text: str) -> Word:
    """The word that `text` is, quotes and escapes taken off."""
    return Word(text, _literal(text))


def _literal(text: str) -> str | None:
    out: list[str] = []
    bare: list[str] = []
    """What stands outside of quotes, a quoted character being a dash."""
    place = 0
    while place < len(text):
        sign = text[place]
        if sign == "'":
            end = text.find("'", place + 1)
            if end < 0:
                return None
            piece = text[place + 1 : end]
            place = end + 1
        elif sign == '"':
            found = _double_quoted(text, place + 1)
            if found is None:
                return None
            piece, place = found
        elif sign == "\\":
            if place + 1 >= len(text):
                return None
            piece = "" if text[place + 1] == "\n" else text[place + 1]
            place += 2
        elif sign in "$`*?[":
            return None
        else:
            out.append(sign)
            bare.append(sign)
            place += 1
            continue
        out.append(piece)
        bare.append("-" * max(1, len(piece)))
    return _expanded("".join(out), "".join(bare))


def _double_quoted(text: str, place: int) -> tuple[str, int] | None:
    """The value of what is quoted from `place` on, and where it ends; None if it is not sure."""
    out: list[str] = []
    while place < len(text):
        sign = text[place]
        if sign == '"':
            return "".join(out), place + 1
        if sign in "$`":
            return None
        if sign == "\\" and place + 1 < len(text) and text[place + 1] in '$`"\\\n':
            out.append("" if text[place + 1] == "\n" else text[place + 1])
            place += 2
            continue
        out.append(sign)
        place += 1
    return None


def _expanded(value: str, bare: str) -> str | None:
    """`value` with its `~`; None where braces or a `~` stand for something that is not sure."""
    if _BRACES.search(bare):
        return None
    if bare.startswith("~"):
        if bare != "~" and not bare.startswith("~/"):
            return None
        return str(Path.home()) + value[1:]
    if "~" in bare and (_NAME.match(bare) or ":~" in bare or "=~" in bare):
        return None
    return value


@dataclass(frozen=True, slots=True)
class Segment:
    """The words between two separators, redirections left out, as (start, end) in the text."""

    words: tuple[tuple[int, int], ...]
    redirects: tuple[tuple[str, int], ...]
    """Each operator, and where its target begins."""


def read_line(command: str) -> list[Segment] | None:
    """The segments of a command line; None for anything but words, separators and redirections.

    Refuses substitutions, here-documents, arithmetic, `[[`, `$'…'` and `${…}`.
    """
    reader = _Reader(command)
    return reader.segments if reader.read() else None


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.place = 0
        self.segments: list[Segment] = []
        self._words: list[tuple[int, int]] = []
        self._redirects: list[tuple[str, int]] = []
        self._target_of: str | None = None

    def read(self) -> bool:
        text = self.text
        while self.place < len(text):
            sign = text[self.place]
            if sign in " \t":
                self.place += 1
            elif text.startswith("\\\n", self.place):
                self.place += 2
            elif sign == "#":
                end = text.find("\n", self.place)
                self.place = len(text) if end < 0 else end
            elif not (self._redirect() or self._separator() or self._word()):
                return False
        if self._target_of is not None:
            return False
        self._close()
        return True

    def _redirect(self) -> bool:
        digits = re.compile(r"\d*").match(self.text, self.place)
        start = digits.end() if digits else self.place
        operator = next((op for op in _REDIRECTS if self.text.startswith(op, start)), None)
        if operator is None or self._target_of is not None:
            return False
        if operator.startswith("&") and start > self.place:
            return False
        after = start + len(operator)
        if self.text.startswith(("<", "("), after):  # `<<`, `<(`, `>(`
            return False
        self.place, self._target_of = after, operator
        return True

    def _separator(self) -> bool:
        found = next((op for op in _SEPARATORS if self.text.startswith(op, self.place)), None)
        if found is None or self._target_of is not None:
            return False
        if self.text.startswith("((", self.place):
            return False
        self.place += len(found)
        self._close()
        return True

    def _word(self) -> bool:
        start = self.place
        while self.place < len(self.text) and self.text[self.place] not in " \t\n;&|()<>":
            if not self._step():
                return False
        if self.place == start or self.text[start : self.place] == "[[":
            return False
        if self.place < len(self.text) and self.text[self.place] == "(":  # `f()`, `a=(`, `@(`
            return False
        if self._target_of is not None:
            self._redirects.append((self._target_of, start))
            self._target_of = None
        else:
            self._words.append((start, self.place))
        return True

    def _step(self) -> bool:
        """Over one character or one quoted piece of a word."""
        sign, text = self.text[self.place], self.text
        if sign == "\\":
            self.place += 2
            return self.place <= len(text)
        if sign == "'":
            end = text.find("'", self.place + 1)
            self.place = end + 1
            return end >= 0
        if sign == '"':
            return self._quoted()
        if sign == "`" or (sign == "$" and text.startswith(_OPENINGS, self.place + 1)):
            return False
        self.place += 1
        return True

    def _quoted(self) -> bool:
        self.place += 1
        text = self.text
        while self.place < len(text):
            sign = text[self.place]
            if sign == '"':
                self.place += 1
                return True
            if sign == "`" or (sign == "$" and text.startswith(_OPENINGS, self.place + 1)):
                return False
            self.place += 2 if sign == "\\" else 1
        return False

    def _close(self) -> None:
        if self._words or self._redirects:
            self.segments.append(Segment(tuple(self._words), tuple(self._redirects)))
        self._words, self._redirects = [], []


def has_odd_characters(command: str) -> bool:
    """Whether there are characters that a screen, a shell and a grammar may read differently."""
    return any(
        sign not in "\t\n"
        and (
            sign < " "
            or sign == "\x7f"
            or (sign > "~" and unicodedata.category(sign)[0] in "CZ")
            or "\ud800" <= sign <= "\udfff"
        )
        for sign in command
    )
