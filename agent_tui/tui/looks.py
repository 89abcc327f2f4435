"""How each role looks, in words of the theme: a theme owns every colour, this table the emphasis.

A role is what a run of text or a row *is* (`code`, `tool-failed`). A theme may set a role to
something else with the variable of the same name; a role that nobody knows adds nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from textual.style import Style
from textual.widget import Widget

from agent_tui.tui.canvas import PLAIN

ROLES: Mapping[str, str] = {
    "quiet": "$foreground 60%",
    "cursor": "bold $accent",
    "user": "bold",
    "user-glyph": "bold $user",
    "thought": "italic $foreground 60%",
    "thought-glyph": "$foreground 60%",
    "heading": "bold $text-primary",
    "quote": "italic $foreground 60%",
    "quote-bar": "$primary",
    "list-marker": "$text-primary",
    "rule": "$foreground 30%",
    "link": "underline $text-accent",
    "code": "on $surface",
    "code-label": "$foreground 60% on $surface",
    "code-border": "$foreground 30%",
    "code-inline": "$text-warning on $surface",
    "table-border": "$foreground 30%",
    "table-head": "bold",
    "syntax-comment": "italic $foreground 60%",
    "syntax-keyword": "$text-accent",
    "syntax-number": "$text-warning",
    "syntax-type": "$text-primary",
    "syntax-string": "$text-success",
    "syntax-name": "$text-secondary",
    "diff-add": "$diff-add",
    "diff-remove": "$diff-remove",
}
"""Role → style, in Textual's style language."""


def look_of(widget: Widget) -> tuple[Style, Callable[[str], Style]]:
    """The opaque base style of a widget, and what each role adds to it in the theme of now."""
    _, background = widget.background_colors
    base = Style(background=background, foreground=widget.styles.color)
    variables = widget.app.theme_variables
    known: dict[str, Style] = {}

    def style(role: str) -> Style:
        found = known.get(role)
        if found is None:
            words = ROLES.get(role)
            found = known[role] = PLAIN if words is None else Style.parse(words, variables)
        return found

    return base, style
