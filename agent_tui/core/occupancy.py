"""What a model's window is filled with, part by part. Plain data; every figure is an estimate."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ContextPart:
    """Everything in the context that has one source."""

    name: str
    """`system`, `instructions`, `tools`, `history`, `tool results`, `summaries`."""
    tokens: int


@dataclass(frozen=True, slots=True)
class ContextItem:
    """One thing in the context."""

    part: str
    """The name of the part that it belongs to."""
    label: str
    """What it is, for a person; may hold anything that a model or a file said."""
    tokens: int
    is_pinned: bool = False
    """A summary does not take its place."""


@dataclass(frozen=True, slots=True)
class ContextReport:
    """The context as it is now."""

    tokens: int
    """What the next request will hold, by the provider's last count where there is one."""
    window: int | None
    """Tokens; None is unknown."""
    threshold: int | None
    """More tokens than this are summarised; None if that does not happen by itself."""
    parts: tuple[ContextPart, ...]
    """All parts that there can be, in a fixed order; their sum may differ from `tokens`."""
    largest: tuple[ContextItem, ...]
    """The ten largest items, largest first."""
