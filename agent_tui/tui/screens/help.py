"""The help screen: keys and commands, from the one table they are defined in."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.widgets import Static

from agent_tui.tui.commands import COMMANDS
from agent_tui.tui.keymap import Keymap
from agent_tui.tui.paint import painted_lines
from agent_tui.tui.screens.page import Page
from agent_tui.tui.status import Span
from agent_tui.tui.text_editor import typed

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
    ("  there", "space expand · enter view · y copy · r raw · k kill · o editor", ""),
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


def help_rows(
    width: int,
    own: Sequence[tuple[str, str]] = (),
    keymap: Keymap | None = None,
    now: Sequence[str] = (),
) -> list[list[Span]]:
    """Keys, then commands, then the person's own (usage, explanation).

    There is one column of explanations where two do not fit, wrapped to `width`.
    """
    wide, keymap = width >= 98, keymap or Keymap()
    rows: list[list[Span]] = [[("esc closes · so does typing", "quiet")], []]
    if now:
        rows += [[("Now", "title")], *_now_rows(now, width), []]
    rows.append([("Keys", "title")])
    if wide:
        rows.append([(f"  {'':<19}{'while a turn runs':<42}between turns", "quiet")])
    for usual, running, idle in KEYS:
        key = keymap.named(usual)
        if wide and len(key) < 19:
            rows.append([(f"  {key:<19}", "key"), (f"{running:<42}", ""), (idle, "")])
        elif wide:
            rows += [[(f"  {key}", "key")], [(f"{'':<21}{running:<42}{idle}", "")]]
        else:
            rows += _entry(key, running or idle, width)
            if running and idle not in ("", "the same", running):
                rows += _entry("", f"idle: {idle}", width)
    rows += [[], [("Commands", "title")]]
    for command in COMMANDS:
        rows += _entry(command.usage, command.summary_with_key(keymap.shown), width, column=24)
    if own:
        rows += [[], [("Your templates and skills", "title")]]
    for usage, summary in own:
        rows += _entry(usage, summary, width, column=24)
    return [
        *rows,
        [],
        *_entry("", "A message that begins with a path is a message.", width),
    ]


def _now_rows(now: Sequence[str], width: int) -> list[list[Span]]:
    lines = textwrap.wrap(" · ".join(each.replace(" ", "\xa0") for each in now), max(8, width - 2))
    return [[(f"  {line}".replace("\xa0", " "), "")] for line in lines]


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
    """Scrolls; Esc or F1 closes it, and so does typing, which goes to the composer."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,f1", "close", "Close"),
    ]

    def __init__(
        self,
        own: Sequence[tuple[str, str]],
        keymap: Keymap,
        now: Sequence[str],
        type_: Callable[[str], None],
    ) -> None:
        """`own` are usage and explanation of each command of the person's own.

        `now` says what the keys do now; `type_` types into the composer.
        """
        super().__init__()
        self._now = now
        self._type = type_
        self._own = own
        self._keymap = keymap

    def compose(self) -> ComposeResult:
        """One scrolling page."""
        with VerticalScroll(id="help"):
            yield Static()

    def on_mount(self) -> None:
        """The page takes the keys."""
        self.query_one(VerticalScroll).focus()

    def on_resize(self) -> None:
        """Wrap to the new width: margins and scroll bar take six columns."""
        rows = help_rows(self.app.size.width - 6, self._own, self._keymap, self._now)
        self.query_one(Static).update(painted_lines(rows))

    def on_key(self, event: events.Key) -> None:
        """Who types has read enough; nothing of it is lost."""
        if (character := typed(event)) is not None:
            event.stop()
            self.dismiss(None)
            self._type(character)

    def action_close(self) -> None:
        """Back to the chat."""
        self.dismiss(None)
