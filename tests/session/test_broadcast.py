"""One order of events, whoever they come from."""

from __future__ import annotations

import asyncio

import pytest

from agent_tui.core.abort import AbortSignal
from agent_tui.session.broadcast import Broadcast
from agent_tui.session.events import AgentSettledEvent, AnyEvent, QueueUpdateEvent

QUIET = AbortSignal()


async def test_a_posted_event_reaches_plain_listeners_before_post_returns() -> None:
    broadcast = Broadcast()
    heard: list[AnyEvent] = []
    broadcast.subscribe(lambda event, signal: heard.append(event))

    broadcast.post(AgentSettledEvent(), QUIET)

    assert heard == [AgentSettledEvent()]


async def test_what_is_sent_during_a_slow_delivery_waits_for_its_turn() -> None:
    broadcast = Broadcast()
    heard: list[str] = []
    may_go_on = asyncio.Event()

    async def slow(event: AnyEvent, signal: AbortSignal) -> None:
        await may_go_on.wait()
        heard.append(f"slow {event.type}")

    broadcast.subscribe(slow)
    broadcast.subscribe(lambda event, signal: heard.append(f"quick {event.type}"))
    broadcast.post(QueueUpdateEvent(), QUIET)
    sending = asyncio.ensure_future(broadcast.send(AgentSettledEvent(), QUIET))
    await asyncio.sleep(0)
    assert heard == []

    may_go_on.set()
    await sending

    assert heard == [
        "slow queue_update",
        "quick queue_update",
        "slow agent_settled",
        "quick agent_settled",
    ]


async def test_a_listener_that_fails_late_is_logged_and_passed(
    caplog: pytest.LogCaptureFixture,
) -> None:
    broadcast = Broadcast()
    heard: list[str] = []

    async def broken(event: AnyEvent, signal: AbortSignal) -> None:
        await asyncio.sleep(0)
        raise RuntimeError("too late")

    broadcast.subscribe(broken)
    broadcast.subscribe(lambda event, signal: heard.append(event.type))

    await broadcast.send(AgentSettledEvent(), QUIET)

    assert heard == ["agent_settled"]
    assert "too late" in caplog.text


async def test_a_cancelled_delivery_leaves_nobody_waiting() -> None:
    broadcast = Broadcast()

    async def stuck(event: AnyEvent, signal: AbortSignal) -> None:
        await asyncio.Event().wait()

    broadcast.subscribe(stuck)
    first = asyncio.ensure_future(broadcast.send(QueueUpdateEvent(), QUIET))
    await asyncio.sleep(0)
    second = asyncio.ensure_future(broadcast.send(AgentSettledEvent(), QUIET))
    await asyncio.sleep(0)

    first.cancel()

    await asyncio.wait_for(second, 1)
    with pytest.raises(asyncio.CancelledError):
        await first


async def test_a_listener_added_by_a_listener_hears_the_next_event() -> None:
    broadcast = Broadcast()
    heard: list[str] = []

    def add(event: AnyEvent, signal: AbortSignal) -> None:
        broadcast.subscribe(lambda event, signal: heard.append(event.type))

    leave = broadcast.subscribe(add)
    broadcast.post(QueueUpdateEvent(), QUIET)
    leave()

    broadcast.post(AgentSettledEvent(), QUIET)

    assert heard == ["agent_settled"]
