"""Reading what a server sent, of which any part may be missing or of another type."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any


def number(value: Any) -> int | None:
    """A count; None for what is none, or negative."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool) and value >= 0
    return int(value) if is_number else None


def mapping(value: Any) -> Mapping[str, Any]:
    """An object, else an empty one."""
    return value if isinstance(value, dict) else {}


def items(value: Any) -> list[Any]:
    """A list, else an empty one."""
    return value if isinstance(value, list) else []


def text(value: Any) -> str:
    """A string, else an empty one."""
    return value if isinstance(value, str) else ""


def unpacked(value: str | None) -> Mapping[str, Any]:
    """The object that JSON text stands for; empty if it stands for none."""
    try:
        return mapping(json.loads(value or ""))
    except (ValueError, RecursionError):
        return {}
