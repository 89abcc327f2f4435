"""How full a window may become, and how much of the transcript a compaction leaves as it is."""

from __future__ import annotations

_RESERVE = 16_384
_KEEP = 20_000


def reserve_for(window: int | None) -> int:
    """Tokens that stay free for the next answer; of an unknown window as of a large one."""
    return _RESERVE if window is None else min(_RESERVE, window // 4)


def keep_recent_for(window: int | None) -> int:
    """Tokens of the newest messages that are not summarised."""
    return _KEEP if window is None else min(_KEEP, window // 3)


def threshold_for(window: int | None) -> int | None:
    """More tokens than this are too many; None where the window is not known."""
    return None if window is None else window - reserve_for(window)
