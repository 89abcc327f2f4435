"""Which tool calls may run by themselves, which need a word from the person, and their answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from agent_tui.agent.hooks import BeforeToolCall, BeforeToolCallContext
from agent_tui.core.abort import AbortSignal
from agent_tui.core.messages import new_id
from agent_tui.session.events import Answer

ApprovalMode = Literal["ask", "auto-edit", "full-auto", "read-only"]


@dataclass(frozen=True, slots=True)
class ApprovalRequest:
    """One question to the person."""

    tool_call_id: str
    tool_name: str
    args: Mapping[str, Any]
    summary: str
    """The exact command or path, as the model wrote it."""
    detail: str
    """All of it: the whole command, a unified diff, the content, or the arguments."""
    cwd: str
    reason: str
    """Why this call asks, as a sentence without a full stop."""
    rule: str | None
    """What "always" would allow, in words; None where it would allow nothing more than "once"."""
    id: str = field(default_factory=new_id)


class Approvals:
    """The gate before every tool call; `mode` may change at any time and applies to the next call."""

    def __init__(self, mode: ApprovalMode, cwd: Path) -> None:
        self.mode: ApprovalMode = mode
        self.cwd = cwd
        self.pending: list[ApprovalRequest] = []
        """Open questions, oldest first."""

    def answer(self, request_id: str, verdict: Answer, comment: str | None = None) -> bool:
        """Answer an open question; False if it is not open any more."""
        raise NotImplementedError

    async def before_tool_call(
        self, ctx: BeforeToolCallContext, signal: AbortSignal
    ) -> BeforeToolCall | None:
        """None lets the call run; otherwise how it is blocked. Waits for the person if it must."""
        raise NotImplementedError
