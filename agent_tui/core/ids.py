"""Fresh ids and the time of messages. Apart, because they are wanted before messages are loaded."""

from __future__ import annotations

import secrets
import time


def new_id() -> str:
    """A fresh random id, unique in any file."""
    return secrets.token_hex(8)


def now_ms() -> int:
    """Milliseconds since the epoch."""
    return time.time_ns() // 1_000_000
