"""The session's hooks on its agent; what the agent's owner had hooked runs first and counts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from agent_tui.agent.agent import Agent
from agent_tui.agent.calling import settled
from agent_tui.agent.hooks import (
    BeforeToolCall,
    BeforeToolCallContext,
    NextTurn,
    TurnContext,
)
from agent_tui.core.abort import AbortSignal
from agent_tui.session.approvals import Approvals


class SessionHooks:
    """Approvals before a call, a switched model at the next step, a stop after this one."""

    def __init__(
        self, agent: Agent, approvals: Approvals, stop_requested: Callable[[], bool]
    ) -> None:
        self._agent = agent
        self._approvals = approvals
        self._stop_requested = stop_requested
        self.has_switched = False
        """Model or thinking level were set since the run took its copy."""
        self._before_tool_call = agent.before_tool_call
        self._prepare_next_turn = agent.prepare_next_turn
        self._should_stop_after_turn = agent.should_stop_after_turn
        agent.before_tool_call = self._approve
        agent.prepare_next_turn = self._switch
        agent.should_stop_after_turn = self._stop

    def remove(self) -> None:
        """Give the agent back the hooks it came with."""
        self._agent.before_tool_call = self._before_tool_call
        self._agent.prepare_next_turn = self._prepare_next_turn
        self._agent.should_stop_after_turn = self._should_stop_after_turn

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
        return await self._approvals.before_tool_call(ctx, signal) or own

    async def _switch(self, ctx: TurnContext, signal: AbortSignal) -> NextTurn | None:
        own = None
        if self._prepare_next_turn is not None:
            own = await settled(self._prepare_next_turn(ctx, signal))
        if not self.has_switched:
            return own
        self.has_switched = False
        state = self._agent.state
        return replace(own or NextTurn(), model=state.model, thinking_level=state.thinking_level)

    async def _stop(self, ctx: TurnContext, signal: AbortSignal) -> bool:
        if self._stop_requested() and (ctx.tool_results or self._agent.queued()):
            return True
        own = self._should_stop_after_turn
        return own is not None and bool(await settled(own(ctx, signal)))
