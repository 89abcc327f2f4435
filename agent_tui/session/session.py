"""A session: one agent, who may do what, what it cost, and when a turn is really over."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Literal

from agent_tui.agent.agent import Agent
from agent_tui.agent.queues import QueuedItem
from agent_tui.core.abort import AbortSignal
from agent_tui.core.messages import AgentMessage, ImageBlock
from agent_tui.core.model import Model, ThinkingLevel
from agent_tui.core.usage import Usage
from agent_tui.session.approvals import ApprovalMode, Approvals
from agent_tui.session.events import AnyEvent, QueueState

AfterAbort = Literal["hold", "restore", "send"]
Listener = Callable[[AnyEvent, AbortSignal], object]


def _jitter() -> float:
    return random.uniform(0.75, 1.25)


class Session:
    """An agent with everything around it. All methods belong to the thread of its event loop."""

    agent: Agent
    id: str
    cwd: Path
    approvals: Approvals
    after_abort: AfterAbort
    """What happens to queued messages after an abort; `restore` is carried out by the screen."""

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
    ) -> Session:
        """A session around `agent`; makes no model call."""
        raise NotImplementedError

    async def prompt(
        self,
        input: str | AgentMessage | Sequence[AgentMessage],
        images: Sequence[ImageBlock] | None = None,
    ) -> None:
        """Run a turn; returns when the session is settled, retries and continuations included.

        Raises:
            AgentBusyError: A turn is running.
        """
        raise NotImplementedError

    async def continue_(self) -> None:
        """Like `Agent.continue_`, but returns when the session is settled."""
        raise NotImplementedError

    async def resume_queue(self) -> None:
        """Deliver what is on hold, steering first, until the queue is empty; nothing queued: no-op."""
        raise NotImplementedError

    async def send_now(
        self, message: str | AgentMessage | None = None, *, item_id: str | None = None
    ) -> None:
        """Stop the turn and deliver `message`, or a queued item, first; the rest follows in order.

        Returns when the session is settled. With neither, the whole queue follows the stop; with an
        empty queue this is a plain abort.
        """
        raise NotImplementedError

    def steer(self, message: str | AgentMessage) -> str:
        """Queue for the next step of the running turn; returns the item's id."""
        raise NotImplementedError

    def follow_up(self, message: str | AgentMessage) -> str:
        """Queue for when the turn is over; returns the item's id."""
        raise NotImplementedError

    def take_queued(self) -> list[QueuedItem]:
        """Empty the queue into the caller's hands, in delivery order."""
        raise NotImplementedError

    def abort(self, reason: str | None = None) -> None:
        """End the turn, a wait for a retry included, at once; nothing to do when idle."""
        raise NotImplementedError

    def stop_after_step(self) -> None:
        """Let the running tools finish, record their results, make no further model call."""
        raise NotImplementedError

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Call `listener(event, signal)` for every event of the run and the session, in one order.

        Plain listeners are called at once, async ones are awaited one after another. Returns how to
        unsubscribe.
        """
        raise NotImplementedError

    @property
    def is_running(self) -> bool:
        """From `prompt()` until settled, waits for a retry included."""
        raise NotImplementedError

    @property
    def stop_requested(self) -> bool:
        """`stop_after_step` was called for the running turn."""
        raise NotImplementedError

    @property
    def queue_state(self) -> QueueState:
        """`paused` after a run that did not end by itself, while something is queued."""
        raise NotImplementedError

    @property
    def totals(self) -> Usage:
        """Everything this session spent, failed and repeated attempts included."""
        raise NotImplementedError

    @property
    def turn_totals(self) -> Usage:
        """What the current or last turn spent, from `prompt()` until settled."""
        raise NotImplementedError

    @property
    def turn_steps(self) -> int:
        """Steps begun in the current or last turn."""
        raise NotImplementedError

    @property
    def turn_seconds(self) -> float:
        """How long the current turn has been running, or the last one took."""
        raise NotImplementedError

    @property
    def context_tokens(self) -> int | None:
        """How much of the model's window the transcript fills, estimated; None before anything."""
        raise NotImplementedError

    def set_model(self, model: str | Model) -> Model:
        """Use another model from the next step on; raises `InvalidInputError` with what is known."""
        raise NotImplementedError

    def set_thinking(self, level: ThinkingLevel) -> None:
        """Think this hard from the next step on; raises `InvalidInputError` with what is known."""
        raise NotImplementedError

    def waiting_for(self) -> str:
        """What is being waited for, e.g. `first token of step 8`; `idle` when nothing is."""
        raise NotImplementedError

    def close(self) -> None:
        """Stop and let go of the agent; may be repeated."""
        raise NotImplementedError
