"""Copies of file descriptors that never take the place of a standard one."""

from __future__ import annotations

import os

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

FIRST = 3
"""The first number that is not standard input, output or error."""


def copy_of(descriptor: int) -> int:
    """A copy that children do not inherit; its number is above 2, also if one of these is free.

    Raises:
        OSError: The descriptor is not open.
    """
    if fcntl is None:
        return os.dup(descriptor)
    return fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, FIRST)


def lead_nowhere(descriptor: int) -> None:
    """Make the descriptor read nothing and write to nobody, open or not."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    if nowhere != descriptor:
        os.dup2(nowhere, descriptor)
        os.close(nowhere)
