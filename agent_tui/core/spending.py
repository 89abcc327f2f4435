"""What was spent: sums, and the rows that they are sums of. Plain data; the ledger fills it.

Every sum is exact: the rows of a report, added up in any grouping, give its total.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

from agent_tui.core.usage import Usage, add_usage, units_of

Outcome = Literal["answered", "failed", "aborted", "inside_tool"]


@dataclass(frozen=True, slots=True)
class Spent:
    """Tokens and money of any number of requests."""

    usage: Usage = field(default_factory=Usage)
    requests: int = 0
    """Model calls that have ended, well or badly."""
    answers: int = 0
    """Those that gave an answer."""
    tokens_are_partial: bool = False
    """Some of the tokens were not counted."""
    cost_is_partial: bool = False
    """Something was asked for whose price is not known, or not all of it."""
    has_own_price: bool = False
    """A price from the person's settings took part."""

    def __add__(self, other: Spent) -> Spent:
        """The sum of two."""
        return add_spent((self, other))


def add_spent(parts: Iterable[Spent]) -> Spent:
    """The sum of any number; `Spent()` for none."""
    parts = list(parts)
    return Spent(
        usage=add_usage([part.usage for part in parts]),
        requests=sum(part.requests for part in parts),
        answers=sum(part.answers for part in parts),
        tokens_are_partial=any(part.tokens_are_partial for part in parts),
        cost_is_partial=any(part.cost_is_partial for part in parts),
        has_own_price=any(part.has_own_price for part in parts),
    )


@dataclass(frozen=True, slots=True)
class Charge:
    """One model call, or what one tool call spent by itself."""

    turn: int
    """Counts from 1 in this session; 0 is an earlier time."""
    step: int
    """Within the turn, from 1; all attempts at one step have its number."""
    model: str
    """`provider/id`; empty for what a tool spent."""
    tool: str
    """Empty for a model call."""
    outcome: Outcome
    spent: Spent
    seconds: float | None = None
    """How long the call took; None is unknown."""


@dataclass(frozen=True, slots=True)
class ToolShare:
    """What the results of one tool were to the model. Token counts are estimates.

    The first request that holds a result reads it; the later ones read it again.
    """

    tool: str
    calls: int = 0
    """Results, whatever the outcome."""
    added: int = 0
    """Tokens of the results."""
    first_units: int = 0
    """Cost of reading them once, in units of `core.usage.units_of`."""
    again: int = 0
    """Tokens read again in later steps."""
    again_units: int = 0
    """What that cost."""
    is_partial: bool = False
    """Some request that held them has no known price."""
    own: Spent = field(default_factory=Spent)
    """What the tool spent by itself."""

    @property
    def units(self) -> int:
        """Everything that it cost, as far as that is known."""
        return self.first_units + self.again_units + units_of(self.own.usage.cost_usd or 0.0)


@dataclass(frozen=True, slots=True)
class UsageReport:
    """Everything `/usage` shows and exports."""

    session: Spent
    turn: Spent
    charges: tuple[Charge, ...]
    """In the order in which they ended."""
    models: tuple[tuple[str, Spent], ...]
    """By `provider/id`, dearest first; what tools spent by themselves is under an empty name."""
    tools: tuple[ToolShare, ...]
    """Dearest first."""
    other_units: int
    """The cost that no tool accounts for: prompts, answers, the conversation itself."""
