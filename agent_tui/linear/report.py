"""Events as lines. A line is printed when it is complete, so that it can be read aloud."""

from __future__ import annotations

import time
from collections.abc import Callable

from agent_tui.core.abort import AbortSignal
from agent_tui.core.events import (
    AgentEndEvent,
    MessageEndEvent,
    MessageStartEvent,
    MessageUpdateEvent,
    ToolExecutionEndEvent,
    ToolExecutionStartEvent,
    ToolExecutionUpdateEvent,
    TurnStartEvent,
)
from agent_tui.core.figures import clock, count, money, plural, span
from agent_tui.core.messages import AssistantMessage, UserMessage
from agent_tui.core.text import one_line, printable
from agent_tui.core.tool import ToolResult
from agent_tui.session.events import (
    AgentSettledEvent,
    AnyEvent,
    ApprovalRequestEvent,
    AutoRetryStartEvent,
    BudgetRequestEvent,
    BudgetWarningEvent,
    CompactionEndEvent,
    CompactionStartEvent,
    FallbackEvent,
    NoticeEvent,
    QueueUpdateEvent,
)
from agent_tui.session.session import Session
from agent_tui.session.targets import target_of

TAIL_LINES, TAIL_LINES_FAILED = 3, 15
"""How much of a result is printed."""
SIGN_SECONDS = 10.0
"""A tool that prints is mentioned no more often than this while it runs."""
TARGET_CHARACTERS = 200


class Report:
    """Prints a session's events."""

    def __init__(
        self,
        session: Session,
        write: Callable[[str], None],
        *,
        echoes: bool,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """`write(line)` prints one line; with `echoes` the person's own messages are printed."""
        self._session = session
        self._write = write
        self._echoes = echoes
        self._now = now
        self._rest = ""
        """Of the answer: what has no end of line yet."""
        self._queued: dict[str, str] = {}
        """Id of a pending message → its lane."""
        self._tools: dict[str, float] = {}
        """Id of a running call → when it was last mentioned."""
        self._began: dict[str, float] = {}

    def see(self, event: AnyEvent, signal: AbortSignal) -> None:
        """Print one event."""
        match event:
            case TurnStartEvent():
                self.say("step", self._step())
            case MessageStartEvent(message=UserMessage() as message):
                self._delivered(message)
            case MessageUpdateEvent():
                self._streamed(event)
            case MessageEndEvent(message=AssistantMessage() as message):
                self._answered(message)
            case ToolExecutionStartEvent():
                target = one_line(target_of(event.args), TARGET_CHARACTERS)
                self._tools[event.tool_call_id] = self._began[event.tool_call_id] = self._now()
                self.say("tool", f"{event.tool_name} {target}: running")
            case ToolExecutionUpdateEvent():
                self._progressed(event)
            case ToolExecutionEndEvent():
                self._ended(event)
            case AgentEndEvent():
                self._run_ended(event)
            case QueueUpdateEvent():
                self._queue_changed(event)
            case AgentSettledEvent():
                self.say("turn", self._summary())
            case _:
                self._session_event(event)

    def say(self, label: str, text: str) -> None:
        """Print `[label] text`; further lines of the text are indented."""
        first, *others = printable(text).split("\n")
        self._write(f"[{label}] {first}")
        for line in others:
            self._write(f"    {line}")

    def _session_event(self, event: AnyEvent) -> None:
        match event:
            case ApprovalRequestEvent(request=request):
                lines = [f"{request.tool_name} asks, because {request.reason}:", request.detail]
                if request.rule is not None:
                    at = "" if request.scope == "everywhere" else "in this "
                    lines.append(f"/always would allow, {at}{request.scope}: {request.rule}")
                self.say("approval", "\n".join([*lines, "/yes, /always, /no [COMMENT]"]))
            case BudgetRequestEvent(request=request):
                self.say("budget", f"used up: {request.message}. /extend [N], /finish, /stop")
            case BudgetWarningEvent():
                self.say("budget", event.message)
            case NoticeEvent():
                self.say("notice", event.message)
            case CompactionStartEvent():
                self.say("context", "older messages are being summarised")
            case CompactionEndEvent(tokens_after=int(after)):
                sizes = f"{count(event.tokens_before)} to about {count(after)} tokens"
                self.say("context", f"{sizes}, {event.summarised} messages summarised")
            case CompactionEndEvent():
                self.say("context", f"not summarised: {event.error or 'stopped'}")
            case FallbackEvent():
                self.say("fallback", event.sentence)
            case AutoRetryStartEvent():
                tries = f"{event.attempt}/{event.max_attempts}"
                self.say(
                    "retry", f"{event.error.message} Next try in {event.delay:.0f} s ({tries})"
                )

    # -- the answer --------------------------------------------------------------------------

    def _streamed(self, event: MessageUpdateEvent) -> None:
        match event.assistant_message_event.type:
            case "thinking_start":
                self.say("thinking", "…")
            case "text_delta":
                delta: str = event.assistant_message_event.delta
                *lines, self._rest = (self._rest + delta).split("\n")
                for line in lines:
                    self._write(printable(line))
            case "text_end":
                self._flush()

    def _flush(self) -> None:
        if self._rest:
            self._write(printable(self._rest))
        self._rest = ""

    def _answered(self, message: AssistantMessage) -> None:
        self._flush()
        if message.stop_reason == "length":
            self.say("cut", "the answer reached the output limit")
        elif message.stop_reason == "aborted":
            self.say("stopped", "the answer is not complete")

    def _run_ended(self, event: AgentEndEvent) -> None:
        if event.error is not None and not event.will_retry and event.reason != "aborted":
            self.say("error", event.error.message)
        elif event.reason == "max_iterations":
            self.say("stopped", "the step limit was reached; send a message to go on")

    # -- messages of the person --------------------------------------------------------------

    def _delivered(self, message: UserMessage) -> None:
        lane = self._queued.pop(message.id, None)
        if lane is not None:
            self.say("delivered", f"before step {self._session.turn_steps}: {message.text}")
        elif self._echoes:
            self.say("you", message.text)

    def _queue_changed(self, event: QueueUpdateEvent) -> None:
        for item in event.items:
            if item.id not in self._queued:
                when = "before the next step" if item.kind == "steer" else "when this turn ends"
                self.say("pending", f"{when}: {getattr(item.message, 'text', '')}")
        self._queued |= {item.id: item.kind for item in event.items}
        if event.state == "paused" and event.items:
            what = plural(len(event.items), "pending message")
            self.say("hold", f"{what} on hold; an empty line sends, /queue lists, /drop N removes")

    # -- tools -------------------------------------------------------------------------------

    def _progressed(self, event: ToolExecutionUpdateEvent) -> None:
        now = self._now()
        if now - self._tools.get(event.tool_call_id, now) < SIGN_SECONDS:
            return
        self._tools[event.tool_call_id] = now
        lines = _lines(event.partial_result)
        since = clock(now - self._began[event.tool_call_id])
        last = one_line(lines[-1], TARGET_CHARACTERS) if lines else "nothing printed yet"
        self.say("tool", f"{event.tool_name} still running after {since}: {last}")

    def _ended(self, event: ToolExecutionEndEvent) -> None:
        self._tools.pop(event.tool_call_id, None)
        took = span(self._now() - self._began.pop(event.tool_call_id, self._now()))
        lines = _lines(event.result)
        kept = TAIL_LINES_FAILED if event.is_error else TAIL_LINES
        word = "failed" if event.is_error else "done"
        heading = f"{event.tool_name} {word}: {plural(len(lines), 'line')}, {took}"
        if len(lines) > kept:
            heading += f", the last {kept}:"
        self.say("tool", "\n".join([heading, *lines[-kept:]]))

    # -- figures -----------------------------------------------------------------------------

    def _step(self) -> str:
        limit = self._session.max_steps
        step = self._session.turn_steps
        return f"{step} of at most {limit}" if limit is not None else str(step)

    def _summary(self) -> str:
        spent = self._session.turn_spent
        usage = spent.usage
        mark = "at least " if spent.tokens_are_partial else ""
        return ", ".join(
            [
                plural(self._session.turn_steps, "step"),
                clock(self._session.turn_seconds),
                f"{mark}{count(usage.input + usage.cache_read + usage.cache_write)} tokens in",
                f"{mark}{count(usage.output)} out",
                money(usage.cost_usd, incomplete=spent.cost_is_partial),
            ]
        )


def _lines(result: ToolResult) -> list[str]:
    content = result.content
    if isinstance(content, str):
        return content.splitlines()
    texts = [block.text for block in content if block.type == "text"]
    return "\n".join(texts).splitlines()
