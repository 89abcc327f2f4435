"""Standard output for the answer alone, whatever else writes there."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TextIO

from agent_tui.core.descriptors import copy_of, lead_nowhere


@contextmanager
def reserved_output() -> Iterator[TextIO]:
    """What leads to standard output; within the block nothing else does.

    A program that a tool of the person's starts without a thought for it writes to standard error
    instead, and finds its standard input empty.
    """
    if sys.stdout is None:  # it was closed before the program began
        with Path(os.devnull).open("w") as nobody:
            yield nobody
        return
    try:
        is_usual = sys.stdout.fileno() == 1
    except (OSError, ValueError):  # somebody stands in for it
        is_usual = False
    if not is_usual:
        yield sys.stdout
        return
    sys.stdout.flush()
    # One that was closed before the start may have become another file's by now.
    usual = [number for number, stream in ((0, sys.stdin), (1, sys.stdout)) if stream is not None]
    copies = {number: copy_of(number) for number in usual}
    encoding, errors = sys.stdout.encoding, sys.stdout.errors
    if sys.stdin is not None:
        lead_nowhere(0)
    if sys.stderr is not None:
        os.dup2(2, 1)
    else:
        lead_nowhere(1)
    out = open(copies[1], "w", encoding=encoding, errors=errors, closefd=False)  # noqa: SIM115
    try:
        yield out
    finally:
        with suppress(OSError, ValueError):  # nobody reads it any more
            out.flush()
        for number, copy in copies.items():
            os.dup2(copy, number)
            os.close(copy)
