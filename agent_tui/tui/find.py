"""Searching the transcript: `/find`, or `/` on the block cursor; the keyboard is lent for that.

While the line is open keys are typed into it, and the draft stays as it is. Then n and N go from
place to place, together with the keys of the block cursor.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_tui.core.text import one_line
from agent_tui.tui.finding import Finder, Hit, Words

if TYPE_CHECKING:
    from agent_tui.tui.app import ChatApp

_SHOWN_CHARACTERS = 24


class Find:
    """The search over the transcript, if there is one."""

    def __init__(self, app: ChatApp) -> None:
        self._app = app
        self.line: str | None = None
        """What is typed; None while the line is closed."""
        self._finder: Finder | None = None
        self._hit: Hit | None = None
        self.sentence = ""
        """`3 of 17 “needle”`; empty if nothing was searched for."""

    @property
    def is_on(self) -> bool:
        """Something was searched for, and its places are marked."""
        return self._finder is not None

    @property
    def words(self) -> str:
        """What was searched for; empty for nothing."""
        return "" if self._finder is None else self._finder.words.text

    def find(self, text: str) -> str | None:
        """Search for `text`; without it, open the line to type it into."""
        if not self._app.transcript.blocks:
            return "There is nothing to search yet."
        self._app.modes.begin_find()
        if text:
            self._begin(text)
        else:
            self._open()
        return None

    def key(self, key: str, character: str | None) -> bool:
        """Use a key; False if it is not for the search."""
        if self.line is not None:
            return self._type(self.line, key, character)
        if key == "slash":
            self._open()
        elif key in ("n", "N", "upper_n") and self._finder is not None:
            self._app.start(self._step(1 if key == "n" else -1))
        else:
            return False
        return True

    def end(self) -> None:
        """Nothing is searched for, nothing is marked."""
        self.line = self._finder = self._hit = None
        self.sentence = ""
        self._app.transcript.find(None)

    def _open(self) -> None:
        self._app.chrome.end_flash()
        self.line = ""

    def _type(self, line: str, key: str, character: str | None) -> bool:
        if key == "enter":
            self.line = None
            if line.strip():
                self._begin(line)
        elif key == "escape" and self.is_on:
            self.line = None
        elif key in ("backspace", "ctrl+h"):
            self.line = line[:-1]
        elif key == "ctrl+u":
            self.line = ""
        elif character is not None and character.isprintable():
            self.line = line + character
        else:
            return False
        return True

    def paste(self, text: str) -> bool:
        """Put a text into the line; False if it is closed."""
        if self.line is None:
            return False
        self.line += one_line(text, 1_000)
        return True

    def _begin(self, text: str) -> None:
        transcript = self._app.transcript
        self._finder = Finder(Words(text), lambda: transcript.blocks)
        self._hit = None
        self.sentence = f"searching for {_quoted(self._finder)}…"
        transcript.find(self._finder.words)
        self._app.start(self._first(self._finder))

    async def _first(self, finder: Finder) -> None:
        await finder.look()
        if finder is self._finder:
            self._go_to(finder, finder.first_from(self._app.transcript.first_in_view))

    async def _step(self, direction: int) -> None:
        finder = self._finder
        if finder is None:
            return
        await finder.look()
        here, cursor = self._hit, self._app.transcript.cursor
        if cursor is not None and (here is None or here.block is not cursor):
            here = Hit(cursor, -1 if direction > 0 else finder.places_in(cursor))
        if finder is not self._finder:
            return
        if here is None:
            self._go_to(finder, finder.first_from(self._app.transcript.first_in_view))
        else:
            self._go_to(finder, finder.after(here) if direction > 0 else finder.before(here))

    def _go_to(self, finder: Finder, hit: Hit | None) -> None:
        self._hit = hit
        self.sentence = f"no {_quoted(finder)}"
        if hit is not None:
            is_seen = self._app.transcript.show_hit(hit, finder.places_in(hit.block))
            number = f"{finder.number_of(hit):,} of {finder.total:,}"
            where = "" if is_seen else ", hidden: enter shows it"
            self.sentence = f"{number} {_quoted(finder)}{where}"
        self._app.redraw()


def _quoted(finder: Finder) -> str:
    return f"“{one_line(finder.words.text, _SHOWN_CHARACTERS)}”"
