"""What `/usage` shows: what was spent by model, by tool and by step. Plain text for a width."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.cells import cell_len

from agent_tui.core.limits import Meter
from agent_tui.core.spending import Charge, Spent, ToolShare, UsageReport
from agent_tui.core.text import printable
from agent_tui.core.usage import usd_of
from agent_tui.tui.figures import clip, clock, count, money, plural
from agent_tui.tui.status import cost_of

INSIDE_TOOLS = "inside tools"
NAME_CELLS = 12
"""A name is cut to no less than this before columns are left out."""
_NONE = "–"


@dataclass(frozen=True, slots=True)
class _Column:
    """A head, and how important it is: the smallest `keep` leaves a narrow table first."""

    head: str
    keep: int = 99


def usage_text(report: UsageReport, meters: Sequence[Meter], width: int) -> str:
    """The whole report, on lines of at most `width` cells where that is possible."""
    parts = [_overview(report, meters)]
    models = [
        [printable(model) or INSIDE_TOOLS, *_figures(spent)] for model, spent in report.models
    ]
    parts += _section("By model", _MODEL_COLUMNS, models, width)
    if report.tools:
        rest = ["everything else", *[""] * 6, _about(report.other_units, False)]
        tools = [*map(_tool_row, report.tools), rest]
        parts += _section("By tool", _TOOL_COLUMNS, tools, width)
        parts.append(_ABOUT_TOOLS)
    steps = [_step_row(charge) for charge in report.charges]
    parts += _section("By step", _STEP_COLUMNS, steps, width)
    return "\n".join(parts)


_MODEL_COLUMNS = (
    _Column("model"),
    _Column("calls", 50),
    _Column("in", 70),
    _Column("cached", 40),
    _Column("out", 60),
    _Column("cost"),
)
_TOOL_COLUMNS = (
    _Column("tool"),
    _Column("calls", 50),
    _Column("added", 80),
    _Column("read once", 30),
    _Column("read again", 70),
    _Column("for", 60),
    _Column("by itself", 20),
    _Column("cost"),
)
_STEP_COLUMNS = (
    _Column("step"),
    _Column("model", 30),
    _Column("time", 40),
    _Column("in", 70),
    _Column("cached", 50),
    _Column("out", 60),
    _Column("cost"),
)
_ABOUT_TOOLS = (
    "  added: tokens of its results; read once: what reading them cost at first;\n"
    "  read again … for: in later steps; by itself: what the tool spent; ~ is an estimate"
)


def _overview(report: UsageReport, meters: Sequence[Meter]) -> str:
    lines = [f"Session: {_summary(report.session)}", f"Turn: {_summary(report.turn)}"]
    lines += [f"Budget: {meter.words}" for meter in meters]
    unfinished = [charge for charge in report.charges if charge.outcome in ("failed", "aborted")]
    if unfinished:
        lines.append(f"{plural(len(unfinished), 'call')} failed or stopped; they count too")
    if report.session.has_own_price:
        lines.append("* by a price of your settings")
    return "\n".join(lines)


def _summary(spent: Spent) -> str:
    tokens_in, cached, tokens_out = _figures(spent)[1:4]
    share = "" if cached == _NONE else f" ({cached} cached)"
    tokens = f"↑{tokens_in}{share} ↓{tokens_out}"
    return " · ".join((plural(spent.requests, "call"), tokens, cost_of(spent)))


def _figures(spent: Spent) -> list[str]:
    """Calls, tokens in, cached share, tokens out, cost."""
    usage = spent.usage
    cached = f"{usage.cache_read * 100 // usage.prompt_tokens}%" if usage.cache_read else _NONE
    return [
        str(spent.requests) if spent.requests else _NONE,
        _tokens(usage.prompt_tokens, spent),
        cached,
        _tokens(usage.output, spent),
        cost_of(spent),
    ]


def _tokens(known: int, spent: Spent) -> str:
    if spent.tokens_are_partial:
        return f"≥{count(known)}" if known else "?"
    return count(known)


def _tool_row(share: ToolShare) -> list[str]:
    spends = share.own.usage.has_tokens or share.own.usage.cost_usd is not None
    return [
        printable(share.tool) or "?",
        str(share.calls),
        f"~{count(share.added)}",
        _about(share.first_units, share.is_partial),
        f"~{count(share.again)}",
        _about(share.again_units, share.is_partial),
        cost_of(share.own) if spends else _NONE,
        _about(share.units, share.is_partial or share.own.cost_is_partial),
    ]


def _about(units: int, is_partial: bool) -> str:
    """An estimated cost; `$?` where nothing is known of it."""
    if is_partial and not units:
        return "$?"
    return f"~{money(usd_of(units), incomplete=is_partial)}" if units else "$0"


def _step_row(charge: Charge) -> list[str]:
    place = f"{charge.turn}.{charge.step}" if charge.turn else "before"
    mark = {"failed": " failed", "aborted": " stopped", "inside_tool": " tool"}.get(
        charge.outcome, ""
    )
    name = charge.model.partition("/")[2] or charge.model or charge.tool
    time = _NONE if charge.seconds is None else clock(charge.seconds)
    _, *figures = _figures(charge.spent)
    return [f"{place}{mark}", printable(name), time, *figures]


def _section(
    title: str, columns: Sequence[_Column], rows: Sequence[Sequence[str]], width: int
) -> list[str]:
    table = [[column.head for column in columns], *rows]
    kept = _kept(columns, table, width)
    widths = [max(cell_len(row[n]) for row in table) for n in kept]
    excess = sum(widths) + 2 * len(widths) - width
    if excess > 0:
        widths[0] = max(1, widths[0] - excess)
    return ["", title, *(_line([row[n] for n in kept], widths) for row in table)]


def _kept(columns: Sequence[_Column], table: Sequence[Sequence[str]], width: int) -> list[int]:
    """The columns that fit when the name gives way as far as it may."""
    sizes = [max(cell_len(row[n]) for row in table) for n in range(len(columns))]
    sizes[0] = min(sizes[0], NAME_CELLS)
    kept = list(range(len(columns)))
    while len(kept) > 2 and sum(sizes[n] for n in kept) + 2 * len(kept) > width:
        kept.remove(min(kept, key=lambda n: columns[n].keep))
    return kept


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    """The name on the left, figures on the right of their columns."""
    name = clip(cells[0], widths[0])
    figures = [
        " " * (width - cell_len(cell)) + cell
        for cell, width in zip(cells[1:], widths[1:], strict=True)
    ]
    padded = name + " " * (widths[0] - cell_len(name))
    return "  ".join(["", padded, *figures]).rstrip()
