"""Reads lines and prints lines until the person leaves."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import threading
import time
from collections.abc import Callable, Coroutine, Iterable
from typing import Any, TextIO

from agent_tui.core.abort import AbortSignal
from agent_tui.core.errors import AgentError
from agent_tui.linear.orders import Orders
from agent_tui.linear.report import Report
from agent_tui.session.described import describe_model
from agent_tui.session.events import AnyEvent, ApprovalRequestEvent, BudgetRequestEvent
from agent_tui.session.session import Session

QUIT_SECONDS = 2.0
"""Within this time a second Ctrl+C leaves an idle chat."""


def run_linear(session: Session, greeting: Iterable[str], lines: TextIO, out: TextIO) -> int:
    """Chat by lines until `lines` ends or the person leaves; returns the exit code."""
    return asyncio.run(_Chat(session, lines, out).run(greeting))


class _Chat:
    def __init__(self, session: Session, lines: TextIO, out: TextIO) -> None:
        self._session = session
        self._lines = lines
        self._out = out
        self._over = asyncio.Event()
        self._has_ended = False
        """No further line will come; nobody can answer a question."""
        self._work: set[asyncio.Task[None]] = set()
        self._asked_to_quit_at = -QUIT_SECONDS
        self._code = 0
        self._report = Report(session, self._print, echoes=not lines.isatty())
        self._orders = Orders(session, self._report.say, self._start, self._over.set)

    async def run(self, greeting: Iterable[str]) -> int:
        for sentence in greeting:
            self._report.say("agent-tui", sentence)
        self._report.say("agent-tui", "/help lists the commands")
        self._session.subscribe(self._see)
        if self._session.servers is not None:
            self._session.servers.start()
        restore = self._catch_signals()
        await describe_model(self._session)
        loop = asyncio.get_running_loop()
        threading.Thread(target=self._read, args=(loop,), daemon=True).start()
        try:
            await self._over.wait()
        finally:
            restore()
            self._session.abort("the program ends")
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._session.agent.wait_for_idle(), 2.5)
            self._session.close()
        if self._session.is_saved:
            way_back = f"to go on: agent-tui chat --linear --resume {self._session.id}"
            self._report.say("agent-tui", way_back)
        return self._code

    def _see(self, event: AnyEvent, signal: AbortSignal) -> None:
        self._report.see(event, signal)
        if isinstance(event, ApprovalRequestEvent | BudgetRequestEvent):
            self._give_up_questions()

    def _give_up_questions(self) -> None:
        """Once the input has ended: a question would wait for ever."""
        session = self._session
        is_asked = session.approvals.pending or session.budgets.pending is not None
        if self._has_ended and is_asked:
            self._report.say("stopped", "there is no more input, so nobody can answer")
            session.abort("nobody can answer")

    def _print(self, line: str) -> None:
        try:
            self._out.write(f"{line}\n")
            self._out.flush()
        except (BrokenPipeError, ValueError):
            self._code = 1
            self._over.set()

    def _read(self, loop: asyncio.AbstractEventLoop) -> None:
        """In a thread of its own: a line on standard input is waited for."""
        take: Callable[[str | None], object] = self._take
        with contextlib.suppress(RuntimeError, ValueError):  # the loop, or the file, is closed
            for line in self._lines:
                loop.call_soon_threadsafe(take, line.rstrip("\r\n"))
            loop.call_soon_threadsafe(take, None)

    def _take(self, line: str | None) -> None:
        if line is not None:
            self._orders.take(line)
            return
        self._has_ended = True
        self._give_up_questions()
        self._start(self._finish())

    async def _finish(self) -> None:
        """The end of the input: what was asked for is still done."""
        others = [task for task in self._work if task is not asyncio.current_task()]
        await asyncio.gather(*others, return_exceptions=True)
        self._over.set()

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(self._watched(work))
        self._work.add(task)
        task.add_done_callback(self._work.discard)

    async def _watched(self, work: Coroutine[Any, Any, None]) -> None:
        try:
            await work
        except AgentError as error:
            self._report.say("error", error.message)

    def _catch_signals(self) -> Callable[[], None]:
        loop = asyncio.get_running_loop()
        ends = [signal.SIGTERM, *([signal.SIGHUP] if hasattr(signal, "SIGHUP") else [])]
        with contextlib.suppress(NotImplementedError):  # Windows: Ctrl+C ends the program
            loop.add_signal_handler(signal.SIGINT, self._interrupted)
            for number in ends:
                loop.add_signal_handler(number, self._terminated)

        def restore() -> None:
            with contextlib.suppress(NotImplementedError):
                for number in (signal.SIGINT, *ends):
                    loop.remove_signal_handler(number)

        return restore

    def _interrupted(self) -> None:
        if self._session.is_running:
            self._report.say("stop", "stopping")
            self._session.abort("stopped by the user")
        elif time.monotonic() - self._asked_to_quit_at < QUIT_SECONDS:
            self._over.set()
        else:
            self._asked_to_quit_at = time.monotonic()
            self._report.say("quit?", "Ctrl+C again leaves")

    def _terminated(self) -> None:
        self._code = 128 + signal.SIGTERM
        self._over.set()
