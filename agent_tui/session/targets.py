"""What a tool call is about, in one line: the exact command, path or pattern."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_TELLING = ("command", "path", "pattern", "url", "query", "name")


def target_of(args: Mapping[str, Any]) -> str:
    """The argument that tells most, as the model wrote it; "" if there is none."""
    for key in _TELLING:
        value = args.get(key)
        if isinstance(value, str) and value:
            return value
    return next((value for value in args.values() if isinstance(value, str)), "")


def brief(text: str, limit: int = 60) -> str:
    """`text` on one line of at most `limit` characters, a cut marked."""
    line = " ".join(text.split())
    return line if len(line) <= limit else f"{line[: limit - 1]}…"
