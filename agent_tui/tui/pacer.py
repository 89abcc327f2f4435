"""When to draw: changed blocks are drawn a few times a second, whatever the rate of changes.

One timer for the whole program, and none while nothing changes and nothing runs.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence

from agent_tui.tui.block import Block

_SHARE = 3
"""After a flush that took `t` seconds of CPU the next one waits at least `_SHARE * t`."""


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
        self._draw = draw
        self._flush_seconds = flush_seconds
        self._tick_seconds = tick_seconds
        self._clock = clock
        self._marked: dict[str, Block] = {}
        self._running: dict[str, Block] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._due = 0.0
        self._not_before = 0.0
        self._paused = False
        self._stopped = False

    def mark(self, block: Block) -> None:
        """The block has changed; it is drawn at the next flush, at most `flush_seconds` from now.

        A block that `is_running` is then told the time until it is not.
        """
        self._marked[block.id] = block
        self._arm(self._flush_seconds)

    def flush(self) -> None:
        """Draw everything that is marked now."""
        self._cancel()
        began = time.process_time()
        self._tick()
        marked, self._marked = list(self._marked.values()), {}
        for block in marked:
            if block.is_running:
                self._running[block.id] = block
        if marked:
            self._draw(marked)
            self._not_before = self._loop_time() + _SHARE * (time.process_time() - began)
        if self._running:
            self._arm(self._tick_seconds)

    def pause(self) -> None:
        """Draw nothing until `resume`, e.g. while an editor has the terminal."""
        self._paused = True
        self._cancel()

    def resume(self) -> None:
        """Draw again, first what was marked meanwhile."""
        self._paused = False
        self.flush()

    def stop(self) -> None:
        """End the timer; nothing is drawn any more."""
        self._stopped = True
        self._cancel()

    def _tick(self) -> None:
        now = self._clock()
        for key, block in list(self._running.items()):
            version = block.version
            block.tick(now)
            if block.version != version:
                self._marked[key] = block
            if not block.is_running:
                del self._running[key]

    def _arm(self, seconds: float) -> None:
        if self._paused or self._stopped:
            return
        now = self._loop_time()
        due = max(now + seconds, self._not_before)
        if self._timer is not None:
            if self._due <= due:
                return
            self._timer.cancel()
        self._due = due
        self._timer = asyncio.get_running_loop().call_at(due, self._fire)

    def _fire(self) -> None:
        self._timer = None
        self.flush()

    def _cancel(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _loop_time(self) -> float:
        return asyncio.get_running_loop().time()
