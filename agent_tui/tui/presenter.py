"""Session events become blocks and a `Status`. Plain data throughout: no widget, no app.

Everything on the screen derives from here, so that the same events always give the same screen.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from agent_tui.core.events import (
    AgentEndEvent,
    AgentStartEvent,
    MessageEndEvent,
    MessageStartEvent,
    MessageUpdateEvent,
    ToolExecutionEndEvent,
    ToolExecutionStartEvent,
    ToolExecutionUpdateEvent,
    TurnStartEvent,
)
from agent_tui.core.invocation import as_typed
from agent_tui.core.messages import (
    AgentMessage,
    AssistantMessage,
    ToolResultMessage,
    UserMessage,
    text_of,
)
from agent_tui.core.pictures import labels_of
from agent_tui.session.events import (
    AgentSettledEvent,
    AnyEvent,
    ApprovalAnswerEvent,
    ApprovalRequestEvent,
    ArgumentsChangedEvent,
    AutoRetryEndEvent,
    AutoRetryStartEvent,
    BreakEndEvent,
    BreakEvent,
    BudgetAnswerEvent,
    BudgetRequestEvent,
    BudgetWarningEvent,
    CompactionEndEvent,
    CompactionStartEvent,
    FallbackEvent,
    HookEndEvent,
    HookStartEvent,
    NoticeEvent,
    QueueUpdateEvent,
)
from agent_tui.tui.account import Account
from agent_tui.tui.answer import Answer, View
from agent_tui.tui.banner import (
    limit_sentence,
    stop_banner,
)
from agent_tui.tui.blocks import Block, NoticeBlock, NoticeKind, SummaryBlock, UserBlock
from agent_tui.tui.calls import Calls
from agent_tui.tui.countdown import Countdown
from agent_tui.tui.course import Course
from agent_tui.tui.failure import Failures
from agent_tui.tui.grouping import GroupedView
from agent_tui.tui.keymap import Keymap
from agent_tui.tui.pending import Lane, Moment, Phase
from agent_tui.tui.status import Status, summary_line
from agent_tui.tui.summaries import Summaries
from agent_tui.tui.tally import Tally


@dataclass(frozen=True, slots=True)
class Question:
    """An open question, as far as the status and the panels need it."""

    id: str
    call_id: str
    """Empty if it is about a budget or a breakpoint."""
    summary: str


class Presenter:
    """Keeps the transcript's blocks and the status in step with the session's events."""

    def __init__(
        self,
        view: View,
        account: Account,
        now: Callable[[], float],
        *,
        max_steps: int | None = None,
        tail_lines: int | None = None,
        keymap: Keymap | None = None,
    ) -> None:
        """`max_steps`: after so many steps a turn ends, without a question.

        `tail_lines`: how much of its output a running tool's panel shows, None: the usual.
        """
        self.max_steps = max_steps
        self.questions: list[Question] = []
        """Open questions, oldest first."""
        self.title = ""
        """What the session is about: its first message."""
        self.is_on_hold = False
        """The queue is paused."""
        self.shows_thinking = False
        """New thoughts are shown in full instead of folded."""
        self.shows_raw = False
        """New messages are shown as they were written."""
        self._view = GroupedView(view, tail_lines)
        self.calls = Calls(self._view, now)
        """The panels."""
        self._keymap = keymap or Keymap()
        self._account = account
        self._now = now
        self._tally = Tally(now)
        self._prompts: list[UserMessage] = []
        self._has_output = False
        self.course = Course(now)
        """Where the turn is."""
        self._answer: Answer | None = None
        self._lanes: dict[str, Lane] = {}
        self._pending = 0
        self._users: dict[str, UserBlock] = {}
        self._retry = Countdown(view, now)
        self._summaries = Summaries(self.say)
        self.failures = Failures(self._view, self._keymap)
        """The turn that failed last."""
        self._banner: tuple[NoticeBlock, str] | None = None

    # -- what others read --------------------------------------------------------------------

    @property
    def status(self) -> Status:
        """The counters as they are now."""
        tally, answer, account = self._tally, self._answer, self._account
        characters = answer.characters if answer else None
        rate, estimated = tally.rate(characters)
        return Status(
            state=self.course.state(retrying=self._is_retrying),
            activity=self.course.activity(self._phase, [name for name, *_ in self.calls.running]),
            notice=self._notice(),
            turn=tally.turn(account.turn_spent, account.budgets.turn, characters or 0),
            session=tally.session(account.spent, account.budgets.session),
            max_steps=account.max_steps,
            seconds=tally.seconds,
            tokens_per_second=rate,
            rate_is_estimate=estimated,
            context_tokens=account.context_tokens,
            context_is_estimate=tally.is_guessing or account.is_context_guessed,
            context_window=account.context_window,
        )

    @property
    def moment(self) -> Moment:
        """Where the loop is, for the delivery sentences."""
        return Moment(
            phase=self._phase,
            step=self._tally.steps,
            max_steps=self.max_steps,
            tools=tuple((label, seconds) for _, label, seconds in self.calls.running),
            asking=self.questions[0].summary if self.questions else "",
            retry_in=self._retry.seconds_left,
            on_hold=self.is_on_hold,
        )

    @property
    def unanswered_prompt(self) -> UserMessage | None:
        """The prompt of a turn that was stopped before any output, if it was the only message."""
        if not self.course.was_stopped or self._has_output or len(self._prompts) != 1:
            return None
        return self._prompts[0]

    @property
    def turn_message_id(self) -> str | None:
        """The message that the current or last turn began with; None before the first."""
        return self._prompts[0].id if self._prompts else None

    def call_of(self, block: Block) -> str | None:
        """The id of the running call that this panel shows."""
        return self.calls.id_of(block)

    def file_of(self, block: Block) -> str | None:
        """The file with all output of this panel; None where the panel has it all."""
        return self.calls.files.get(block.id)

    # -- what the app tells ------------------------------------------------------------------

    def stopping(self, *, to_send: bool = False) -> None:
        """The turn is being stopped: the status says so at once.

        `to_send`: it makes room for a message, and what is queued follows without being asked.
        """
        self.course.stop(to_send=to_send)
        self.calls.is_stopping = True

    def killing(self, call_id: str) -> None:
        """The person ends this one tool."""
        self.calls.kill(call_id)

    def sending(self, message: UserMessage) -> None:
        """Show a message on its way into the session; its `message_start` finds it there."""
        self._show_user(message, None)

    def withdraw(self, message_id: str) -> None:
        """Take a message out of sight that never reached the session, or was taken back."""
        if (block := self._users.pop(message_id, None)) is not None:
            self._view.remove(block)
            self.failures.close()

    def say(self, text: str, kind: NoticeKind = "info") -> None:
        """Say something in the transcript."""
        self._view.append(NoticeBlock(text, kind))

    def show_history(self, messages: Sequence[AgentMessage]) -> None:
        """Show messages of an earlier time, tool results inside their panels."""
        for message in messages:
            if isinstance(message, UserMessage):
                self._show_user(message, None)
            elif isinstance(message, AssistantMessage):
                self._new_answer().finish(message)
                self._tally.show_earlier()
            elif isinstance(message, ToolResultMessage):
                self.calls.show_result(message)
            else:
                self.calls.show_other(message)
        self.calls.begin_turn()

    # -- events ------------------------------------------------------------------------------

    def take(self, event: AnyEvent) -> None:
        """Show one event."""
        match event:
            case MessageUpdateEvent():
                self._take_delta(event)
            case AgentStartEvent():
                self._begin_run()
            case TurnStartEvent():
                self._begin_step()
            case MessageStartEvent():
                self._begin_message(event.message)
            case MessageEndEvent():
                self._end_message(event.message)
            case ToolExecutionStartEvent():
                self.calls.begin(event)
                self._has_output = True
                self.course.work = "tools"
            case ToolExecutionUpdateEvent():
                self.calls.update(event)
            case ToolExecutionEndEvent():
                self.calls.end(event)
                if not self.calls.running:
                    self.course.work = "waiting"
            case AgentEndEvent():
                self._end_run(event)
            case QueueUpdateEvent():
                self._take_queue(event)
            case AutoRetryStartEvent():
                self._retry.begin(event.attempt, event.max_attempts, event.delay, event.error)
            case AutoRetryEndEvent():
                self._give_up_retry()
            case FallbackEvent():
                self.say(f"{event.sentence} · /model {event.model} keeps it", "warning")
            case ApprovalRequestEvent():
                self._take_question(event)
            case ApprovalAnswerEvent():
                self._take_answer(event)
            case BudgetWarningEvent() | NoticeEvent():
                self.say(event.message, "warning")
            case CompactionStartEvent():
                self._summaries.begin(event.reason)
            case CompactionEndEvent():
                self._summaries.end(event)
            case ArgumentsChangedEvent():
                self.calls.rename(
                    event.tool_call_id, event.tool_name, event.args, by_person=event.by_person
                )
            case HookStartEvent():
                self.calls.hook_runs(event.tool_call_id)
            case HookEndEvent():
                self.calls.hook_ended(event.tool_call_id)
            case BudgetRequestEvent() | BudgetAnswerEvent() | BreakEvent() | BreakEndEvent():
                self._take_gate(event)
            case AgentSettledEvent():
                self._settle()

    # -- the run -----------------------------------------------------------------------------

    def _begin_run(self) -> None:
        self._retry.end()
        self._clear_banner_keys()
        self.failures.close()
        self.calls.is_stopping = False
        if not self.course.continues:
            self._tally.begin_turn()
            self.calls.begin_turn()
            self._prompts.clear()
            self._has_output = False
        self._tally.begin_run()
        self.course.begin_run()

    def _begin_step(self) -> None:
        self._tally.begin_step()
        self.course.work = "waiting"
        self.calls.begin_step()

    def _end_run(self, event: AgentEndEvent) -> None:
        self._tally.end_run()
        self.course.end_run(event.reason, will_retry=event.will_retry)
        self._answer = None
        if event.will_retry:
            return
        if self._has_output or event.reason != "aborted":
            self._view.append(SummaryBlock(self._summary()))
        if event.reason == "aborted":
            self._show_stop()
        elif event.reason in ("error", "tool_error"):
            if event.error is not None:
                self.failures.show(event.error, event.messages)
        elif said := limit_sentence(event.reason, self._tally.steps, self._pending):
            self._view.append(NoticeBlock(said, "warning"))

    def _show_stop(self) -> None:
        calls = self.calls
        pending = 0 if self.course.stops_to_send else self._pending
        step = 0 if self.unanswered_prompt is not None else self._tally.steps
        said, keys = stop_banner(step, calls.killed, len(calls.changed), pending)
        keys = self._keymap.shown(keys)
        banner = NoticeBlock(f"{said}\n{keys}" if keys else said, "stopped")
        self._view.append(banner)
        self._banner = (banner, said) if keys else None

    def _settle(self) -> None:
        self.course.settle()
        self.calls.is_stopping = False
        self._retry.end()

    def _summary(self) -> str:
        account, tally = self._account, self._tally
        return summary_line(tally.turn(account.turn_spent, account.budgets.turn), tally.seconds)

    def _clear_banner_keys(self) -> None:
        """Nothing is pending any more: the banner keeps only what happened."""
        if self._banner is not None:
            banner, said = self._banner
            banner.change(said)
            self._view.mark(banner)
            self._banner = None

    # -- messages ----------------------------------------------------------------------------

    def _begin_message(self, message: AgentMessage) -> None:
        if isinstance(message, AssistantMessage):
            self._answer = self._new_answer()
            self._tally.begin_answer()
            self.course.work = "waiting"
        elif isinstance(message, UserMessage):
            self._prompts.append(message)
            self._show_user(message, self._mark_of(message.id))
        elif message.role == "custom":
            self.say(text_of(message.content).partition("\n\n")[0])

    def _new_answer(self) -> Answer:
        return Answer(
            self._view, self.calls.adopt, unfold_thoughts=self.shows_thinking, raw=self.shows_raw
        )

    def _take_delta(self, event: MessageUpdateEvent) -> None:
        if self._answer is None:
            return
        self._tally.arrived()
        self.course.arriving = self._answer.take(event.assistant_message_event, event.message)
        self.course.work = "answering"
        if not self._answer.is_empty:
            self._has_output = True

    def _end_message(self, message: AgentMessage) -> None:
        if isinstance(message, AssistantMessage):
            answer = self._answer or self._new_answer()
            answer.finish(message)
            self._has_output |= not answer.is_empty
            self._tally.end_answer(message)
            self._answer = None

    def _show_user(self, message: UserMessage, mark: str | None) -> None:
        self.title = self.title or as_typed(message.text)
        if message.id not in self._users:
            block = UserBlock(message.text, mark=mark, pictures=labels_of(message.content))
            self._users[message.id] = block
            block.message_id = message.id
            self._view.append(block)

    def _mark_of(self, message_id: str) -> str | None:
        lane, step = self._lanes.pop(message_id, None), self._tally.steps
        if lane is None:
            return None
        if lane == "follow_up":
            return "↳ follow-up"
        return f"↳ steered before step {step}" if step > 1 else "↳ was pending"

    # -- queue, retries, questions -----------------------------------------------------------

    def _take_queue(self, event: QueueUpdateEvent) -> None:
        self._lanes |= {item.id: item.kind for item in event.items}
        self._pending = len(event.items)
        self.is_on_hold = event.state == "paused"
        if not event.items:
            self._clear_banner_keys()

    def tick(self) -> None:
        """Some time has passed: a countdown goes on."""
        self._retry.tick()

    def _give_up_retry(self) -> None:
        """The wait for a retry was cut short: no run follows, so its failure is said now."""
        error = self._retry.end()
        if error is None:
            return
        self.course.give_up_retry()
        self._view.append(SummaryBlock(self._summary()))
        self.failures.show(error)
        if self.course.was_stopped:
            self._show_stop()

    def _take_question(self, event: ApprovalRequestEvent) -> None:
        request = event.request
        self.questions.append(Question(request.id, request.tool_call_id, request.summary))
        self.calls.ask(request.tool_call_id)

    def _take_answer(self, event: ApprovalAnswerEvent) -> None:
        question = next((item for item in self.questions if item.id == event.request_id), None)
        if question is None:
            return
        self.questions.remove(question)
        match event.verdict:
            case "decline":
                self.calls.refuse(question.call_id, event.comment or "")
            case "aborted" | "refused":
                pass  # the call's own end says why it never started
            case _:
                self.calls.restart_clocks()

    def _take_gate(
        self, event: BudgetRequestEvent | BudgetAnswerEvent | BreakEvent | BreakEndEvent
    ) -> None:
        match event:
            case BudgetRequestEvent(request=request):
                self.questions.append(Question(request.id, "", "the budget"))
            case BudgetAnswerEvent(request_id=key):
                self._forget_question(key)
            case BreakEvent(held=held):
                self.questions.append(Question(held.id, held.tool_call_id, "the breakpoint"))
                if held.tool_call_id:
                    self.calls.ask(held.tool_call_id, "held")
            case BreakEndEvent(held_id=key):
                self._forget_question(key)
                if event.verdict in ("go", "step"):
                    self.calls.restart_clocks()

    def _forget_question(self, key: str) -> None:
        self.questions = [asked for asked in self.questions if asked.id != key]

    # -- the status's words ------------------------------------------------------------------

    @property
    def _is_retrying(self) -> bool:
        return self._retry.seconds_left is not None

    @property
    def _phase(self) -> Phase:
        return self.course.phase(asking=bool(self.questions), retrying=self._is_retrying)

    def _notice(self) -> str:
        if stopping := self.course.stop_notice():
            return stopping
        if self.questions:
            return "needs your answer"
        return self._retry.words if self._is_retrying else self._summaries.words
