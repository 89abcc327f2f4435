"""The part of a session that is about its context: summaries, pins, and what fills the window."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from agent_tui.core.errors import AgentBusyError
from agent_tui.core.messages import AgentMessage, CompactionSummaryMessage
from agent_tui.core.occupancy import ContextReport
from agent_tui.session.compaction.compactor import Compactor, Waits
from agent_tui.session.compaction.sizes import threshold_for
from agent_tui.session.compaction.upkeep import Upkeep
from agent_tui.session.events import SessionEvent
from agent_tui.session.journal.tree import UNDONE
from agent_tui.session.parts import Parts
from agent_tui.session.retry import RetryPolicy

PINS = "pins"
"""The `custom` entry with the ids of the messages that are kept word for word."""


class Compacting(Parts):
    """What can be done about the context of a session."""

    def _equip(
        self,
        policy: RetryPolicy,
        jitter: Callable[[], float],
        sleep: Callable[[float], Awaitable[object]],
        post: Callable[[SessionEvent], None],
    ) -> None:
        waits = Waits(policy, jitter, sleep)
        tree = self.journal.tree
        self._compactor = Compactor(self.agent, tree, waits, post, lambda: self.pins)
        self._upkeep = Upkeep(self.agent, self._compactor, self._recorder.leave_answer)

    @property
    def compacts_by_itself(self) -> bool:
        """Whether the context is summarised when it is nearly full, or was too long."""
        return self._compactor.is_automatic

    @compacts_by_itself.setter
    def compacts_by_itself(self, value: bool) -> None:
        self._compactor.is_automatic = value

    async def compact(self, focus: str = "") -> None:
        """Summarise the older part of the context; `focus` says what matters most.

        While a turn is running it happens at the next boundary between two steps, or at the end of
        the turn, and this returns at once. `CompactionEndEvent` says how it went.
        """
        if self.is_running:
            self._upkeep.ask(focus)
        else:
            await self._turns.beside(lambda: self._upkeep.on_demand(focus))

    async def summarise_branch(self, messages: Sequence[AgentMessage]) -> str | None:
        """What these messages, which are about to be left, were about.

        None if there is no summary, or if something was said meanwhile; then stay where you are.

        Raises:
            AgentBusyError: A turn is running.
        """
        summary: str | None = None
        tail = self.agent.state.messages[-1:]

        async def ask() -> None:
            nonlocal summary
            summary = await self._upkeep.of_branch(messages)

        await self._turns.beside(ask)
        return summary if self.agent.state.messages[-1:] == tail else None

    def undo_compaction(self) -> CompactionSummaryMessage | None:
        """Take the last summary back: what it stood for is in the context again.

        Returns that summary; None if there is none. What was said since stays.

        Raises:
            AgentBusyError: A turn is running.
        """
        if self.is_running:
            raise AgentBusyError("a turn is running: stop it, or wait for it")
        entry = self.journal.tree.compaction()
        state = self.agent.state
        if entry is None or not state.messages:
            return None
        summary = state.messages[0]
        self.journal.add_custom(UNDONE, [entry.id])
        state.messages = self.journal.tree.context()
        self._context_tokens = None
        return summary if isinstance(summary, CompactionSummaryMessage) else None

    @property
    def pins(self) -> list[str]:
        """The ids of the messages that no summary takes the place of."""
        data = self.journal.tree.newest(PINS)
        ids = data.get("ids") if isinstance(data, dict) else None
        return [item for item in ids if isinstance(item, str)] if isinstance(ids, list) else []

    def pin(self, message_id: str, pinned: bool = True) -> bool:
        """Keep a message word for word, or no longer; False if it is not in the context.

        A call stays with its results, and a result with its call.
        """
        if not any(message.id == message_id for message in self.agent.state.messages):
            return False
        others = [known for known in self.pins if known != message_id]
        self.journal.add_custom(PINS, {"ids": [*others, *([message_id] if pinned else [])]})
        return True

    def context_report(self) -> ContextReport:
        """What the window is filled with."""
        from agent_tui.session.occupancy import context_report

        state = self.agent.state
        limit = threshold_for(state.model.context_window) if self._compactor.may_begin() else None
        return context_report(state, self.instruction_files, self.pins, limit)
