"""When the context of a session is summarised: by itself, on demand, after an overflow."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from agent_tui.agent.agent import Agent
from agent_tui.core.abort import AbortSignal
from agent_tui.core.events import AgentEndEvent, MessageEndEvent
from agent_tui.core.messages import AgentMessage, AssistantMessage, ToolResultMessage
from agent_tui.core.model import Model
from agent_tui.session.compaction.compactor import Compactor
from agent_tui.session.events import AnyEvent, CompactionReason

_OVERFLOW = "context_overflow"
_FULL = 0.99


class Upkeep:
    """Decides for one agent; `leave_answer(reason)` takes its last answer out of the journal."""

    def __init__(
        self, agent: Agent, compactor: Compactor, leave_answer: Callable[[str], None]
    ) -> None:
        self._agent = agent
        self._compactor = compactor
        self._leave_answer = leave_answer
        self._has_recovered = False
        """There was a recovery since the last message that somebody sent."""
        self._asked: str | None = None
        """What the person wants the next summary to keep; None if none is asked for."""
        self._signal = AbortSignal()

    @property
    def is_asked(self) -> bool:
        """A summary is due at the next boundary because the person wants one."""
        return self._asked is not None

    def ask(self, focus: str) -> None:
        """Have a summary at the next boundary of the running turn."""
        self._asked = focus

    def cancel(self) -> None:
        """Nothing is summarised; what is being summarised stays as it is."""
        self._asked = None
        self._signal.set()

    def see(self, event: AnyEvent) -> None:
        """Follow what is said."""
        if not isinstance(event, MessageEndEvent):
            return
        if isinstance(event.message, AssistantMessage):
            self._compactor.breaker.step()
        elif not isinstance(event.message, ToolResultMessage):
            self._has_recovered = False

    # -- by itself and on demand -------------------------------------------------------------

    async def before_run(self, coming: Sequence[AgentMessage]) -> None:
        """Make room for `coming` before a first request, if there is none."""
        if self._compactor.is_due(coming):
            await self._replace("threshold", coming=coming)

    async def between_steps(self, signal: AbortSignal) -> list[AgentMessage] | None:
        """What the rest of the run goes on with; None if that is as it was."""
        focus, self._asked = self._asked, None
        messages = self._agent.state.messages
        if focus is not None:
            return await self._compactor.compact("manual", messages, signal, focus)
        if self._compactor.is_due():
            return await self._compactor.compact("threshold", messages, signal)
        return None

    async def on_demand(self, focus: str) -> None:
        """Summarise the context of an idle agent."""
        await self._replace("manual", focus)

    async def of_branch(self, messages: Sequence[AgentMessage]) -> str | None:
        """What a branch that is left was about; None if there is no summary."""
        self._signal = AbortSignal()
        return await self._compactor.summarise_branch(messages, self._signal)

    async def at_end(self) -> None:
        """What was asked for and has not come, and room after an answer that was too long."""
        focus, self._asked = self._asked, None
        if focus is not None:
            await self._replace("manual", focus)
        elif self._tail_exceeds_window():
            self._has_recovered = True
            await self._replace("overflow")

    async def _replace(
        self, reason: CompactionReason, focus: str = "", coming: Sequence[AgentMessage] = ()
    ) -> bool:
        self._signal = AbortSignal()
        state = self._agent.state
        context = await self._compactor.compact(
            reason, state.messages, self._signal, focus, coming=coming
        )
        if context is not None:
            state.messages = context
        return context is not None

    # -- overflow ----------------------------------------------------------------------------

    def can_recover(self, end: AgentEndEvent) -> bool:
        """The run failed for want of room, and a summary may help; once for each input."""
        if self._has_recovered or not self._compactor.may_begin():
            return False
        messages = self._agent.state.messages
        tail = messages[-1] if messages else None
        model = self._agent.state.model
        if not isinstance(tail, AssistantMessage) or not _is_by(tail, model):
            return False
        failed = end.reason == "error" and end.error is not None and end.error.code == _OVERFLOW
        if not failed and not (end.reason == "completed" and _had_no_room(tail, model)):
            return False
        return self._compactor.can_shrink(messages[:-1])

    async def recover(self) -> bool:
        """Summarise what is before the failed answer, and forget that; False changes nothing."""
        self._has_recovered = True
        self._signal = AbortSignal()
        state = self._agent.state
        context = await self._compactor.compact(
            "overflow",
            state.messages[:-1],
            self._signal,
            before_taking=lambda: self._leave_answer("overflow"),
        )
        if context is not None:
            state.messages = context
        return context is not None

    def _tail_exceeds_window(self) -> bool:
        messages, model = self._agent.state.messages, self._agent.state.model
        tail = messages[-1] if messages else None
        if self._has_recovered or model.context_window is None or not self._compactor.may_begin():
            return False
        if not isinstance(tail, AssistantMessage) or tail.stop_reason in ("error", "aborted"):
            return False
        sent = tail.usage.input + tail.usage.cache_read
        is_too_long = _is_by(tail, model) and sent > model.context_window
        return is_too_long and self._compactor.can_shrink(messages)


def _is_by(answer: AssistantMessage, model: Model) -> bool:
    return (answer.provider, answer.model) == (model.provider, model.id)


def _had_no_room(answer: AssistantMessage, model: Model) -> bool:
    """Cut off before the first word because the window was full."""
    if model.context_window is None or answer.stop_reason != "length" or answer.usage.output:
        return False
    return answer.usage.prompt_tokens >= _FULL * model.context_window
