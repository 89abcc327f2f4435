"""A session: one agent, who may do what, what it cost, and when a turn is really over.

Everything goes through the agent's own transcript and queues: a text is at any instant in exactly
one of them, or in the caller's hands.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
import time
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from pathlib import Path

from agent_tui.agent.agent import Agent
from agent_tui.core.abort import AbortSignal
from agent_tui.core.errors import AgentError, InvalidInputError
from agent_tui.core.limits import Limits
from agent_tui.core.messages import AgentMessage, ImageBlock, UserMessage
from agent_tui.core.model import THINKING_LEVELS, Model, ThinkingLevel
from agent_tui.core.registry import find_model
from agent_tui.session.accounts import Accounts
from agent_tui.session.activity import Activity
from agent_tui.session.approvals import ApprovalMode, Approvals
from agent_tui.session.attachments import message_of
from agent_tui.session.breakpoints import Breakpoints
from agent_tui.session.broadcast import Broadcast, Listener
from agent_tui.session.budgets import Budgets
from agent_tui.session.checkpoints import Checkpoints
from agent_tui.session.compacting import Compacting
from agent_tui.session.events import (
    QueueState,
    QueueUpdateEvent,
)
from agent_tui.session.fallback import Fallback
from agent_tui.session.following import Following
from agent_tui.session.hooking import SessionHooks
from agent_tui.session.instructions import InstructionFile
from agent_tui.session.journal.journal import Journal
from agent_tui.session.journal.recorder import Recorder
from agent_tui.session.journal.resume import resume
from agent_tui.session.kept import Kept
from agent_tui.session.kit import Kit
from agent_tui.session.ledger import Ledger
from agent_tui.session.loop_record import LoopRecord
from agent_tui.session.outfit import Outfit
from agent_tui.session.retry import Retries, RetryPolicy
from agent_tui.session.servers import Servers
from agent_tui.session.stopwatch import Stopwatch
from agent_tui.session.turns import AfterAbort, Turns
from agent_tui.session.user_hooks import UserHooks
from agent_tui.session.working import Working, as_messages

Prompt = str | AgentMessage | list[AgentMessage]


def _jitter() -> float:
    return random.uniform(0.75, 1.25)


class Session(Accounts, Kept, Compacting, Working, Following):
    """An agent with everything around it. All methods belong to the thread of its event loop."""

    fallback: Fallback
    """Who goes on when the model is overloaded."""
    servers: Servers | None = None
    """The MCP servers of the settings; None without settings."""

    def __init__(
        self,
        agent: Agent,
        approvals: Approvals,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
        jitter: Callable[[], float] = _jitter,
        retry: RetryPolicy | None = None,
        find_model: Callable[[str], Model] = find_model,
        turn_limits: Limits | None = None,
        session_limits: Limits | None = None,
        checkpoints: Checkpoints | None = None,
        journal: Journal | None = None,
        keeps_model: bool = False,
        keeps_thinking: bool = False,
    ) -> None:
        """`journal` says what happened before, and is written to; without one nothing is kept.

        With `keeps_model` and `keeps_thinking` the agent's own win over those of the journal.
        """
        self.agent = agent
        self.approvals = approvals
        self.journal = journal or Journal.new(None, approvals.cwd)
        self.resumed = None
        if len(self.journal.tree):
            keeps = {"keeps_model": keeps_model, "keeps_thinking": keeps_thinking}
            self.resumed = resume(agent, self.journal, find_model, **keeps)
        self._recorder = Recorder(self.journal, agent)
        self.checkpoints = checkpoints or Checkpoints()
        self._find_model = find_model
        self._broadcast = Broadcast()
        self._activity = Activity(clock)
        self._watch = Stopwatch(clock)
        self._ledger = Ledger(agent.state, clock)
        self._recall()
        self.loop_record = self._recorded_loop(clock)
        self.breakpoints = Breakpoints(lambda: self._ledger.steps, self._post)
        self.budgets = Budgets(
            self._ledger,
            self._watch,
            turn=turn_limits,
            session=session_limits,
            unattended=approvals.unattended,
            announce=self._post,
        )
        self._retries = Retries(retry or RetryPolicy(), jitter)
        self.fallback = Fallback(agent.state, find_model, lambda: self.context_tokens)
        self._equip(self._retries.policy, jitter, sleep, self._post)
        self._turns = self._turning(sleep)
        self._hooks = self._hooked()
        self._turns.wind_up = self._hooks.wind_up
        if self.resumed is not None:
            self._turns.hold_queue()
        self._signal = AbortSignal()
        self._is_closed = False
        self._leave_agent = agent.subscribe(self._on_agent_event)
        approvals.announce = self._post

    def _recorded_loop(self, clock: Callable[[], float]) -> LoopRecord:
        leaf = self.journal.tree.leaf
        past = [*self.agent.state.messages].copy if leaf is None else partial(self.history, leaf)
        return LoopRecord(clock, self._ledger, past)

    def _turning(self, sleep: Callable[[float], Awaitable[object]]) -> Turns:
        tell = (self._send, self._post)
        return Turns(
            self.agent, self._retries, sleep, *tell, self._gate, self.fallback, self._upkeep
        )

    def _hooked(self) -> SessionHooks:
        return SessionHooks(
            self.agent,
            self.approvals,
            self.budgets,
            self.breakpoints,
            UserHooks(self.id, self.approvals.cwd, self._post),
            stop_requested=lambda: self._turns.stop_requested,
            request_stop=self._turns.stop_after_step,
            on_model=self._ledger.know,
            make_room=self._room_between_steps,
            on_request=self.loop_record.request,
        )

    def _recall(self) -> None:
        """Count what was spent before, and know where files can be put back to."""
        tree, state = self.journal.tree, self.agent.state
        for key in tree.models():
            with contextlib.suppress(AgentError):  # a model that nobody serves any more
                self._ledger.know(self._find_model(key))
        self._ledger.know(state.model)
        self._ledger.recall(tree if self.resumed else state.messages)
        for entry in self.journal.tree:
            if isinstance(entry.message, UserMessage):
                self.checkpoints.begin(entry.id)

    @classmethod
    def open(
        cls,
        agent: Agent,
        path: Path | None = None,
        *,
        cwd: Path | None = None,
        mode: ApprovalMode = "ask",
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
        jitter: Callable[[], float] = _jitter,
        turn_limits: Limits | None = None,
        session_limits: Limits | None = None,
    ) -> Session:
        """A session around `agent`; makes no model call.

        `path` is the file in which the session is kept; with one that is there the session goes
        on. `clock()` gives seconds, `jitter()` a factor for the waits between retries.

        Raises:
            SessionError: The file is damaged, open in another program, or cannot be read.
        """
        approvals = Approvals(mode, Path.cwd() if cwd is None else cwd)
        journal = None if path is None else Journal.open(path, approvals.cwd)
        return cls(
            agent,
            approvals,
            clock=clock,
            sleep=sleep,
            jitter=jitter,
            turn_limits=turn_limits,
            session_limits=session_limits,
            journal=journal,
        )

    def close(self) -> None:
        """Stop, and give the agent back its hooks; may be repeated."""
        if self._is_closed:
            return
        self._is_closed = True
        self.after_abort = "hold"
        self.abort("the session was closed")
        self._leave_agent()
        self._turns.leave_queue()
        self._hooks.remove()
        self._broadcast.close()
        self.checkpoints.close()
        self.dismiss_jobs()
        self.journal.close()
        if self.servers is not None:
            self.servers.close()

    # -- turns -------------------------------------------------------------------------------

    async def prompt(self, input: Prompt, images: list[ImageBlock] | None = None) -> None:
        """Run a turn; returns when the session is settled, retries and continuations included.

        Raises:
            AgentBusyError: A turn is running.
            InvalidInputError: The prompt is empty.
            InvalidStateError: A budget is used up, and the person did not allow more.
        """
        try:
            said = as_messages(input)
            await self._turns.run(lambda: self.agent.prompt(self._with_news(input), images), said)
        finally:
            self._hooks.give_tools_back()

    def compose(self, text: str, files: Sequence[Path] = ()) -> tuple[UserMessage, str]:
        """A message that says `text`, with the pictures that it names and those in `files`.

        And a sentence if there is something to say of it, else an empty text.

        Raises:
            InvalidInputError: A picture cannot be sent.
        """
        return message_of(text, files, self.cwd, self.agent.state.model)

    async def continue_(self) -> None:
        """Like `Agent.continue_`, but returns when the session is settled."""
        await self._turns.run(self.agent.continue_)

    async def resume_queue(self) -> None:
        """Deliver what is on hold, steering first, until the queue is empty."""
        await self._turns.resume()

    async def send_now(
        self, message: str | AgentMessage | None = None, *, item_id: str | None = None
    ) -> None:
        """Stop the turn and deliver `message`, or a queued item, first; the rest follows in order.

        Returns when the session is settled. With neither, the whole queue follows the stop; with an
        empty queue this is a plain abort. An item that is no longer queued changes nothing.
        """
        if message is not None:
            item_id = self.agent.steer(message)
        if item_id is not None:
            if not self.agent.move_queued(item_id, index=0, kind="steer"):
                return
            self.agent.hold_queued(item_id, held=False)
        await self._turns.interrupt()

    def abort(self, reason: str | None = None) -> None:
        """End the turn, a wait for a retry included, at once; nothing to do when idle."""
        self._upkeep.cancel()
        self._turns.abort(reason)

    def stop_after_step(self) -> None:
        """Let the running tools finish, record their results, make no further model call."""
        self._turns.stop_after_step()
        self.budgets.dismiss()
        self.breakpoints.dismiss()

    @property
    def is_running(self) -> bool:
        """From `prompt()` until settled, waits for a retry included."""
        return self._turns.is_running or self.agent.state.is_running

    @property
    def stop_requested(self) -> bool:
        """`stop_after_step` was called for the running turn."""
        return self._turns.stop_requested

    @property
    def after_abort(self) -> AfterAbort:
        """What becomes of queued messages after an abort: they stay on hold, or are sent.

        `restore` is the screen's to carry out; for the session it is `hold`.
        """
        return self._turns.after_abort

    @after_abort.setter
    def after_abort(self, policy: AfterAbort) -> None:
        self._turns.after_abort = policy

    # -- queue -------------------------------------------------------------------------------

    def steer(self, message: str | AgentMessage) -> str:
        """Queue for the next step of the running turn; returns the item's id."""
        return self.agent.steer(message)

    def follow_up(self, message: str | AgentMessage) -> str:
        """Queue for when the turn is over; returns the item's id."""
        return self.agent.follow_up(message)

    def tell_queue(self) -> None:
        """Tell every listener what is queued now."""
        self._post(QueueUpdateEvent(self.agent.queued(), self.queue_state))

    @property
    def queue_state(self) -> QueueState:
        """`paused` after a run that did not end by itself, while something is queued."""
        return self._turns.queue_state

    # -- model -------------------------------------------------------------------------------

    def set_model(self, model: str | Model) -> Model:
        """Use another model from the next step on.

        Raises:
            InvalidInputError: Nothing serves it; says what is known.
        """
        chosen = self._find_model(model) if isinstance(model, str) else model
        self._ledger.know(chosen)
        self.fallback.keep()
        self.agent.state.model = chosen
        self._hooks.has_switched = True
        self._recorder.note_settings()
        return chosen

    def set_thinking(self, level: ThinkingLevel) -> None:
        """Think this hard from the next step on.

        Raises:
            InvalidInputError: No such level; says which there are.
        """
        if level not in THINKING_LEVELS:
            known = ", ".join(THINKING_LEVELS)
            raise InvalidInputError(f"{level!r} is no thinking level; there are {known}")
        self.agent.state.thinking_level = level
        self._hooks.has_switched = True
        self._recorder.note_settings()

    # -- what the person brought along -------------------------------------------------------

    def wear(self, outfit: Outfit) -> None:
        """Have these instructions, skills, templates and hooks; the agent has the rest already."""
        self.outfit = outfit
        outfit.belong_to(self._hooks)

    def connect(self, servers: Servers) -> None:
        """Have these MCP servers; whoever shows the session starts them."""
        self.servers = servers
        servers.belong_to(self._hooks, self._post)

    @property
    def kit(self) -> Kit:
        """The person's instructions, skills, templates, tools and hooks; empty without settings."""
        return self.outfit.kit if self.outfit is not None else Kit()

    @property
    def instruction_files(self) -> list[InstructionFile]:
        """The instruction files in the system prompt, in its order."""
        return self.kit.instruction_files

    # -- figures -----------------------------------------------------------------------------

    @property
    def cwd(self) -> Path:
        """The project's folder."""
        return self.approvals.cwd

    def waiting_for(self) -> str:
        """What is being waited for, e.g. `first token of step 8`; `idle` when nothing is."""
        if not self.is_running:
            return "idle"
        if self.budgets.pending is not None:
            return f"an answer about the budget: {self.budgets.pending.message}"
        if self.breakpoints.pending:
            return f"you: held {self.breakpoints.pending[0].place}"
        sentence = self._activity.sentence(self.turn_steps, self.approvals.pending)
        return f"{sentence}, stopping" if self._turns.is_aborted else sentence

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Call `listener(event, signal)` for every event of the run and the session, in one order.

        Plain listeners are called at once, async ones are awaited one after another. Returns how to
        unsubscribe.
        """
        return self._broadcast.subscribe(listener)
