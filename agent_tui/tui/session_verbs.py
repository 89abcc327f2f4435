"""The commands about sessions: begin, go on, name, write out."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent_tui.core.errors import AgentError
from agent_tui.core.figures import clock, plural
from agent_tui.core.text import one_line

if TYPE_CHECKING:
    from agent_tui.tui.app import ChatApp
    from agent_tui.tui.screens.sessions import SessionRow

_RUNNING = "A turn is running: esc stops it first."
_NO_SETTINGS = "This chat was opened by a program of its own; it keeps its one session."


class SessionVerbs:
    """One method a verb, named as in the registry."""

    def __init__(self, app: ChatApp) -> None:
        self._app = app

    def new(self, _: str) -> str | None:
        """Begin a new session; this one stays on disk."""
        return self._leave_for(None)

    def resume(self, beginning: str) -> str | None:
        """Go on with another session, by the beginning of its id or out of a list."""
        app = self._app
        if app.catalogue is None:
            return _NO_SETTINGS
        if app.is_busy:
            return _RUNNING
        if beginning:
            return self._leave_for(beginning)
        self.pick()
        return None

    def pick(self) -> None:
        """Show the list."""
        from agent_tui.tui.screens.sessions import SessionScreen

        screen = SessionScreen(self._search, self._app.session.id)
        self._app.push_screen(screen, self._picked)

    def name(self, words: str) -> str | None:
        """Give the session a name."""
        app = self._app
        app.session.name = one_line(words, 200)
        app.presenter.title = app.session.name or ""
        app.flash(f"This session is called {app.session.name!r} from now on.")
        return None

    def export(self, name: str) -> str | None:
        """Write the session as Markdown, HTML or JSON lines."""
        app = self._app
        if not app.session.is_saved:
            return "There is nothing on disk yet to write out."
        path = app.session.cwd / Path(name or f"session-{app.session.id}.md").expanduser()
        try:
            app.session.export(path)
        except AgentError as error:
            return error.message
        app.flash(f"Written to {path}.")
        return None

    def _picked(self, session_id: str | None) -> None:
        if session_id is not None and (reason := self._leave_for(session_id)) is not None:
            self._app.flash(reason, "warning")

    def _leave_for(self, session_id: str | None) -> str | None:
        app = self._app
        if app.catalogue is None:
            return _NO_SETTINGS
        if app.is_busy:
            return _RUNNING
        if session_id == app.session.id:
            return "That is this session."
        if session_id is not None and (reason := app.catalogue.obstacle(session_id)) is not None:
            return reason
        app.leaving.for_another(session_id)
        return None

    async def _search(self, words: str, everywhere: bool) -> Sequence[SessionRow]:
        assert self._app.catalogue is not None
        try:
            items = await asyncio.to_thread(self._app.catalogue.items, words, everywhere=everywhere)
        except AgentError as error:
            self._app.flash(error.message, "warning")
            return []
        return [_row(item, with_folder=everywhere) for item in items]


def _row(item: Any, *, with_folder: bool) -> SessionRow:
    from agent_tui.tui.screens.sessions import SessionRow

    parts = [_ago(item.changed), plural(item.messages, "message")]
    parts += [item.model] if item.model else []
    parts += [item.cwd] if with_folder else []
    label = one_line(item.label, 80)
    return SessionRow(item.id, label, " · ".join(parts), one_line(item.problem or "", 200))


def _ago(milliseconds: int) -> str:
    then = datetime.fromtimestamp(milliseconds / 1000)
    seconds = (datetime.now() - then).total_seconds()
    return f"{clock(max(0.0, seconds))} ago" if seconds < 24 * 3600 else f"{then:%Y-%m-%d %H:%M}"
