"""What was spent, as a table in a file: one row for each model call, then one for each tool."""

from __future__ import annotations

import csv
import io
from pathlib import Path

from agent_tui.core.errors import InvalidInputError
from agent_tui.core.spending import Charge, ToolShare, UsageReport
from agent_tui.core.text import printable
from agent_tui.core.usage import usd_of

_CALL = ("turn", "step", "model", "outcome", "seconds")
_TOKENS = ("input", "cache_read", "cache_write", "output", "reasoning", "total")
_MONEY = ("cost_usd", "is_partial")
_TOOL = ("calls", "added", "read_once_usd", "read_again", "read_again_usd")
COLUMNS = ("row", *_CALL, "tool", *_TOKENS, *_MONEY, *_TOOL)
"""What is unknown, and what a row has nothing to say about, is empty."""


def export_csv(report: UsageReport, path: Path) -> None:
    """Write `report` to `path`; only a file that an export wrote is written over.

    Raises:
        InvalidInputError: The file cannot be written, or is something else.
    """
    head = ",".join(COLUMNS)
    try:
        if path.exists() and not (path.is_file() and _begins_with(path, head)):
            raise InvalidInputError(f"{path} is there and no export: choose another name")
        path.write_text(csv_of(report), "utf-8", newline="")
    except OSError as error:
        raise InvalidInputError(f"{path} cannot be written: {error.strerror}") from None


def csv_of(report: UsageReport) -> str:
    """The table as text, lines ended as RFC 4180 says."""
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, restval="")
    writer.writeheader()
    writer.writerows(map(_call_row, report.charges))
    writer.writerows(map(_tool_row, report.tools))
    return text.getvalue()


def _begins_with(path: Path, head: str) -> bool:
    with path.open(encoding="utf-8", errors="replace") as file:
        return file.read(len(head)) == head


def _call_row(charge: Charge) -> dict[str, object]:
    usage = charge.spent.usage
    is_counted = usage.has_tokens
    tokens = {name: getattr(usage, name) if is_counted else "" for name in _TOKENS}
    return {
        "row": "tool_usage" if charge.outcome == "inside_tool" else "call",
        "turn": charge.turn,
        "step": charge.step,
        "model": _plain(charge.model),
        "tool": _plain(charge.tool),
        "outcome": charge.outcome,
        "seconds": "" if charge.seconds is None else round(charge.seconds, 3),
        **tokens,
        "cost_usd": _decimal(usage.cost_usd),
        "is_partial": int(charge.spent.cost_is_partial or charge.spent.tokens_are_partial),
    }


def _tool_row(share: ToolShare) -> dict[str, object]:
    return {
        "row": "tool",
        "tool": _plain(share.tool),
        "is_partial": int(share.is_partial),
        "calls": share.calls,
        "added": share.added,
        "read_once_usd": _decimal(usd_of(share.first_units)),
        "read_again": share.again,
        "read_again_usd": _decimal(usd_of(share.again_units)),
    }


def _decimal(usd: float | None) -> str:
    """All digits, never an exponent."""
    return "" if usd is None else f"{usd:.10f}".rstrip("0").rstrip(".")


def _plain(name: str) -> str:
    """A name that no spreadsheet takes for a formula; models may call tools by any name."""
    shown = " ".join(printable(name).split())
    return f"'{shown}" if shown.startswith(("=", "+", "-", "@")) else shown
