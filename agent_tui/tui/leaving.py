"""Leaving: warn about what would be lost, then let the turn end."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.text import Text

from agent_tui.core.figures import plural

if TYPE_CHECKING:
    from agent_tui.tui.app import ChatApp

LEAVE_SECONDS = 2.5
"""How long leaving waits for a turn to end."""


@dataclass(frozen=True, slots=True)
class Another:
    """The chat that follows this one."""

    session_id: str | None
    """None is a new session."""
    news: str = ""
    """What to say there."""


class Leaving:
    """The way out of the chat."""

    def __init__(self, app: ChatApp) -> None:
        self._app = app
        self._has_warned = False
        self.another: Another | None = None
        """What the chat was left for, if it is to be opened anew."""

    def ask(self) -> None:
        """Leave; the first time with pending messages only warn."""
        app = self._app
        lost = self._would_be_lost()
        if lost and not self._has_warned:
            self._has_warned = True
            app.flash(f"{lost} The same again leaves.", "warning")
            return
        app.start(self._leave(0))

    def _would_be_lost(self) -> str:
        """What would be lost or ended, as a sentence; empty if nothing would."""
        if not self._app.is_ready:
            return ""
        session = self._app.session
        if session.jobs is not None and session.jobs.running:
            return f"{plural(len(session.jobs.running), 'running job')} would be ended."
        pending = len(session.agent.queued())
        if session.unsaved is not None:
            return f"Not saved ({session.unsaved}): the end of the session would be lost."
        return f"{pending} pending would be lost." if pending and not session.is_saved else ""

    def for_another(self, session_id: str | None, news: str = "") -> None:
        """Let whoever opened the chat open it again, with that session; None is a new one.

        `news` is said there.
        """
        self.another = Another(session_id, news)
        self._app.exit()

    def stay(self) -> None:
        """The person goes on working: the next attempt to leave warns again."""
        self._has_warned = False

    def by_signal(self, number: int) -> None:
        """Leave because the system says so, without a question."""
        self._app.start(self._leave(128 + number))

    async def _leave(self, code: int) -> None:
        app = self._app
        if app.is_ready:
            app.session.abort("the program ends")
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(app.session.agent.wait_for_idle(), LEAVE_SECONDS)
        app.exit(return_code=code, message=self._way_back())

    def _way_back(self) -> Text | None:
        """How to go on another time."""
        if not self._app.is_ready or not self._app.session.is_saved:
            return None
        return Text(f"To go on: agent-tui --resume {self._app.session.id}")
