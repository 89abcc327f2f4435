"""Hooks from the settings: the person's commands before and after a tool call, and after a turn.

One that fails before a call keeps the call from running; one that fails later is a warning. They
run one after another, each with what the one before has changed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from agent_tui.agent.calling import unless_aborted
from agent_tui.agent.hooks import (
    AfterToolCall,
    AfterToolCallContext,
    BeforeToolCall,
    BeforeToolCallContext,
    MaybeAwaitable,
)
from agent_tui.config import HookEvent, HookSettings
from agent_tui.core.abort import AbortSignal
from agent_tui.session.events import (
    ArgumentsChangedEvent,
    HookEndEvent,
    HookStartEvent,
    NoticeEvent,
    SessionEvent,
)
from agent_tui.session.hook_process import Said, ask_hook

MOST_FOLLOW_UPS = 3
"""How many follow-ups the hooks of one turn may ask for."""


class UserHooks:
    """Runs the hooks of one session."""

    def __init__(self, session_id: str, cwd: Path, post: Callable[[SessionEvent], None]) -> None:
        self._session_id = session_id
        self._cwd = cwd
        self._post = post
        self.hooks: Sequence[HookSettings] = ()
        self.environ: Mapping[str, str] = {}
        """What they inherit; no keys of the program."""

    async def before_tool(self, ctx: BeforeToolCallContext) -> BeforeToolCall | None:
        """A refusal, changed arguments that fit the tool, or None. Cancelling kills the hook."""
        name, args = ctx.tool_call.name, ctx.args
        for hook in self._for("before_tool", name):
            said = await self._ask(hook, {**_call(ctx), "args": args}, ctx.tool_call.id)
            if (reason := _refusal(hook, said)) is not None:
                return BeforeToolCall(block=True, reason=reason)
            if "args" in said.answer:
                args, problems = _checked(ctx, said.answer["args"])
                if problems:
                    return BeforeToolCall(block=True, reason=_bad_arguments(hook, problems))
        if args is ctx.args:
            return None
        self._post(ArgumentsChangedEvent(ctx.tool_call.id, name, args))
        return BeforeToolCall(args=args)

    async def after_tool(
        self, ctx: AfterToolCallContext, signal: AbortSignal
    ) -> AfterToolCall | None:
        """What to put in place of the result, or None; a stop ends the hook at once."""
        name, text, is_error = ctx.tool_call.name, ctx.result.text, ctx.is_error
        changed = AfterToolCall()
        for hook in self._for("after_tool", name):
            if signal.aborted:
                break
            question = {**_call(ctx), "args": ctx.args, "content": text, "is_error": is_error}
            asked: MaybeAwaitable[Said] = self._ask(hook, question, ctx.tool_call.id)
            _, said = await unless_aborted(asked, signal)
            if said is None or not self._is_fine(hook, said):
                continue
            if isinstance(said.answer.get("content"), str):
                changed.content = text = said.answer["content"]
            if isinstance(said.answer.get("is_error"), bool):
                changed.is_error = is_error = said.answer["is_error"]
        return None if changed == AfterToolCall() else changed

    async def turn_end(self, reason: str, text: str, asked_before: int) -> list[str]:
        """The follow-ups that the hooks ask for; `asked_before` is how many they had already."""
        asked: list[str] = []
        for hook in self._for("turn_end"):
            question = {"reason": reason, "text": text, "follow_ups": asked_before + len(asked)}
            said = await self._ask(hook, question, "")
            wanted = said.answer.get("follow_up") if self._is_fine(hook, said) else None
            if not isinstance(wanted, str) or not wanted.strip():
                continue
            if asked_before + len(asked) >= MOST_FOLLOW_UPS:
                self._warn(
                    f"The {hook} asks for one more follow-up; a turn gets {MOST_FOLLOW_UPS} of "
                    "them from hooks, then it is over."
                )
                break
            asked.append(wanted.strip())
        return asked

    def has(self, event: HookEvent) -> bool:
        """Whether there is a hook for this moment."""
        return any(True for _ in self._for(event))

    def _for(self, event: HookEvent, tool_name: str | None = None) -> Iterator[HookSettings]:
        for hook in self.hooks:
            if hook.event == event and (tool_name is None or fnmatchcase(tool_name, hook.match)):
                yield hook

    async def _ask(self, hook: HookSettings, question: Mapping[str, Any], call_id: str) -> Said:
        self._post(HookStartEvent(str(hook), call_id))
        try:
            head = {"event": hook.event, "session_id": self._session_id, "cwd": str(self._cwd)}
            return await ask_hook(hook, {**head, **question}, self._cwd, self.environ)
        finally:
            self._post(HookEndEvent(str(hook), call_id))

    def _is_fine(self, hook: HookSettings, said: Said) -> bool:
        problem = said.problem or (f"refused: {said.refusal}" if said.refusal else None)
        if problem is not None:
            self._warn(f"The {hook} {problem}")
        return problem is None

    def _warn(self, sentence: str) -> None:
        self._post(NoticeEvent(sentence))


def _call(ctx: BeforeToolCallContext | AfterToolCallContext) -> dict[str, Any]:
    return {"tool": ctx.tool_call.name, "call_id": ctx.tool_call.id}


def _refusal(hook: HookSettings, said: Said) -> str | None:
    if said.problem is not None:
        return f"Not run: the {hook} {said.problem}"
    if said.refusal is not None:
        return f"Blocked by a hook: {said.refusal}"
    if said.answer.get("block"):
        return f"Blocked by a hook: {said.answer.get('reason') or 'it gave no reason'}"
    return None


def _checked(ctx: BeforeToolCallContext, args: Any) -> tuple[dict[str, Any], list[str]]:
    """The arguments as the tool takes them, or what is wrong with them."""
    if not isinstance(args, dict):
        return {}, ["they are no JSON object"]
    tool = next((tool for tool in ctx.context.tools if tool.name == ctx.tool_call.name), None)
    return (args, []) if tool is None else tool.check(args)


def _bad_arguments(hook: HookSettings, problems: Sequence[str]) -> str:
    return f"Not run: the {hook} gave arguments that do not fit: {'; '.join(problems)}"
