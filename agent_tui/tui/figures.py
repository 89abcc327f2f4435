"""Numbers as the screen shows them."""

from __future__ import annotations

from rich.cells import cell_len, set_cell_size

from agent_tui.core.figures import clock as clock
from agent_tui.core.figures import count as count
from agent_tui.core.figures import countdown as countdown
from agent_tui.core.figures import money as money
from agent_tui.core.figures import plural as plural
from agent_tui.core.figures import span as span


def clip(text: str, cells: int) -> str:
    """`text` if it fits in so many cells of the terminal, else its beginning and `…`."""
    if cell_len(text) <= cells:
        return text
    return set_cell_size(text, max(0, cells - 1)).rstrip() + "…" if cells > 0 else ""
