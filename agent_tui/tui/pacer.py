"""When to draw: changed blocks are drawn a few times a second, whatever the rate of changes.

One timer for the whole program, and none while nothing changes and nothing runs.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from typing import Protocol

from agent_tui.tui.block import Block

_REST = 3
"""After drawing for `t` seconds of CPU the pacer rests for at least `_REST * t`."""
_GATHER_SECONDS = 0.005
"""What changes together is drawn together, even after a pause."""


class TimerHandle(Protocol):
    """A call that was asked for and can be taken back."""

    def cancel(self) -> object:
        """The call does not happen."""


class Pacer:
    """Collects changed blocks and has them drawn together."""

    def __init__(
        self,
        draw: Callable[[Sequence[Block]], None],
        *,
        flush_seconds: float = 1 / 12,
        tick_seconds: float = 1 / 4,
        clock: Callable[[], float] = time.monotonic,
        call_later: Callable[[float, Callable[[], None]], TimerHandle] | None = None,
    ) -> None:
        """`draw` is `Transcript.changed_all` as a rule.

        `tick_seconds` is how often blocks that are running are told the time of `clock`.
        `call_later` is that of the running loop by default.
        """
        self._draw = draw
        self._flush_seconds = flush_seconds
        self._tick_seconds = tick_seconds
        self._clock = clock
        self._call_later = call_later
        self._marked: dict[str, Block] = {}
        self._running: dict[str, Block] = {}
        self._timer: TimerHandle | None = None
        self._due = 0.0
        self._next_flush = 0.0
        self._next_tick = 0.0
        self._is_paused = False

    def mark(self, block: Block) -> None:
        """The block has changed; it is drawn at the next flush, at most `flush_seconds` from now.

        A block that `is_running` is then told the time until it is not.
        """
        self._marked[block.id] = block
        if block.is_running and not self._running:
            self._next_tick = self._clock() + self._tick_seconds
        if block.is_running:
            self._running[block.id] = block
        self._arm()

    def flush(self) -> None:
        """Draw everything that is marked now."""
        self._cancel()
        self._tick()
        marked, self._marked = list(self._marked.values()), {}
        if marked:
            began = time.process_time()
            self._draw(marked)
            rest = _REST * (time.process_time() - began)
            self._next_flush = self._clock() + max(self._flush_seconds, rest)
        self._arm()

    def pause(self) -> None:
        """Draw nothing until `resume`, e.g. while an editor has the terminal."""
        self._is_paused = True
        self._cancel()

    def resume(self) -> None:
        """Draw again, first what was marked meanwhile."""
        self._is_paused = False
        self.flush()

    def stop(self) -> None:
        """End the timer for good; nothing is drawn any more."""
        self.pause()

    def _tick(self) -> None:
        """Tell running blocks the time, unless they were told it a moment ago."""
        now = self._clock()
        if not self._running or now < self._next_tick:
            return
        self._next_tick = now + self._tick_seconds
        for id_, block in list(self._running.items()):
            if not block.is_running:
                del self._running[id_]
                continue
            version = block.version
            block.tick(now)
            if block.version != version:
                self._marked[id_] = block

    def _arm(self) -> None:
        if self._is_paused or not (self._marked or self._running):
            return
        now = self._clock()
        flush = max(now + _GATHER_SECONDS, self._next_flush)
        due = flush if self._marked else max(flush, self._next_tick)
        if self._timer is not None:
            if self._due <= due:
                return
            self._timer.cancel()
        self._due = due
        call_later = self._call_later or asyncio.get_running_loop().call_later
        self._timer = call_later(due - now, self._fire)

    def _fire(self) -> None:
        self._timer = None
        self.flush()

    def _cancel(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
