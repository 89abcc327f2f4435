"""An agent on a stage: everything it does is seen, and what a trace cannot show is checked live.

`Stage(...)` plays a script with an agent, `expect` compares the trace, `when` acts at a moment of
it. `problems()` lists broken invariants: those of each run, plus I9 to I12 and the promises
about state that only somebody present at the time can check.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from agent_tui import (
    AbortSignal,
    Agent,
    AgentMessage,
    AssistantMessage,
    Model,
    Tool,
    ToolCall,
    ToolContext,
    ToolResult,
    ToolResultMessage,
    UserMessage,
)
from agent_tui.core.events import (
    AgentEndEvent,
    AgentEvent,
    AgentStartEvent,
    MessageEndEvent,
    MessageStartEvent,
    MessageUpdateEvent,
    ToolExecutionEndEvent,
    ToolExecutionStartEvent,
)
from agent_tui.core.messages import TextBlock, text_of
from agent_tui.core.stream import LlmContext, StreamEvent, StreamFn, StreamOptions
from agent_tui.core.tool import Execute
from agent_tui.testing import ScriptedModel
from tests.agent.tracing import (
    adjacency_problems,
    matches,
    problems_of_run,
    runs_of,
    shorthand,
    token,
)


@dataclass
class Moment:
    """Something to do when a token of the trace is reached."""

    what: str
    act: Callable[[], object]
    left: int


@dataclass
class Request:
    """One call of the stream function, as it was at that time."""

    model: Model
    system_prompt: str | None
    messages: list[Any]
    tools: list[str]
    options: StreamOptions

    @property
    def texts(self) -> list[str]:
        """The text of each message."""
        return [m.text if m.role == "assistant" else text_of(m.content) for m in self.messages]

    @property
    def roles(self) -> list[str]:
        """The role of each message."""
        return [message.role for message in self.messages]


@dataclass
class Watcher:
    """Checks, event by event, what must hold at that very time."""

    found: list[str] = field(default_factory=list)
    queued: set[str] = field(default_factory=set)
    removed: set[str] = field(default_factory=set)
    in_flight: str | None = None
    finished: list[tuple[AgentMessage, str]] = field(default_factory=list)
    may_lose: bool = True
    """Whether tests take messages out of the queue without `Stage` knowing."""

    def see(self, agent: Agent, event: AgentEvent, signal: AbortSignal) -> None:
        """Note what is wrong at this event."""
        transcript = [message.id for message in agent.state.messages]
        if len(set(transcript)) != len(transcript):
            self.found.append("I12: a message is in the transcript twice")
        match event:
            case AgentEndEvent(reason=reason):
                if not agent.state.is_running:
                    self.found.append("not running although agent_end is being told")
                if signal.aborted and reason in ("stopped", "max_iterations"):
                    self.found.append(f"an aborted run ended {reason}")
            case MessageStartEvent(message=message):
                self.in_flight = message.id
                if message.id in self.queued and signal.aborted:
                    self.found.append("I11: a queued message delivered after the abort")
            case MessageUpdateEvent(message=message):
                if agent.state.streaming_message is not message:
                    self.found.append("state.streaming_message is not the one that grows")
            case MessageEndEvent(message=message):
                self.in_flight = None
                self.finished.append((message, repr(message.model_dump())))
                if agent.state.messages[-1] is not message:
                    self.found.append("I9: message_end before the message is in the transcript")
                if agent.state.streaming_message is not None:
                    self.found.append("state.streaming_message outlives its message")
            case ToolExecutionStartEvent(tool_call_id=call):
                if call not in agent.state.pending_tool_calls:
                    self.found.append("state.pending_tool_calls lacks a started call")
            case ToolExecutionEndEvent(tool_call_id=call):
                if call in agent.state.pending_tool_calls:
                    self.found.append("state.pending_tool_calls keeps an ended call")
        self.count(agent, transcript)

    def count(self, agent: Agent, transcript: Sequence[str]) -> None:
        """Check that each message that was ever queued is in one place (I12)."""
        waiting = [item.id for item in agent.queued()]
        for item in self.queued - {self.in_flight}:
            places = waiting.count(item) + transcript.count(item) + (item in self.removed)
            if places > 1 or (places == 0 and not self.may_lose):
                self.found.append(f"I12: a queued message is in {places} places")


class Stage:
    """An agent, its script and everything that happened."""

    def __init__(
        self,
        *script: Any,
        tools: Sequence[Tool] = (),
        stream_fn: StreamFn | None = None,
        model: Model | str = "test/m",
        **options: Any,
    ) -> None:
        self.events: list[AgentEvent] = []
        self.signals: list[AbortSignal] = []
        self.requests: list[Request] = []
        self.executed: list[str] = []
        """The ids of the calls whose `execute` was entered, in that order."""
        self.watcher = Watcher()
        self._moments: list[Moment] = []
        self._play: StreamFn = stream_fn or ScriptedModel(list(script))
        self.agent = Agent(
            model,
            stream_fn=self._stream,
            tools=[self._watched(tool) for tool in tools],
            **options,
        )
        self.agent.subscribe(self._listen)
        self.agent.on_queue_change(
            lambda items: self.watcher.queued.update(item.id for item in items)
        )

    # -- acting ------------------------------------------------------------------------------

    def when(self, what: str, *acts: Callable[[], object], times: int = 1) -> None:
        """Do things at the next event whose token (or stream event type) is `what`."""
        self._moments.extend(Moment(what, act, times) for act in acts)

    async def prompt(self, text: str = "p") -> None:
        """Run to the end, at most some seconds."""
        await asyncio.wait_for(self.agent.prompt(text), 10)

    # -- reading -----------------------------------------------------------------------------

    def expect(self, pattern: str) -> None:
        """Assert that the events so far are exactly those of `pattern`."""
        assert matches(self.events, pattern), f"{shorthand(self.events)}\nis not\n{pattern}"

    @property
    def trace(self) -> str:
        """The events so far."""
        return shorthand(self.events)

    @property
    def end(self) -> AgentEndEvent:
        """The newest `agent_end`."""
        return [event for event in self.events if isinstance(event, AgentEndEvent)][-1]

    @property
    def results(self) -> list[ToolResultMessage]:
        """All tool results that were recorded."""
        return [m for m in self.messages if isinstance(m, ToolResultMessage)]

    @property
    def answers(self) -> list[AssistantMessage]:
        """All assistant messages that were recorded."""
        return [m for m in self.messages if isinstance(m, AssistantMessage)]

    @property
    def messages(self) -> list[AgentMessage]:
        """The transcript."""
        return list(self.agent.state.messages)

    @property
    def queue(self) -> list[str]:
        """The texts of what is queued."""
        return [text_of(getattr(item.message, "content", "")) for item in self.agent.queued()]

    def at(self, what: str) -> int:
        """The place of the first event whose token is `what`."""
        return [token(event) for event in self.events].index(what)

    def problems(self) -> list[str]:
        """Every broken invariant so far; call it when nothing runs."""
        found = [problem for run in runs_of(self.events) for problem in problems_of_run(run)]
        changed = [m.role for m, dump in self.watcher.finished if repr(m.model_dump()) != dump]
        state = self.agent.state
        if changed:
            found.append(f"finished messages changed: {changed}")
        if state.is_running or state.streaming_message is not None or state.pending_tool_calls:
            found.append("the agent is idle but its state says otherwise")
        return [*self.watcher.found, *found]

    # -- watching ----------------------------------------------------------------------------

    def _listen(self, event: AgentEvent, signal: AbortSignal) -> None:
        if isinstance(event, AgentStartEvent):
            self.signals.append(signal)
        elif signal is not self.signals[-1]:
            self.watcher.found.append("the signal changed within a run")
        self.events.append(event)
        self.watcher.see(self.agent, event, signal)
        names = {token(event), token(event).removesuffix("✗")}
        if isinstance(event, MessageUpdateEvent):
            names.add(event.assistant_message_event.type)
        for moment in self._moments:
            if moment.what in names and moment.left:
                moment.left -= 1
                moment.act()

    def _stream(
        self, model: Model, context: LlmContext, options: StreamOptions
    ) -> AsyncIterator[StreamEvent]:
        if options.signal.aborted:
            self.watcher.found.append("I11: a provider call after the abort")
        self.watcher.found.extend(adjacency_problems(context.messages))
        self.requests.append(
            Request(
                model,
                context.system_prompt,
                list(context.messages),
                [tool.name for tool in context.tools],
                options,
            )
        )
        return self._play(model, context, options)

    def _watched(self, tool: Tool) -> Tool:
        if tool.execute is None:
            return tool
        return Tool(
            tool.name,
            tool.description,
            tool.parameters,
            self._entering(tool.execute),
            label=tool.label,
            execution_mode=tool.execution_mode,
            prepare_arguments=tool.prepare_arguments,
        )

    def _entering(self, execute: Execute) -> Execute:
        def enter(call_id: str, ctx: ToolContext) -> None:
            self.executed.append(call_id)
            if ctx.signal.aborted:
                self.watcher.found.append(f"I11: {call_id} was executed after the abort")

        if inspect.iscoroutinefunction(execute):

            async def run_async(
                call_id: str, args: dict[str, Any], ctx: ToolContext
            ) -> ToolResult | str | None:
                enter(call_id, ctx)
                answer: ToolResult | str | None = await execute(call_id, args, ctx)
                return answer

            return run_async

        def run(call_id: str, args: dict[str, Any], ctx: ToolContext) -> Any:
            enter(call_id, ctx)
            return execute(call_id, args, ctx)

        return run


Make: TypeAlias = Callable[..., Stage]
"""The `stage` fixture: makes a stage and checks the invariants when the test is over."""


# -- what tests build things from ------------------------------------------------------------------


def user(text: str) -> UserMessage:
    """What a person said."""
    return UserMessage(content=text)


def said(text: str, **fields: Any) -> AssistantMessage:
    """A finished answer of the model."""
    return AssistantMessage(content=[TextBlock(text=text)], **fields)


def asked(*call_ids: str, name: str = "echo", **fields: Any) -> AssistantMessage:
    """A finished answer that calls a tool."""
    calls = [ToolCall(id=call_id, name=name) for call_id in call_ids]
    return AssistantMessage(content=[*calls], **({"stop_reason": "tool_use"} | fields))


def answered(call_id: str, text: str = "ok", name: str = "echo") -> ToolResultMessage:
    """A recorded tool result."""
    return ToolResultMessage(tool_call_id=call_id, tool_name=name, content=[TextBlock(text=text)])


def stream_of(*events: StreamEvent | BaseException) -> StreamFn:
    """A stream function that always yields these events; an exception among them is raised."""

    async def play(
        model: Model, context: LlmContext, options: StreamOptions
    ) -> AsyncIterator[StreamEvent]:
        for event in events:
            if isinstance(event, BaseException):
                raise event
            yield event

    return play


def turns(*streams: StreamFn) -> StreamFn:
    """A stream function that plays one of these for each request."""
    rest = iter(streams)

    def play(
        model: Model, context: LlmContext, options: StreamOptions
    ) -> AsyncIterator[StreamEvent]:
        return next(rest)(model, context, options)

    return play


async def until(claim: Callable[[], object], turns_of_the_loop: int = 10_000) -> None:
    """Let others go on until something is so."""
    for _ in range(turns_of_the_loop):
        if claim():
            return
        await asyncio.sleep(0)
    raise AssertionError("it did not come to that")


async def breathe(times: int = 20) -> None:
    """Let every task that can go on do so."""
    for _ in range(times):
        await asyncio.sleep(0)
