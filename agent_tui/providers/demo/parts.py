"""What a scripted answer is made of, before it is streamed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

BRISK = 30.0
"""Words a second that a person can follow with the eyes."""
SLOW = 7.0
"""Words a second that leave time to type something meanwhile."""


@dataclass(frozen=True, slots=True)
class Think:
    """A thinking block."""

    text: str
    words_per_second: float = BRISK


@dataclass(frozen=True, slots=True)
class Say:
    """Markdown; what follows directly in another `Say` belongs to the same block."""

    text: str
    words_per_second: float = BRISK


@dataclass(frozen=True, slots=True)
class Rest:
    """Silence for some seconds."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Use:
    """A tool call. `scene` and `state` come back with its result: they travel in the call's id."""

    tool: str
    args: Mapping[str, Any] = field(default_factory=dict)
    scene: str = ""
    state: str = ""


@dataclass(frozen=True, slots=True)
class Fail:
    """The response ends here as a failed request."""

    code: str
    message: str


Part: TypeAlias = Think | Say | Rest | Use | Fail
