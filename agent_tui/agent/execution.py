"""One tool call in execution: its updates in order, its end in bounded time.

The channel for updates closes at the very moment the tool settles; what comes later vanishes.
After the call's signal is set the tool has `GRACE` seconds to react, then it is cancelled, and
after another `CANCEL` seconds left alone.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Literal

from agent_tui.agent.calling import is_async, settled
from agent_tui.agent.printing import prints_of_call
from agent_tui.agent.threads import in_daemon_thread
from agent_tui.core.abort import AbortSignal
from agent_tui.core.tool import Execute, ToolContext, ToolResult

GRACE = 0.8
CANCEL = 0.7

Ending = Literal["returned", "raised", "not_started", "cancelled_itself", "cancelled", "abandoned"]


@dataclass(slots=True)
class Outcome:
    """How an execution ended. `partial` is the last update, kept for a call that was cut off."""

    ending: Ending
    result: ToolResult | None = None
    error: Exception | None = None
    partial: ToolResult | None = None


class _NotStarted(Exception):
    """The signal was set before the tool's first step."""


class Execution:
    """Runs `execute` once, under supervision."""

    def __init__(
        self,
        execute: Execute,
        call_id: str,
        args: dict[str, Any],
        signal: AbortSignal,
        steering_waiting: AbortSignal,
        on_update: Callable[[ToolResult], Awaitable[None]],
        *,
        shows_prints: bool = False,
    ) -> None:
        """With `shows_prints`, what the tool prints is an update too, or else its result."""
        self._execute = execute
        self._shows_prints = shows_prints
        self._call_id = call_id
        self._args = args
        self._signal = signal
        self._steering_waiting = steering_waiting
        self._on_update = on_update
        self._loop = asyncio.get_running_loop()
        self._wake = asyncio.Event()
        self._updates: deque[ToolResult] = deque()
        self._open = True
        self._in_thread = False
        self._last: ToolResult | None = None

    async def run(self) -> Outcome:
        """Execute, pass updates on as they come, and say how it ended."""
        task = asyncio.create_task(self._invoke(), name=f"tool {self._call_id}")
        task.add_done_callback(lambda _: self._wake.set())
        forget = self._signal.on_set(lambda: self._loop.call_soon_threadsafe(self._wake.set))
        try:
            ending = await self._supervise(task)
        except asyncio.CancelledError:
            task.cancel()
            raise
        finally:
            self._open = False
            forget()
        return self._outcome(task, ending)

    async def _supervise(self, task: asyncio.Task[ToolResult]) -> Ending:
        """Deliver updates until the task is done or given up on."""
        deadline: float | None = None
        cancelled = False
        while True:
            self._wake.clear()
            while self._updates:
                self._last = self._updates.popleft()
                await self._on_update(self._last)
            if task.done() and not self._updates:
                return "cancelled" if cancelled else "returned"
            if self._signal.aborted:
                now = self._loop.time()
                if deadline is None:
                    deadline = now + GRACE
                elif now >= deadline and cancelled:
                    task.add_done_callback(_forget)
                    return "abandoned"
                elif now >= deadline:
                    task.cancel()
                    cancelled, deadline = True, now + CANCEL
            await self._sleep(deadline)

    async def _sleep(self, deadline: float | None) -> None:
        timer = None
        if deadline is not None:
            timer = self._loop.call_at(deadline, self._wake.set)
        try:
            await self._wake.wait()
        finally:
            if timer is not None:
                timer.cancel()

    def _outcome(self, task: asyncio.Task[ToolResult], ending: Ending) -> Outcome:
        if ending == "abandoned" or (ending == "cancelled" and self._in_thread):
            # Cancelling the wait for a thread does not stop the thread.
            return Outcome("abandoned", partial=self._last)
        error = None if task.cancelled() else task.exception()
        if ending == "cancelled":
            # A tool that swallowed the cancellation may still have had something to say.
            answered = not task.cancelled() and error is None
            return Outcome("cancelled", partial=task.result() if answered else self._last)
        if task.cancelled():
            return Outcome("cancelled_itself", partial=self._last)
        if isinstance(error, _NotStarted):
            return Outcome("not_started")
        if isinstance(error, Exception):
            return Outcome("raised", error=error, partial=self._last)
        if error is not None:
            raise error
        return Outcome("returned", result=task.result(), partial=self._last)

    async def _invoke(self) -> ToolResult:
        try:
            if self._signal.aborted:
                raise _NotStarted
            if not self._shows_prints:
                return _as_result(await self._answer())
            with prints_of_call(self._accept_update) as printed:
                answer = await self._answer()
                return _as_result(printed.plain_text if answer is None else answer)
        except SystemExit as left:
            # Left alone it would tear the event loop down, and the program with it.
            raise RuntimeError(f"the tool tried to exit the program: {left.code}") from None
        finally:
            self._open = False

    async def _answer(self) -> ToolResult | str | None:
        context = ToolContext(self._signal, self._accept_update, self._steering_waiting)
        if is_async(self._execute):
            return await settled(self._execute(self._call_id, self._args, context))
        return await settled(await in_daemon_thread(lambda: self._execute_in_thread(context)))

    def _execute_in_thread(self, context: ToolContext) -> Any:
        if self._signal.aborted:
            raise _NotStarted
        self._in_thread = True
        try:
            return self._execute(self._call_id, self._args, context)
        finally:
            self._in_thread = False

    def _accept_update(self, partial: ToolResult | str) -> None:
        """The tool's `on_update`: harmless at any time and from any thread."""
        if not self._open:
            return
        try:
            on_loop = asyncio.get_running_loop() is self._loop
        except RuntimeError:
            on_loop = False
        if on_loop:
            self._push(_as_result(partial))
        elif not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._push, _as_result(partial))

    def _push(self, partial: ToolResult) -> None:
        if self._open:
            self._updates.append(partial)
            self._wake.set()


def _as_result(value: object) -> ToolResult:
    if isinstance(value, ToolResult):
        return value
    return ToolResult(value if value is None or isinstance(value, str) else str(value))


def _forget(task: asyncio.Task[ToolResult]) -> None:
    """Mark an abandoned task's exception as seen, so that nothing is printed about it."""
    if not task.cancelled():
        task.exception()
