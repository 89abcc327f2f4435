"""When the lines around the transcript, and the window's title, are brought up to date."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.timer import Timer

from agent_tui.tui.terminal import title_sequence

if TYPE_CHECKING:
    from agent_tui.tui.app import ChatApp

REDRAW_SECONDS = 0.05
"""Steps and tools draw the lines around the transcript no more often than this."""


class Redraw:
    """Draws at once, after the present event, or at a bearable pace."""

    def __init__(self, app: ChatApp) -> None:
        self._app = app
        self._is_due = False
        self._not_before = 0.0
        self._timer: Timer | None = None
        self._window_title: object = None

    def now(self) -> None:
        """Bring every line up to date."""
        self._is_due = False
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
        app = self._app
        self._not_before = app.now() + REDRAW_SECONDS
        app.prompt.turn_running = app.is_busy
        app.chrome.draw()
        title = app.chrome.window_title()
        if title != self._window_title:
            self._window_title = title
            app.write(title_sequence(*title))

    def soon(self, *, paced: bool = False) -> None:
        """After what is being done now; `paced`: not within 50 ms of the last time."""
        rest = self._not_before - self._app.now() if paced else 0
        if rest > 0 and self._timer is None:
            self._timer = self._app.set_timer(rest, self.now)
        elif rest <= 0 and not self._is_due:
            self._is_due = True
            self._app.call_later(self.now)
