"""Where a sent text goes: a new turn, the running turn, after it, or in front of everything.

A text is in exactly one place at any instant. Whoever calls `send` gives the text away; if it
cannot go anywhere, `refused` gives it back together with the reason.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from typing import Any, Literal, Protocol

from agent_tui.core.errors import AgentError
from agent_tui.core.messages import AgentMessage, UserMessage
from agent_tui.tui.commands import parse
from agent_tui.tui.pending import Queue, Queued, text_of_item
from agent_tui.tui.presenter import Presenter

Lane = Literal["enter", "follow_up", "now"]
Start = Callable[[Coroutine[Any, Any, None]], object]
"""Runs a coroutine on the program's loop and keeps it."""


class Agent(Queue, Protocol):
    """What is needed of the session's agent."""

    @property
    def state(self) -> Any:
        """`messages` is the transcript."""


class ChatSession(Protocol):
    """What is needed of a session to send, queue and stop."""

    @property
    def agent(self) -> Agent:
        """The queue and the transcript."""

    @property
    def is_running(self) -> bool:
        """From a prompt until settled."""

    @property
    def queue_state(self) -> str:
        """`active` or `paused`."""

    async def prompt(self, input: AgentMessage) -> None:
        """Run a turn."""

    def compose(self, text: str) -> tuple[UserMessage, str]:
        """A message with the pictures that the text names, and what there is to say of it."""

    async def continue_(self) -> None:
        """Go on with an interrupted turn."""

    async def resume_queue(self) -> None:
        """Deliver what is on hold."""

    async def send_now(
        self, message: AgentMessage | None = None, *, item_id: str | None = None
    ) -> None:
        """Stop the turn and deliver this first."""

    def steer(self, message: AgentMessage) -> str:
        """Queue for the next step."""

    def follow_up(self, message: AgentMessage) -> str:
        """Queue for the end of the turn."""

    def abort(self, reason: str | None = None) -> None:
        """End the turn."""

    def take_back(self, message_id: str) -> bool:
        """Take a prompt without an answer out of the transcript."""

    def forget_failed_answer(self) -> None:
        """Take a failed answer out of the transcript."""


class Delivery:
    """Sends texts and queued items."""

    def __init__(
        self,
        session: ChatSession,
        presenter: Presenter,
        start: Start,
        *,
        refused: Callable[[str, str], None],
        run_command: Callable[[str], None],
        is_own: Callable[[str], bool] = lambda text: False,
    ) -> None:
        """`refused(text, reason)` gets a text back; `run_command(line)` runs a queued command.

        `is_own(line)` tells the person's own commands.
        """
        self._session = session
        self._presenter = presenter
        self._start = start
        self._refused = refused
        self._run_command = run_command
        self._is_own = is_own
        self._own_queued: set[str] = set()
        """Ids of commands of the person's own; one may be gone when its turn comes."""
        self._starting = 0

    @property
    def is_busy(self) -> bool:
        """A turn runs, or has been asked for and begins with the next beat of the loop."""
        return self._starting > 0 or self._session.is_running

    # -- sending -----------------------------------------------------------------------------

    def send(self, text: str, lane: Lane) -> None:
        """Send a text that is not empty."""
        try:
            message, notice = self._session.compose(text)
            if notice:
                self._presenter.say(notice, "warning")
            if not self.is_busy:
                self._presenter.sending(message)
                self._begin(self._prompt(message))
            elif lane == "follow_up":
                self._session.follow_up(message)
            elif lane == "now" or self._presenter.course.is_stopping:
                self.stop_and(self._session.send_now(message))
            else:
                self._session.steer(message)
        except AgentError as error:
            self._refused(text, error.message)

    def send_item(self, item: Queued) -> None:
        """Stop the turn and deliver this queued item first; a queued command runs at once."""
        if self.is_command(item):
            self._take_command(item)
        else:
            self.stop_and(self._session.send_now(item_id=item.id))

    def stop_and(self, deliver: Coroutine[Any, Any, None]) -> None:
        """Let `deliver` stop the turn: what follows the stop is not held back."""
        if self._session.is_running:
            self._presenter.stopping(to_send=True)
        self._begin(deliver)

    def go_on(self) -> bool:
        """Enter on an empty composer: send what is on hold, or go on; False if there is neither."""
        if self.is_busy:
            return False
        if self._session.agent.queued():
            self._begin(self._resume())
            return True
        return self.retry()

    def retry(self) -> bool:
        """Go on with a turn that broke off, whatever is queued; False if there is none."""
        if self.is_busy or not self._presenter.course.can_continue:
            return False
        self._presenter.course.can_continue = False
        self._session.forget_failed_answer()
        self._begin(self._continue())
        return True

    def _begin(self, turn: Coroutine[Any, Any, None]) -> None:
        self._starting += 1
        self._start(self._guarded(turn))

    async def _guarded(self, turn: Coroutine[Any, Any, None]) -> None:
        # The session counts as running from the first step of `turn` on.
        self._starting -= 1
        try:
            await turn
        except AgentError as error:
            self._presenter.say(error.message, "error")

    async def _continue(self) -> None:
        try:
            await self._session.continue_()
        except AgentError:
            self._presenter.course.can_continue = True
            raise

    async def _prompt(self, message: UserMessage) -> None:
        try:
            await self._session.prompt(message)
        except AgentError as error:
            if any(known.id == message.id for known in self._session.agent.state.messages):
                raise
            self._presenter.withdraw(message.id)
            self._refused(message.text, error.message)

    # -- queued commands ---------------------------------------------------------------------

    def queue_command(self, line: str) -> None:
        """Queue a command as a follow-up; it is parsed when its turn comes."""
        item_id = self._session.follow_up(UserMessage(content=line))
        self._session.agent.hold_queued(item_id, True)
        if self._is_own(line):
            self._own_queued.add(item_id)

    def is_command(self, item: Queued) -> bool:
        """Whether this queued item is a command and not a message."""
        if item.kind != "follow_up":
            return False
        text = text_of_item(item)
        parsed = parse(text)
        if parsed is not None and (parsed.command is not None or item.id in self._own_queued):
            return True
        return self._is_own(text)

    def arrange(self, editing: str | None) -> None:
        """Hold back the first queued command and everything behind it, and nothing else.

        A held item is passed over by the engine, so that messages behind a command wait for it.
        """
        agent = self._session.agent
        behind = False
        for item in agent.queued():
            behind = behind or self.is_command(item)
            held = item.id == editing or (behind and item.kind == "follow_up")
            if item.held != held:
                agent.hold_queued(item.id, held)

    def settled(self) -> None:
        """The turn is over: run queued commands whose turn has come, then what they held back."""
        if self._session.queue_state != "paused" and self._session.agent.queued():
            self._begin(self._resume())

    async def _resume(self) -> None:
        while not self.is_busy:
            items: Sequence[Queued] = self._session.agent.queued()
            if items and self.is_command(items[0]):
                self._take_command(items[0])
                continue
            if any(not item.held for item in items):
                await self._session.resume_queue()
            return

    def _take_command(self, item: Queued) -> None:
        if self._session.agent.cancel_queued(item.id) == "cancelled":
            self.arrange(None)
            self._run_command(text_of_item(item))

    # -- taking back -------------------------------------------------------------------------

    def take_back(self) -> str | None:
        """The prompt of a turn that was stopped before any output, removed from the transcript."""
        prompt = self._presenter.unanswered_prompt
        if prompt is None:
            return None
        if not self._session.take_back(prompt.id):
            return None
        self._presenter.withdraw(prompt.id)
        return prompt.text
