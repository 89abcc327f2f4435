"""Pasted text: made harmless, and long ones folded into a chip that stands for all of it."""

from __future__ import annotations

import re

from agent_tui.core.text import printable

FOLD_LINES = 10
"""A paste of more lines than this becomes a chip."""
FOLD_CHARACTERS = 2_000
"""A paste of more characters than this becomes a chip."""

_NEWLINE = re.compile("\r\n|[\r\x85\u2028\u2029]")
_LABEL = re.compile(r"\[paste #\d+ · [\d,]+ (?:lines|characters)\]")


def clean(text: str) -> str:
    """`text` with one kind of newline and neither escape sequences, controls nor half characters.

    Tab and newline stay. A sequence that is never closed costs no more than its own line.
    """
    text = _NEWLINE.sub("\n", text)
    if text.isprintable():
        return text
    return "\n".join([printable(line) for line in text.split("\n")])


class Chips:
    """The folded pastes of one draft, by the label that stands for each in the editor."""

    def __init__(self) -> None:
        self._text_by_label: dict[str, str] = {}

    def fold(self, text: str) -> str:
        """A new label that stands for `text`, such as ``[paste #1 · 214 lines]``."""
        lines = text.count("\n") + (not text.endswith("\n"))
        size = f"{lines:,} lines" if lines > FOLD_LINES else f"{len(text):,} characters"
        label = f"[paste #{len(self._text_by_label) + 1} · {size}]"
        self._text_by_label[label] = text
        return label

    def fold_if_long(self, text: str) -> str:
        """`text` itself when it is short enough to be edited, else a label for it."""
        is_long = len(text) > FOLD_CHARACTERS or text.rstrip("\n").count("\n") >= FOLD_LINES
        return self.fold(text) if is_long else text

    def expand(self, text: str) -> str:
        """`text` with every label replaced by what it stands for; what is inside stays as it is."""
        if not self._text_by_label:
            return text
        return _LABEL.sub(lambda label: self._text_by_label.get(label[0], label[0]), text)

    def spans(self, line: str) -> list[tuple[int, int]]:
        """Where labels stand in `line`, as (start, end), left to right."""
        if not self._text_by_label:
            return []
        return [m.span() for m in _LABEL.finditer(line) if m[0] in self._text_by_label]

    def text_of(self, label: str) -> str | None:
        """What `label` stands for; None when it is no label of this draft."""
        return self._text_by_label.get(label)
