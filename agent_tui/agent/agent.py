"""The agent: a transcript, two queues, one run at a time, and whoever listens.

The run is a task of the agent's own; callers only wait for it. That is what makes it safe to cancel
a caller: the run is aborted, settles with balanced events, and the agent can be used again.
"""

from __future__ import annotations

import asyncio
import logging
import weakref
from collections.abc import Callable, Sequence
from typing import Any

from agent_tui.agent.boundary import Boundary, results_of_open_calls
from agent_tui.agent.calling import add_listener, settled
from agent_tui.agent.hooks import (
    AbortedPolicy,
    AfterToolCallHook,
    AgentContext,
    AgentLoopConfig,
    BeforeToolCallHook,
    ConvertToLlm,
    GetApiKey,
    NextTurn,
    OnRequest,
    PrepareNextTurnHook,
    ShouldStopHook,
    ToolErrorPolicy,
    TransformContext,
    TurnContext,
    Unset,
)
from agent_tui.agent.inputs import Input, message_from, messages_from
from agent_tui.agent.loop import RunOutcome, run_loop
from agent_tui.agent.queues import (
    CancelOutcome,
    MessageQueues,
    QueuedItem,
    QueueKind,
    QueueListener,
    QueueMode,
)
from agent_tui.agent.result import AgentResult, Tally
from agent_tui.agent.state import AgentState
from agent_tui.agent.view import EventView
from agent_tui.core.abort import AbortSignal
from agent_tui.core.errors import (
    AgentBusyError,
    CancelledRunError,
    InvalidInputError,
    InvalidStateError,
    info_to_error,
)
from agent_tui.core.events import (
    AgentEndEvent,
    AgentEvent,
    MessageEndEvent,
    MessageStartEvent,
    ToolExecutionEndEvent,
    ToolExecutionStartEvent,
    TurnEndEvent,
)
from agent_tui.core.messages import (
    AgentMessage,
    AssistantMessage,
    ImageBlock,
)
from agent_tui.core.model import Model, ThinkingLevel
from agent_tui.core.registry import find_model
from agent_tui.core.stream import StreamFn
from agent_tui.core.tool import ExecutionMode, Tool, ToolHandler

Listener = Callable[[AgentEvent, AbortSignal], object]

SETTLE_LIMIT = 5.0
"""Seconds a cancelled caller waits for the run it aborted."""
_log = logging.getLogger(__name__)


class Agent:
    """Drives a model through its tools, and can be steered while it does.

    All options but the model are keywords; hooks, modes and limits are attributes that may be set
    later and hold from the next run on (`tool_execution` and the queue modes at once).
    """

    def __init__(
        self,
        model: Model | str,
        *,
        system_prompt: str | None = None,
        tools: Sequence[Tool | Callable[..., Any]] = (),
        tool_handler: ToolHandler | None = None,
        messages: Sequence[AgentMessage] = (),
        thinking_level: ThinkingLevel = "off",
        stream_fn: StreamFn | None = None,
        max_iterations: int | None = None,
        tool_execution: ExecutionMode = "parallel",
        max_parallel_tools: int | None = None,
        steering_mode: QueueMode = "one-at-a-time",
        follow_up_mode: QueueMode = "one-at-a-time",
        convert_to_llm: ConvertToLlm | None = None,
        transform_context: TransformContext | None = None,
        get_api_key: GetApiKey | None = None,
        before_tool_call: BeforeToolCallHook | None = None,
        after_tool_call: AfterToolCallHook | None = None,
        prepare_next_turn: PrepareNextTurnHook | None = None,
        should_stop_after_turn: ShouldStopHook | None = None,
        tool_error_policy: ToolErrorPolicy = "abort",
        aborted_messages: AbortedPolicy = "keep_text",
        final_answer_on_limit: bool = False,
        session_id: str | None = None,
    ) -> None:
        if isinstance(model, str):
            model = Model.from_key(model) if stream_fn is not None else find_model(model)
        for name, limit in (
            ("max_iterations", max_iterations),
            ("max_parallel_tools", max_parallel_tools),
        ):
            if limit is not None and limit < 1:
                raise InvalidInputError(f"{name} must be at least 1, not {limit}")
        self.state = AgentState(model, system_prompt, tools, tool_handler, messages, thinking_level)
        self.stream_fn = stream_fn
        self.tool_handler = tool_handler
        self.max_iterations = max_iterations
        self.max_parallel_tools = max_parallel_tools
        self.tool_execution: ExecutionMode = tool_execution
        self.steering_mode: QueueMode = steering_mode
        self.follow_up_mode: QueueMode = follow_up_mode
        self.convert_to_llm = convert_to_llm
        self.transform_context = transform_context
        self.get_api_key = get_api_key
        self.before_tool_call = before_tool_call
        self.after_tool_call = after_tool_call
        self.prepare_next_turn = prepare_next_turn
        self.should_stop_after_turn = should_stop_after_turn
        self.tool_error_policy: ToolErrorPolicy = tool_error_policy
        self.aborted_messages: AbortedPolicy = aborted_messages
        self._boundary = Boundary(aborted_messages)
        self.final_answer_on_limit = final_answer_on_limit
        self.session_id = session_id
        self.shows_prints = False
        """What tools print is their live output; set by whoever shows it."""
        self.on_request: OnRequest | None = None
        """Told of each request right before it is made; does not raise and changes nothing."""
        self._set_up()

    def _set_up(self) -> None:
        self._queues = MessageQueues()
        self._listeners: list[tuple[Listener]] = []
        self._complained: set[int] = set()
        self._signal = AbortSignal()
        self._steering_signal = AbortSignal()
        self._call_signals: dict[str, AbortSignal] = {}
        self._run: asyncio.Task[RunOutcome] | None = None
        self._tally = Tally()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._runner: asyncio.Runner | None = None

    # -- running -----------------------------------------------------------------------------

    async def prompt(self, input: Input, images: Sequence[ImageBlock] | None = None) -> None:
        """Run from `input` until the agent stops by itself.

        Failures of the model and of tools are not raised: see `state.error` and the events. Raises
        `AgentBusyError` while a run is active, `InvalidInputError` for empty input.
        """
        self._refuse_if_busy("prompt")
        await self._settle(self._start(messages_from(input, images, self._taken_ids())))

    async def continue_(self) -> None:
        """Run on without new input: answer the last message, or else deliver what is queued.

        Raises `InvalidStateError` if there is nothing to answer and nothing queued.
        """
        self._refuse_if_busy("continue")
        messages = self.state.messages
        if not messages:
            raise InvalidStateError("there is nothing to continue: the transcript is empty")
        messages.extend(results_of_open_calls(messages))
        from_queue = isinstance(messages[-1], AssistantMessage)
        if from_queue and not self._queues.has_deliverable():
            raise InvalidStateError(
                "there is nothing to continue: the last message is an answer and nothing is queued"
            )
        await self._settle(self._start([], from_queue=from_queue))

    async def run(self, input: Input) -> AgentResult:
        """Like `prompt`, with a result.

        Raises what the run failed with, `CancelledRunError` after `abort()`.
        """
        self._refuse_if_busy("prompt")
        task = self._start(messages_from(input, None, self._taken_ids()))
        tally = self._tally
        outcome = await self._settle(task)
        if outcome.error is not None:
            raise outcome.error
        return tally.result()

    def run_blocking(self, input: Input) -> AgentResult:
        """`run` for programs without an event loop; works any number of times.

        Raises `InvalidStateError` inside a running loop, or when the agent belongs to another one.
        Ctrl-C aborts the run, waits for it to settle and raises `KeyboardInterrupt`.
        """
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            pass
        else:
            raise InvalidStateError("run_blocking() inside a running event loop; await run() there")
        if self._runner is None:
            if self._loop is not None:
                raise InvalidStateError(
                    "this agent belongs to another event loop; await run() there"
                )
            self._runner = asyncio.Runner()
            # The runner's own close would need the loop to run once more, which a finalizer
            # that fires inside another running loop cannot do.
            weakref.finalize(self, self._runner.get_loop().close)
        return self._runner.run(self.run(input))

    def abort(self, reason: str | None = None) -> None:
        """Ask the run to end; returns at once. Does nothing when idle."""
        if self.state.is_running:
            self._signal.set(reason)

    def abort_tool(self, tool_call_id: str) -> bool:
        """End one open tool call without ending the run; False if there is no such call."""
        signal = self._call_signals.get(tool_call_id)
        if signal is None:
            return False
        signal.set("stopped by the user")
        return True

    async def wait_for_idle(self) -> None:
        """Return when no run is active and the listeners of its `agent_end` have finished."""
        if self._run is not None:
            await asyncio.wait({self._run})

    def reset(self) -> None:
        """Forget transcript, queues and error; model, tools, prompt and listeners stay."""
        self._refuse_if_busy("reset")
        self.state.messages = []
        self.state._error = None
        self._queues.clear()

    # -- queues ------------------------------------------------------------------------------

    def steer(self, message: str | AgentMessage) -> str:
        """Queue a message for the next turn of this run; returns its id. Legal at any time."""
        item_id = self._enqueue("steer", message)
        self._steering_signal.set()
        return item_id

    def follow_up(self, message: str | AgentMessage) -> str:
        """Queue a message for when the agent would stop; returns its id. Legal at any time."""
        return self._enqueue("follow_up", message)

    def queued(self) -> list[QueuedItem]:
        """What waits: steering first, then follow-ups, each in delivery order."""
        return self._queues.items()

    def cancel_queued(self, id: str) -> CancelOutcome:
        """Take one item back."""
        return self._queues.cancel(id)

    def replace_queued(self, id: str, message: str | AgentMessage) -> bool:
        """Put another message in an item's place; it keeps the item's id. False if not queued."""
        return self._queues.replace(id, message_from(message, self._taken_ids() - {id}))

    def move_queued(
        self, id: str, *, index: int | None = None, kind: QueueKind | None = None
    ) -> bool:
        """Move an item to place `index` (None: the end) of a lane (None: its own)."""
        moved = self._queues.move(id, index, kind)
        if self._queues.has_deliverable("steer"):
            self._steering_signal.set()
        return moved

    def hold_queued(self, id: str, held: bool = True) -> bool:
        """Keep an item from delivery while it is edited, or let it go; False if not queued."""
        found = self._queues.hold(id, held)
        if self._queues.has_deliverable("steer"):
            self._steering_signal.set()
        return found

    def pop_last_queued(self) -> QueuedItem | None:
        """Take back the newest follow-up, else the newest steering message."""
        return self._queues.pop_last()

    def clear_queue(self, kind: QueueKind | None = None) -> list[QueuedItem]:
        """Empty one lane or both and return what was in it."""
        return self._queues.clear(kind)

    def on_queue_change(self, fn: QueueListener) -> Callable[[], None]:
        """Call `fn(items)` after each change, before the editing call returns."""
        return self._queues.on_change(fn)

    # -- listening ---------------------------------------------------------------------------

    def subscribe(self, fn: Listener) -> Callable[[], None]:
        """Call `fn(event, signal)` for every event to come; returns how to unsubscribe.

        Coroutine listeners are awaited one after another: they slow the run down on purpose. A
        listener that raises is logged and never affects the run.
        """
        return add_listener(self._listeners, fn)

    def events(self) -> EventView:
        """A buffered view that does not slow the run down; subscribes now, ends when closed."""
        return EventView(self)

    # -- the run's task ----------------------------------------------------------------------

    def _start(
        self, prompts: list[AgentMessage], *, from_queue: bool = False
    ) -> asyncio.Task[RunOutcome]:
        """Everything up to the first event happens here, without an await."""
        loop = asyncio.get_running_loop()
        if self._loop is not None and self._loop is not loop:
            raise InvalidStateError("this agent belongs to another event loop")
        self._refuse_if_busy("start another run")
        self._loop = loop
        self._signal = AbortSignal()
        self._tally = Tally()
        self.state._error = None
        self.state._is_running = True
        self._run = loop.create_task(self._run_to_end(prompts, from_queue), name="agent-run")
        return self._run

    async def _run_to_end(self, prompts: list[AgentMessage], from_queue: bool) -> RunOutcome:
        context = AgentContext(self.state.system_prompt, self.state.messages, self.state.tools)
        if self._boundary.aborted != self.aborted_messages:
            self._boundary = Boundary(self.aborted_messages)
        config = self._config(from_queue)
        try:
            outcome = await run_loop(
                prompts, context, config, self._emit, self._signal, self._boundary
            )
        finally:
            self._queues.release()
            self.state._streaming_message = None
            self.state._pending.clear()
            self.state._is_running = False
        self.state._error = outcome.error
        return outcome

    async def _settle(self, task: asyncio.Task[RunOutcome]) -> RunOutcome:
        """Wait for the run; if the waiting task is cancelled, abort the run and let it settle."""
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            if not task.done():
                self.abort("the caller was cancelled")
                await asyncio.wait({task}, timeout=SETTLE_LIMIT)
            raise

    def _config(self, from_queue: bool) -> AgentLoopConfig:
        take_steering: Callable[[], list[AgentMessage]] = self._take_steering
        if from_queue:
            # One unit opens the run, so that one-at-a-time does not deliver two.
            first = [True]

            def take_first_unit() -> list[AgentMessage]:
                if first and first.pop():
                    return self._take_steering() or self._take_follow_ups()
                return self._take_steering()

            take_steering = take_first_unit
        return AgentLoopConfig(
            model=self.state.model,
            stream_fn=self.stream_fn,
            thinking_level=self.state.thinking_level,
            session_id=self.session_id,
            max_iterations=self.max_iterations,
            max_parallel_tools=self.max_parallel_tools,
            tool_handler=self.tool_handler,
            tool_error_policy=self.tool_error_policy,
            aborted_messages=self.aborted_messages,
            final_answer_on_limit=self.final_answer_on_limit,
            shows_prints=self.shows_prints,
            on_request=self.on_request,
            convert_to_llm=self.convert_to_llm,
            transform_context=self.transform_context,
            get_api_key=self.get_api_key,
            get_steering_messages=take_steering,
            get_follow_up_messages=self._take_follow_ups,
            accept_queued=self._queues.accept,
            has_queued=self._queues.has_deliverable,
            before_tool_call=self.before_tool_call,
            after_tool_call=self.after_tool_call,
            prepare_next_turn=self._prepare if self.prepare_next_turn else None,
            should_stop_after_turn=self.should_stop_after_turn,
            tool_mode=lambda: self.tool_execution,
            steering_signal=self._watch_steering,
            call_signals=self._call_signals,
        )

    async def _prepare(self, turn: TurnContext, signal: AbortSignal) -> NextTurn | None:
        assert self.prepare_next_turn is not None
        change = await settled(self.prepare_next_turn(turn, signal))
        if change is not None and not isinstance(change.messages, Unset):
            self.state.messages = change.messages
        return change

    def _take_steering(self) -> list[AgentMessage]:
        return self._queues.poll("steer", self.steering_mode)

    def _take_follow_ups(self) -> list[AgentMessage]:
        return self._queues.poll("follow_up", self.follow_up_mode)

    def _watch_steering(self) -> AbortSignal:
        self._steering_signal = AbortSignal()
        if self._queues.has_deliverable("steer"):
            self._steering_signal.set()
        return self._steering_signal

    # -- events ------------------------------------------------------------------------------

    async def _emit(self, event: AgentEvent) -> None:
        self._reduce(event)
        for (listener,) in list(self._listeners):
            try:
                waiting = listener(event, self._signal)
                if waiting is not None:
                    await settled(waiting)
            except Exception:  # a listener is foreign code
                if id(listener) not in self._complained:
                    self._complained.add(id(listener))
                    _log.exception("a listener failed at %s", event.type)

    def _reduce(self, event: AgentEvent) -> None:
        """The state as of this event, before any listener sees it."""
        state = self.state
        self._tally.see(event)
        match event:
            case MessageStartEvent(message=AssistantMessage() as message):
                state._streaming_message = message
            case MessageEndEvent(message=message):
                state._streaming_message = None
                state.messages.append(message)
            case ToolExecutionStartEvent(tool_call_id=call_id):
                state._pending.add(call_id)
            case ToolExecutionEndEvent(tool_call_id=call_id):
                state._pending.discard(call_id)
            case TurnEndEvent(message=message) if message.error is not None:
                state._error = info_to_error(message.error)
            case TurnEndEvent(message=message) if message.stop_reason == "aborted":
                state._error = CancelledRunError(self._signal.reason or "the run was aborted")
            case AgentEndEvent(error=info) if info is not None and state._error is None:
                state._error = info_to_error(info)

    # -- input -------------------------------------------------------------------------------

    def _refuse_if_busy(self, verb: str) -> None:
        if self.state.is_running:
            raise AgentBusyError(
                f"cannot {verb} while a run is active; use steer() or follow_up() to add to it, "
                "or wait_for_idle()"
            )

    def _enqueue(self, kind: QueueKind, message: str | AgentMessage) -> str:
        return self._queues.add(kind, message_from(message, self._taken_ids()))

    def _taken_ids(self) -> set[str]:
        return {m.id for m in self.state.messages} | {item.id for item in self.queued()}
