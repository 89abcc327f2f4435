"""How each role looks, in words of the theme: a theme owns every colour, this table the emphasis.

A role is what a run of text or a row *is* (`code`, `tool-failed`). A role that nobody knows adds
nothing. No state is told by colour alone: without colours the emphasis, glyphs and words remain.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Mapping
from typing import NamedTuple

from textual.markup import parse_style
from textual.style import Style
from textual.widget import Widget

from agent_tui.tui.canvas import PLAIN
from agent_tui.tui.themes import role_colours

ROLES: Mapping[str, str] = {
    "quiet": "$foreground 60%",
    "mark": "italic $foreground 60%",
    "cursor": "bold $accent",
    # messages
    "user": "on $surface",
    "user-glyph": "bold $user",
    "thought": "italic $foreground 60%",
    "thought-glyph": "$foreground 60%",
    "summary": "$foreground 60%",
    "notice-info": "$foreground 60%",
    "notice-info-glyph": "$foreground 60%",
    "notice-warning-glyph": "bold $text-warning",
    "notice-error-glyph": "bold $text-error",
    "notice-stopped-glyph": "bold $text-warning",
    # markdown
    "heading-1": "bold underline $text-primary",
    "heading-2": "bold $text-primary",
    "heading-3": "bold",
    "heading-4": "bold italic",
    "heading-5": "italic",
    "heading-6": "italic $foreground 60%",
    "strong": "bold",
    "em": "italic",
    "s": "strike $foreground 60%",
    "quote": "italic $foreground 60%",
    "quote-bar": "$foreground 30%",
    "list-marker": "$text-primary",
    "rule": "$foreground 30%",
    "link": "underline $text-primary",
    "link-address": "$foreground 60%",
    "math": "italic",
    "table-border": "$foreground 30%",
    "table-head": "bold",
    # code
    "code": "on $surface",
    "code-label": "$foreground 60%",
    "code-border": "$foreground 25%",
    "code-inline": "$text-accent",
    "syntax-comment": "italic $foreground 60%",
    "syntax-keyword": "$text-accent",
    "syntax-number": "$text-warning",
    "syntax-type": "$text-primary",
    "syntax-string": "$text-success",
    "syntax-name": "bold",
    "syntax-inserted": "$diff-add",
    "syntax-deleted": "$diff-remove",
    # tools
    "tool-pending": "$foreground 60%",
    "tool-running": "$tool-running",
    "tool-ok": "$tool-ok",
    "tool-failed": "$tool-failed",
    "tool-declined": "$text-warning",
    "tool-killed": "$text-warning",
    "tool-name": "bold",
    "tool-output": "$foreground 60%",
    "panel-bar": "$foreground 20%",
    "diff-add": "on $diff-add 14%",
    "diff-add-sign": "bold $diff-add",
    "diff-add-word": "bold underline on $diff-add 40%",
    "diff-remove": "on $diff-remove 14%",
    "diff-remove-sign": "bold $diff-remove",
    "diff-remove-word": "bold underline on $diff-remove 40%",
    "diff-same": "$foreground 60%",
    "diff-number": "$foreground 60%",
}
"""Role → style, in Textual's style language."""


_FAINT = re.compile(r"\$foreground \d+%")
_SHADED = re.compile(r"on (\$[a-z-]+) (\d)(\d)%")


class Look(NamedTuple):
    """How a widget's rows look in the theme of now. Two looks with the same `key` are the same."""

    key: Hashable
    base: Style
    """The style of plain text; its colours are opaque."""
    style: Callable[[str], Style]
    """What a role adds to that."""


def look_of(widget: Widget) -> Look:
    """The look of the rows of a widget."""
    _, background = widget.background_colors
    base = Style(background=background, foreground=widget.styles.color)
    colours = widget.app.theme_variables
    variables = {**role_colours(colours), **colours}
    roles = _IN_16_COLOURS if widget.app.current_theme.ansi else ROLES
    known: dict[str, Style] = {}

    def style(role: str) -> Style:
        found = known.get(role)
        if found is None:
            words = roles.get(role)
            found = known[role] = PLAIN if words is None else parse_style(words, variables)
        return found

    return Look((base, frozenset(variables.items())), base, style)


def _in_16_colours(words: str) -> str:
    """The same emphasis where colours cannot be mixed: faint text is dim, a tint is its colour."""
    words = _FAINT.sub("dim", words).replace("on $surface", "")
    return _SHADED.sub(lambda shade: ("reverse " if shade[2] >= "4" else "") + shade[1], words)


_IN_16_COLOURS = {role: _in_16_colours(words) for role, words in ROLES.items()}
