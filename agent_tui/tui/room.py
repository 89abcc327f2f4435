"""Who gets how many rows, so that the composer stays in sight on every screen."""

from __future__ import annotations

from dataclasses import dataclass

SHORT_ROWS, TINY_ROWS, MINUTE_ROWS = 16, 8, 4
"""Below these heights the screen gives things up."""
MOST_MENU_ROWS = 8
LEAST_CARD_ROWS = 5
_HEADER, _TRANSCRIPT, _STATUS = 1, 1, 2


@dataclass(frozen=True, slots=True)
class Wishes:
    """What there is to show, in rows where it has a size of its own."""

    height: int
    draft: int = 1
    """The composer's text as it is wrapped."""
    hint: int = 1
    menu: int = 0
    """Entries of the menu that is open."""
    has_pending: bool = False
    is_asked: bool = False
    """A card is open."""


@dataclass(frozen=True, slots=True)
class Room:
    """What each part of the screen may have."""

    is_short: bool
    """The composer gives up its frame."""
    is_tiny: bool
    """Header and hints go, and the status has one line."""
    is_minute: bool
    """The status goes, and the composer has one row."""
    menu: int
    strip: int
    card: int


def room_for(wishes: Wishes) -> Room:
    """Share out the height: first the composer, then what asks, then the rest."""
    height = wishes.height
    is_short = height < SHORT_ROWS
    menu = min(wishes.menu, MOST_MENU_ROWS, max(1, height // 3))
    strip = 1 if wishes.is_asked and is_short else max(1, height // 3)
    least_card = LEAST_CARD_ROWS if wishes.is_asked else 0
    least = _composer_rows(wishes, is_short=is_short) + menu + wishes.has_pending + least_card
    around = _HEADER + _TRANSCRIPT + wishes.hint + _STATUS
    is_tiny = height < TINY_ROWS or (least + around > height and is_short)
    is_minute = height < MINUTE_ROWS or (is_tiny and least + _TRANSCRIPT + 1 > height)
    if is_minute:
        around, menu, least_card = _TRANSCRIPT, min(menu, 1), least_card and LEAST_CARD_ROWS - 1
        least = 1 + menu + wishes.has_pending + least_card
    elif is_tiny:
        around = _TRANSCRIPT + 1
    free = height - around - least  # for more than the least of strip and card
    strip = max(1, min(strip, 1 + free))
    free -= strip - 1 if wishes.has_pending else 0
    card = max(least_card, min(height // 2, least_card + free))
    return Room(is_short, is_tiny, is_minute, menu, strip, card)


def _composer_rows(wishes: Wishes, *, is_short: bool) -> int:
    """As the style sheet has it: a third of the screen at most, with its frame."""
    most = int(wishes.height * 0.33)
    if is_short:
        return max(1, min(wishes.draft, most))
    return max(3, min(wishes.draft + 2, most))
