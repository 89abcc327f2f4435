"""What `/context` shows: a bar by source and the largest items. Plain text for a width."""

from __future__ import annotations

from rich.cells import cell_len

from agent_tui.core.occupancy import ContextItem, ContextReport
from agent_tui.core.text import printable
from agent_tui.tui.figures import clip, count

_GLYPHS = "█▓▒░▚▞"
"""One for each part, in their order: told apart without colour."""
_FREE = "·"
_PIN = "pinned"


def context_text(report: ContextReport, width: int) -> str:
    """The whole report on lines of at most `width` cells, from 30 on."""
    width = max(30, width)
    lines = [_summary(report), "", _bar(report, width), ""]
    total = sum(part.tokens for part in report.parts)
    whole = max(total, report.window or 0)
    for glyph, part in zip(_GLYPHS, report.parts, strict=False):
        lines.append(_row(glyph, part.name, part.tokens, whole))
    if report.window is not None:
        lines.append(_row(_FREE, "free", max(0, report.window - total), whole))
    lines += ["", "Largest"]
    lines += [_item(item, width) for item in report.largest if item.tokens]
    lines += ["", clip("Figures of parts and items are estimates, four characters a token.", width)]
    return "\n".join(lines)


def _summary(report: ContextReport) -> str:
    window = "?" if report.window is None else count(report.window)
    text = f"Context ~{count(report.tokens)} of {window} tokens"
    if report.threshold is not None:
        text += f" · summarised above {count(report.threshold)}"
    return text


def _bar(report: ContextReport, width: int) -> str:
    tokens = [part.tokens for part in report.parts]
    whole = max(sum(tokens), report.window or 0) or 1
    ends = [sum(tokens[: n + 1]) * width // whole for n in range(len(tokens))]
    bar = ""
    for glyph, end, size in zip(_GLYPHS, ends, tokens, strict=False):
        # A part that is there at all is seen.
        bar += glyph * max(end - len(bar), 1 if size and len(bar) < width else 0)
    return (bar + _FREE * width)[:width]


def _row(glyph: str, name: str, tokens: int, whole: int) -> str:
    share = tokens / whole if whole else 0.0
    return f"{glyph} {name:<13}{count(tokens):>7} {share:>5.0%}"


def _item(item: ContextItem, width: int) -> str:
    mark = f"  {_PIN}" if item.is_pinned else ""
    head = f"{count(item.tokens):>7}  "
    label = clip(printable(item.label), width - cell_len(head) - len(mark))
    return f"{head}{label}{mark}"
