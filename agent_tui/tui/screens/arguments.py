"""An editor for the arguments of a call that is held."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Static, TextArea

from agent_tui.core.text import printable
from agent_tui.tui.screens.page import Page

KEYS = "ctrl+s runs it with these · esc leaves it as it was"


class ArgumentsScreen(Page[None]):
    """`store` takes the text and gives what is wrong with it, or nothing, and then it is done."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s", "store", "Run with these", priority=True),
        Binding("escape", "close", "Leave it", priority=True),
    ]

    def __init__(self, title: str, text: str, store: Callable[[str], str | None]) -> None:
        super().__init__()
        self._title = title
        self._text = text
        self._store = store

    def compose(self) -> ComposeResult:
        """Title, text, and what the keys do or what is wrong."""
        with Vertical(classes="pick"):
            yield Static(Content(printable(self._title)))
            editor = TextArea(self._text, compact=True, highlight_cursor_line=False)
            editor.cursor_blink = False
            yield editor
            yield Static(Content(KEYS), classes="foot")

    def on_mount(self) -> None:
        """The text takes the keys."""
        self.query_one(TextArea).focus()

    def action_store(self) -> None:
        """Run the call with what stands here, if it can be."""
        problem = self._store(self.query_one(TextArea).text)
        if problem is None:
            self.dismiss(None)
        else:
            self.query_one(".foot", Static).update(Content(f"{printable(problem)} {KEYS}"))

    def action_close(self) -> None:
        """Change nothing."""
        self.dismiss(None)
