"""The composer: a multi-line editor that gives its text away only when a person says so.

It knows no session and no engine. What is sent leaves as a message; the text is gone from the editor
in the same instant, so that it is never in two places.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from textual.message import Message
from textual.widgets import TextArea

from agent_tui.tui.complete import Completion
from agent_tui.tui.history import History

Lane = Literal["enter", "follow_up", "now"]
"""Which key sent the text: Enter, Alt+Enter or Tab, Ctrl+S or Ctrl+Enter."""

Completions = Callable[[str, int], Awaitable[Sequence[Completion]]]
"""The whole text and the cursor's offset in it → what could stand there, best first."""


class Prompt(TextArea, inherit_bindings=False):
    """The composer. Post-and-forget: see its messages; the app sets `turn_running` and `completions`."""

    @dataclass
    class Submitted(Message):
        """A person sent something. The editor is empty already; `put_back` undoes that.

        `text` is complete (pastes expanded). Enter on an empty editor sends "" in the lane "enter";
        the other lanes never send "".
        """

        prompt: Prompt
        text: str
        lane: Lane

    @dataclass
    class QuitRequested(Message):
        """Ctrl+D on the empty editor."""

        prompt: Prompt

    @dataclass
    class StashChanged(Message):
        """A draft was put on or taken from the stash; `count` is how many lie there now."""

        prompt: Prompt
        count: int

    @dataclass
    class MenuChanged(Message):
        """The completion menu opened, moved or closed (`items` empty)."""

        prompt: Prompt
        items: Sequence[Completion]
        index: int

    @dataclass
    class SearchChanged(Message):
        """History search (Ctrl+R) began, changed or ended (`query` None). `found` is false without a hit."""

        prompt: Prompt
        query: str | None
        found: bool

    @dataclass
    class Notice(Message):
        """One sentence for the person, such as why the external editor could not be started."""

        prompt: Prompt
        text: str

    turn_running: bool = False
    """Set by the app. While true Ctrl+S sends in the lane "now"; otherwise it stashes or unstashes."""

    completions: Completions | None = None
    """What fills the menu; asked off the key path, only after `/` at the start or `@` before a word."""

    def __init__(
        self, text: str = "", *, history: History | None = None, id: str | None = None
    ) -> None:
        super().__init__(text, id=id, compact=True)
        self.recall = history

    @property
    def expanded_text(self) -> str:
        """The whole text, every paste chip replaced by what was pasted."""
        raise NotImplementedError

    @property
    def is_blank(self) -> bool:
        """True when there is nothing but white space."""
        raise NotImplementedError

    @property
    def menu_open(self) -> bool:
        """True while the completion menu is shown: Esc closes it, Enter and Tab take its entry."""
        raise NotImplementedError

    @property
    def searching(self) -> bool:
        """True during a history search: Esc ends it and brings the draft back."""
        raise NotImplementedError

    @property
    def stashed(self) -> Sequence[str]:
        """The complete texts on the stash, newest last."""
        raise NotImplementedError

    def set_text(self, text: str) -> None:
        """Replace everything by `text` (cleaned; folded when huge), cursor at the end; undo forgets."""
        raise NotImplementedError

    def put_back(self, text: str) -> None:
        """Put a sent text back in front of what has been typed since, as if it had not been sent."""
        raise NotImplementedError

    def clear_text(self) -> None:
        """Empty the editor; undo forgets."""
        raise NotImplementedError

    def stash(self) -> bool:
        """Move the draft to the stash; false when there is none."""
        raise NotImplementedError

    def unstash(self) -> bool:
        """Bring the newest stashed draft back in front of the present text; false when there is none."""
        raise NotImplementedError

    def close_popup(self) -> bool:
        """Close the menu or end the search (what Esc does first); false when nothing was open."""
        raise NotImplementedError

    def action_older(self) -> None:
        """The previous sent message; the draft is kept."""
        raise NotImplementedError

    def action_newer(self) -> None:
        """The next sent message, and after the newest the draft."""
        raise NotImplementedError

    def action_edit_externally(self) -> None:
        """Edit the draft in `$VISUAL` or `$EDITOR`; returns at once, the text is set when it ends."""
        raise NotImplementedError
