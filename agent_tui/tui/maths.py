r"""Formulas in Markdown: `$…$`, `$$…$$`, `\(…\)`, `\[…\]`. They are shown as they are written.

Without this rule Markdown would take their stars for emphasis and eat their backslashes.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_inline import StateInline

TOKEN = "math_inline"
_FORMULA = re.compile(
    r"\$\$(?:[^$\\]|\\.){1,1000}?\$\$"
    # Money is no formula: no blank inside the dollars, no digit behind them.
    r"|\$(?![\s$])(?:[^$\\\n]|\\.){1,1000}?(?<!\s)\$(?!\d)"
    r"|\\\((?:[^\\]|\\[^)]){1,1000}?\\\)"
    # Brackets that are escaped to be brackets stand inside a line, this kind of formula alone.
    r"|(?<!\S)\\\[(?:[^\\]|\\[^\]]){1,1000}?\\\](?=[.,;]?[ ]*(?:\n|\Z))",
    re.DOTALL,
)


def add_to(parser: MarkdownIt) -> None:
    """Let `parser` make a token of each formula, whose content is all of its source."""
    parser.inline.ruler.before("escape", TOKEN, _formula)


def _formula(state: StateInline, silent: bool) -> bool:
    match = _FORMULA.match(state.src, state.pos, state.posMax)
    if match is None:
        return False
    if not silent:
        state.push(TOKEN, "", 0).content = match[0]
    state.pos = match.end()
    return True
