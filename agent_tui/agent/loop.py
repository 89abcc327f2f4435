"""The loop: completion → tool calls → results → repeat, steered in between.

Read `_Run.turns` from top to bottom: it is the algorithm. A run keeps no state after it has ended;
sessions, screens and retries are somebody else's. Everything it does is reported through `emit` in
one total order, balanced on every path: each start has its end, each tool call its result.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from agent_tui.agent.batch import TRUNCATED, Batch, BatchOutcome
from agent_tui.agent.boundary import Boundary, convert_to_llm
from agent_tui.agent.calling import settled
from agent_tui.agent.guard import IdenticalCallGuard
from agent_tui.agent.hooks import AgentContext, AgentLoopConfig, GetMessages, TurnContext, Unset
from agent_tui.agent.open_parts import OpenParts
from agent_tui.agent.response import Response, failed_message, give_fresh_ids
from agent_tui.agent.result import WITHDRAWN
from agent_tui.core.abort import AbortSignal
from agent_tui.core.errors import (
    AgentError,
    CancelledRunError,
    ErrorInfo,
    InternalError,
    InvalidStateError,
    error_to_info,
    info_to_error,
)
from agent_tui.core.events import (
    AgentEndEvent,
    AgentEvent,
    AgentStartEvent,
    EndReason,
    MessageEndEvent,
    MessageStartEvent,
    MessageUpdateEvent,
    ToolExecutionEndEvent,
    TurnEndEvent,
    TurnStartEvent,
)
from agent_tui.core.messages import AgentMessage, AssistantMessage, ToolResultMessage
from agent_tui.core.registry import stream_fn_for
from agent_tui.core.stream import BlockEvent, LlmContext, StreamOptions, ToolSchema
from agent_tui.core.tool import Tool, ToolResult

_log = logging.getLogger(__name__)
TRUNCATED_BATCHES = 3
"""So many batches in a row cut by the output limit end the run."""

EmitEvent = Callable[[AgentEvent], object]


async def agent_loop(
    prompts: Sequence[AgentMessage],
    context: AgentContext,
    config: AgentLoopConfig,
    emit: EmitEvent,
    signal: AbortSignal | None = None,
) -> list[AgentMessage]:
    """Run from `prompts` until the agent stops by itself; returns the run's messages in order.

    `emit` is awaited if it returns an awaitable. Failures are stop reasons, not exceptions.
    """
    return (await run_loop(prompts, context, config, emit, signal)).messages


async def agent_loop_continue(
    context: AgentContext,
    config: AgentLoopConfig,
    emit: EmitEvent,
    signal: AbortSignal | None = None,
) -> list[AgentMessage]:
    """Run on from the transcript as it is, without a new message.

    Raises `InvalidStateError` if there is nothing to answer: no message, or an answer as the last.
    """
    if not context.messages:
        raise InvalidStateError("there is nothing to continue: the transcript is empty")
    if isinstance(context.messages[-1], AssistantMessage):
        raise InvalidStateError("there is nothing to continue: the last message is an answer")
    return (await run_loop([], context, config, emit, signal)).messages


@dataclass(slots=True)
class RunOutcome:
    """How a run ended; `error` is the exception that `run()` raises, None after a success."""

    messages: list[AgentMessage]
    reason: EndReason
    error: AgentError | None = None


async def run_loop(
    prompts: Sequence[AgentMessage],
    context: AgentContext,
    config: AgentLoopConfig,
    emit: EmitEvent,
    signal: AbortSignal | None = None,
    boundary: Boundary | None = None,
) -> RunOutcome:
    """`agent_loop` with the way it ended; `boundary` is that of an earlier run with this policy."""
    run = _Run(context, config, emit, signal or AbortSignal(), boundary)
    return await run.run(prompts)


class _Finished(Exception):
    """The run is over: unwinds from wherever that was found out."""

    def __init__(self, reason: EndReason, error: AgentError | None = None) -> None:
        self.reason: EndReason = reason
        self.error = error


class _Run:
    """One run. Owns copies of the message and tool lists; the caller's are never touched."""

    def __init__(
        self,
        context: AgentContext,
        config: AgentLoopConfig,
        emit: EmitEvent,
        signal: AbortSignal,
        boundary: Boundary | None,
    ) -> None:
        self._context = context.copy()
        self._config = config
        self._model = config.model
        self._thinking_level = config.thinking_level
        self._sink = emit
        self._signal = signal
        self._emitting = asyncio.Lock()
        self._open = OpenParts()
        self._new: list[AgentMessage] = []
        self._iterations = 0
        self._turn_index = 0
        self._truncated = 0
        self._natural_end: EndReason = "completed"
        """How the run ends if nothing more is to be done after the present turn."""
        self._guard = IdenticalCallGuard()
        self._boundary = boundary or Boundary(config.aborted_messages)
        self._call_ids = {
            call.id
            for m in context.messages
            if isinstance(m, AssistantMessage)
            for call in m.tool_calls
        }

    async def run(self, prompts: Sequence[AgentMessage]) -> RunOutcome:
        try:
            await self._emit(AgentStartEvent())
            await self._emit(TurnStartEvent(0))
            await self.turns(prompts)
            raise AssertionError("turns() returned")
        except _Finished as finished:
            reason, error = finished.reason, finished.error
        except Exception as fault:  # the engine is at fault; the agent must stay usable
            _log.exception("the loop failed")
            reason = "error"
            error = InternalError(f"the agent loop failed: {fault}", cause=fault)
            await self._close_what_is_open(error)
        info = None if error is None else error_to_info(error)
        await self._emit(AgentEndEvent(list(self._new), reason, info))
        return RunOutcome(self._new, reason, error)

    async def turns(self, prompts: Sequence[AgentMessage]) -> None:
        """Turn after turn until `_Finished` is raised."""
        for prompt in prompts:
            await self._record(prompt)
        pending = await self._poll(self._config.get_steering_messages)

        while True:
            delivered = await self._deliver(pending)
            if self._signal.aborted:
                await self._end_turn_without_request(None)
            if not delivered and self._tail_is_answer():
                await self._end_turn_with_nothing_to_answer()
            message = await self._ask_model(self._context.tools)
            batch = await self._run_batch(message)
            await self._emit(TurnEndEvent(message, batch.results))

            more = bool(batch.results) and not batch.terminating
            self._natural_end = "terminated" if batch.terminating else "completed"
            await self._end_if_due(batch, more)
            turn = TurnContext(message, batch.results, self._context.copy(), list(self._new))
            prepared = more or self._has_queued()
            if prepared:
                await self._prepare_next_turn(turn, more)
            if await self._should_stop(turn, more):
                raise _Finished("stopped")
            pending = await self._poll(self._config.get_steering_messages, more)
            if not pending and not more:
                pending = await self._poll(self._config.get_follow_up_messages, more)
                # No await between this empty poll and the end: what is queued later stays queued.
                if not pending:
                    raise _Finished(self._natural_end)
            if not prepared:
                await self._prepare_next_turn(turn, True)
            self._end_if_aborted(more=True)
            self._turn_index += 1
            await self._emit(TurnStartEvent(self._turn_index))

    # -- one turn ----------------------------------------------------------------------------

    async def _deliver(self, pending: Sequence[AgentMessage]) -> bool:
        """Put queued messages into the transcript; True if there was at least one."""
        delivered = False
        for message in pending:
            if self._signal.aborted:
                break
            accept = self._config.accept_queued
            accepted = accept(message) if accept else message
            if accepted is not None:
                delivered = True
                await self._record(accepted)
        return delivered

    async def _ask_model(self, tools: list[Tool]) -> AssistantMessage:
        """One round trip; raises `_Finished` after an answer that failed or was aborted."""
        try:
            request = await self._request(tools)
            options = await self._options()
            stream_fn = self._config.stream_fn or stream_fn_for(self._model)
        except Exception as error:  # hooks are foreign code, and so is what they return
            await self._end_turn_without_request(_hook_error(error))
        if self._signal.aborted:
            await self._end_turn_without_request(None)
        if self._config.on_request is not None:
            self._config.on_request(self._model, request, options)

        async def start(message: AssistantMessage) -> None:
            await self._emit(MessageStartEvent(message))

        async def update(message: AssistantMessage, event: BlockEvent) -> None:
            await self._emit(MessageUpdateEvent(message, event))

        response = Response(self._model, self._signal, start, update)
        message = await response.run(lambda: stream_fn(self._model, request, options))
        give_fresh_ids(message, self._call_ids)
        if not response.started:
            await start(message)
        await self._keep(message)
        if message.stop_reason in ("error", "aborted"):
            await self._emit(TurnEndEvent(message, []))
            raise _ended_by(message, response.error, self._signal)
        self._iterations += 1
        return message

    async def _request(self, tools: list[Tool]) -> LlmContext:
        config = self._config
        messages = list(self._context.messages)
        if config.transform_context:
            messages = await settled(config.transform_context(messages, self._signal))
        convert = config.convert_to_llm or convert_to_llm
        allowed = self._boundary.normalise(await settled(convert(messages)), self._model)
        schemas = [ToolSchema(tool.name, tool.description, tool.schema) for tool in tools]
        return LlmContext(self._context.system_prompt, allowed, schemas)

    async def _options(self) -> StreamOptions:
        get_key = self._config.get_api_key
        return StreamOptions(
            thinking_level=self._thinking_level,
            api_key=await settled(get_key(self._model.provider)) if get_key else None,
            session_id=self._config.session_id,
            signal=self._signal,
        )

    async def _run_batch(self, message: AssistantMessage) -> BatchOutcome:
        calls = message.tool_calls
        if not calls:
            self._truncated = 0
            self._guard.see([])
            return BatchOutcome()
        truncated = message.stop_reason == "length"
        self._truncated = self._truncated + 1 if truncated else 0
        warnings = self._guard.see(calls)
        batch = Batch(
            message,
            self._context,
            self._config,
            self._signal,
            self._emit,
            self._record,
            {} if truncated else warnings,
        )
        return await (batch.fail_all(TRUNCATED) if truncated else batch.run())

    # -- between turns -----------------------------------------------------------------------

    async def _end_if_due(self, batch: BatchOutcome, more: bool) -> None:
        """The endings that need no hook, in the order in which they win over each other."""
        if batch.fatal is not None:
            raise _Finished("tool_error", batch.fatal)
        if self._truncated >= TRUNCATED_BATCHES:
            message = f"{TRUNCATED_BATCHES} answers in a row were cut by the output limit"
            raise _Finished("error", InternalError(message, code="output_limit_loop"))
        self._end_if_aborted(more)
        if self._iterations == self._config.max_iterations:
            if not more and not self._has_queued():
                raise _Finished(self._natural_end)
            if more and self._config.final_answer_on_limit:
                await self._ask_for_final_answer()
            raise _Finished("max_iterations")
        if self._guard.must_stop:
            raise _Finished("stopped")

    def _end_if_aborted(self, more: bool) -> None:
        if not self._signal.aborted:
            return
        if more or self._has_queued():
            raise _Finished("aborted", _cancelled(self._signal))
        raise _Finished(self._natural_end)

    async def _ask_for_final_answer(self) -> None:
        self._turn_index += 1
        await self._emit(TurnStartEvent(self._turn_index))
        message = await self._ask_model([])
        if message.tool_calls:
            batch = Batch(
                message, self._context, self._config, self._signal, self._emit, self._record, {}
            )
            refused = await batch.fail_all("Nothing was run: this was the last permitted answer.")
            await self._emit(TurnEndEvent(message, refused.results))
        else:
            await self._emit(TurnEndEvent(message, []))
        self._end_if_aborted(more=False)

    async def _prepare_next_turn(self, turn: TurnContext, more: bool) -> None:
        hook = self._config.prepare_next_turn
        if hook is not None:
            try:
                change = await settled(hook(turn, self._signal))
            except Exception as error:  # foreign code
                await self._end_with_hook_error(error)
            if change is not None:
                self._apply(change)
        self._end_if_aborted(more)

    def _apply(self, change: Any) -> None:
        context = self._context
        if not isinstance(change.system_prompt, Unset):
            context.system_prompt = change.system_prompt
        if not isinstance(change.messages, Unset):
            context.messages = [*change.messages]
        if not isinstance(change.tools, Unset):
            context.tools = [*change.tools]
        if not isinstance(change.model, Unset):
            self._model = change.model
        if not isinstance(change.thinking_level, Unset):
            self._thinking_level = change.thinking_level

    async def _should_stop(self, turn: TurnContext, more: bool) -> bool:
        hook = self._config.should_stop_after_turn
        if hook is None:
            return False
        try:
            stop = await settled(hook(turn, self._signal))
        except Exception as error:  # foreign code
            await self._end_with_hook_error(error)
        self._end_if_aborted(more)
        return bool(stop)

    async def _poll(self, get: GetMessages | None, more: bool = True) -> Sequence[AgentMessage]:
        """What a queue gives now; nothing once the run is aborted."""
        if get is None or self._signal.aborted:
            return []
        return await settled(get())

    def _has_queued(self) -> bool:
        return self._config.has_queued is not None and self._config.has_queued()

    # -- endings inside a turn ---------------------------------------------------------------

    async def _end_turn_without_request(self, error: AgentError | None) -> NoReturn:
        """Close the open turn with an empty answer and end: with `error`, or aborted if None."""
        message = failed_message(self._model, error)
        await self._record(message)
        await self._emit(TurnEndEvent(message, []))
        if error is None:
            raise _Finished("aborted", _cancelled(self._signal))
        raise _Finished("error", error)

    async def _end_turn_with_nothing_to_answer(self) -> NoReturn:
        """What opened this turn was withdrawn before it could be delivered."""
        message = failed_message(self._model, None)
        message.stop_reason = "stop"
        message.raw_stop_reason = WITHDRAWN
        await self._record(message)
        await self._emit(TurnEndEvent(message, []))
        raise _Finished("completed")

    async def _end_with_hook_error(self, error: Exception) -> NoReturn:
        self._turn_index += 1
        await self._emit(TurnStartEvent(self._turn_index))
        await self._end_turn_without_request(_hook_error(error))

    async def _close_what_is_open(self, error: AgentError) -> None:
        """End the open message, calls and turn, so that every listener sees a balanced run."""
        opened = self._open
        failed = ToolResult(f"The engine failed: {error.message}", is_error=True)
        if opened.message is not None:
            if isinstance(opened.message, AssistantMessage):
                opened.message.stop_reason = "error"
                opened.message.error = error_to_info(error)
            await self._keep(opened.message)
        for call_id, name in list(opened.calls.items()):
            await self._emit(ToolExecutionEndEvent(call_id, name, failed, True))
        if not opened.turn:
            return
        if opened.answer is None:
            await self._record(failed_message(self._model, error))
        elif opened.answer.stop_reason not in ("error", "aborted"):
            for call in opened.unanswered():
                await self._record(
                    ToolResultMessage(
                        tool_call_id=call.id,
                        tool_name=call.name,
                        content=failed.content,
                        is_error=True,
                    )
                )
        assert opened.answer is not None
        await self._emit(TurnEndEvent(opened.answer, list(opened.results)))

    def _tail_is_answer(self) -> bool:
        tail = self._context.messages[-1] if self._context.messages else None
        return isinstance(tail, AssistantMessage)

    # -- reporting ---------------------------------------------------------------------------

    async def _record(self, message: AgentMessage) -> None:
        await self._emit(MessageStartEvent(message))
        await self._keep(message)

    async def _keep(self, message: AgentMessage) -> None:
        self._context.messages.append(message)
        self._new.append(message)
        await self._emit(MessageEndEvent(message))

    async def _emit(self, event: AgentEvent) -> None:
        """Report one event; parallel tools wait for each other here."""
        async with self._emitting:
            self._open.see(event)
            reported = self._sink(event)
            if reported is not None:
                await settled(reported)


def _hook_error(error: Exception) -> AgentError:
    if isinstance(error, AgentError):
        return error
    return InternalError(f"a hook failed: {error}", code="hook_failed", cause=error)


def _cancelled(signal: AbortSignal) -> CancelledRunError:
    return CancelledRunError(signal.reason or "the run was aborted")


def _ended_by(
    message: AssistantMessage, error: AgentError | None, signal: AbortSignal
) -> _Finished:
    if message.stop_reason == "aborted":
        return _Finished("aborted", _cancelled(signal))
    info = message.error or ErrorInfo(code="provider", message="The provider reported an error.")
    return _Finished("error", error or info_to_error(info))
