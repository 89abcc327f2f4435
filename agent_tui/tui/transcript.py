"""The transcript: one widget that draws a list of blocks, and only what is in view.

Blocks out of view are an estimated height. The view follows the end while it is at the end; else it
stays where it is, whatever arrives.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView

from agent_tui.tui.blocks import Block


class Transcript(ScrollView, can_focus=False):
    """A virtual list of blocks."""

    following: reactive[bool] = reactive(True)
    """The view is at the end and stays there."""
    unseen: reactive[bool] = reactive(False)
    """Something has arrived below a view that does not follow."""

    class Changed(Message):
        """`following`, `unseen` or the cursor has changed."""

    class Copied(Message):
        """The person selected text with the mouse and let go; `text` is what was selected."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    class LinkOpened(Message):
        """A link was clicked that is safe to open: http(s), or a file below the folder."""

        def __init__(self, address: str) -> None:
            super().__init__()
            self.address = address

    blocks: Sequence[Block]
    """Top to bottom."""

    def __init__(self, *blocks: Block, motion: bool = True, **widget: Any) -> None:
        """`motion` False: nothing moves by itself."""
        super().__init__(**widget)

    @property
    def cursor(self) -> Block | None:
        """The block under the block cursor (F6), None when the mode is off."""
        raise NotImplementedError

    def append(self, *blocks: Block) -> None:
        """Add blocks at the end."""

    def insert(self, blocks: Iterable[Block], *, before: Block) -> None:
        """Add blocks above another one; what is in view stays where it is."""

    def changed(self, block: Block) -> None:
        """Draw a block again; costs what has changed of it."""

    def changed_all(self, blocks: Sequence[Block]) -> None:
        """Draw several blocks again, in one go."""

    def remove(self, block: Block) -> None:
        """Take a block out."""

    def clear(self) -> None:
        """Take all blocks out."""

    def toggle(self, block: Block) -> None:
        """Expand or collapse a block; the view stays at the block."""

    def toggle_all(self) -> None:
        """Expand all that can be expanded, or collapse all if any is expanded."""

    def move_cursor(self, step: int) -> Block | None:
        """Put the block cursor `step` blocks further (the last one, if it was off)."""

    def end_cursor(self) -> None:
        """Leave the block cursor mode."""

    def follow(self) -> None:
        """Go to the end and stay there."""
