"""The question about a budget that is used up: what the card says, and what answers it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from rich.cells import cell_len

from agent_tui.core.limits import LimitKind, Meter
from agent_tui.tui.keymap import Keymap
from agent_tui.tui.status import Span, cut

Row = list[Span]

ON_BUDGET = frozenset({"extend", "finish", "halt"})
"""What the keys of the card are called."""


class BudgetQuestion(Protocol):
    """A question of the session."""

    @property
    def id(self) -> str:
        """Names it in the answer."""

    @property
    def message(self) -> str:
        """What is used up: `$0.52 of this turn's $0.50`."""

    @property
    def offer(self) -> str:
        """The budget that "extend" would set: `$1.00`."""


def budget_rows(question: BudgetQuestion, width: int, keymap: Keymap | None = None) -> list[Row]:
    """The card, on lines of at most `width` cells; the ways to answer are always among them."""
    inner = max(8, width - 4)
    said = "Everything so far is kept; no model call is made before you answer."
    rows: list[Row] = [cut([(f"The budget is used up: {question.message}", "title")], inner)]
    if cell_len(said) <= inner:
        rows.append([(said, "quiet")])
    rows.append(cut([(_answers(question.offer, inner, keymap or Keymap()), "key")], inner))
    return rows


def more_of(meters: Sequence[Meter], argument: str) -> tuple[float | None, str | None]:
    """The amount of `/extend ARGUMENT`, None for as much again; or what is wrong with it."""
    if not argument:
        return None, None
    if len(meters) > 1:
        return None, "Several budgets are used up: /extend without an amount extends them all."
    try:
        more = float(argument.removeprefix("$"))
    except ValueError:
        more = 0.0
    kind = meters[0].kind
    is_whole = kind in ("tokens", "iterations")
    if not 0 < more < float("inf") or (is_whole and more != int(more)):
        return None, f"/extend takes a number: {_MEASURES[kind]} more."
    return more, None


_MEASURES: dict[LimitKind, str] = {
    "cost": "dollars",
    "tokens": "tokens",
    "iterations": "steps",
    "time": "seconds",
}


def _answers(offer: str, width: int, keymap: Keymap) -> str:
    texts = (
        f"alt+x extend to {offer} · alt+l one last answer, without tools · alt+s stop here",
        f"alt+x extend to {offer} · alt+l last answer, no tools · alt+s stop",
        "alt+x extend · alt+l last answer · alt+s stop",
        "/extend · /finish · /stop",
    )
    shown = [keymap.shown(text) for text in texts]
    return next((text for text in shown if cell_len(text) <= width), shown[-1])
