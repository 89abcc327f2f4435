"""The full-screen viewer: all of a text, with search. Draws only the rows in view."""

from __future__ import annotations

import os
from pathlib import Path
from typing import ClassVar

from rich.cells import chop_cells
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.geometry import Size
from textual.screen import ModalScreen
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.visual import Visual
from textual.widgets import Input, Static

from agent_tui.core.text import printable
from agent_tui.tui.figures import clip, plural

FILE_BYTES = 8_000_000
"""How much of a file the viewer loads."""
HINT = "/ search · n N next, previous · g G top, end · esc close"


def wrapped(text: str, width: int) -> list[str]:
    """`text` as rows of at most `width` cells, tabs expanded, nothing left out."""
    rows: list[str] = []
    for line in printable(text).split("\n"):
        shown = line.expandtabs(8)
        if len(shown) <= width and shown.isascii():
            rows.append(shown)
        else:
            rows.extend(chop_cells(shown, max(1, width)) or [""])
    return rows


def text_of_file(path: Path) -> str | None:
    """What the file holds, the end of it if it is very long; None if it cannot be read."""
    try:
        with path.open("rb") as stream:
            size = stream.seek(0, os.SEEK_END)
            stream.seek(max(0, size - FILE_BYTES))
            text = stream.read().decode("utf-8", "replace")
    except OSError:
        return None
    if size <= FILE_BYTES:
        return text
    return f"[the last {FILE_BYTES // 1_000_000} of {size // 1_000_000} MB; all: {path}]\n{text}"


class Pages(ScrollView, can_focus=True):
    """Rows of plain text; the found ones are marked."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self._text = text
        self._rows: list[str] = []
        self._width = 0
        self.words = ""
        """What is searched for; empty for nothing."""
        self.found: list[int] = []
        """Rows that contain it, upper and lower case alike."""

    def on_resize(self) -> None:
        """Wrap to the new width."""
        width = self.scrollable_content_region.width
        if width != self._width:
            self._width = width
            self._rows = wrapped(self._text, width)
            self.virtual_size = Size(width, len(self._rows))
            self.search(self.words)

    def search(self, words: str) -> None:
        """Mark the rows that contain `words` and go to the first one from here on."""
        self.words = words
        wanted = words.lower()
        self.found = [n for n, row in enumerate(self._rows) if wanted and wanted in row.lower()]
        if self.found:
            self._show(next((n for n in self.found if n >= self.scroll_offset.y), self.found[0]))
        self.refresh()

    def step(self, direction: int) -> None:
        """Go to the next (1) or previous (-1) row that was found."""
        here = self.scroll_offset.y
        if direction > 0:
            later = [n for n in self.found if n > here]
            target = later[0] if later else next(iter(self.found), None)
        else:
            earlier = [n for n in self.found if n < here]
            target = earlier[-1] if earlier else next(reversed(self.found), None)
        if target is not None:
            self._show(target)

    def _show(self, row: int) -> None:
        self.scroll_to(y=row, animate=False)

    def render_line(self, y: int) -> Strip:
        """One row of the view."""
        width = self.scrollable_content_region.width
        place = y + self.scroll_offset.y
        if place >= len(self._rows):
            return Strip.blank(width, self.rich_style)
        content = Content(self._rows[place])
        if self.words:
            lower, wanted, at = self._rows[place].lower(), self.words.lower(), 0
            while (at := lower.find(wanted, at)) >= 0:
                content = content.stylize("reverse", at, at + len(wanted))
                at += len(wanted)
        strips = Visual.to_strips(self, content, width, 1, self.visual_style, apply_selection=False)
        return strips[0] if strips else Strip.blank(width, self.rich_style)


class OutputScreen(ModalScreen[None]):
    """Shows one text. `/` searches, n and N step through what was found, Esc or q closes."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("q", "close", "Close"),
        Binding("escape", "back", "Close"),
        Binding("slash", "find", "Search"),
        Binding("n", "step(1)", "Next"),
        Binding("N,upper_n", "step(-1)", "Previous"),
        Binding("g", "top", "Top"),
        Binding("G,upper_g", "bottom", "Bottom"),
    ]

    def __init__(self, title: str, text: str) -> None:
        super().__init__()
        self._title = title
        self._text = text

    def compose(self) -> ComposeResult:
        """Title, text, search line, hints."""
        yield Static(
            Content(clip(printable(self._title), self.app.size.width - 2)), id="output-title"
        )
        yield Pages(self._text)
        search = Input(placeholder="search", id="output-search", compact=True)
        search.display = False
        yield search
        yield Static(
            Content("/ search · n N next, previous · g G top, end · esc close"), id="output-hint"
        )

    def on_mount(self) -> None:
        """The text takes the keys."""
        self.query_one(Pages).focus()

    def action_find(self) -> None:
        """Open the search line."""
        search = self.query_one(Input)
        search.display = True
        search.focus()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Search."""
        pages = self.query_one(Pages)
        pages.search(event.value)
        self.query_one(Input).display = False
        pages.focus()
        found = plural(len(pages.found), "row") if event.value else ""
        said = (
            f"{found} with “{printable(event.value)}” · n N · esc close" if found else "esc close"
        )
        self.query_one("#output-hint", Static).update(Content(said))

    def action_step(self, direction: int) -> None:
        """To the next or previous find."""
        self.query_one(Pages).step(direction)

    def action_top(self) -> None:
        """To the first row."""
        self.query_one(Pages).scroll_home(animate=False)

    def action_bottom(self) -> None:
        """To the last row."""
        self.query_one(Pages).scroll_end(animate=False)

    def action_back(self) -> None:
        """Leave the search line, else the screen."""
        search = self.query_one(Input)
        if search.display:
            search.display = False
            self.query_one(Pages).focus()
        else:
            self.dismiss(None)

    def action_close(self) -> None:
        """Back to the chat."""
        self.dismiss(None)
