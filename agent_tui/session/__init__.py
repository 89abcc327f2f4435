"""What is put together, retried, approved and counted. `Session` loads when first asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agent_tui.session.session import Session as Session

__all__ = ["Session"]


def __getattr__(name: str) -> Any:
    if name != "Session":
        raise AttributeError(f"module 'agent_tui.session' has no attribute {name!r}")
    from agent_tui.session.session import Session

    return Session
