"""A session as Markdown."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime

from agent_tui.session.exporting.conversation import Part, parts_of, title_of
from agent_tui.session.journal.entries import Entry, Header


def as_markdown(header: Header, entries: Sequence[Entry]) -> str:
    """The conversation; what tools returned stands in fences."""
    began = datetime.fromtimestamp(header.created_at / 1000, UTC)
    head = [
        f"# {title_of(header, entries)}",
        "",
        f"Session `{header.id}` · {began:%Y-%m-%d %H:%M} UTC · `{header.cwd}`",
    ]
    return "\n".join([*head, *(_section(part) for part in parts_of(entries)), ""])


def _section(part: Part) -> str:
    match part.kind:
        case "user":
            return f"\n## {part.title}\n\n{part.text}"
        case "answer":
            return f"\n### {part.title}\n\n{part.text}"
        case "thinking":
            quoted = "\n".join(f"> {line}".rstrip() for line in part.text.split("\n"))
            return f"\n> **{part.title}**\n>\n{quoted}"
        case "tool":
            mark = "✗" if part.is_error else "✓"
            return f"\n**{mark} `{part.title.replace('`', chr(39))}`**\n\n{_fenced(part.text)}"
        case "note":
            return f"\n*{part.title}:* {part.text}"


def _fenced(text: str) -> str:
    """In a fence that is longer than any in the text."""
    longest = max((len(ticks) for ticks in re.findall(r"`{3,}", text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}\n{text.rstrip()}\n{fence}"
