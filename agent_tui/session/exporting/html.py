"""A session as one HTML file: nothing is loaded from elsewhere, everything is text."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from html import escape

from agent_tui.session.exporting.conversation import Part, parts_of, title_of
from agent_tui.session.journal.entries import Entry, Header

_STYLE = """
:root { color-scheme: light dark; --edge: #8884; --quiet: #888; --mine: #3a7bd522; --bad: #c33; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 0 auto; padding: 1rem; }
header { position: sticky; top: 0; background: Canvas; padding: .5rem 0; }
input { font: inherit; width: 100%; box-sizing: border-box; padding: .3rem .6rem; }
.part { margin: .8rem 0; padding: .2rem .8rem; border-left: 3px solid var(--edge); }
.user { background: var(--mine); border-color: #3a7bd5; }
.bad { border-color: var(--bad); }
.title, time { color: var(--quiet); font-size: .85em; }
.text { white-space: pre-wrap; overflow-wrap: anywhere; }
.tool .text, .thinking .text { font: 13px/1.4 ui-monospace, monospace; }
.tool .text { max-height: 30rem; overflow: auto; }
[hidden] { display: none; }
"""
_SCRIPT = """
const parts = [...document.querySelectorAll('.part')], found = document.querySelector('#found');
document.querySelector('input').addEventListener('input', event => {
  const words = event.target.value.toLowerCase().split(/\\s+/).filter(Boolean);
  let shown = 0;
  for (const part of parts) {
    const text = part.textContent.toLowerCase();
    part.hidden = !words.every(word => text.includes(word));
    shown += !part.hidden;
    const fold = part.querySelector('details');
    if (fold && words.length) fold.open = !part.hidden;
  }
  found.textContent = words.length ? `${shown} of ${parts.length}` : '';
});
"""


def as_html(header: Header, entries: Sequence[Entry]) -> str:
    """The conversation with a line to search in it; tool calls and thoughts are folded."""
    title = escape(title_of(header, entries))
    began = datetime.fromtimestamp(header.created_at / 1000, UTC)
    parts = "\n".join(map(_section, parts_of(entries)))
    policy = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<style>{_STYLE}</style></head><body>
<header><h1>{title}</h1>
<p class="title">Session {escape(header.id)} · {began:%Y-%m-%d %H:%M} UTC · {escape(header.cwd)}</p>
<input type="search" placeholder="Search" aria-label="Search">
<span id="found" class="title"></span>
</header>
<main>
{parts}
</main>
<script>{_SCRIPT}</script></body></html>
"""


def _section(part: Part) -> str:
    kind = f"part {part.kind}{' bad' if part.is_error else ''}"
    mark = {True: "✗ ", False: "✓ "}[part.is_error] if part.kind == "tool" else ""
    title = f'<span class="title">{mark}{escape(part.title)}</span>'
    text = f'<div class="text">{escape(part.text)}</div>'
    if part.kind in ("tool", "thinking"):
        return (
            f'<section class="{kind}"><details><summary>{title}</summary>{text}</details></section>'
        )
    return f'<section class="{kind}">{title}{text}</section>'
