"""What the parts of a session have in common: each is a mix-in of `Session`, one reason a module.

`Session.__init__` sets all of it; a part only says what it does with it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent_tui.agent.agent import Agent
    from agent_tui.core.abort import AbortSignal
    from agent_tui.core.messages import AgentMessage
    from agent_tui.session.activity import Activity
    from agent_tui.session.approvals import Approvals
    from agent_tui.session.breakpoints import Breakpoints
    from agent_tui.session.broadcast import Broadcast
    from agent_tui.session.budgets import Budgets
    from agent_tui.session.checkpoints import Checkpoints
    from agent_tui.session.compaction.compactor import Compactor
    from agent_tui.session.compaction.upkeep import Upkeep
    from agent_tui.session.events import SessionEvent
    from agent_tui.session.hooking import SessionHooks
    from agent_tui.session.instructions import InstructionFile
    from agent_tui.session.journal.journal import Journal
    from agent_tui.session.journal.recorder import Recorder
    from agent_tui.session.ledger import Ledger
    from agent_tui.session.loop_record import LoopRecord
    from agent_tui.session.outfit import Outfit
    from agent_tui.session.retry import Retries
    from agent_tui.session.stopwatch import Stopwatch
    from agent_tui.session.turns import Turns


class Parts(ABC):
    """What every part of a session can count on."""

    agent: Agent
    approvals: Approvals
    breakpoints: Breakpoints
    """Where the person wants the loop to be held."""
    budgets: Budgets
    checkpoints: Checkpoints
    """What files held before the agent's tools changed them."""
    journal: Journal
    """On disk, or only in memory."""
    loop_record: LoopRecord
    """What the loop did, step by step."""
    outfit: Outfit | None = None
    """What `kit` comes from, and how it is loaded again; None without settings."""
    _activity: Activity
    _broadcast: Broadcast
    _compactor: Compactor
    _context_tokens: int | None = None
    """How large the transcript is; None: to be counted."""
    _hooks: SessionHooks
    _ledger: Ledger
    _recorder: Recorder
    _retries: Retries
    _signal: AbortSignal
    """Of the run that the latest event came from."""
    _turns: Turns
    _upkeep: Upkeep
    _watch: Stopwatch

    @property
    @abstractmethod
    def is_running(self) -> bool:
        """From `prompt()` until settled, waits for a retry included."""

    @property
    @abstractmethod
    def instruction_files(self) -> list[InstructionFile]:
        """The instruction files in the system prompt, in its order."""

    @abstractmethod
    def _post(self, event: SessionEvent) -> None:
        """Tell every listener at once."""

    @abstractmethod
    def _keep_own_commands(self) -> list[AgentMessage]:
        """Put the person's own commands that have ended into the transcript; the transcript."""
