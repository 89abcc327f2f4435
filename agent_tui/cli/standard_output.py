"""Standard output for the answer alone, whatever else writes there."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TextIO


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
    copies = {number: os.dup(number) for number in (0, 1) if _is_open(number)}
    encoding, errors = sys.stdout.encoding, sys.stdout.errors
    nowhere = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nowhere, 0)
    os.close(nowhere)
    os.dup2(2 if _is_open(2) else 0, 1)
    out = open(copies[1], "w", encoding=encoding, errors=errors, closefd=False)  # noqa: SIM115
    try:
        yield out
    finally:
        with suppress(OSError, ValueError):  # nobody reads it any more
            out.flush()
        for number, copy in copies.items():
            os.dup2(copy, number)
            os.close(copy)


def _is_open(number: int) -> bool:
    with suppress(OSError):
        os.fstat(number)
        return True
    return False
