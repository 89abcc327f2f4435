"""The full-screen viewer: all of a text, however long, with search; follows what still grows."""

from __future__ import annotations

import asyncio
import os
from bisect import bisect_right
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, cast

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import Input, Static

from agent_tui.core.text import printable
from agent_tui.tui.editor import EditorError, edit, open_in_editor
from agent_tui.tui.figures import clip, plural
from agent_tui.tui.pages import FOUND_LINES, Pages
from agent_tui.tui.screens.page import Page
from agent_tui.tui.selecting import Copied
from agent_tui.tui.texts import LongText, PlainText

if TYPE_CHECKING:
    from agent_tui.tui.app import ChatApp

POLL_SECONDS = 0.25
"""How often is looked whether the text has grown."""
NOTICE_SECONDS = 3.0
COPIED_CHARACTERS = 1_000_000
"""Of a longer text only the end is copied."""
HINTS = (
    "/ search · g G top, end · w wrap · ←→ sideways · f follow · y copy · o editor · esc close",
    "/ search · g G top, end · w wrap · f follow · y copy · o editor · esc close",
    "/ search · g G · w · f · y · o · esc close",
    "/ · g G · w f y o · esc",
)
FOUND_HINTS = ("n N next, previous · / search · esc close", "n N · / · esc")


class OutputScreen(Page[None]):
    """Shows one text. `/` searches, n and N step through what was found, Esc or q closes."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("q", "close", "Close"),
        Binding("escape", "back", "Close"),
        Binding("slash,ctrl+f", "find", "Search"),
        Binding("n", "step(1)", "Next"),
        Binding("N,upper_n", "step(-1)", "Previous"),
        Binding("g,home", "top", "Top"),
        Binding("G,upper_g,end", "bottom", "Bottom"),
        Binding("up,k", "move(-1)", "Up"),
        Binding("down,j", "move(1)", "Down"),
        Binding("pageup,b", "page(-1)", "Page up"),
        Binding("pagedown,space", "page(1)", "Page down"),
        Binding("w", "wrap", "Wrap"),
        Binding("left,h", "sideways(-1)", "Left"),
        Binding("right,l", "sideways(1)", "Right"),
        Binding("f", "follow", "Follow"),
        Binding("y", "copy", "Copy"),
        Binding("o,ctrl+g", "open", "Editor"),
    ]

    def __init__(
        self,
        title: str,
        text: str | LongText,
        *,
        path: Path | None = None,
        follows: bool = False,
        words: str = "",
        wraps: bool = True,
    ) -> None:
        """`path` is the file that the text comes from, for the editor; `words` are searched for."""
        super().__init__()
        self._title = title
        self._text: LongText = PlainText(text, at_words=True) if isinstance(text, str) else text
        self._path = path
        self._pages = Pages(self._text, follows=follows, wraps=wraps)
        self._is_looking = False
        self._wanted = words
        self._notice = ""

    def compose(self) -> ComposeResult:
        """Title, text, search line, hints."""
        yield Static(id="output-title")
        yield self._pages
        search = Input(placeholder="search", id="output-search", compact=True)
        search.cursor_blink = False
        search.display = False
        yield search
        yield Static(id="output-hint")

    def on_mount(self) -> None:
        """The text takes the keys; what it is made of is looked at in the background."""
        self._pages.focus()
        self.set_interval(POLL_SECONDS, self._look)
        self._look()
        self._say()
        if self._wanted:
            self.call_after_refresh(self._pages.search, self._wanted)

    def _look(self) -> None:
        if not self._is_looking:
            self._is_looking = True
            self.run_worker(self._extend(), group="viewer")

    async def _extend(self) -> None:
        try:
            while await asyncio.to_thread(self._text.extend):
                self._pages.grown()
        finally:
            self._is_looking = False

    # -- what is said ------------------------------------------------------------------------

    def on_pages_moved(self) -> None:
        """Where the view is."""
        self._say()

    def on_resize(self) -> None:
        """The lines are cut to the new width."""
        self._say()

    def _say(self) -> None:
        width = self.app.size.width - 2
        place = self._place()
        room = max(8, width - len(place) - 2)
        title = clip(printable(self._title), room)
        gap = " " * max(1, width - len(Content(title).plain) - len(place))
        self.query_one("#output-title", Static).update(
            Content.assemble((title, "bold"), gap, (place, ""))
        )
        hints = FOUND_HINTS if self._pages.words else HINTS
        said = f"{self._found()} · " if self._pages.words else ""
        if self._notice:
            said = f"{self._notice} · "
        hint = next((hint for hint in hints if len(said + hint) <= width), hints[-1])
        self.query_one("#output-hint", Static).update(Content(clip(said + hint, width)))

    def _place(self) -> str:
        pages, total = self._pages, self._text.lines
        if not total:
            return "nothing yet" if pages.follows else "empty"
        last = pages.last_line + 1
        follows = " · following" if pages.follows else ""
        return f"{last:,} of {total:,} ({last * 100 // total} %){follows}"

    def _found(self) -> str:
        pages = self._pages
        words = f"“{clip(printable(pages.words), 24)}”"
        if not pages.found:
            return f"searching for {words}…" if pages.is_searching else f"no {words}"
        count = f"{len(pages.found):,}"
        if pages.is_searching or len(pages.found) >= FOUND_LINES:
            count += "+"
        if pages.current is None:
            return f"{count} lines with {words}"
        place = bisect_right(pages.found, pages.current)
        return f"{place:,} of {count} lines with {words}"

    # -- keys --------------------------------------------------------------------------------

    def action_find(self) -> None:
        """Open the search line."""
        search = self.query_one(Input)
        search.display = True
        search.focus()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Search."""
        self.query_one(Input).display = False
        self._pages.focus()
        self._pages.search(event.value)
        self._say()

    def action_step(self, direction: int) -> None:
        """To the next or previous find."""
        self._pages.step(direction)

    def action_move(self, rows: int) -> None:
        """Some rows down, or up."""
        self._pages.move(rows)

    def action_page(self, pages: int) -> None:
        """Down by what is in view, or up; two rows stay."""
        self._pages.move(pages * max(1, self._pages.size.height - 2))

    def action_top(self) -> None:
        """To the first line."""
        self._pages.go_to(0)

    def action_bottom(self) -> None:
        """To the last line."""
        self._pages.go_to_end()

    def action_wrap(self) -> None:
        """Wrap long lines, or cut them."""
        self._pages.toggle_wrap()

    def action_sideways(self, direction: int) -> None:
        """Along long lines, which are not wrapped then."""
        self._pages.move_sideways(direction)

    def action_follow(self) -> None:
        """Stay at the end while the text grows, or not any more."""
        self._pages.follows = not self._pages.follows
        self._pages.changed()

    def on_copied(self, event: Copied) -> None:
        """Text was selected with the mouse."""
        event.stop()
        self._copy_selected(event.text)

    def _copy_selected(self, text: str) -> None:
        cast("ChatApp", self.app).verbs.copy_text(text)
        self._flash(f"Copied {plural(len(text), 'character')}.")

    def action_copy(self) -> None:
        """Copy what is selected, else the text; of a very long one the end."""
        if selected := self.get_selected_text():
            self._copy_selected(selected)
            return
        self.run_worker(self._copy(), group="copy", exclusive=True)

    async def _copy(self) -> None:
        text = await asyncio.to_thread(self._text.tail, COPIED_CHARACTERS)
        cast("ChatApp", self.app).verbs.copy_text(text)
        lines = text.count("\n") + 1
        rest = "" if lines >= self._text.lines else f" of {self._text.lines:,}, the end"
        self._flash(f"Copied {lines:,} lines{rest}.")

    def _flash(self, sentence: str) -> None:
        """Say something in the hint line for some seconds."""
        self._notice = sentence
        self.set_timer(NOTICE_SECONDS, self._end_notice)
        self._say()

    def _end_notice(self) -> None:
        self._notice = ""
        self._say()

    def action_open(self) -> None:
        """Open the text in the person's editor."""
        self.run_worker(self._open(), group="editor", exclusive=True)

    async def _open(self) -> None:
        try:
            if self._path is not None:
                await open_in_editor(self.app, self._path, os.environ)
            else:
                text = await asyncio.to_thread(self._text.tail, COPIED_CHARACTERS)
                await edit(self.app, text, os.environ)
        except EditorError as error:
            self._flash(str(error))

    def action_back(self) -> None:
        """Leave the search line, else the screen."""
        search = self.query_one(Input)
        if search.display:
            search.display = False
            self._pages.focus()
        else:
            self.dismiss(None)

    def action_close(self) -> None:
        """Back to the chat."""
        self.dismiss(None)
