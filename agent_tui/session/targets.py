"""What a tool call is about, for a person: the exact command, path or pattern, nothing hidden."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

_HIDDEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]"  # controls
    "|\r(?!\n)"
    "|[\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]"  # without width, or turning text round
)
_TELLING = ("command", "path", "pattern", "url", "query", "name")


def target_of(args: Mapping[str, Any]) -> str:
    """The argument that tells most, as the model wrote it; "" if there is none."""
    for key in _TELLING:
        value = args.get(key)
        if isinstance(value, str) and value:
            return value
    return next((value for value in args.values() if isinstance(value, str)), "")


def revealed(text: str) -> str:
    r"""`text` with everything that a terminal would act on or not show spelled out, as `\x1b`.

    A screen drops escape sequences with the text inside them; a shell runs that text.
    """
    return _HIDDEN.sub(lambda found: ascii(found[0])[1:-1], text)
