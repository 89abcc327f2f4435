"""Opaque data on parts of a block: which characters it came with.

Gemini wants each signature back on the very part that it came with, unmerged, while a person reads
one text. So the block holds the text, and its `signature` where in it the signed parts lie.
"""

from __future__ import annotations

import json
from collections.abc import Iterator


def with_signature(signature: str | None, start: int, end: int, data: str) -> str:
    """A block's `signature` with one more signed part, which lies behind all others."""
    return json.dumps([*_entries(signature), [start, end, data]], ensure_ascii=False)


def signed_parts(text: str, signature: str | None) -> Iterator[tuple[str, str | None]]:
    """The parts of a block in order, each with its own data or None; unsigned ones are not empty.

    A `signature` that this module did not write counts as none.
    """
    place = 0
    for start, end, data in _entries(signature):
        if start > place:
            yield text[place:start], None
        yield text[start:end], data
        place = end
    if place < len(text):
        yield text[place:], None


def _entries(signature: str | None) -> list[tuple[int, int, str]]:
    try:
        return [
            (int(start), int(end), str(data)) for start, end, data in json.loads(signature or "")
        ]
    except (ValueError, TypeError):
        return []
