"""The help screen: keys and commands, from the one table they are defined in."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Static

from agent_tui.tui.commands import COMMANDS
from agent_tui.tui.paint import painted_lines
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
    ("f6, ctrl+↑ ctrl+↓", "move over the transcript", "the same"),
    ("", "  space expand · enter view · y copy · k kill this tool", ""),
    ("f3", "why is it waiting?", ""),
    ("ctrl+t", "show or hide thinking", "the same"),
    ("shift+tab", "next approval mode", "the same"),
    ("alt+y a n e", "answer: once · always · decline · decline with a comment", ""),
    ("ctrl+l", "pick a model", "the same"),
    ("ctrl+p", "command palette", "the same"),
    ("ctrl+g", "edit the draft in your editor", "the same"),
    ("ctrl+d", "", "quit (empty composer)"),
)


def help_rows(width: int) -> list[list[Span]]:
    """Keys, then commands; one column of explanations where two do not fit."""
    wide = width >= 90
    rows: list[list[Span]] = [[("Keys", "title")]]
    if wide:
        rows.append([(f"  {'':<19}{'while a turn runs':<42}between turns", "quiet")])
    for key, running, idle in KEYS:
        if wide:
            rows.append([(f"  {key:<19}", "key"), (f"{running:<42}", ""), (idle, "")])
        else:
            said = running if idle in ("", "the same", running) else f"{running or idle}"
            rows.append([(f"  {key:<17} ", "key"), (said or idle, "")])
            if running and idle not in ("", "the same", running):
                rows.append([(f"  {'':<17} ", ""), (f"idle: {idle}", "quiet")])
    rows += [[], [("Commands", "title")]]
    for command in COMMANDS:
        key = f"  ({command.key})" if command.key else ""
        rows.append([(f"  {command.usage:<21} ", "key"), (command.summary, ""), (key, "quiet")])
    rows += [
        [],
        [
            ("A message that begins with a path is a message. ", "quiet"),
            ("esc closes this page", "quiet"),
        ],
    ]
    return rows


class HelpScreen(ModalScreen[None]):
    """Scrolls; Esc, q or F1 closes it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,f1", "close", "Close"),
    ]

    def compose(self) -> ComposeResult:
        """One scrolling page."""
        with VerticalScroll(id="help"):
            yield Static(painted_lines(help_rows(self.app.size.width - 4)))

    def on_mount(self) -> None:
        """The page takes the keys."""
        self.query_one(VerticalScroll).focus()

    def action_close(self) -> None:
        """Back to the chat."""
        self.dismiss(None)
