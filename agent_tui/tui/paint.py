"""Spans of the pure modules as `Content`: each role is one style of the theme."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from textual.content import Content

from agent_tui.core.text import printable
from agent_tui.tui.status import Span

STYLES = {
    "": "",
    "quiet": "$foreground 60%",
    "title": "bold",
    "model": "$text-accent",
    "activity": "$text-accent",
    "key": "bold",
    "selected": "bold $text-accent",
    "stopping": "bold $text-warning",
    "warning": "$text-warning",
    "error": "$text-error",
    "diff-add": "$text-success",
    "diff-add-sign": "bold $text-success",
    "diff-add-word": "bold underline $text-success",
    "diff-remove": "$text-error",
    "diff-remove-sign": "bold $text-error",
    "diff-remove-word": "bold underline $text-error",
    "diff-same": "$foreground 70%",
    "diff-same-sign": "",
    "diff-number": "$foreground 60%",
}


def painted(spans: Iterable[Span]) -> Content:
    """One line. The text is taken as it is, never as markup, and can carry no escape sequence."""
    return Content.assemble(*((printable(text), STYLES[role]) for text, role in spans))


def painted_lines(lines: Sequence[Sequence[Span]]) -> Content:
    """Several lines."""
    return Content("\n").join([painted(line) for line in lines])
