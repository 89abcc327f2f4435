"""When to draw: changed blocks are drawn a few times a second, whatever the rate of changes.

One timer for the whole program, and none while nothing changes and nothing runs.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from agent_tui.tui.blocks import Block


class Pacer:
    """Collects changed blocks and has them drawn together."""

    def __init__(
        self,
        draw: Callable[[Sequence[Block]], None],
        *,
        flush_seconds: float = 1 / 12,
        tick_seconds: float = 1 / 4,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`draw` is `Transcript.changed_all` as a rule.

        `tick_seconds` is how often blocks that are running are told the time.
        """

    def mark(self, block: Block) -> None:
        """The block has changed; it is drawn at the next flush, at most `flush_seconds` from now.

        A block that `is_running` is then told the time until it is not.
        """

    def flush(self) -> None:
        """Draw everything that is marked now."""

    def pause(self) -> None:
        """Draw nothing until `resume`, e.g. while an editor has the terminal."""

    def resume(self) -> None:
        """Draw again, first what was marked meanwhile."""

    def stop(self) -> None:
        """End the timer; nothing is drawn any more."""
