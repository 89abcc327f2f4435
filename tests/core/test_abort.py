"""The flag that ends things."""

from __future__ import annotations

import asyncio
import threading

import pytest

from agent_tui import AbortSignal


def test_a_fresh_signal_is_not_set() -> None:
    signal = AbortSignal()

    assert not signal.aborted
    assert signal.reason is None


def test_the_first_reason_stays() -> None:
    signal = AbortSignal()

    signal.set("first")
    signal.set("second")

    assert signal.aborted
    assert signal.reason == "first"


def test_callbacks_are_called_once() -> None:
    signal = AbortSignal()
    called: list[str] = []
    signal.on_set(lambda: called.append("a"))
    signal.on_set(lambda: called.append("b"))

    signal.set()
    signal.set()

    assert called == ["a", "b"]


def test_a_callback_for_a_set_signal_is_called_at_once() -> None:
    signal = AbortSignal()
    signal.set()
    called: list[str] = []

    forget = signal.on_set(lambda: called.append("a"))
    forget()

    assert called == ["a"]


def test_a_forgotten_callback_is_not_called() -> None:
    signal = AbortSignal()
    called: list[str] = []
    forget = signal.on_set(lambda: called.append("a"))

    forget()
    forget()
    signal.set()

    assert called == []


def test_a_callback_may_set_the_signal_again() -> None:
    signal = AbortSignal()
    called: list[str] = []
    signal.on_set(signal.set)
    signal.on_set(lambda: called.append("a"))

    signal.set()

    assert called == ["a"]


async def test_waiting_for_a_set_signal_returns_at_once() -> None:
    signal = AbortSignal()
    signal.set()

    await signal.wait()


async def test_every_waiter_wakes() -> None:
    signal = AbortSignal()
    waiters = [asyncio.create_task(signal.wait()) for _ in range(3)]
    await asyncio.sleep(0)
    waiting = [waiter.done() for waiter in waiters]

    signal.set()
    await asyncio.wait_for(asyncio.gather(*waiters), 5)

    assert waiting == [False, False, False]


async def test_a_thread_can_set_it() -> None:
    signal = AbortSignal()
    waiter = asyncio.create_task(signal.wait())
    await asyncio.sleep(0)

    thread = threading.Thread(target=signal.set, args=("from a thread",))
    thread.start()
    await asyncio.wait_for(waiter, 5)
    thread.join()

    assert signal.reason == "from a thread"


async def test_a_cancelled_waiter_leaves_the_signal_as_it_was() -> None:
    signal = AbortSignal()
    waiter = asyncio.create_task(signal.wait())
    await asyncio.sleep(0)

    waiter.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiter
    signal.set()

    assert signal.aborted


def test_two_loops_can_wait_for_one_signal() -> None:
    signal = AbortSignal()
    ready = threading.Barrier(3)

    def wait() -> None:
        async def waiting() -> None:
            waiter = asyncio.create_task(signal.wait())
            await asyncio.sleep(0)
            ready.wait(5)
            await asyncio.wait_for(waiter, 5)

        asyncio.run(waiting())

    threads = [threading.Thread(target=wait) for _ in range(2)]
    for thread in threads:
        thread.start()
    ready.wait(5)
    signal.set()
    for thread in threads:
        thread.join(5)

    assert not any(thread.is_alive() for thread in threads)


def test_a_signal_outlives_the_loop_that_waited() -> None:
    signal = AbortSignal()

    async def give_up() -> None:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(signal.wait(), 0.01)

    asyncio.run(give_up())
    signal.set()

    assert signal.aborted
