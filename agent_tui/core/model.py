"""A model: who serves it, how to talk to it, what it can do and what it costs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

ThinkingLevel = Literal["off", "minimal", "low", "medium", "high", "xhigh"]
THINKING_LEVELS: tuple[ThinkingLevel, ...] = get_args(ThinkingLevel)


@dataclass(frozen=True, slots=True)
class PriceTier:
    """Other prices for a request of more than `above` prompt tokens; they apply to all of it."""

    above: int
    """Tokens sent, cached ones included."""
    input: float
    output: float
    cache_read: float | None = None
    cache_write: float | None = None


@dataclass(frozen=True, slots=True)
class ModelCost:
    """Prices in US dollars per million tokens; a cache price of None means the input price."""

    input: float
    output: float
    cache_read: float | None = None
    cache_write: float | None = None
    tiers: tuple[PriceTier, ...] = ()
    """In any order; the highest one that a request exceeds counts."""
    is_own: bool = field(default=False, compare=False)
    """The person set it in their settings; the screen marks what is counted by it."""

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> ModelCost:
        """The prices in a table: the names of the fields, `tiers` as a list of tables."""
        tiers = tuple(PriceTier(**tier) for tier in data.get("tiers", ()))
        return cls(**{name: value for name, value in data.items() if name != "tiers"}, tiers=tiers)

    @property
    def is_free(self) -> bool:
        """Nothing costs anything, however many tokens there are."""
        rows: list[ModelCost | PriceTier] = [self, *self.tiers]
        return not any(row.input or row.output or row.cache_read or row.cache_write for row in rows)


@dataclass(frozen=True, slots=True)
class Model:
    """One model of one provider. `provider/id` names it; `api` says which wire format it speaks."""

    provider: str
    id: str
    api: str = ""
    """`openai-chat`, `openai-responses`, `anthropic`, `gemini`, `ollama`, `demo`."""
    base_url: str = ""
    name: str | None = None
    context_window: int | None = None
    """Tokens; None is unknown."""
    max_output_tokens: int | None = None
    reasoning: bool = False
    images: bool = False
    cost: ModelCost | None = None
    """None is unknown, shown as `?`."""
    headers: Mapping[str, str] = field(default_factory=dict)
    compat: Mapping[str, Any] = field(default_factory=dict)
    """How this server departs from its API's reference; see `providers/compat.py`."""

    @property
    def key(self) -> str:
        """`provider/id`, what people type."""
        return f"{self.provider}/{self.id}"

    @property
    def label(self) -> str:
        """What the screen shows."""
        return self.name or self.id

    @classmethod
    def from_key(cls, key: str) -> Model:
        """`provider/id` split at the first slash, all else at its default."""
        provider, _, model_id = key.partition("/")
        return cls(provider, model_id) if model_id else cls("", provider)
