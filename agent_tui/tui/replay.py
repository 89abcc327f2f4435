"""The screen of a recording: the chat without a person in it."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from textual import events

from agent_tui.tui import themes
from agent_tui.tui.app import ChatApp

PLACEHOLDER = "A recording plays"
_SCROLLING = frozenset(
    ("pageup", "pagedown", "home", "end", "up", "down", "f1", "f6", "ctrl+o", "ctrl+t", "escape")
)
_LOOKING = frozenset(
    [
        "f6",
        "ctrl+up",
        "ctrl+down",
        "space",
        "enter",
        "y",
        "r",
        "slash",
        "n",
        "N",
        "upper_n",
        "escape",
    ]
)
"""Keys of the block cursor that change nothing but what is seen."""


class ReplayApp(ChatApp):
    """Plays a recording in the chat's own screen; the keyboard steers the playing."""

    is_replay = True

    def __init__(
        self, player: Any, *, theme: str | None = None, themes_folder: Path | None = None
    ) -> None:
        """`player` is a `session.replay.Player`; `themes_folder` holds the person's own themes."""
        super().__init__(player.session)
        if themes_folder is not None:
            themes.install(self, [themes_folder], theme)
        self._player = player
        self.has_ended = asyncio.Event()
        """Everything was played."""
        self.prompt.placeholder = PLACEHOLDER

    async def on_event(self, event: events.Event) -> None:
        """Keys steer the playing, or move over the transcript; nothing is typed."""
        if isinstance(event, events.Paste):
            return
        is_fresh = not getattr(event, "is_forwarded", True)
        if not isinstance(event, events.Key) or not is_fresh or self._passes(event):
            await super().on_event(event)

    def _passes(self, event: events.Key) -> bool:
        """Whether a key is for the chat: it looks at the transcript."""
        key = event.key
        if len(self.screen_stack) > 1:
            return True
        if self.is_ready and self.modes.mode == "blocks":
            if self.verbs.finding.line is not None or key in _LOOKING:
                return True
            self.modes.leave()
        elif self.is_ready and key == "slash":
            self.run_verb("find")
            return False
        return not self._steer(key) and key in _SCROLLING

    async def _open(self) -> None:
        """Begin to play as soon as the screen stands."""
        await super()._open()
        if self.is_ready:
            self.presenter.failures.can_retry = False
            self.presenter.title = self._player.recording.title
            self.start(self._play())

    async def _play(self) -> None:
        await self._player.play()
        self.presenter.say("The recording ends here. q leaves.")
        self.redraw()
        self.has_ended.set()

    def _steer(self, key: str) -> bool:
        pace = self._player.pace
        match key:
            case "space":
                pace.toggle()
                self.flash("Standing: space goes on." if pace.is_standing else "Playing.")
            case "right":
                pace.one_step()
                self.flash("One answer.")
            case "plus" | "equals_sign":
                self._change(2.0)
            case "minus":
                self._change(0.5)
            case "q" | "ctrl+c" | "ctrl+d" | "ctrl+q":
                self.exit()
            case _:
                return False
        self.redraw()
        return True

    def _change(self, factor: float) -> None:
        self._player.pace.change(factor)
        self.flash(f"Speed {self._player.pace.speed:g}.")
