"""The terminal around the screen: whether it is fit, its title, and how it is put back.

Loads no Textual: `agent-tui reset` and the check before the start need none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TextIO

RESET = ""
"""Switches off every mode the program can have switched on, and shows the cursor."""


def unfit_reason(
    stdin: TextIO | None, stdout: TextIO | None, stderr: TextIO | None, environ: Mapping[str, str]
) -> str | None:
    """Why the chat cannot run on these streams, as a sentence with a way out; None when it can."""
    raise NotImplementedError


def size_reason(columns: int, rows: int) -> str | None:
    """Why a window of this size is too small, as a sentence; None when it is large enough."""
    raise NotImplementedError


def title_sequence(title: str) -> str:
    """The control sequence that sets the window's title; anything unprintable is left out."""
    raise NotImplementedError


def put_back() -> None:
    """Put the terminal back now, if the program holds it; safe to call at any time, any number of times."""
    raise NotImplementedError


def reset() -> None:
    """What `agent-tui reset` does: write RESET and give the controlling terminal sane line settings."""
    raise NotImplementedError


def on_signals(
    call: Callable[[int], None], *, grace_seconds: float = 5.0
) -> Callable[[], None]:
    """Call `call(number)` on the running loop at SIGTERM, SIGHUP or SIGINT; the result undoes it.

    The first signal asks for an orderly end (exit code 128 + number). A second one, or
    `grace_seconds` without an end, puts the terminal back and leaves at once.
    """
    raise NotImplementedError
