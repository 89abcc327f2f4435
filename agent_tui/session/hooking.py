"""The session's hooks on its agent; what the agent's owner had hooked runs first and counts."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

from agent_tui.agent.agent import Agent
from agent_tui.agent.calling import settled
from agent_tui.agent.hooks import (
    AfterToolCall,
    AfterToolCallContext,
    BeforeToolCall,
    BeforeToolCallContext,
    NextTurn,
    OnRequest,
    TurnContext,
    Unset,
)
from agent_tui.core.abort import AbortSignal
from agent_tui.core.events import AgentEndEvent
from agent_tui.core.messages import AgentMessage, AssistantMessage
from agent_tui.core.model import Model
from agent_tui.core.stream import LlmContext, StreamOptions
from agent_tui.core.tool import Tool, ToolResult
from agent_tui.session.approvals import Approvals
from agent_tui.session.breakpoints import Breakpoints
from agent_tui.session.budgets import Budgets
from agent_tui.session.user_hooks import UserHooks


class SessionHooks:
    """Breakpoints and approvals before a call; budgets, breakpoints, stops between two steps."""

    def __init__(
        self,
        agent: Agent,
        approvals: Approvals,
        budgets: Budgets,
        breakpoints: Breakpoints,
        user: UserHooks,
        *,
        stop_requested: Callable[[], bool],
        request_stop: Callable[[], None],
        on_model: Callable[[Model], None],
        make_room: Callable[[AbortSignal], Awaitable[list[AgentMessage] | None]],
        on_request: OnRequest,
    ) -> None:
        """`on_model` hears of every model that the run changes to.

        `make_room` gives a shorter transcript between two steps, or None. `on_request` is told of
        each request.
        """
        self._make_room = make_room
        self._agent = agent
        self._approvals = approvals
        self._budgets = budgets
        self._breakpoints = breakpoints
        self.user = user
        """The hooks from the settings."""
        self._stop_requested = stop_requested
        self._request_stop = request_stop
        self._on_model = on_model
        self._asked_to_stop: TurnContext | None = None
        """The step after which `_stop` was called last."""
        self._tools: Sequence[Tool] | None = None
        """The agent's tools, while a run is to begin without them."""
        self.has_switched = False
        """Model or thinking level were set since the run took its copy."""
        self.has_reloaded = False
        """Prompt and tools were set since then."""
        self._before_tool_call = agent.before_tool_call
        self._after_tool_call = agent.after_tool_call
        self._prepare_next_turn = agent.prepare_next_turn
        self._should_stop_after_turn = agent.should_stop_after_turn
        self._shows_prints = agent.shows_prints
        self._on_request = agent.on_request
        self._record_request = on_request
        agent.on_request = self._request
        agent.shows_prints = True
        agent.before_tool_call = self._approve
        agent.after_tool_call = self._finish
        agent.prepare_next_turn = self._switch
        agent.should_stop_after_turn = self._stop

    def remove(self) -> None:
        """Give the agent back the hooks it came with."""
        self._agent.shows_prints = self._shows_prints
        self._agent.on_request = self._on_request
        self._agent.before_tool_call = self._before_tool_call
        self._agent.after_tool_call = self._after_tool_call
        self._agent.prepare_next_turn = self._prepare_next_turn
        self._agent.should_stop_after_turn = self._should_stop_after_turn

    def without_tools(self) -> None:
        """Let the next run begin without tools, until they are given back."""
        self._tools, self._agent.state.tools = self._agent.state.tools, []

    def use(self, system_prompt: str | None, tools: Sequence[Tool]) -> None:
        """Prompt (None: as it is) and tools from the next step on."""
        if system_prompt is not None:
            self._agent.state.system_prompt = system_prompt
        if self._tools is not None:
            self._tools = tools
        else:
            self._agent.state.tools = [*tools]
        self.has_reloaded = True

    def others(self, tools: Sequence[Tool]) -> list[Tool]:
        """The agent's tools beside these, also while a run is to begin without them."""
        mine = self._agent.state.tools if self._tools is None else self._tools
        return [tool for tool in mine if tool not in tools]

    def give_tools_back(self) -> None:
        """The run has taken its copy, or will not begin; may be repeated."""
        if self._tools is not None:
            self._agent.state.tools = [*self._tools]
            self._tools = None

    def _request(self, model: Model, context: LlmContext, options: StreamOptions) -> None:
        if self._on_request is not None:
            self._on_request(model, context, options)
        self._record_request(model, context, options)

    async def _approve(
        self, ctx: BeforeToolCallContext, signal: AbortSignal
    ) -> BeforeToolCall | None:
        own = None
        if self._before_tool_call is not None:
            own = await settled(self._before_tool_call(ctx, signal))
        if own is not None and own.block:
            return own
        if own is not None and own.args is not None:
            ctx = replace(ctx, args=own.args)
        changed = await self.user.before_tool(ctx)
        if changed is not None and changed.block:
            return changed
        if changed is not None and changed.args is not None:
            # What is asked about is what would run.
            ctx = replace(ctx, args=changed.args)
            own = replace(own or BeforeToolCall(), args=changed.args)
        edited = await self._breakpoints.before_tool(ctx, signal)
        if edited is not None and edited.block:
            if not signal.aborted:
                self._request_stop()
            return edited
        if edited is not None and edited.args is not None:
            ctx = replace(ctx, args=edited.args)
            own = replace(own or BeforeToolCall(), args=edited.args)
        return await self._approvals.before_tool_call(ctx, signal) or own

    async def _finish(self, ctx: AfterToolCallContext, signal: AbortSignal) -> AfterToolCall | None:
        own = None
        if self._after_tool_call is not None:
            own = await settled(self._after_tool_call(ctx, signal))
        if own is not None:
            ctx = _as_changed(ctx, own)
        if self.user.has("after_tool"):
            changed = await self.user.after_tool(ctx, signal)
            if changed is not None:
                own = _joined(own, changed)
                ctx = _as_changed(ctx, changed)
        if (told := self._breakpoints.told(ctx)) is not None:
            own = replace(own or AfterToolCall(), content=told)
        return own

    def wind_up(self, end: AgentEndEvent, follow_ups: int) -> Awaitable[list[str]] | None:
        """What the hooks have to say to the end of a turn; None if there are none for it."""
        if not self.user.has("turn_end"):
            return None
        answers = [m.text for m in end.messages if isinstance(m, AssistantMessage)]
        return self.user.turn_end(end.reason, answers[-1] if answers else "", follow_ups)

    async def _switch(self, ctx: TurnContext, signal: AbortSignal) -> NextTurn | None:
        own = None
        if self._prepare_next_turn is not None:
            own = await settled(self._prepare_next_turn(ctx, signal))
        if own is not None and isinstance(own.model, Model):
            self._on_model(own.model)
        change = own
        if not self._stop_requested():
            change = await self._pass_gate(own, ctx, signal)
        if not self._stop_requested() and (change is None or isinstance(change.messages, Unset)):
            shorter = await self._make_room(signal)
            if shorter is not None:
                change = replace(change or NextTurn(), messages=shorter)
        state = self._agent.state
        if self.has_switched:
            self.has_switched = False
            change = replace(
                change or NextTurn(), model=state.model, thinking_level=state.thinking_level
            )
        if self.has_reloaded:
            self.has_reloaded = False
            change = replace(change or NextTurn(), system_prompt=state.system_prompt)
            if isinstance(change.tools, Unset):  # a last answer stays without
                change.tools = [*state.tools]
        return change

    async def _pass_gate(
        self, change: NextTurn | None, ctx: TurnContext, signal: AbortSignal
    ) -> NextTurn | None:
        passage = await self._budgets.gate(signal)
        if passage in ("go", "finish") and await self._breakpoints.before_request(signal) == "stop":
            self._end_here(ctx, "stopped at a breakpoint")
        elif passage == "stop":
            self._end_here(ctx, "a budget is used up")
        return replace(change or NextTurn(), tools=[]) if passage == "finish" else change

    def _end_here(self, ctx: TurnContext, reason: str) -> None:
        self._request_stop()
        if ctx is self._asked_to_stop:
            # Something was queued after `_stop` had its say: only an abort still helps.
            self._agent.abort(reason)

    async def _stop(self, ctx: TurnContext, signal: AbortSignal) -> bool:
        self._asked_to_stop = ctx
        if self._stop_requested() and (ctx.tool_results or self._agent.queued()):
            return True
        own = self._should_stop_after_turn
        return own is not None and bool(await settled(own(ctx, signal)))


def _joined(own: AfterToolCall | None, changed: AfterToolCall) -> AfterToolCall:
    """The change of the agent's own hook, and on top of it that of a hook from the settings."""
    if own is None:
        return changed
    given = {
        name: value
        for name in ("content", "is_error")
        if not isinstance(value := getattr(changed, name), Unset)
    }
    return replace(own, **given)


def _as_changed(ctx: AfterToolCallContext, change: AfterToolCall) -> AfterToolCallContext:
    """The call as the agent's own hook left it."""
    content = ctx.result.content if isinstance(change.content, Unset) else change.content
    is_error = ctx.is_error if isinstance(change.is_error, Unset) else change.is_error
    details = ctx.result.details if isinstance(change.details, Unset) else change.details
    result = ToolResult(content, details=details, is_error=is_error)
    return replace(ctx, result=result, is_error=is_error)
