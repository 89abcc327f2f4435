"""Where a tool failed, for the person: places in its own files, never values or source lines."""

from __future__ import annotations

import traceback
from pathlib import Path

_OURS = Path(__file__).parent.parent
_MOST_FRAMES = 6


def trace_of(error: BaseException) -> list[str]:
    """`file:line in function`, the place of the failure last; this package's own are left out.

    Nothing that was in a variable or in the source can be in it.
    """
    frames = traceback.extract_tb(error.__traceback__)
    foreign = [frame for frame in frames if not Path(frame.filename).is_relative_to(_OURS)]
    return [f"{frame.filename}:{frame.lineno} in {frame.name}" for frame in foreign[-_MOST_FRAMES:]]


def told(error: Exception) -> str:
    """What a model is told of an exception; the type where the text alone says nothing."""
    text = str(error)
    if isinstance(error, KeyError) or not text:
        return f"{type(error).__name__}: {text}" if text else type(error).__name__
    return text
