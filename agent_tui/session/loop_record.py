"""What the loop did, step by step: fed with the session's events and with each request.

A delta costs a few additions, a step one look over the messages of its request. Messages are held
by reference, and of a request only what is new in it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from operator import is_

from agent_tui.core.events import (
    AgentEndEvent,
    MessageEndEvent,
    MessageUpdateEvent,
    ToolExecutionEndEvent,
    ToolExecutionStartEvent,
    TurnEndEvent,
    TurnStartEvent,
)
from agent_tui.core.messages import (
    AgentMessage,
    AssistantMessage,
    LlmMessage,
    TextBlock,
    ThinkingBlock,
    ToolResultMessage,
)
from agent_tui.core.model import Model
from agent_tui.core.spending import Spent
from agent_tui.core.steps import Change, Failure, Sent, Step, ToolRun
from agent_tui.core.stream import (
    LlmContext,
    StreamOptions,
    TextDelta,
    ThinkingDelta,
    ToolCallDelta,
    ToolSchema,
)
from agent_tui.session.events import (
    AnyEvent,
    ApprovalAnswerEvent,
    ArgumentsChangedEvent,
    AutoRetryStartEvent,
    BreakEndEvent,
    CompactionEndEvent,
)
from agent_tui.session.ledger import Ledger

MOST_STEPS = 5_000
"""Older steps are forgotten."""


class LoopRecord:
    """The steps of one session, also of earlier days."""

    def __init__(
        self,
        clock: Callable[[], float],
        ledger: Ledger,
        past: Callable[[], Iterable[AgentMessage]],
    ) -> None:
        """The ledger numbers the steps and has booked what an event tells of.

        `past()` gives the messages of an earlier time and is called when somebody looks.
        """
        self.clock = clock
        """Gives seconds; what the times of the steps are by."""
        self._ledger = ledger
        self._charged = len(ledger.charges)
        """So many of its charges are known here."""
        self._load_past: Callable[[], Iterable[AgentMessage]] | None = past
        self._past: list[Step] = []
        self._steps: list[Step] = []
        self._begun = 0
        """How many steps there were in this session, forgotten ones included."""
        self._runs: dict[str, ToolRun] = {}
        """The calls that are open, by id."""
        self._base: list[LlmMessage] = []
        """The request of the newest step that was forgotten."""
        self._before: Sequence[LlmMessage] = ()
        """The request of the step before the present one."""
        self._latest: Sequence[LlmMessage] = ()
        """The request of the present step."""
        self._last_sent: Sent | None = None
        """Of the step before."""
        self.beside = Spent()
        """What was spent beside the steps, for summaries."""

    # -- reading -----------------------------------------------------------------------------

    @property
    def steps(self) -> Sequence[Step]:
        """All steps, oldest first. The list grows; only the last step still changes."""
        if self._load_past is not None:
            load, self._load_past = self._load_past, None
            self._past = past_steps(load(), self._ledger.spent_on)
            for step in self._steps:
                step.number += len(self._past)
        if not self._past:
            return self._steps
        return [*self._past, *self._steps]

    def messages_of(self, step: Step) -> list[LlmMessage] | None:
        """Every message of a step's request; None where that is not known any more."""
        if step.sent is None:
            return None
        place = next((n for n, known in enumerate(self._steps) if known is step), None)
        if place is None:
            return None
        pieces: list[Sequence[LlmMessage]] = []
        wanted = step.sent.count
        for known in reversed(self._steps[: place + 1]):
            sent = known.sent
            if sent is not None and wanted > sent.kept:
                pieces.append(sent.new[: wanted - sent.kept])
                wanted = sent.kept
        pieces.append(self._base[:wanted])
        return [message for piece in reversed(pieces) for message in piece]

    # -- writing -----------------------------------------------------------------------------

    def request(self, model: Model, context: LlmContext, options: StreamOptions) -> None:
        """A request is about to be made."""
        step = self._current()
        if step is None:
            return
        self._latest = context.messages
        step.sent = sent = _difference(self._before, context, self._last_sent)
        sent.model, sent.thinking_level = model, options.thinking_level
        sent.session_id = options.session_id
        sent.max_output_tokens = options.max_output_tokens
        sent.temperature = options.temperature
        sent.changes = _changes(self._last_sent, sent)
        step.asked, step.first, step.answered = self.clock(), None, None
        step.text = step.thinking = step.arguments = 0

    def observe(self, event: AnyEvent) -> None:
        """Take note of one event."""
        match event:
            case MessageUpdateEvent():
                self._arrived(event)
            case TurnStartEvent():
                self._begin()
            case MessageEndEvent(message=AssistantMessage() as message):
                self._answered(message)
            case ToolExecutionStartEvent(tool_call_id=key, tool_name=name, args=args):
                self._begin_tool(ToolRun(key, name, args, began=self.clock()))
            case ToolExecutionEndEvent():
                self._end_tool(event)
            case ArgumentsChangedEvent(tool_call_id=key, args=args):
                if (run := self._runs.get(key)) is not None:
                    run.args, run.is_changed = args, True
            case ApprovalAnswerEvent() | BreakEndEvent():
                # Nothing of a batch runs while somebody is asked about it.
                for run in self._runs.values():
                    run.began = self.clock()
            case TurnEndEvent():
                self._end()
            case AgentEndEvent(reason=reason):
                self._end()
                if self._steps:
                    self._steps[-1].end = None if event.will_retry else reason
            case AutoRetryStartEvent(delay=delay):
                if self._steps and self._steps[-1].failures:
                    self._steps[-1].failures[-1].delay = delay
        if isinstance(event, MessageEndEvent | CompactionEndEvent):
            self._book(is_beside=isinstance(event, CompactionEndEvent))

    # -- inside ------------------------------------------------------------------------------

    def _current(self) -> Step | None:
        step = self._steps[-1] if self._steps else None
        return None if step is None or step.is_over else step

    def _begin(self) -> None:
        turn, number = self._ledger.turn_number, self._ledger.steps
        last = self._steps[-1] if self._steps else None
        if last is not None and (last.turn, last.step) == (turn, number):
            last.state, last.end, last.ended, last.message = "waiting", None, None, None
            return
        if last is not None and last.sent is not None:
            self._before, self._last_sent = self._latest, last.sent
        self._begun += 1
        self._steps.append(Step(len(self._past) + self._begun, turn, number))
        if len(self._steps) > MOST_STEPS:
            self._forget()

    def _forget(self) -> None:
        known = self.messages_of(self._steps[0])
        if known is not None:
            self._base = known
        del self._steps[0]

    def _arrived(self, event: MessageUpdateEvent) -> None:
        step = self._current()
        if step is None:
            return
        if step.first is None:
            step.first, step.state = self.clock(), "answering"
        match event.assistant_message_event:
            case TextDelta(delta=delta):
                step.text += len(delta)
            case ThinkingDelta(delta=delta):
                step.thinking += len(delta)
            case ToolCallDelta(delta=delta):
                step.arguments += len(delta)

    def _answered(self, message: AssistantMessage) -> None:
        step = self._current()
        if step is None:
            return
        step.message, step.answered = message, self.clock()
        _measure(step, message)
        if message.stop_reason == "error":
            step.state = "failed"
            if message.error is not None:
                step.failures.append(Failure(message.error))
        elif message.stop_reason == "aborted":
            step.state = "aborted"
        else:
            step.state = "tools" if message.tool_calls else "done"

    def _begin_tool(self, run: ToolRun) -> None:
        if (step := self._current()) is not None:
            step.tools.append(run)
            self._runs[run.call_id] = run

    def _end_tool(self, event: ToolExecutionEndEvent) -> None:
        run = self._runs.pop(event.tool_call_id, None)
        if run is None:
            return
        run.is_over, run.is_error = True, event.is_error
        run.seconds = None if run.began is None else self.clock() - run.began
        blocks = event.result.content
        run.characters = sum(len(b.text) for b in blocks if isinstance(b, TextBlock))

    def _end(self) -> None:
        step = self._steps[-1] if self._steps else None
        if step is None or step.ended is not None:
            return
        step.ended = self.clock()
        self._runs.clear()
        if not step.is_over:
            step.state = "done" if step.message is not None else "failed"

    def _book(self, *, is_beside: bool) -> None:
        """Give what was spent since the last time to the present step, or to none."""
        charges = self._ledger.charges
        for charge in islice(charges, self._charged, None):
            if is_beside or not self._steps:
                self.beside += charge.spent
            else:
                self._steps[-1].spent += charge.spent
        self._charged = len(charges)


def _difference(before: Sequence[LlmMessage], context: LlmContext, last: Sent | None) -> Sent:
    """What a request holds, beside the messages of `before` that it begins with."""
    messages = context.messages
    same = list(map(is_, before, messages))
    kept = same.index(False) if False in same else len(same)
    tools: Sequence[ToolSchema] = context.tools
    if last is not None and last.tools == tools:
        tools = last.tools
    return Sent(
        Model("", ""),
        "off",
        context.system_prompt,
        tools,
        kept,
        tuple(messages[kept:]),
        len(before) - kept,
    )


def _changes(last: Sent | None, sent: Sent) -> frozenset[Change]:
    if last is None:
        return frozenset()
    same: dict[Change, bool] = {
        "model": last.model.key == sent.model.key,
        "thinking": last.thinking_level == sent.thinking_level,
        "system": last.system_prompt == sent.system_prompt,
        "tools": last.tools is sent.tools,
    }
    return frozenset(change for change, is_same in same.items() if not is_same)


def _measure(step: Step, message: AssistantMessage) -> None:
    step.text = sum(len(b.text) for b in message.content if isinstance(b, TextBlock))
    step.thinking = sum(len(b.thinking) for b in message.content if isinstance(b, ThinkingBlock))


def past_steps(
    messages: Iterable[AgentMessage], spent_on: Callable[[AssistantMessage], Spent]
) -> list[Step]:
    """The steps that messages of an earlier time tell of."""
    steps: list[Step] = []
    new: list[AgentMessage] = []
    for message in messages:
        if isinstance(message, ToolResultMessage) and steps:
            _end_past_tool(steps[-1], message)
        if not isinstance(message, AssistantMessage):
            new.append(message)
            continue
        step = Step(len(steps) + 1, 0, 0, "done", new=tuple(new), message=message)
        step.spent = spent_on(message)
        step.tools = [ToolRun(call.id, call.name, call.arguments) for call in message.tool_calls]
        _measure(step, message)
        if message.stop_reason in ("error", "aborted"):
            step.state = "aborted" if message.stop_reason == "aborted" else "failed"
        if message.error is not None:
            step.failures.append(Failure(message.error))
        steps.append(step)
        new = []
    return steps


def _end_past_tool(step: Step, result: ToolResultMessage) -> None:
    for run in step.tools:
        if run.call_id == result.tool_call_id and not run.is_over:
            run.is_over, run.is_error = True, result.is_error
            run.characters = len(result.text)
