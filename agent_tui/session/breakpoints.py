"""Breakpoints: where the person wants the loop to be held, and what is held now.

A model call is held before it is made, a tool call before anybody is asked for its approval. What
has happened so far is kept, and what is typed meanwhile is queued as ever.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any, Literal

from agent_tui.agent.hooks import AfterToolCallContext, BeforeToolCall, BeforeToolCallContext
from agent_tui.core.abort import AbortSignal
from agent_tui.core.errors import InvalidInputError
from agent_tui.core.ids import new_id
from agent_tui.core.messages import ImageBlock, TextBlock
from agent_tui.core.text import one_line
from agent_tui.core.tool import Tool
from agent_tui.session.events import (
    ArgumentsChangedEvent,
    BreakAnswer,
    BreakEndEvent,
    BreakEvent,
    BreakVerdict,
    SessionEvent,
)
from agent_tui.session.targets import target_of

CallHolds = Literal["off", "once", "each"]
"""Which model calls are held: none, the next one, every one."""


@dataclass(frozen=True, slots=True)
class Held:
    """The loop is held: before a model call, or before a tool call."""

    step: int
    """The step that the call belongs to, from 1 in its turn."""
    tool_call_id: str = ""
    """Empty before a model call."""
    tool_name: str = ""
    args: Mapping[str, Any] = field(default_factory=dict)
    id: str = field(default_factory=new_id)

    @property
    def place(self) -> str:
        """E.g. `before the model call of step 8`, `` before `pytest -q` ``."""
        if not self.tool_name:
            return f"before the model call of step {self.step}"
        return f"before `{one_line(target_of(self.args) or self.tool_name, 60)}`"


@dataclass(slots=True)
class _Open:
    held: Held
    tool: Tool | None
    answered: asyncio.Future[tuple[BreakVerdict, Mapping[str, Any] | None]]


class Breakpoints:
    """The breakpoints of one session."""

    def __init__(self, step: Callable[[], int], post: Callable[[SessionEvent], None]) -> None:
        """`step()` is how many steps the turn has begun; `post` tells the session's listeners."""
        self._step = step
        self._post = post
        self.calls: CallHolds = "off"
        self.tools: list[str] = []
        """Names of tools, `*` and `?` stand for others: their calls are held."""
        self._open: dict[str, _Open] = {}
        self._edited: dict[str, Mapping[str, Any]] = {}
        """By call: what the person made of its arguments."""

    # -- what the person says ----------------------------------------------------------------

    @property
    def words(self) -> list[str]:
        """What is held, e.g. `the next model call`, `bash`; empty if nothing is."""
        calls = {"off": [], "once": ["the next model call"], "each": ["every model call"]}
        return [*calls[self.calls], *self.tools]

    @property
    def pending(self) -> list[Held]:
        """What is held now, oldest first."""
        return [opened.held for opened in self._open.values()]

    def clear(self) -> None:
        """Hold nothing any more; what is held goes on."""
        self.calls = "off"
        self.tools.clear()
        for key in [*self._open]:
            self._settle(key, "go")

    def answer(
        self, held_id: str, verdict: BreakAnswer, args: Mapping[str, Any] | None = None
    ) -> bool:
        """Let it go on, or not; False if it is not held any more.

        `args` are what a tool call is to be made with instead.

        Raises:
            InvalidInputError: They do not fit the tool; says where. It is still held.
        """
        opened = self._open.get(held_id)
        if opened is None:
            return False
        if args is not None and opened.tool is not None:
            args, problems = opened.tool.check(dict(args))
            if problems:
                raise InvalidInputError("; ".join(problems))
        if verdict == "step" and self.calls == "off":
            self.calls = "once"
        self._settle(held_id, verdict, args)
        return True

    def dismiss(self) -> None:
        """No model call is to follow: what is held before one stops, a tool goes on."""
        for key, opened in [*self._open.items()]:
            self._settle(key, "go" if opened.held.tool_name else "stop")

    # -- what the loop asks ------------------------------------------------------------------

    @property
    def holds_calls(self) -> bool:
        """Whether the next model call is held."""
        return self.calls != "off"

    async def before_request(
        self, signal: AbortSignal | None = None, *, is_first: bool = False
    ) -> BreakVerdict:
        """Wait where a model call is held; `stop` and `aborted`: it is not to be made.

        `is_first`: a new turn would begin with it.
        """
        if self.calls == "off":
            return "go"
        if self.calls == "once":
            self.calls = "off"
        held = Held(1 if is_first else self._step() + 1)
        return (await self._hold(held, None, signal))[0]

    async def before_tool(
        self, ctx: BeforeToolCallContext, signal: AbortSignal
    ) -> BeforeToolCall | None:
        """Wait where this call is held: with other arguments, blocked, or None to go on."""
        name = ctx.tool_call.name
        if not any(fnmatchcase(name, pattern) for pattern in self.tools):
            return None
        tool = next((tool for tool in ctx.context.tools if tool.name == name), None)
        held = Held(self._step(), ctx.tool_call.id, name, ctx.args)
        verdict, args = await self._hold(held, tool, signal)
        if verdict == "aborted":
            return BeforeToolCall(block=True, reason="Aborted before the tool started.")
        if verdict == "stop":
            return BeforeToolCall(block=True, reason="The user stopped before this call.")
        if args is None or args == ctx.args:
            return None
        self._edited[ctx.tool_call.id] = args
        self._post(ArgumentsChangedEvent(ctx.tool_call.id, name, args, by_person=True))
        return BeforeToolCall(args=dict(args))

    def told(self, ctx: AfterToolCallContext) -> list[TextBlock | ImageBlock] | None:
        """The result, with what the person changed for the model to know; None if nothing was."""
        args = self._edited.pop(ctx.tool_call.id, None)
        if args is None:
            return None
        ran = json.dumps(args, ensure_ascii=False, default=str)
        note = f"The user edited the arguments of this call before it ran. It ran with: {ran}\n\n"
        return [TextBlock(text=note), *ctx.result.content]

    # -- inside ------------------------------------------------------------------------------

    async def _hold(
        self, held: Held, tool: Tool | None, signal: AbortSignal | None
    ) -> tuple[BreakVerdict, Mapping[str, Any] | None]:
        opened = _Open(held, tool, asyncio.get_running_loop().create_future())
        self._open[held.id] = opened
        self._post(BreakEvent(held))
        forget = signal.on_set(lambda: self._settle(held.id, "aborted")) if signal else lambda: None
        try:
            return await opened.answered
        finally:
            forget()
            self._settle(held.id, "aborted")

    def _settle(
        self, key: str, verdict: BreakVerdict, args: Mapping[str, Any] | None = None
    ) -> None:
        opened = self._open.pop(key, None)
        if opened is None:
            return
        if not opened.answered.done():
            opened.answered.set_result((verdict, args))
        self._post(BreakEndEvent(key, verdict))
