"""What the composer keeps besides the text in view: drafts, a way through the history, a search."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from agent_tui.tui.paste import Chips

FOLD_RECALLED_CHARACTERS = 20_000
"""A text that comes back from elsewhere is folded only when it is too long to edit."""


@dataclass(slots=True)
class Draft:
    """A text being written, as the editor shows it, and the pastes behind its chips."""

    text: str = ""
    chips: Chips = field(default_factory=Chips)
    cursor: tuple[int, int] | None = None
    """Row and column; None for the end."""

    @classmethod
    def of(cls, text: str) -> Draft:
        """A draft of a complete text, folded when it is too long to edit."""
        draft = cls(text)
        if len(text) > FOLD_RECALLED_CHARACTERS:
            draft.text = draft.chips.fold(text)
        return draft

    @property
    def expanded(self) -> str:
        """The complete text."""
        return self.chips.expand(self.text)


class Walk:
    """The way up and down through the sent messages; below the newest lies the draft.

    What a person changed on the way is there again when they come back.
    """

    def __init__(self, entries: Sequence[str]) -> None:
        self._entries = entries
        self._position = len(entries)
        self._drafts: dict[int, Draft] = {}

    def move(self, step: int, present: Draft) -> Draft | None:
        """What lies one older (-1) or newer (+1) than `present`, which is kept; None at the end."""
        target = self._position + step
        if not 0 <= target <= len(self._entries):
            return None
        self._drafts[self._position] = present
        self._position = target
        return self._drafts.get(target) or Draft.of(self._entries[target])

    def jump(self, entry: str, present: Draft) -> None:
        """Stand on the newest place of `entry`, `present` kept as the draft."""
        self._drafts[len(self._entries)] = present
        at = [place for place, text in enumerate(self._entries) if text == entry]
        self._position = at[-1] if at else self._position

    @property
    def draft(self) -> Draft | None:
        """The draft that was being written; None while it is the text in view."""
        is_away = self._position < len(self._entries)
        return self._drafts.get(len(self._entries)) if is_away else None


class Search:
    """A search through the history while it is typed; `draft` is what the editor held before."""

    def __init__(self, draft: Draft) -> None:
        self.draft = draft
        self.query = ""
        self._hits: Sequence[str] = ()
        self._at = -1

    @property
    def hit(self) -> str | None:
        """The entry in view; None when nothing fits or nothing was typed yet."""
        return self._hits[self._at] if 0 <= self._at < len(self._hits) else None

    def narrow(self, query: str, hits: Sequence[str]) -> None:
        """The query has changed, and with it what fits, newest first."""
        self.query, self._hits = query, hits
        self._at = 0 if query and hits else -1

    def move(self, step: int) -> None:
        """To an older (+1) or newer (-1) hit, if there is one."""
        self._at = min(max(self._at + step, 0), len(self._hits) - 1)
