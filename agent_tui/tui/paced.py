"""Where the presenter puts its blocks: into the transcript, drawn when the pacer says so."""

from __future__ import annotations

from agent_tui.tui.block import Block
from agent_tui.tui.pacer import Pacer
from agent_tui.tui.transcript import Transcript


class PacedView:
    """The presenter's view of the transcript."""

    def __init__(self, transcript: Transcript, pacer: Pacer) -> None:
        self._add = transcript.add
        self.remove = transcript.discard
        self.mark = pacer.mark

    def append(self, *blocks: Block) -> None:
        """Add blocks; they are drawn with whatever else changes in that instant."""
        self._add(*blocks)
        for block in blocks:
            self.mark(block)
