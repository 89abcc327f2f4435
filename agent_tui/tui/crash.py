"""What is printed when the program itself is at fault: where, in a few lines, and no values.

Textual prints the local variables of every frame, which may hold keys and what a person typed.
"""

from __future__ import annotations

import sys
import traceback
from typing import Any

from rich.segment import Segment, Segments
from textual.app import App

from agent_tui.core.text import printable
from agent_tui.version import __version__

FRAMES = 12
"""The innermost frames are enough to find the place."""

_ANY_WIDTH = 100_000
"""The lines are left to the terminal to wrap: it may be one column wide at that moment."""


def report(app: App[Any]) -> None:
    """Leave the screen and print the exception that is being handled."""
    lines = traceback.format_exception(*sys.exc_info(), limit=-FRAMES)
    text = printable("".join(lines)).rstrip()
    hint = (
        f"\n\nagent-tui {__version__} ended by its own fault; nothing of yours caused this. "
        "Please report the lines above."
    )
    app.error_console.width = _ANY_WIDTH
    app.panic(Segments([Segment(text + hint + "\n")]))
