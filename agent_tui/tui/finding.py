"""Words in the sources of blocks: how often they are there, and which place comes next.

What is searched is the text behind the blocks, whether it is drawn or not. A block is counted again
only when it has changed, and a long transcript is looked at in slices, between which keys are
answered.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from agent_tui.tui.block import Block

SLICE_CHARACTERS = 500_000
"""So much is looked at before something else may happen."""
_BLOCK_CHARACTERS = 200
"""What a block costs beside its text, in characters."""


class Words:
    """What is searched for: upper and lower case alike, any white space between two words."""

    def __init__(self, text: str) -> None:
        """`text` has at least one word."""
        self.text = text.strip()
        words = self.text.split()
        self._pattern = re.compile(r"\s+".join(map(re.escape, words)), re.IGNORECASE)
        self._rare = max(words, key=len).lower()

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Where they begin and end in `text`."""
        if self._rare not in text.lower():  # five times as fast as the pattern
            return []
        return [match.span() for match in self._pattern.finditer(text)]


class Hit(NamedTuple):
    """One place: a block, and the how-manieth place of its source, from 0."""

    block: Block
    place: int


class _Count(NamedTuple):
    version: int
    places: int


class Finder:
    """All places of some words."""

    def __init__(self, words: Words, blocks: Callable[[], Sequence[Block]]) -> None:
        """`blocks` gives those that there are now, top to bottom."""
        self.words = words
        self._blocks = blocks
        self._counts: dict[str, _Count] = {}

    async def look(self) -> None:
        """Count in all blocks that are new or have changed."""
        cost = 0
        for block in self._blocks():
            known = self._counts.get(block.id)
            if known is not None and known.version == block.version:
                continue
            text = "" if block.is_folded else block.source()
            self._counts[block.id] = _Count(block.version, len(self.words.spans(text)))
            cost += len(text) + _BLOCK_CHARACTERS
            if cost >= SLICE_CHARACTERS:
                cost = 0
                await asyncio.sleep(0)

    def places_in(self, block: Block) -> int:
        """How many there are in a block, as far as was looked."""
        known = self._counts.get(block.id)
        return 0 if known is None else known.places

    @property
    def total(self) -> int:
        """How many there are in the blocks of now."""
        return sum(map(self.places_in, self._blocks()))

    def number_of(self, hit: Hit) -> int:
        """The number of a place among all, from 1."""
        before = 0
        for block in self._blocks():
            if block is hit.block:
                break
            before += self.places_in(block)
        return before + hit.place + 1

    def first_from(self, block: Block | None) -> Hit | None:
        """The first place in `block` or below; the last one above it, or of all, if none is."""
        blocks = self._blocks()
        index = blocks.index(block) if block in blocks else len(blocks)
        if (hit := self._first(blocks[index:])) is not None:
            return hit
        return self._last(reversed(blocks[:index]))

    def after(self, hit: Hit) -> Hit | None:
        """The next place, round the end; None if there is none at all."""
        if hit.place + 1 < self.places_in(hit.block):
            return Hit(hit.block, hit.place + 1)
        above, below = self._around(hit.block)
        return self._first([*below, *above, hit.block])

    def before(self, hit: Hit) -> Hit | None:
        """The place before it, round the beginning."""
        if 0 < hit.place <= self.places_in(hit.block):
            return Hit(hit.block, hit.place - 1)
        above, below = self._around(hit.block)
        return self._last([*reversed(above), *reversed(below), hit.block])

    def _around(self, block: Block) -> tuple[Sequence[Block], Sequence[Block]]:
        """The blocks above and below one; all are below one that is gone."""
        blocks = self._blocks()
        index = blocks.index(block) if block in blocks else -1
        return blocks[: max(0, index)], blocks[index + 1 :]

    def _first(self, blocks: Iterable[Block]) -> Hit | None:
        found = next((block for block in blocks if self.places_in(block)), None)
        return None if found is None else Hit(found, 0)

    def _last(self, blocks: Iterable[Block]) -> Hit | None:
        found = self._first(blocks)
        return None if found is None else Hit(found.block, self.places_in(found.block) - 1)
