"""Reading what a server sent, of which any part may be missing or of another type."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any


def number(value: Any) -> int | None:
    """A count; None for what is none, or negative."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < math.inf:
        return None
    return int(value)


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
