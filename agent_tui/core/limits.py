"""Budgets: how much a turn and a session may use, and how much of that is used."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from agent_tui.core.figures import clock, count, money

Scope = Literal["turn", "session"]
LimitKind = Literal["cost", "tokens", "iterations", "time"]
LIMIT_KINDS: tuple[LimitKind, ...] = ("cost", "tokens", "iterations", "time")


@dataclass(frozen=True, slots=True)
class Limits:
    """How much may be used before somebody is asked; None is without a limit."""

    cost: float | None = None
    """US dollars."""
    tokens: int | None = None
    """All that are sent and received, cached ones included."""
    iterations: int | None = None
    """Model calls that gave an answer."""
    time: float | None = None
    """Seconds of work; waiting for the person is not counted."""

    def get(self, kind: LimitKind) -> float | None:
        """The limit of one kind."""
        limit: float | None = getattr(self, kind)
        return limit


@dataclass(frozen=True, slots=True)
class Meter:
    """One limit, and what is used of it."""

    scope: Scope
    kind: LimitKind
    used: float
    limit: float
    is_partial: bool = False
    """More may have been used than is known."""

    @property
    def share(self) -> float:
        """1 when all of it is used; more after an overshoot."""
        return self.used / self.limit

    @property
    def words(self) -> str:
        """`$0.52 of this turn's $0.50`."""
        whose = "this turn's" if self.scope == "turn" else "the session's"
        used = amount(self.kind, self.used, is_partial=self.is_partial)
        return f"{used} of {whose} {amount(self.kind, self.limit)}{_UNITS[self.kind]}"


_UNITS: dict[LimitKind, str] = {
    "cost": "",
    "tokens": " tokens",
    "iterations": " steps",
    "time": "",
}


def amount(kind: LimitKind, value: float, *, is_partial: bool = False) -> str:
    """A quantity of one kind, as a person reads it; nothing known is `?`, not zero."""
    is_unknown = is_partial and not value
    match kind:
        case "cost":
            return money(None if is_unknown else value, incomplete=is_partial)
        case "time":
            return clock(value)
        case _:
            mark = "≥" if is_partial else ""
            return "?" if is_unknown else f"{mark}{count(round(value))}"
