"""Which tool calls may run by themselves, which need a word from the person, and their answers.

A call that nobody allowed does not run: what cannot be judged is asked, and a question without an
answer blocks its call.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from agent_tui.agent.hooks import BeforeToolCall, BeforeToolCallContext
from agent_tui.config import Mode, Rule
from agent_tui.core.abort import AbortSignal
from agent_tui.core.ids import new_id
from agent_tui.session.events import (
    Answer,
    ApprovalAnswerEvent,
    ApprovalRequestEvent,
    SessionEvent,
    Verdict,
)
from agent_tui.session.judging import Judge, Question, command_of, judge_for
from agent_tui.session.rule_book import RuleBook
from agent_tui.session.rules import what_it_matches
from agent_tui.session.targets import revealed, target_of
from agent_tui.tools import ACCESS, preview

ApprovalMode = Mode
RuleScope = Literal["session", "project", "everywhere"]
"""How long and where an answer "always" counts."""


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
    """The rule that "always" would store; None where none can be offered."""
    matches: str = ""
    """What that rule would match, in words."""
    is_diff: bool = False
    """Whether `detail` is a unified diff of the file that `summary` names."""
    scope: RuleScope = "session"
    """Where "always" would count if nothing else is said."""
    id: str = field(default_factory=new_id)


@dataclass(frozen=True, slots=True)
class _Open:
    request: ApprovalRequest
    question: Question
    answered: asyncio.Future[tuple[Verdict, str | None]]


class Approvals:
    """The gate before every tool call; a new `mode` judges open questions again.

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
        judge: Judge | None = None,
        book: RuleBook | None = None,
        unattended: bool = False,
        announce: Callable[[SessionEvent], None] | None = None,
    ) -> None:
        """`judge` takes the place of `access` and `free`; `book` keeps what "always" makes."""
        self._mode: ApprovalMode = mode
        self.cwd = cwd
        self.rules = [*rules, *(book.rules() if book is not None else ())]
        """What needs no question, and what is refused; "always" adds to it."""
        self.unattended = unattended
        self.announce = announce
        self.problem: str | None = None if book is None else book.problem
        """What is wrong with the kept rules: they cannot be read, or the last one not be kept."""
        self._judge = judge or judge_for(cwd, access, free=free)
        self._book = book
        self.on_diff: Callable[[str, str], None] | None = None
        """Told the id of a call and the unified diff that the person knows of; no other change may
        be made by it."""
        self._open: dict[str, _Open] = {}

    @property
    def mode(self) -> ApprovalMode:
        """What asks; setting it settles the open questions that need no answer any more."""
        return self._mode

    @mode.setter
    def mode(self, mode: ApprovalMode) -> None:
        self._mode = mode
        self.judge_again()

    def preselect(self, mode: ApprovalMode) -> None:
        """Set the mode for calls to come; open questions wait until `judge_again`."""
        self._mode = mode

    @property
    def usual_scope(self) -> RuleScope:
        """What "always" means when nothing else is said."""
        return "session" if self._book is None else "project"

    @property
    def pending(self) -> list[ApprovalRequest]:
        """Open questions, oldest first."""
        return [item.request for item in self._open.values()]

    def answer(
        self,
        request_id: str,
        verdict: Answer,
        comment: str | None = None,
        *,
        scope: RuleScope | None = None,
    ) -> bool:
        """Answer an open question; False if it is not open any more.

        "always" stores the offered rule for `scope` (None: the usual one) and settles the other
        questions that it covers. What the mode forbids by now is refused whatever the answer.
        """
        item = self._open.get(request_id)
        if item is None:
            return False
        found = self._found(item.request)
        if isinstance(found, str):
            self._settle(request_id, "refused", found)
            return True
        if verdict == "always":
            self._store(item.question.offer, scope or self.usual_scope)
        self._settle(request_id, verdict, (comment or "").strip() or None)
        if verdict == "always":
            self.judge_again()
        return True

    def judge_again(self) -> None:
        """Settle the open questions that the mode or the rules have answered by now."""
        for item in list(self._open.values()):
            found = self._found(item.request)
            if found is None:
                self._settle(item.request.id, "allowed", None)
            elif isinstance(found, str):
                self._settle(item.request.id, "refused", found)

    def forget(self, rule: Rule) -> bool:
        """Take back a rule that an answer has made; False if it is in a settings file.

        Raises:
            OSError: The file of kept rules cannot be written.
        """
        if rule.origin in ("project", "everywhere"):
            if self._book is None or not self._book.remove(rule):
                return False
        elif rule.origin != "session":
            return False
        self.rules = [kept for kept in self.rules if kept != rule]
        return True

    async def before_tool_call(
        self, ctx: BeforeToolCallContext, signal: AbortSignal
    ) -> BeforeToolCall | None:
        """None lets the call run; otherwise how it is blocked. Waits for the person if it must."""
        name = ctx.tool_call.name
        found = await self._judged(name, ctx.args)
        if isinstance(found, str):
            return BeforeToolCall(block=True, reason=found)
        if found is None:
            return None
        if self.unattended:
            return BeforeToolCall(block=True, reason=self._nobody(name, found))
        diff = await self._diff(ctx)
        if diff == "" and self.on_diff is not None and found.way_out.startswith("auto-edit"):
            return None  # it changes nothing: the tool says why, and there is nothing to ask
        request = self._request(ctx, found, diff)
        verdict, comment = await self._ask(request, found, signal)
        return _block(verdict, comment)

    async def _judged(self, tool_name: str, args: Mapping[str, Any]) -> Question | str | None:
        """A long command takes time to judge, and the mode may change meanwhile."""
        if self._judge.access.get(tool_name) != "shell":
            return self._judge.judge(self._mode, self.rules, tool_name, args)
        while True:
            mode, rules = self._mode, list(self.rules)
            found = await asyncio.to_thread(self._judge.judge, mode, rules, tool_name, args)
            if (mode, rules) == (self._mode, self.rules):
                return found

    def _found(self, request: ApprovalRequest) -> Question | str | None:
        return self._judge.judge(self._mode, self.rules, request.tool_name, request.args)

    def _store(self, offer: Sequence[Rule], scope: RuleScope) -> None:
        self.problem = None
        for rule in offer:
            kept = replace(rule, origin="session")
            if scope != "session" and self._book is not None:
                try:
                    kept = self._book.add(rule, scope)
                except OSError as error:
                    self.problem = f"The rule counts for this session only: {error}"
            if kept not in self.rules:
                self.rules.append(kept)

    def _nobody(self, tool_name: str, question: Question) -> str:
        if question.way_out:
            modes = question.way_out.replace("auto-edit", "--mode auto-edit")
            modes = modes.replace("full-auto", "--mode full-auto")
            way = f"{modes} would allow it"
        else:
            way = "this asks whatever --mode says"
            way += ", unless a rule in the settings allows it" if question.offer else ""
        return (
            f"{tool_name} needs approval ({question.reason}) and nobody is there to give it; {way}."
        )

    async def _diff(self, ctx: BeforeToolCallContext) -> str | None:
        """What the call would change; None for a tool that changes no file."""
        if self._judge.access.get(ctx.tool_call.name) != "write":
            return None
        diff = await asyncio.to_thread(preview, ctx.tool_call.name, ctx.args, self.cwd)
        if diff is not None and self.on_diff is not None:
            self.on_diff(ctx.tool_call.id, diff)
        return diff

    def _request(
        self, ctx: BeforeToolCallContext, question: Question, diff: str | None
    ) -> ApprovalRequest:
        name, args = ctx.tool_call.name, ctx.args
        detail = diff or json.dumps(args, indent=2, ensure_ascii=False)
        if self._judge.access.get(name) == "shell":
            detail = command_of(args)
        return ApprovalRequest(
            tool_call_id=ctx.tool_call.id,
            tool_name=name,
            args=args,
            summary=revealed(target_of(args)),
            detail=revealed(detail),
            is_diff=bool(diff),
            cwd=str(self.cwd),
            reason=revealed(question.reason),
            rule=" and ".join(map(str, question.offer)) or None,
            matches="; ".join(dict.fromkeys(map(what_it_matches, question.offer))),
            scope=self.usual_scope,
        )

    async def _ask(
        self, request: ApprovalRequest, question: Question, signal: AbortSignal
    ) -> tuple[Verdict, str | None]:
        item = _Open(request, question, asyncio.get_running_loop().create_future())
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
        case "once" | "always" | "allowed":
            return None
        case "refused":
            return BeforeToolCall(block=True, reason=comment)
        case "aborted":
            return BeforeToolCall(block=True, reason="Aborted before the tool started.")
    if comment is None:
        return BeforeToolCall(block=True, reason="The user declined this call.", end_turn=True)
    return BeforeToolCall(block=True, reason=f"The user declined this call: {comment}")
