"""A screen on top of the chat, which gives one answer."""

from __future__ import annotations

from textual.await_complete import AwaitComplete
from textual.screen import ModalScreen, ScreenResultType


class Page(ModalScreen[ScreenResultType]):
    """A modal screen that can be dismissed twice: keys arrive after the one that closed it."""

    def dismiss(self, result: ScreenResultType | None = None) -> AwaitComplete:
        """Close with `result`; nothing happens when it is not on top, as when it is closed."""
        return super().dismiss(result) if self.is_current else AwaitComplete()
