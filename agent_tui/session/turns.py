"""When a turn is really over: failed requests tried again, late messages delivered, stops obeyed.

A turn is what one `prompt()` sets going: one run of the agent, or several when a request is made
again or something was queued in the instant the run ended. In between, the agent is idle for a
moment but the session is not.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Literal, Protocol, TypeAlias

from agent_tui.agent.agent import Agent
from agent_tui.agent.queues import QueuedItem
from agent_tui.core.errors import AgentBusyError, ErrorInfo, InvalidStateError
from agent_tui.core.events import AgentEndEvent
from agent_tui.core.messages import AgentMessage, AssistantMessage
from agent_tui.core.model import Model
from agent_tui.session.events import (
    AgentSettledEvent,
    AnyEvent,
    AutoRetryEndEvent,
    AutoRetryStartEvent,
    FallbackEvent,
    QueueState,
    QueueUpdateEvent,
    SessionEvent,
)
from agent_tui.session.fallback import Fallback
from agent_tui.session.retry import Retries, RetryPlan

AfterAbort = Literal["hold", "restore", "send"]
WindUp: TypeAlias = Callable[[AgentEndEvent, int], Awaitable[list[str]] | None]

_ENDED_BY_ITSELF = ("completed", "terminated")


class _Turn:
    """What is known about the turn that is running."""

    def __init__(self) -> None:
        self.began = False
        """A run of it has started; before that a misuse leaves no trace."""
        self.end: AgentEndEvent | None = None
        """How its latest run ended."""
        self.plan: RetryPlan | None = None
        """The retry that is due after that run."""
        self.recovers = False
        """Room is to be made after that run, and then it goes on."""
        self.answered = 0
        """Steps that succeeded before a failure that is tried again."""
        self.is_aborted = False
        self.stop_requested = False
        self.deliver_next = False
        """Go on with the queue although the run was aborted."""
        self.hooked = 0
        """How many follow-ups hooks have asked for."""
        self.refusal = ""
        """Why no model call may follow, in a few words; empty if one may."""
        self.interrupt = asyncio.Event()
        """Ends a wait for a retry."""
        self.settled = asyncio.Event()

    def go_on(self) -> None:
        """Forget the stop and the failures of the run before."""
        self.is_aborted = self.stop_requested = self.deliver_next = False
        self.interrupt.clear()
        self.answered = 0


class Upkeep(Protocol):
    """Makes room in the context."""

    async def before_run(self, coming: Sequence[AgentMessage]) -> None:
        """Before a first request, with which `coming` is sent."""

    def can_recover(self, end: AgentEndEvent) -> bool:
        """Whether a run that ended so can go on when there is room."""

    async def recover(self) -> bool:
        """Make room for it; False if there is none."""

    async def at_end(self) -> None:
        """After the last run of a turn that was not stopped."""


class Turns:
    """Runs one turn at a time until it is settled."""

    def __init__(
        self,
        agent: Agent,
        retries: Retries,
        sleep: Callable[[float], Awaitable[object]],
        send: Callable[[AnyEvent], Awaitable[None]],
        post: Callable[[SessionEvent], None],
        gate: Callable[[bool], Awaitable[str] | None],
        fallback: Fallback,
        upkeep: Upkeep,
    ) -> None:
        """`gate(is_new_turn)` is asked before each run; None lets it begin.

        What it gives is waited for: why the run may not begin, in a few words, or nothing.
        """
        self._agent = agent
        self._retries = retries
        self._sleep = sleep
        self._send = send
        self._post = post
        self._gate = gate
        self._fallback = fallback
        self._upkeep = upkeep
        self.wind_up: WindUp = lambda end, before: None
        """Called with how the last run ended when a turn would be over: what it gives follows; the
        number is how many such follow-ups there have been in the turn. None: nothing to wait for.
        """
        self._turn: _Turn | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread = 0
        self._is_paused = False
        self.after_abort: AfterAbort = "hold"
        """What becomes of queued messages after an abort; for the session `restore` is `hold`."""
        self.leave_queue = agent.on_queue_change(self._on_queue)
        """Stop following the agent's queue."""

    @property
    def is_running(self) -> bool:
        """From `run()` until the turn is settled."""
        return self._turn is not None

    @property
    def has_begun(self) -> bool:
        """A turn is running, and a run of it has started before."""
        return self._turn is not None and self._turn.began

    @property
    def is_aborted(self) -> bool:
        """The running turn was told to end."""
        return self._turn is not None and self._turn.is_aborted

    @property
    def stop_requested(self) -> bool:
        """The running turn is to end after its step."""
        return self._turn is not None and self._turn.stop_requested

    async def run(
        self, start: Callable[[], Awaitable[None]], coming: Sequence[AgentMessage] = ()
    ) -> None:
        """Do `start()`, a run of the agent that sends `coming`, and whatever has to follow it.

        Raises:
            AgentBusyError: A turn is running.
            InvalidStateError: A budget is used up, and the person did not allow more.
        """
        if self._turn is not None or self._agent.state.is_running:
            raise AgentBusyError("a turn is running: use steer() or follow_up(), or wait for it")
        self._loop, self._thread = asyncio.get_running_loop(), threading.get_ident()
        turn = self._turn = _Turn()
        try:
            if not await self._may_go_on(turn, coming, is_new_turn=True):
                raise InvalidStateError(_not_sent(turn))
            await start()
            await self._settle(turn)
        except BaseException:
            self._finish(turn)
            if turn.began or turn.refusal:
                self._post(AgentSettledEvent())
            raise
        self._finish(turn)
        await self._send(AgentSettledEvent())

    async def beside(self, act: Callable[[], Awaitable[None]]) -> None:
        """Do something that is no run; what is queued meanwhile is delivered afterwards.

        Raises:
            AgentBusyError: A turn is running.
        """
        if self._turn is not None or self._agent.state.is_running:
            raise AgentBusyError("a turn is running: wait for it, or stop it")
        self._loop, self._thread = asyncio.get_running_loop(), threading.get_ident()
        turn = self._turn = _Turn()
        try:
            await act()
            if not turn.is_aborted and self.has_deliverable():
                if await self._may_go_on(turn, self._next_queued(), is_new_turn=True):
                    await self._deliver_queue()
                    await self._settle(turn)
            elif turn.is_aborted:
                self._set_paused(True)
        finally:
            self._finish(turn)
        await self._send(AgentSettledEvent())

    async def resume(self) -> None:
        """Deliver what is queued, if anything can be; a running turn does so by itself."""
        if self._turn is None and self.has_deliverable():
            await self.run(self._deliver_queue, self._next_queued())

    async def interrupt(self) -> None:
        """Stop the running turn and go on with the queue; returns when that is settled."""
        turn = self._turn
        if turn is None:
            await self.resume()
            return
        turn.deliver_next = self.has_deliverable()
        self.abort(None)
        await turn.settled.wait()

    def abort(self, reason: str | None) -> None:
        """End the turn, a wait for a retry included."""
        if self._turn is not None:
            self._turn.is_aborted = True
            self._turn.interrupt.set()
        self._agent.abort(reason)

    def stop_after_step(self) -> None:
        """Make no further model call in this turn."""
        if self._turn is not None:
            self._turn.stop_requested = True
            self._turn.interrupt.set()

    @property
    def queue_state(self) -> QueueState:
        """`paused` when what is queued waits for the person, not for the agent."""
        return "paused" if self._is_paused else "active"

    def hold_queue(self) -> None:
        """What is queued waits for a word of the person."""
        self._is_paused = bool(self._agent.queued())

    # -- what the run reports ----------------------------------------------------------------

    def run_started(self) -> None:
        """A run of the agent has begun."""
        if self._turn is not None:
            self._turn.began = True
        self._set_paused(False)

    def run_ended(self, end: AgentEndEvent) -> None:
        """Decide what follows a run, and mark `end` before anybody else sees it."""
        turn = self._turn
        if turn is None:
            self._set_paused(end.reason not in _ENDED_BY_ITSELF)
            return
        turn.end = end
        turn.plan = None
        if end.reason == "error" and end.error and not (turn.is_aborted or turn.stop_requested):
            plan = self._plan(end.error)
            end.error = plan.error
            end.will_retry = plan.delay is not None
            turn.plan = plan if end.will_retry else None
        turn.recovers = (
            turn.plan is None
            and not (turn.is_aborted or turn.stop_requested)
            and self._upkeep.can_recover(end)
        )
        end.will_retry = end.will_retry or turn.recovers
        goes_on = end.will_retry or self._should_deliver(turn)
        self._set_paused(not goes_on and not _ended_by_itself(turn))

    def _plan(self, error: ErrorInfo) -> RetryPlan:
        """A wait, another model when waiting is over, or neither."""
        plan = self._retries.plan(error)
        if plan.delay is not None:
            return plan
        stand_in = self._fallback.next_for(plan.error)
        if stand_in is not None:
            return replace(plan, delay=0.0, stand_in=stand_in)
        if doubts := self._fallback.doubts:
            said = f"{plan.error.message.rstrip('. ')}. No fallback: {'; '.join(doubts)}"
            return replace(plan, error=replace(plan.error, message=said))
        return plan

    def _on_queue(self, items: list[QueuedItem]) -> None:
        if self._loop is not None and threading.get_ident() != self._thread:
            # An agent's queue may be filled from any thread; listeners belong to the loop's.
            self._loop.call_soon_threadsafe(lambda: self._on_queue(self._agent.queued()))
            return
        self._is_paused = self._is_paused and bool(items)
        self._post(QueueUpdateEvent(items, self.queue_state))

    def _set_paused(self, paused: bool) -> None:
        items = self._agent.queued()
        if self._is_paused != (paused and bool(items)):
            self._is_paused = not self._is_paused
            self._post(QueueUpdateEvent(items, self.queue_state))

    # -- between runs ------------------------------------------------------------------------

    async def _settle(self, turn: _Turn) -> None:
        """Try again and deliver what is queued, until there is nothing left to do."""
        while True:
            if turn.plan is not None and await self._wait_for_retry(turn, turn.plan):
                if await self._may_go_on(turn):
                    await self._try_again(turn)
                else:
                    await self._give_up_retries("a budget is used up")
            elif turn.recovers:
                turn.recovers = False
                if await self._upkeep.recover() and await self._may_go_on(turn):
                    await self._try_again(turn)
            elif self._should_deliver(turn):
                turn.go_on()
                if await self._may_go_on(turn, self._next_queued()):
                    await self._deliver_queue()
            elif not await self._has_more(turn):
                if not (turn.is_aborted or turn.refusal):
                    await self._upkeep.at_end()
                if not self._should_deliver(turn):
                    return

    async def _has_more(self, turn: _Turn) -> bool:
        """Whether something follows a turn that would be over; a stop says no."""
        if turn.end is None or turn.is_aborted or turn.stop_requested or turn.refusal:
            return False
        asked = self.wind_up(turn.end, turn.hooked)
        if asked is None:
            return False
        asking = asyncio.ensure_future(asked)
        stopped = asyncio.ensure_future(turn.interrupt.wait())
        try:
            await asyncio.wait((asking, stopped), return_when=asyncio.FIRST_COMPLETED)
            follow_ups = asking.result() if asking.done() else []
        finally:
            asking.cancel()
            stopped.cancel()
        turn.hooked += len(follow_ups)
        for text in follow_ups:
            self._agent.follow_up(text)
        return self._should_deliver(turn)

    async def _may_go_on(
        self, turn: _Turn, coming: Sequence[AgentMessage] = (), *, is_new_turn: bool = False
    ) -> bool:
        """Whether another run may begin; a stop while somebody is asked says no."""
        asked = self._gate(is_new_turn)
        if asked is not None and not await self._is_allowed(turn, asked):
            return False
        await self._upkeep.before_run(coming)
        return not turn.is_aborted

    async def _is_allowed(self, turn: _Turn, asked: Awaitable[str]) -> bool:
        asking = asyncio.ensure_future(asked)
        stopped = asyncio.ensure_future(turn.interrupt.wait())
        try:
            await asyncio.wait((asking, stopped), return_when=asyncio.FIRST_COMPLETED)
            turn.refusal = asking.result() if asking.done() else "Stopped"
        finally:
            asking.cancel()
            stopped.cancel()
        return not turn.refusal

    def _finish(self, turn: _Turn) -> None:
        self._retries.reset()
        self._fallback.give_back()
        self._turn = None
        if turn.began or turn.refusal:
            self._set_paused(not _ended_by_itself(turn))
        turn.settled.set()

    async def _deliver_queue(self) -> None:
        """One run that begins with the first deliverable item."""
        waiting = [item for item in self._agent.queued() if not item.held]
        messages = self._agent.state.messages
        if messages and (isinstance(messages[-1], AssistantMessage) or waiting[0].kind == "steer"):
            await self._agent.continue_()  # the run polls the queue before its first request
            return
        self._agent.cancel_queued(waiting[0].id)
        await self._agent.prompt(waiting[0].message)

    def _next_queued(self) -> list[AgentMessage]:
        """What the run that delivers the queue begins with."""
        return [item.message for item in self._agent.queued() if not item.held][:1]

    def _should_deliver(self, turn: _Turn) -> bool:
        if turn.refusal or not self.has_deliverable():
            return False
        if turn.deliver_next:
            return True
        if turn.is_aborted or (turn.end is not None and turn.end.reason == "aborted"):
            return self.after_abort == "send"
        return _ended_by_itself(turn)

    def has_deliverable(self) -> bool:
        """Whether something is queued that nobody is editing."""
        return any(not item.held for item in self._agent.queued())

    # -- retries -----------------------------------------------------------------------------

    async def _wait_for_retry(self, turn: _Turn, plan: RetryPlan) -> bool:
        """True when it is time to try again, False if the wait was stopped."""
        turn.plan = None
        delay = plan.delay or 0.0
        self._drop_failed_answer()
        if plan.stand_in is not None:
            await self._stand_in(plan.stand_in, plan.error)
            return not turn.interrupt.is_set()
        attempt, limit = self._retries.attempt, self._retries.limit(plan.error)
        await self._send(AutoRetryStartEvent(attempt, limit, delay, plan.error))
        try:
            if await self._slept(delay, turn.interrupt):
                return True
        except BaseException:
            self._post(AutoRetryEndEvent(False, self._retries.reset(), "cancelled"))
            raise
        await self._give_up_retries("stopped while waiting")
        return False

    async def _give_up_retries(self, reason: str) -> None:
        await self._send(AutoRetryEndEvent(False, self._retries.reset(), reason))

    async def _slept(self, seconds: float, interrupt: asyncio.Event) -> bool:
        """True after `seconds`, False as soon as `interrupt` is set."""
        sleeping = asyncio.ensure_future(self._sleep(seconds))
        stopped = asyncio.ensure_future(interrupt.wait())
        try:
            await asyncio.wait((sleeping, stopped), return_when=asyncio.FIRST_COMPLETED)
        finally:
            sleeping.cancel()
            stopped.cancel()
        return not interrupt.is_set()

    async def _stand_in(self, model: Model, error: ErrorInfo) -> None:
        """Have `model` make the next request."""
        if attempts := self._retries.reset():
            await self._send(AutoRetryEndEvent(False, attempts, error.message))
        replaced = self._fallback.take(model)
        await self._send(FallbackEvent(model.key, replaced.key, error))

    async def _try_again(self, turn: _Turn) -> None:
        """Continue the failed run with what is left of its step limit."""
        assert turn.end is not None
        turn.answered += sum(map(is_answer, turn.end.messages))
        limit = self._agent.max_iterations
        if limit is not None:
            self._agent.max_iterations = max(1, limit - turn.answered)
        try:
            await self._agent.continue_()
        finally:
            self._agent.max_iterations = limit

    def _drop_failed_answer(self) -> None:
        """Take the failed answer out of the transcript, so that the run can be continued."""
        messages = self._agent.state.messages
        if messages and isinstance(messages[-1], AssistantMessage):
            self._agent.state.messages = messages[:-1]


def is_answer(message: AgentMessage) -> bool:
    """Whether this is an answer that neither failed nor was cut short by an abort."""
    return isinstance(message, AssistantMessage) and message.stop_reason not in ("error", "aborted")


def _not_sent(turn: _Turn) -> str:
    if turn.refusal:
        return f"{turn.refusal}: nothing was sent."
    return "Stopped while room was made for it: nothing was sent."


def _ended_by_itself(turn: _Turn) -> bool:
    if turn.is_aborted or turn.stop_requested or turn.refusal:
        return False
    return turn.end is not None and turn.end.reason in _ENDED_BY_ITSELF
