"""A model: who serves it, how to talk to it, what it can do and what it costs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

ThinkingLevel = Literal["off", "minimal", "low", "medium", "high", "xhigh"]
THINKING_LEVELS: tuple[ThinkingLevel, ...] = get_args(ThinkingLevel)


@dataclass(frozen=True, slots=True)
class ModelCost:
    """Prices in US dollars per million tokens; a cache price of None means the input price."""

    input: float
    output: float
    cache_read: float | None = None
    cache_write: float | None = None


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
