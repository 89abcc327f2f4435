"""When blocks are drawn. Time is a number here."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from agent_tui.tui.block import Block
from agent_tui.tui.pacer import Pacer
from agent_tui.tui.tool_block import ToolBlock


class Call:
    """A call that a pacer asked for."""

    def __init__(self, due: float, callback: Callable[[], None]) -> None:
        self.due = due
        self.callback = callback
        self.cancelled = False

    def cancel(self) -> None:
        self.cancelled = True


class World:
    """A clock, its timers, and what was drawn when."""

    def __init__(self) -> None:
        self.now = 100.0
        self.calls: list[Call] = []
        self.drawn: list[tuple[float, list[Block]]] = []
        self.pacer = Pacer(
            self.draw,
            flush_seconds=0.1,
            tick_seconds=0.25,
            clock=lambda: self.now,
            call_later=self.call_later,
        )

    def draw(self, blocks: Sequence[Block]) -> None:
        self.drawn.append((round(self.now, 3), list(blocks)))

    def call_later(self, seconds: float, callback: Callable[[], None]) -> Call:
        self.calls.append(Call(self.now + seconds, callback))
        return self.calls[-1]

    @property
    def waiting(self) -> list[Call]:
        return [call for call in self.calls if not call.cancelled]

    def advance(self, seconds: float) -> None:
        end = self.now + seconds
        while due := [call for call in self.waiting if call.due <= end]:
            call = min(due, key=lambda call: call.due)
            self.calls.remove(call)
            self.now = max(self.now, call.due)
            call.callback()
        self.now = end

    @property
    def times(self) -> list[float]:
        return [time for time, _ in self.drawn]


def running_tool() -> ToolBlock:
    block = ToolBlock("id", "bash")
    block.start(100.0)
    return block


def test_the_first_change_after_a_pause_is_drawn_at_once() -> None:
    world = World()

    world.pacer.mark(Block())
    world.advance(0.02)

    assert world.times == [100.005]


def test_many_changes_are_drawn_a_few_times_a_second() -> None:
    world = World()
    block = Block()

    for _ in range(1_000):
        world.pacer.mark(block)
        world.advance(0.001)

    assert len(world.drawn) == 10
    assert all(blocks == [block] for _, blocks in world.drawn)


def test_what_changes_together_is_drawn_together() -> None:
    world = World()
    first, second = Block(), Block()

    world.pacer.mark(first)
    world.pacer.mark(second)
    world.pacer.mark(first)
    world.advance(1.0)

    assert [blocks for _, blocks in world.drawn] == [[first, second]]


def test_no_timer_waits_while_nothing_changes() -> None:
    world = World()
    world.pacer.mark(Block())

    world.advance(1.0)

    assert world.waiting == []


def test_a_running_tool_is_told_the_time_four_times_a_second_until_it_ends() -> None:
    world = World()
    block = running_tool()

    world.pacer.mark(block)
    world.advance(1.1)
    while_running = len(world.drawn)
    block.finish("ok", now=world.now)
    world.pacer.mark(block)
    world.advance(1.0)

    assert while_running == 5
    assert len(world.drawn) == 6
    assert world.waiting == []


def test_streaming_text_does_not_make_the_spinner_turn_faster() -> None:
    world = World()
    tool, text = running_tool(), Block()
    world.pacer.mark(tool)

    for _ in range(1_000):
        world.pacer.mark(text)
        world.advance(0.001)

    assert sum(tool in blocks for _, blocks in world.drawn) <= 5


def test_an_expensive_drawing_is_followed_by_a_longer_rest() -> None:
    world = World()

    def burn(blocks: Sequence[Block]) -> None:
        world.draw(blocks)
        sum(range(4_000_000))

    pacer = Pacer(burn, flush_seconds=0.001, clock=lambda: world.now, call_later=world.call_later)
    pacer.mark(Block())
    world.advance(0.01)
    pacer.mark(Block())
    world.advance(0.04)

    assert len(world.drawn) == 1


def test_nothing_is_drawn_while_paused_and_everything_after() -> None:
    world = World()
    block = Block()

    world.pacer.pause()
    world.pacer.mark(block)
    world.advance(1.0)
    drawn_while_paused = list(world.drawn)
    world.pacer.resume()

    assert drawn_while_paused == []
    assert [blocks for _, blocks in world.drawn] == [[block]]


def test_a_stopped_pacer_leaves_no_timer() -> None:
    world = World()
    world.pacer.mark(running_tool())

    world.pacer.stop()
    world.advance(1.0)

    assert (world.drawn, world.waiting) == ([], [])


@pytest.mark.anyio
async def test_the_loop_is_the_timer_by_default() -> None:
    drawn: list[Sequence[Block]] = []
    pacer = Pacer(drawn.append)
    block = Block()

    pacer.mark(block)
    pacer.flush()
    pacer.stop()

    assert drawn == [[block]]
