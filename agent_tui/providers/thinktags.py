"""`<think>…</think>` at the very start of an answer is thinking, however the text is cut.

Local servers and proxies leave the model's own tags in the text. Anywhere else the tags are text: a
person may well ask about them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, TypeAlias

Kind: TypeAlias = Literal["text", "thinking"]
_OPEN, _CLOSE = "<think>", "</think>"


class ThinkTagSplitter:
    """Splits the text of one answer. With `implied` the answer begins inside the tag."""

    def __init__(self, *, implied: bool = False) -> None:
        self._implied = implied
        self._state: Literal["start", "thinking", "gap", "text"] = "start"
        self._held = ""

    @property
    def is_settled(self) -> bool:
        """Whether everything from here on is text."""
        return self._state == "text"

    def feed(self, text: str) -> Iterator[tuple[Kind, str]]:
        """The parts of what is decided so far; what may be a piece of a tag is held back."""
        text = self._held + text
        self._held = ""
        if self._state == "start":
            text = self._begin(text)
        if self._state == "thinking":
            thought, tag, rest = text.partition(_CLOSE)
            if not tag:
                self._held = _possible_tag(text, _CLOSE)
                thought = text.removesuffix(self._held)
            yield "thinking", thought
            if not tag:
                return
            self._state, text = "gap", rest
        if self._state == "gap":
            text = text.lstrip()
            self._state = "text" if text else "gap"
        if self._state == "text":
            yield "text", text

    def flush(self) -> Iterator[tuple[Kind, str]]:
        """What was held back; the answer is over."""
        kind: Kind = "thinking" if self._state == "thinking" else "text"
        yield kind, self._held
        self._held = ""

    def _begin(self, text: str) -> str:
        """What follows the opening tag, or all of `text` if it is none; empty while undecided."""
        bare = text.lstrip()
        if bare.startswith(_OPEN):
            self._state = "thinking"
            return bare.removeprefix(_OPEN)
        if _OPEN.startswith(bare):
            self._held = text
            return ""
        self._state = "thinking" if self._implied else "text"
        return text


def _possible_tag(text: str, tag: str) -> str:
    """The longest end of `text` that may be the beginning of `tag`."""
    for size in range(min(len(tag) - 1, len(text)), 0, -1):
        if text.endswith(tag[:size]):
            return tag[:size]
    return ""
