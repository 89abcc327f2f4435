"""Keys and pastes on their way in: what becomes of them before Textual hands them on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import events

from agent_tui.config.keys import Place
from agent_tui.tui.paste import clean
from agent_tui.tui.picture_verbs import dropped
from agent_tui.tui.text_editor import typed

if TYPE_CHECKING:
    from agent_tui.tui.app import ChatApp

_CHAT: tuple[Place, ...] = ("composer", "press")


class Incoming:
    """Turns chosen keys into the usual ones, and gives keys to the mode that borrows them."""

    def __init__(self, app: ChatApp) -> None:
        self._app = app

    def take(self, event: events.Event) -> events.Event | None:
        """What is to be handed on in place of `event`; None if it has done all it was to do."""
        if getattr(event, "is_forwarded", True):
            return event
        if isinstance(event, events.Paste):
            event.text = clean(event.text)  # Textual's own inputs would draw what is in it
            if self._is_chat and self._app.modes.paste(event.text):
                return None
            if self._is_chat and (mention := dropped(event.text, self._app.session.cwd)):
                event.text = mention
            return event
        if not isinstance(event, events.Key):
            return event
        key = event if self._app.keymap.is_usual else self._as_usual(event)
        if key is None or (self._is_chat and self._is_used(key)):
            return None
        return key

    @property
    def _is_chat(self) -> bool:
        return self._app.is_ready and len(self._app.screen_stack) == 1

    @property
    def _places(self) -> tuple[Place, ...]:
        """Where a key is looked up now, first to last."""
        mode = self._app.modes.mode
        return (mode, *_CHAT) if mode in ("strip", "blocks") else _CHAT

    def _as_usual(self, event: events.Key) -> events.Key | None:
        """The key that usually does what this one does here; None if it does nothing."""
        app, is_chat = self._app, self._is_chat
        key = app.keymap.pressed(event.key, self._places if is_chat else ())
        if not is_chat and event.key in app.keymap.keys("interrupt"):
            key = "ctrl+c"
        if key == event.key:
            return event
        if not key:
            if is_chat:
                app.modes.leave()
            return None if typed(event) is None else event
        return events.Key(key, None)

    def _is_used(self, event: events.Key) -> bool:
        app = self._app
        if app.modes.key(event.key, event.character):
            return True
        if event.key != "end" or not app.prompt.is_blank or app.focused is not app.prompt:
            return False
        app.transcript.follow()
        app.redraw()
        return True
