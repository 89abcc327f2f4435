"""Which tool calls may run by themselves, which need a word from the person, and their answers.

A call that nobody allowed does not run: what cannot be judged is asked, and a question without an
answer blocks its call.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from agent_tui.agent.hooks import BeforeToolCall, BeforeToolCallContext
from agent_tui.core.abort import AbortSignal
from agent_tui.core.ids import new_id
from agent_tui.session.events import (
    Answer,
    ApprovalAnswerEvent,
    ApprovalRequestEvent,
    SessionEvent,
    Verdict,
)
from agent_tui.session.rules import Rule, allows, command_of, rule_for_command
from agent_tui.session.targets import revealed, target_of
from agent_tui.tools import ACCESS, Reach, Refused, judge, path_argument, preview

ApprovalMode = Literal["ask", "auto-edit", "full-auto", "read-only"]


@dataclass(frozen=True, slots=True)
class ApprovalRequest:
    """One question to the person."""

    tool_call_id: str
    tool_name: str
    args: Mapping[str, Any]
    summary: str
    """The exact command or path, as the model wrote it; control characters are spelled out."""
    detail: str
    """All of it: the whole command, a unified diff, or the arguments; likewise."""
    cwd: str
    reason: str
    """Why this call asks, as a clause: "it runs a command"."""
    rule: str | None
    """What "always" would allow, in words; None where it would allow nothing more than "once"."""
    id: str = field(default_factory=new_id)


@dataclass(frozen=True, slots=True)
class _Question:
    reason: str
    rule: Rule | None


@dataclass(frozen=True, slots=True)
class _Open:
    request: ApprovalRequest
    rule: Rule | None
    answered: asyncio.Future[tuple[Verdict, str | None]]


class Approvals:
    """The gate before every tool call; `mode` may be set at any time and counts from the next call.

    `access` says what a tool does (tools it does not name always ask), `free` are folders besides
    the project that may be read and written like it. With `unattended` nobody is asked: the call is
    blocked with a sentence that names the way out.
    """

    def __init__(
        self,
        mode: ApprovalMode,
        cwd: Path,
        *,
        access: Mapping[str, str] = ACCESS,
        free: Sequence[Path] = (),
        rules: Sequence[Rule] = (),
        unattended: bool = False,
        announce: Callable[[SessionEvent], None] | None = None,
    ) -> None:
        self.mode: ApprovalMode = mode
        self.cwd = cwd
        self.rules = list(rules)
        """What needs no question; "always" adds to it."""
        self.unattended = unattended
        self.announce = announce
        self._access = access
        self._free = tuple(free)
        self._open: dict[str, _Open] = {}

    @property
    def pending(self) -> list[ApprovalRequest]:
        """Open questions, oldest first."""
        return [item.request for item in self._open.values()]

    def answer(self, request_id: str, verdict: Answer, comment: str | None = None) -> bool:
        """Answer an open question; False if it is not open any more."""
        item = self._open.get(request_id)
        if item is None:
            return False
        if verdict == "always" and item.rule is not None:
            self.rules.append(item.rule)
        self._settle(request_id, verdict, (comment or "").strip() or None)
        return True

    async def before_tool_call(
        self, ctx: BeforeToolCallContext, signal: AbortSignal
    ) -> BeforeToolCall | None:
        """None lets the call run; otherwise how it is blocked. Waits for the person if it must."""
        found = self._judge(ctx.tool_call.name, ctx.args)
        if isinstance(found, str):
            return BeforeToolCall(block=True, reason=found)
        if found is None:
            return None
        if self.unattended:
            return BeforeToolCall(block=True, reason=self._nobody(ctx.tool_call.name, found))
        request = await self._request(ctx, found)
        verdict, comment = await self._ask(request, found.rule, signal)
        return _block(verdict, comment)

    def _judge(self, tool_name: str, args: Mapping[str, Any]) -> _Question | str | None:
        """A question, a refusal as a sentence, or None for a call that may run."""
        if self.mode == "full-auto":
            return None
        access = self._access.get(tool_name)
        if self.mode == "read-only" and access in ("write", "shell"):
            return f"{tool_name} is refused: the mode is read-only, so nothing may be changed."
        try:
            reach = self._reach(tool_name, args) if access else None
        except Refused:
            return None  # the tool itself answers with what is wrong with the path
        question = self._question(tool_name, access, args, reach)
        if question is not None and any(
            allows(rule, tool_name, reach, command_of(args), self.cwd) for rule in self.rules
        ):
            return None
        return question

    def _reach(self, tool_name: str, args: Mapping[str, Any]) -> Reach | None:
        path = path_argument(tool_name, args)
        return None if path is None else judge(path, self.cwd, free=self._free)

    def _question(
        self, tool_name: str, access: str | None, args: Mapping[str, Any], reach: Reach | None
    ) -> _Question | None:
        if reach is not None and (not reach.inside or reach.guarded):
            why = reach.guarded or "outside the project"
            return _Question(f"{reach.path} is {why}", Rule(tool_name, "path", str(reach.path)))
        match access:
            case "read":
                return None
            case "write":
                rule = Rule(tool_name, "project")
                return None if self.mode == "auto-edit" else _Question("it changes a file", rule)
            case "shell":
                return _Question("it runs a command", rule_for_command(tool_name, command_of(args)))
        return _Question("it is not a built-in tool", Rule(tool_name, "anything"))

    def _nobody(self, tool_name: str, question: _Question) -> str:
        scope = question.rule.scope if question.rule else None
        modes = "--mode auto-edit or --mode full-auto" if scope == "project" else "--mode full-auto"
        return (
            f"{tool_name} needs approval ({question.reason}) and nobody is there to give it; "
            f"{modes} would allow it."
        )

    async def _request(self, ctx: BeforeToolCallContext, question: _Question) -> ApprovalRequest:
        name, args = ctx.tool_call.name, ctx.args
        if self._access.get(name) == "shell":
            detail: str | None = command_of(args)
        else:
            detail = await asyncio.to_thread(preview, name, args, self.cwd)
        if detail is None:
            detail = json.dumps(args, indent=2, ensure_ascii=False)
        return ApprovalRequest(
            tool_call_id=ctx.tool_call.id,
            tool_name=name,
            args=args,
            summary=revealed(target_of(args)),
            detail=revealed(detail),
            cwd=str(self.cwd),
            reason=revealed(question.reason),
            rule=None if question.rule is None else str(question.rule),
        )

    async def _ask(
        self, request: ApprovalRequest, rule: Rule | None, signal: AbortSignal
    ) -> tuple[Verdict, str | None]:
        item = _Open(request, rule, asyncio.get_running_loop().create_future())
        self._open[request.id] = item
        self._tell(ApprovalRequestEvent(request))
        forget = signal.on_set(lambda: self._settle(request.id, "aborted", None))
        try:
            return await item.answered
        finally:
            forget()
            self._settle(request.id, "aborted", None)

    def _settle(self, request_id: str, verdict: Verdict, comment: str | None) -> None:
        item = self._open.pop(request_id, None)
        if item is None:
            return
        if not item.answered.done():
            item.answered.set_result((verdict, comment))
        self._tell(ApprovalAnswerEvent(request_id, verdict, comment))

    def _tell(self, event: SessionEvent) -> None:
        if self.announce is not None:
            self.announce(event)


def _block(verdict: Verdict, comment: str | None) -> BeforeToolCall | None:
    match verdict:
        case "once" | "always":
            return None
        case "aborted":
            return BeforeToolCall(block=True, reason="Aborted before the tool started.")
    if comment is None:
        return BeforeToolCall(block=True, reason="The user declined this call.", end_turn=True)
    return BeforeToolCall(block=True, reason=f"The user declined this call: {comment}")
