"""What the screen reads of the session: what was spent and allowed, and the question about it."""

from __future__ import annotations

from typing import Protocol

from agent_tui.core.limits import Limits
from agent_tui.core.spending import Spent


class Budgets(Protocol):
    """How much may be used, extensions included."""

    @property
    def turn(self) -> Limits:
        """By this turn."""

    @property
    def session(self) -> Limits:
        """By all turns together."""


class Account(Protocol):
    """What the session counts; read whenever the status is."""

    @property
    def spent(self) -> Spent:
        """What the session spent."""

    @property
    def turn_spent(self) -> Spent:
        """What the current or last turn spent."""

    @property
    def budgets(self) -> Budgets:
        """What it may spend."""

    @property
    def max_steps(self) -> int | None:
        """Steps of a turn before somebody is asked, or it ends; None is without a limit."""

    @property
    def context_window(self) -> int | None:
        """How much the model in use can read at once; None is unknown."""

    @property
    def context_tokens(self) -> int | None:
        """How full the model's window is; None is unknown."""

    @property
    def is_context_guessed(self) -> bool:
        """Whether that is an estimate all through."""
