"""What a session does with every event, its agent's and its own, before anybody else sees it."""

from __future__ import annotations

from collections.abc import Awaitable, Sequence

from agent_tui.core.abort import AbortSignal
from agent_tui.core.events import (
    AgentEndEvent,
    AgentEvent,
    AgentStartEvent,
    MessageEndEvent,
    MessageStartEvent,
    ToolExecutionEndEvent,
    TurnStartEvent,
)
from agent_tui.core.messages import AssistantMessage, UserMessage
from agent_tui.session.events import (
    AgentSettledEvent,
    AnyEvent,
    ApprovalAnswerEvent,
    ApprovalRequestEvent,
    AutoRetryEndEvent,
    AutoRetryStartEvent,
    BreakEndEvent,
    BreakEvent,
    BudgetAnswerEvent,
    BudgetRequestEvent,
    CompactionEndEvent,
    SessionEvent,
)
from agent_tui.session.parts import Parts
from agent_tui.session.turns import is_answer


class Following(Parts):
    """The part of a session that counts, records and passes on what happens."""

    async def _on_agent_event(self, event: AgentEvent, signal: AbortSignal) -> None:
        self._signal = signal
        self._take_note(event)
        await self._send(event)
        ended = self._end_of_retries(event)
        if ended is not None:
            await self._send(ended)
        for warning in self._warnings(event):
            await self._send(warning)

    def _take_note(self, event: AgentEvent) -> None:
        match event:
            case AgentStartEvent():
                self._hooks.has_switched = self._hooks.has_reloaded = False
                self._hooks.give_tools_back()
                if not self._turns.has_begun:
                    self._watch.start()
                    self._ledger.begin_turn()
                    self.budgets.begin_turn()
                self._ledger.know(self.agent.state.model)
                self._turns.run_started()
            case TurnStartEvent():
                self._ledger.begin_step()
            case MessageEndEvent(message=message):
                self._ledger.count(message)
                self._context_tokens = None
                if is_answer(message):
                    self.budgets.answered()
            case AgentEndEvent():
                self._turns.run_ended(event)
                if not self._turns.is_running:
                    self._watch.stop()

    def _end_of_retries(self, event: AgentEvent) -> AutoRetryEndEvent | None:
        """What follows `event` if that was the end of a series of retries."""
        if not self._retries.attempt:
            return None
        match event:
            case MessageEndEvent(message=message) if is_answer(message):
                return AutoRetryEndEvent(True, self._retries.reset())
            case AgentEndEvent(will_retry=False):
                error = event.error.message if event.error else event.reason
                return AutoRetryEndEvent(False, self._retries.reset(), error)
        return None

    def _warnings(self, event: AgentEvent) -> Sequence[SessionEvent]:
        """What there is to say after `event`, about the budgets and about changed files."""
        match event:
            case AgentStartEvent():
                return self.outfit.news() if self.outfit is not None else []
            case TurnStartEvent():
                return self.budgets.doubts(self.agent.state.model)
            case MessageEndEvent(message=AssistantMessage() as message) if is_answer(message):
                return [*self.budgets.news(), *self.budgets.doubts_after(message)]
            case MessageEndEvent() | ToolExecutionEndEvent():
                return self.budgets.news()
        return []

    def _gate(self, is_new_turn: bool) -> Awaitable[str] | None:
        """Whether a run may begin; None if nothing has anything against it."""
        if is_new_turn:
            self.budgets.open_turn()
        is_closed = self.budgets.is_closed(is_new_turn=is_new_turn)
        if not (is_closed or self.breakpoints.holds_calls):
            return None
        return self._ask_at_gate(is_new_turn)

    async def _ask_at_gate(self, is_new_turn: bool) -> str:
        passage = await self.budgets.gate(is_new_turn=is_new_turn)
        if passage == "finish":
            self._hooks.without_tools()
        if passage not in ("go", "finish"):
            return "A budget is used up"
        if await self.breakpoints.before_request(is_first=is_new_turn) in ("go", "step"):
            return ""
        return "Stopped at a breakpoint"

    async def _send(self, event: AnyEvent) -> None:
        self._observe(event)
        await self._broadcast.send(event, self._signal)

    def _post(self, event: SessionEvent) -> None:
        self._observe(event)
        self._broadcast.post(event, self._signal)

    def _observe(self, event: AnyEvent) -> None:
        self._recorder.see(event)
        self._upkeep.see(event)
        self._activity.observe(event)
        match event:
            case AutoRetryStartEvent():
                self._context_tokens = None
            case CompactionEndEvent(usage=usage):
                self._context_tokens = None
                if usage is not None:
                    self._ledger.count_summary(usage, event.model)
            case MessageStartEvent(message=UserMessage() as message):
                self.checkpoints.begin(message.id)
            case ApprovalRequestEvent() | BudgetRequestEvent() | BreakEvent():
                self._watch.pause()
            case ApprovalAnswerEvent() | BudgetAnswerEvent() | BreakEndEvent():
                self._watch.resume()
            case AgentSettledEvent():
                self._watch.stop()
                self._keep_own_commands()
        self.loop_record.observe(event)
