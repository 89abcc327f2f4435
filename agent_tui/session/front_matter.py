"""The lines between two `---` at the head of a Markdown file: names and texts.

It is the small part of YAML that people write there: `name: value`, quotes, and a text that is
folded over lines. Anything else in it is left alone.
"""

from __future__ import annotations

import re

_ENTRY = re.compile(r"^([A-Za-z][\w-]*):(?:[ \t]+(.*?))?[ \t]*$")
_FOLDED = re.compile(r"[>|][+-]?\d?")
_COMMENT = re.compile(r"\s#.*$")


def split_front_matter(text: str) -> tuple[dict[str, str], str]:
    """The entries by their names in lower case, and the text behind them."""
    lines = text.removeprefix("\ufeff").splitlines()
    if not lines or lines[0].rstrip() != "---":
        return {}, text
    end = next((n for n, line in enumerate(lines[1:], 1) if line.rstrip() in ("---", "...")), None)
    if end is None:
        return {}, text
    return _entries(lines[1:end]), "\n".join(lines[end + 1 :]).lstrip("\n")


def _entries(lines: list[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    name = ""
    for line in lines:
        entry = _ENTRY.match(line)
        if entry is not None:
            name = entry[1].lower()
            found[name] = _value(entry[2] or "")
        elif name and line[:1] in (" ", "\t"):
            found[name] = f"{found[name]} {line.strip()}".strip()
    return found


def _value(text: str) -> str:
    if len(text) >= 2 and text[0] == text[-1] and text[0] in "\"'":
        return text[1:-1]
    return "" if _FOLDED.fullmatch(text) else _COMMENT.sub("", text)
