"""The face: a Textual application over one session. `ChatApp` loads when it is first asked for."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agent_tui.tui.app import ChatApp as ChatApp

__all__ = ["ChatApp"]


def __getattr__(name: str) -> Any:
    if name != "ChatApp":
        raise AttributeError(f"module 'agent_tui.tui' has no attribute {name!r}")
    # Textual reads it when it is imported: at its default of 60 a key waits 16 ms to be seen.
    os.environ.setdefault("TEXTUAL_FPS", "120")
    from agent_tui.tui.app import ChatApp

    return ChatApp
