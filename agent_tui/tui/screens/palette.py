"""Textual's command palette, which must not fail while its list has no room."""

from __future__ import annotations

from textual.await_complete import AwaitComplete
from textual.command import CommandList, CommandPalette
from textual.widgets import Input


class Palette(CommandPalette):
    """The palette."""

    def on_mount(self) -> None:
        """Nothing blinks."""
        self.query_one(Input).cursor_blink = False

    def dismiss(self, result: None = None) -> AwaitComplete:
        """Close, once."""
        return super().dismiss(result) if self.is_current else AwaitComplete()

    def _action_command_list(self, action: str) -> None:
        """A list that is not laid out yet, or in no room at all, has no lines to move by."""
        if self.query_one(CommandList).scrollable_content_region:
            super()._action_command_list(action)
