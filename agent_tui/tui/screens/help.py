"""The help screen: keys and commands, from the one table they are defined in."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.widgets import Static

from agent_tui.tui.commands import COMMANDS
from agent_tui.tui.paint import painted_lines
from agent_tui.tui.screens.page import Page
from agent_tui.tui.status import Span

KEYS: tuple[tuple[str, str, str], ...] = (
    # key, while a turn runs, between turns
    ("enter", "steer: goes in before the next step", "send"),
    ("alt+enter, tab", "follow up: goes in when the turn is over", "send"),
    ("ctrl+s", "stop and send this now", "stash the draft, or bring it back"),
    ("ctrl+j, \\ enter", "new line", "new line"),
    ("esc", "stop the turn", "close what is open"),
    ("ctrl+c", "stop; again: kill", "copy · stash · twice: quit"),
    ("ctrl+x s", "stop after this step", ""),
    ("alt+↑ alt+↓", "select a pending message", "sent messages"),
    ("↑ ↓, ctrl+r", "sent messages, search them", "the same"),
    ("ctrl+o", "expand or collapse all panels", "the same"),
    ("f6, ctrl+↑ ctrl+↓", "move over the transcript; / searches it", "the same"),
    ("  there", "space expand · enter view · y copy · k kill · o editor", ""),
    ("f2", "the loop, step by step", "the same"),
    ("f3", "why is it waiting?", ""),
    ("ctrl+t", "show or hide thinking", "the same"),
    ("shift+tab", "next approval mode", "the same"),
    ("alt+y a n e", "answer: once · always · decline · decline with a comment", ""),
    ("alt+y t e s", "held: go on · one step · edit the arguments · stop", ""),
    ("ctrl+l", "pick a model", "the same"),
    ("ctrl+p", "command palette", "the same"),
    ("ctrl+g", "edit the draft in your editor", "the same"),
    ("ctrl+d", "", "quit (empty composer)"),
)


def help_rows(width: int, own: Sequence[tuple[str, str]] = ()) -> list[list[Span]]:
    """Keys, then commands, then the person's own (usage, explanation).

    There is one column of explanations where two do not fit, wrapped to `width`.
    """
    wide = width >= 90
    rows: list[list[Span]] = [[("Keys", "title")]]
    if wide:
        rows.append([(f"  {'':<19}{'while a turn runs':<42}between turns", "quiet")])
    for key, running, idle in KEYS:
        if wide:
            rows.append([(f"  {key:<19}", "key"), (f"{running:<42}", ""), (idle, "")])
        else:
            rows += _entry(key, running or idle, width)
            if running and idle not in ("", "the same", running):
                rows += _entry("", f"idle: {idle}", width)
    rows += [[], [("Commands", "title")]]
    for command in COMMANDS:
        key = f" ({command.key})" if command.key else ""
        rows += _entry(command.usage, command.summary + key, width, column=24)
    if own:
        rows += [[], [("Your templates and skills", "title")]]
    for usage, summary in own:
        rows += _entry(usage, summary, width, column=24)
    return [
        *rows,
        [],
        *_entry("", "A message that begins with a path is a message. esc closes this page.", width),
    ]


def _entry(key: str, text: str, width: int, column: int = 20) -> list[list[Span]]:
    """A key and its explanation beside it, or below it where the screen is narrow."""
    narrow = width < 60
    indent = 4 if narrow else column
    lines = textwrap.wrap(text, max(8, width - indent)) or [""]
    if narrow or len(key) > column - 3:
        head: list[list[Span]] = [[(f"  {key}", "key")]] if key else []
        return head + [[(" " * indent + line, "")] for line in lines]
    first: list[Span] = [(f"  {key}".ljust(column), "key"), (lines[0], "")]
    return [first, *([(" " * column + line, "")] for line in lines[1:])]


class HelpScreen(Page[None]):
    """Scrolls; Esc, q or F1 closes it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,f1", "close", "Close"),
    ]

    def __init__(self, own: Sequence[tuple[str, str]] = ()) -> None:
        """`own` are usage and explanation of each command of the person's own."""
        super().__init__()
        self._own = own

    def compose(self) -> ComposeResult:
        """One scrolling page."""
        with VerticalScroll(id="help"):
            yield Static()

    def on_mount(self) -> None:
        """The page takes the keys."""
        self.query_one(VerticalScroll).focus()

    def on_resize(self) -> None:
        """Wrap to the new width: margins and scroll bar take six columns."""
        self.query_one(Static).update(painted_lines(help_rows(self.app.size.width - 6, self._own)))

    def action_close(self) -> None:
        """Back to the chat."""
        self.dismiss(None)
