"""Panels that stand together: calls that only looked are folded, repaired failures made quiet."""

from __future__ import annotations

from agent_tui.tui.answer import View
from agent_tui.tui.block import Block
from agent_tui.tui.panels import LOOKING
from agent_tui.tui.tool_block import LIVE_LINES, ToolBlock

NEVER_UNDERSTOOD = ("There is no tool named", "The arguments ")
"""How the answers to calls begin that no tool has seen."""


class GroupedView:
    """The presenter's view; `settle` is told each panel whose call is over."""

    def __init__(self, view: View, tail_lines: int | None = None) -> None:
        """`tail_lines`: how many lines of output a running panel shows."""
        self._view = view
        self._tail_lines = LIVE_LINES if tail_lines is None else tail_lines
        self._row: list[ToolBlock] = []
        """The panels that stand together at the end."""
        self._failed: list[ToolBlock] = []
        """Failed calls of this turn that the model may make again, better."""

    def append(self, *blocks: Block) -> None:
        """Add blocks at the end."""
        for block in blocks:
            if isinstance(block, ToolBlock):
                block.tail_lines = self._tail_lines
                self._row.append(block)
            else:
                self._row = []
        self._view.append(*blocks)

    def remove(self, block: Block) -> None:
        """Take a block out."""
        self._view.remove(block)

    def mark(self, block: Block) -> None:
        """Draw it anew."""
        self._view.mark(block)

    def begin_turn(self) -> None:
        """What failed before stays as it is."""
        self._failed = []

    def settle(self, block: ToolBlock) -> None:
        """This call is over: it joins those beside it, or repairs one that failed before."""
        if block.status == "failed":
            if block.output.startswith(NEVER_UNDERSTOOD) or block.name in (*LOOKING, *_CHANGING):
                self._failed.append(block)
        elif block.status == "ok":
            self._quieten(block)
            self._fold(block)
        self._view.mark(block)

    def _quieten(self, done: ToolBlock) -> None:
        """The failures that this success makes good."""
        left = []
        for failed in self._failed:
            is_same = failed.name == done.name and failed.path == done.path
            if is_same or failed.output.startswith(NEVER_UNDERSTOOD):
                failed.repaired()
                self._view.mark(failed)
            else:
                left.append(failed)
        self._failed = left

    def _fold(self, block: ToolBlock) -> None:
        """Fold the panels around it that only looked and went well, at least two of them."""
        if block not in self._row or not _only_looked(block):
            return
        first = last = self._row.index(block)
        while first > 0 and _only_looked(self._row[first - 1]):
            first -= 1
        while last + 1 < len(self._row) and _only_looked(self._row[last + 1]):
            last += 1
        if first == last:
            return
        leader, *others = self._row[first : last + 1]
        leader.lead([leader, *others])
        for other in others:
            other.fold()
        for member in (leader, *others):
            if member is not block:
                self._view.mark(member)


_CHANGING = ("edit", "write")


def _only_looked(block: ToolBlock) -> bool:
    return block.status == "ok" and block.name in LOOKING
