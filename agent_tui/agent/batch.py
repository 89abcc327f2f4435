"""One batch of tool calls: prepare in order, execute, answer every call exactly once.

Whatever happens (unknown tool, bad arguments, a refusing hook, an abort, a tool that hangs) each
call gets a start event, an end event and one result message, recorded in call order.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from agent_tui.agent.calling import is_async, settled, unless_aborted
from agent_tui.agent.execution import Execution, Outcome
from agent_tui.agent.hooks import (
    AfterToolCall,
    AfterToolCallContext,
    AgentContext,
    AgentLoopConfig,
    BeforeToolCall,
    BeforeToolCallContext,
    Unset,
)
from agent_tui.agent.threads import in_daemon_thread
from agent_tui.agent.traces import told, trace_of
from agent_tui.core.abort import AbortSignal
from agent_tui.core.errors import ToolError
from agent_tui.core.events import (
    AgentEvent,
    ToolExecutionEndEvent,
    ToolExecutionStartEvent,
    ToolExecutionUpdateEvent,
)
from agent_tui.core.messages import AssistantMessage, TextBlock, ToolCall, ToolResultMessage
from agent_tui.core.text import without_surrogates
from agent_tui.core.tool import Execute, Tool, ToolContext, ToolHandler, ToolResult

Emit = Callable[[AgentEvent], Awaitable[None]]

BEFORE_START = "Aborted by the user before this tool call started; it did not run."
NOT_STARTED = "Not started: the run ended before this tool call's turn came."
ABORTED = "Aborted by the user."
KILLED = "Stopped by the user; the run goes on."
MAY_STILL_RUN = "Aborted by the user; the tool did not stop in time and may still be running."
CANCELLED = "The tool call was cancelled."
TRUNCATED = (
    "Nothing was run: the answer hit the output limit, so this call may be incomplete. "
    "Ask again with smaller calls, for example by writing a long file in several parts."
)


@dataclass(slots=True)
class BatchOutcome:
    """What a batch left behind."""

    results: list[ToolResultMessage] = field(default_factory=list)
    """One for each call, in call order, already recorded."""
    terminating: bool = False
    """No automatic round trip should follow."""
    fatal: ToolError | None = None
    """The first `ToolError`, where the policy makes it end the run."""


@dataclass(slots=True)
class _Call:
    """One call on its way. `result` is set as soon as its outcome is known."""

    block: ToolCall
    signal: AbortSignal
    tool: Tool | None = None
    args: dict[str, Any] = field(default_factory=dict)
    result: ToolResult | None = None
    end_turn: bool = False


class Batch:
    """The calls of one assistant message. Used once."""

    def __init__(
        self,
        message: AssistantMessage,
        context: AgentContext,
        config: AgentLoopConfig,
        signal: AbortSignal,
        emit: Emit,
        record: Callable[[ToolResultMessage], Awaitable[None]],
        warnings: dict[str, str],
    ) -> None:
        self._message = message
        self._context = context
        self._config = config
        self._signal = signal
        self._emit = emit
        self._record = record
        self._warnings = warnings
        self._tools = {tool.name: tool for tool in context.tools}
        self._calls = [_Call(block, AbortSignal()) for block in message.tool_calls]
        self._fatal: ToolError | None = None
        self._stopping = AbortSignal()
        watch = config.steering_signal
        self._steering_waiting = watch() if watch else AbortSignal()

    async def run(self) -> BatchOutcome:
        """Answer every call."""
        forget = self._signal.on_set(lambda: self._stop(self._signal.reason))
        self._config.call_signals.update((call.block.id, call.signal) for call in self._calls)
        try:
            if self._is_sequential():
                results = [await self._one_after_another(call) for call in self._calls]
            else:
                results = await self._side_by_side()
        finally:
            forget()
            for call in self._calls:
                self._config.call_signals.pop(call.block.id, None)
        all_terminate = all(call.result and call.result.terminate for call in self._calls)
        end_turn = any(call.end_turn for call in self._calls)
        return BatchOutcome(results, all_terminate or end_turn, self._fatal)

    async def fail_all(self, reason: str) -> BatchOutcome:
        """Run nothing and answer every call with an error."""
        results = []
        for call in self._calls:
            await self._start(call)
            await self._finish(call, ToolResult(reason, is_error=True))
            results.append(await self._answer(call))
        return BatchOutcome(results)

    def _is_sequential(self) -> bool:
        mode = self._config.tool_mode() if self._config.tool_mode else self._config.tool_execution
        named = (self._tools.get(call.block.name) for call in self._calls)
        return mode == "sequential" or any(t and t.execution_mode == "sequential" for t in named)

    def _stop(self, reason: str | None) -> None:
        """Start nothing more and tell every open call to end."""
        self._stopping.set(reason)
        for call in self._calls:
            call.signal.set(reason)

    # -- the two modes -----------------------------------------------------------------------

    async def _one_after_another(self, call: _Call) -> ToolResultMessage:
        await self._prepare(call)
        if call.result is None:
            await self._execute(call)
        return await self._answer(call)

    async def _side_by_side(self) -> list[ToolResultMessage]:
        for call in self._calls:
            await self._prepare(call)
        limit = asyncio.Semaphore(self._config.max_parallel_tools or len(self._calls))

        async def execute(call: _Call) -> None:
            async with limit:
                await self._execute(call)

        tasks = [asyncio.create_task(execute(c)) for c in self._calls if c.result is None]
        try:
            # A listener that is cancelled, or a bug, must not leave its siblings behind.
            await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()
        return [await self._answer(call) for call in self._calls]

    async def _start(self, call: _Call) -> None:
        block = call.block
        await self._emit(ToolExecutionStartEvent(block.id, block.name, dict(block.arguments)))

    async def _finish(self, call: _Call, result: ToolResult) -> None:
        if warning := self._warnings.get(call.block.id):
            result = _with_note(result, warning, result.is_error)
        for item in result.content:
            if isinstance(item, TextBlock):
                item.text = without_surrogates(item.text)
        call.result = result
        block = call.block
        self._config.call_signals.pop(block.id, None)
        await self._emit(ToolExecutionEndEvent(block.id, block.name, result, result.is_error))

    async def _answer(self, call: _Call) -> ToolResultMessage:
        result = call.result
        assert result is not None
        message = ToolResultMessage(
            tool_call_id=call.block.id,
            tool_name=call.block.name,
            content=result.content,
            details=result.details,
            is_error=result.is_error,
            usage=result.usage,
        )
        await self._record(message)
        return message

    # -- prepare -----------------------------------------------------------------------------

    async def _prepare(self, call: _Call) -> None:
        """Start the call and find out whether it may run; if not, its outcome is immediate."""
        await self._start(call)
        if self._stopping.aborted:
            refusal = BEFORE_START if self._signal.aborted else NOT_STARTED
            await self._finish(call, ToolResult(refusal, is_error=True))
            return
        call.tool = self._tools.get(call.block.name)
        problem = self._problem_with(call)
        if problem is None:
            refused = await self._ask_before(call)
            if refused is not None:
                await self._finish(call, refused)
        else:
            await self._finish(call, ToolResult(problem, is_error=True))

    def _problem_with(self, call: _Call) -> str | None:
        block, tool = call.block, call.tool
        if tool is None:
            names = ", ".join(sorted(self._tools)) or "none"
            return f"There is no tool named {block.name!r}. Available tools: {names}."
        if block.arguments_error is not None:
            return f"The arguments could not be read: {block.arguments_error}"
        args = block.arguments
        if tool.prepare_arguments is not None:
            try:
                args = tool.prepare_arguments(dict(args))
            except Exception as error:  # foreign code: its message is the answer
                return f"The arguments could not be prepared: {error}"
        return self._check(call, args)

    def _check(self, call: _Call, args: dict[str, Any]) -> str | None:
        assert call.tool is not None
        call.args, problems = call.tool.check(args)
        if not problems:
            return None
        received = json.dumps(args, ensure_ascii=False, default=str)[:2000]
        lines = "\n".join(f"- {problem}" for problem in problems)
        return (
            f"The arguments do not fit the tool {call.block.name!r}:\n{lines}\nReceived: {received}"
        )

    async def _ask_before(self, call: _Call) -> ToolResult | None:
        """The error result of a call that must not run; fails closed when the hook raises."""
        hook = self._config.before_tool_call
        if hook is None:
            return None
        context = BeforeToolCallContext(self._message, call.block, call.args, self._context.copy())
        try:
            answered, verdict = await unless_aborted(hook(context, self._signal), call.signal)
            _require(verdict, BeforeToolCall)
        except Exception as error:  # foreign code
            return ToolResult(f"The check before this tool call failed: {error}", is_error=True)
        if not answered or self._stopping.aborted:
            return ToolResult(BEFORE_START, is_error=True)
        call.args = context.args
        if verdict is None:
            return None
        return self._judge(call, verdict)

    def _judge(self, call: _Call, verdict: BeforeToolCall) -> ToolResult | None:
        call.end_turn = verdict.end_turn
        if verdict.block:
            reason = verdict.reason or "This tool call was refused."
            return ToolResult(reason, is_error=True, terminate=verdict.terminate)
        if verdict.args is not None and (problem := self._check(call, verdict.args)):
            return ToolResult(problem, is_error=True)
        return None

    # -- execute -----------------------------------------------------------------------------

    async def _execute(self, call: _Call) -> None:
        if call.signal.aborted:
            await self._finish(call, ToolResult(self._why_not(call), is_error=True))
            return
        assert call.tool is not None
        block = call.block

        async def update(partial: ToolResult) -> None:
            event = ToolExecutionUpdateEvent(block.id, block.name, dict(block.arguments), partial)
            await self._emit(event)

        execution = Execution(
            call.tool.execute or _through(self._config.tool_handler, call.tool.name),
            block.id,
            call.args,
            call.signal,
            self._steering_waiting,
            update,
            shows_prints=self._config.shows_prints,
        )
        await self._finish(call, await self._settle(call, await execution.run()))

    async def _settle(self, call: _Call, outcome: Outcome) -> ToolResult:
        match outcome.ending:
            case "not_started":
                return ToolResult(self._why_not(call), is_error=True)
            case "abandoned":
                return _cut_off(outcome, MAY_STILL_RUN)
            case "cancelled":
                return _cut_off(outcome, ABORTED if self._signal.aborted else self._why_cut(call))
            case "cancelled_itself":
                if not call.signal.aborted:
                    self._signal.set("a tool call was cancelled")
                    return _cut_off(outcome, CANCELLED)
                return _cut_off(outcome, ABORTED if self._signal.aborted else self._why_cut(call))
        if isinstance(outcome.error, ToolError) and not call.signal.aborted:
            return await self._ask_after(call, self._fail(call, outcome.error))
        result = outcome.result
        if result is None:
            result = _failed(outcome, interrupted=call.signal.aborted)
        if call.signal.aborted:
            result = _copy(result, is_error=True)
        return await self._ask_after(call, result)

    def _why_not(self, call: _Call) -> str:
        if self._signal.aborted:
            return f"Aborted by the user. {NOT_STARTED}"
        return NOT_STARTED if self._stopping.aborted else KILLED

    def _why_cut(self, call: _Call) -> str:
        return "Stopped: another tool call failed." if self._stopping.aborted else KILLED

    def _fail(self, call: _Call, error: ToolError) -> ToolResult:
        error.tool_name = error.tool_name or call.block.name
        error.tool_call_id = error.tool_call_id or call.block.id
        if self._config.tool_error_policy == "abort" and self._fatal is None:
            self._fatal = error
            self._stop(error.message)
        return ToolResult(error.message, is_error=True)

    async def _ask_after(self, call: _Call, result: ToolResult) -> ToolResult:
        hook = self._config.after_tool_call
        if hook is None:
            return result
        context = AfterToolCallContext(
            self._message, call.block, call.args, self._context.copy(), result, result.is_error
        )
        try:
            answer = await settled(hook(context, self._signal))
            _require(answer, AfterToolCall)
        except Exception as error:  # foreign code; the real result must not be lost
            return _with_note(result, f"The hook after this tool call failed: {error}", True)
        if answer is None:
            return result
        given = {
            name: value
            for name in ("content", "details", "is_error", "usage", "terminate")
            if not isinstance(value := getattr(answer, name), Unset)
        }
        return _copy(result, **given)


def _require(answer: object, kind: type) -> None:
    if answer is not None and not isinstance(answer, kind):
        raise TypeError(f"it must answer {kind.__name__} or None, not {type(answer).__name__}")


def _failed(outcome: Outcome, *, interrupted: bool) -> ToolResult:
    """The result of a call that raised; the place is for the person, not for the model."""
    assert outcome.error is not None
    details = {"error": type(outcome.error).__name__, "trace": trace_of(outcome.error)}
    return ToolResult(told(outcome.error), details=None if interrupted else details, is_error=True)


def _copy(result: ToolResult, **changes: Any) -> ToolResult:
    fields = {name: getattr(result, name) for name in ToolResult.__slots__} | changes
    return ToolResult(**fields)


def _with_note(result: ToolResult, note: str, is_error: bool) -> ToolResult:
    return _copy(result, content=[*result.content, TextBlock(text=note)], is_error=is_error)


def _cut_off(outcome: Outcome, note: str) -> ToolResult:
    partial = outcome.partial or ToolResult(None)
    return _with_note(partial, note, True)


def _through(handler: ToolHandler | None, name: str) -> Execute:
    """The handler's `execute` in the shape of a tool's own function."""
    assert handler is not None

    async def execute(call_id: str, args: dict[str, Any], context: ToolContext) -> str:
        arguments = json.dumps(args, ensure_ascii=False)
        if is_async(handler.execute):
            text = await handler.execute(name, arguments)
        else:
            text = await settled(await in_daemon_thread(lambda: handler.execute(name, arguments)))
        return text or "null"

    return execute
