"""One prompt, no screen: the answer on standard output, everything else on standard error.

With `--json` standard output carries one event a line instead. Exit codes: 0 done, 1 error, 2 wrong
use (the caller's), 3 a budget or the step limit is used up, 130 aborted.
"""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable
from typing import TextIO

from agent_tui.core.abort import AbortSignal
from agent_tui.core.errors import ErrorInfo
from agent_tui.core.events import AgentEndEvent, EndReason, MessageEndEvent, ToolExecutionStartEvent
from agent_tui.core.messages import AssistantMessage, CompactionSummaryMessage, UserMessage
from agent_tui.core.text import one_line, printable
from agent_tui.session.described import describe_model
from agent_tui.session.events import (
    AnyEvent,
    AutoRetryStartEvent,
    BudgetWarningEvent,
    CompactionEndEvent,
    FallbackEvent,
    NoticeEvent,
)
from agent_tui.session.session import Session
from agent_tui.session.targets import target_of

EXIT_DONE, EXIT_ERROR, EXIT_LIMIT, EXIT_ABORTED = 0, 1, 3, 130
SERVER_SECONDS = 15.0
"""How long a prompt waits for the MCP servers."""
_EXIT_BY_REASON: dict[EndReason, int] = {
    "completed": EXIT_DONE,
    "terminated": EXIT_DONE,
    "stopped": EXIT_DONE,
    "max_iterations": EXIT_LIMIT,
    "error": EXIT_ERROR,
    "tool_error": EXIT_ERROR,
    "aborted": EXIT_ABORTED,
}


def run_prompt(
    session: Session, prompt: str | UserMessage, *, as_json: bool, out: TextIO, err: TextIO
) -> int:
    """Run `prompt` to its end and return the exit code; SIGINT and SIGTERM abort the turn."""
    return asyncio.run(_run(session, prompt, _Report(as_json, out, err)))


async def _run(session: Session, prompt: str | UserMessage, report: _Report) -> int:
    session.subscribe(report.see)
    report.on_closed = lambda: session.abort("standard output was closed")
    restore = _abort_on_signals(session, report)
    try:
        await describe_model(session)
        if session.servers is not None:
            session.servers.start()
            await session.servers.ready(SERVER_SECONDS)
        if report.reason != "aborted":
            await session.prompt(prompt)
    finally:
        restore()
        session.close()
    refused = session.budgets.refused
    report.finish("" if refused is None else refused.message)
    if report.is_closed:
        return EXIT_ERROR
    return EXIT_LIMIT if refused is not None else _EXIT_BY_REASON[report.reason]


def _abort_on_signals(session: Session, report: _Report) -> Callable[[], None]:
    """The first signal aborts the turn; a second one ends the program as usual."""
    loop = asyncio.get_running_loop()
    numbers = [signal.SIGINT, signal.SIGTERM]
    if hasattr(signal, "SIGHUP"):
        numbers.append(signal.SIGHUP)

    def restore() -> None:
        for number in numbers:
            loop.remove_signal_handler(number)

    def abort() -> None:
        restore()
        report.reason = "aborted"  # unless a run says otherwise
        session.abort("interrupted")

    try:
        for number in numbers:
            loop.add_signal_handler(number, abort)
    except NotImplementedError:  # Windows: Ctrl+C cancels the prompt, which aborts as well
        return lambda: None
    return restore


class _Report:
    """Turns events into output."""

    def __init__(self, as_json: bool, out: TextIO, err: TextIO) -> None:
        self._as_json = as_json
        self._out = out
        self._err = err
        self._is_watched = err.isatty()
        self._last_text = ""
        """Of the last answer, which may have none."""
        self._newest_text = ""
        """The newest that there is."""
        self.reason: EndReason = "completed"
        self._error: ErrorInfo | None = None
        self.is_closed = False
        """Nobody reads standard output any more."""
        self.on_closed: Callable[[], None] = lambda: None

    def see(self, event: AnyEvent, signal: AbortSignal) -> None:
        """Report one event."""
        if self._as_json:
            self._write(event.to_json())
        match event:
            case MessageEndEvent(message=AssistantMessage() as message):
                self._last_text = message.text
                self._newest_text = message.text if message.text.strip() else self._newest_text
            case AgentEndEvent():
                self.reason, self._error = event.reason, event.error
            case AutoRetryStartEvent():
                limit = f"{event.attempt}/{event.max_attempts}"
                self._note(f"{event.error.message}; next try in {event.delay:.0f} s ({limit})")
            case FallbackEvent():
                self._note(event.sentence)
            case BudgetWarningEvent() | NoticeEvent():
                self._note(event.message)
            case CompactionEndEvent(summary=None, error=str(error)):
                self._note(f"the context was not summarised: {error}")
            case CompactionEndEvent(summary=CompactionSummaryMessage()):
                self._note(f"the context was summarised: {event.summarised} messages")
            case ToolExecutionStartEvent() if self._is_watched:
                self._note(f"{event.tool_name} {one_line(target_of(event.args), 100)}")

    def finish(self, used_up: str) -> None:
        """Write the answer, and what went wrong; `used_up` is the budget that ended the run."""
        answer = self._last_text if self.reason == "completed" else self._newest_text
        if not self._as_json and answer.strip():
            self._write(printable(answer) if self._out.isatty() else answer)
        if used_up:
            self._note(f"stopped, the budget is used up: {used_up}; agent-tui run --help: --max-…")
            return
        match self.reason:
            case "completed" if not answer.strip():
                self._note("the last answer has no text")
            case "error" | "tool_error":
                self._note(self._error.message if self._error else "the run failed")
            case "max_iterations":
                self._note("the step limit was reached; --max-iterations N allows more")
            case "aborted":
                self._note("aborted")

    def _note(self, text: str) -> None:
        self._err.write(f"agent-tui: {printable(text)}\n")
        self._err.flush()

    def _write(self, text: str) -> None:
        if self.is_closed:
            return
        try:
            self._out.write(text.rstrip("\n") + "\n")
            self._out.flush()
        except (BrokenPipeError, ValueError):
            self.is_closed = True
            self.on_closed()
