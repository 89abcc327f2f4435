"""A session with a scripted model, a clock that tests move, and a record of all that it told."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

from agent_tui.agent.agent import Agent
from agent_tui.agent.hooks import AgentContext, BeforeToolCallContext
from agent_tui.core.abort import AbortSignal
from agent_tui.core.events import AgentEndEvent
from agent_tui.core.limits import Limits
from agent_tui.core.messages import AssistantMessage, ToolCall, text_of
from agent_tui.core.model import Model, ModelCost
from agent_tui.core.stream import (
    LlmContext,
    StreamDone,
    StreamError,
    StreamEvent,
    StreamFn,
    StreamOptions,
)
from agent_tui.core.tool import Tool, ToolContext
from agent_tui.core.usage import Usage
from agent_tui.session.approvals import ApprovalMode, Approvals
from agent_tui.session.events import (
    AgentSettledEvent,
    AnyEvent,
    AutoRetryEndEvent,
    AutoRetryStartEvent,
)
from agent_tui.session.session import Session
from agent_tui.testing import Part, ScriptedModel

E = TypeVar("E")


class Clock:
    """Seconds that pass when somebody sleeps, or when a test says so."""

    def __init__(self) -> None:
        self.now = 100.0
        self.slept: list[float] = []
        self.sleeps_for_ever = False

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        if self.sleeps_for_ever:
            await asyncio.Event().wait()
        self.now += seconds


class Rig:
    """One session under test."""

    def __init__(
        self,
        *script: Part | list[Part],
        tools: list[Tool] | None = None,
        mode: ApprovalMode = "full-auto",
        cwd: Path | None = None,
        prices: ModelCost | None = None,
        turn_limits: Limits | None = None,
        session_limits: Limits | None = None,
        **options: Any,
    ) -> None:
        self.model = ScriptedModel(list(script))
        self.clock = Clock()
        model = Model("test", "m", cost=prices)
        self.agent = Agent(model, stream_fn=self.model, tools=tools or [], **options)
        self.session = Session.open(
            self.agent,
            cwd=cwd,
            mode=mode,
            clock=self.clock,
            sleep=self.clock.sleep,
            jitter=lambda: 1.0,
            turn_limits=turn_limits,
            session_limits=session_limits,
        )
        self.events: list[AnyEvent] = []
        self.session.subscribe(lambda event, signal: self.events.append(event))

    def told(self, kind: type[E]) -> list[E]:
        """Every event of one kind, in order."""
        return [event for event in self.events if isinstance(event, kind)]

    @property
    def types(self) -> list[str]:
        """The types of all events, in order."""
        return [event.type for event in self.events]

    @property
    def retries(self) -> list[str]:
        """The retry events as `start:1` and `end:true`."""
        shown = []
        for event in self.events:
            if isinstance(event, AutoRetryStartEvent):
                shown.append(f"start:{event.attempt}")
            elif isinstance(event, AutoRetryEndEvent):
                shown.append(f"end:{str(event.success).lower()}")
        return shown

    @property
    def reasons(self) -> list[str]:
        """How the runs ended."""
        return [event.reason for event in self.told(AgentEndEvent)]

    @property
    def settled(self) -> int:
        """How often the session came to rest."""
        return len(self.told(AgentSettledEvent))

    @property
    def queued(self) -> list[str]:
        """The texts that wait, in delivery order."""
        return [text_of(item.message.content) for item in self.agent.queued()]  # type: ignore[union-attr]

    def when(self, kind: type[AnyEvent], act: Callable[[], object], *, nth: int = 1) -> None:
        """Call `act` at the nth event of a kind, inside its delivery."""
        left = [nth]

        def see(event: AnyEvent, signal: AbortSignal) -> None:
            if isinstance(event, kind):
                left[0] -= 1
                if left[0] == 0:
                    act()

        self.session.subscribe(see)


def reporting(model: StreamFn, usages: list[Usage]) -> StreamFn:
    """The same model, whose nth response reports the nth usage however it ends."""
    left = iter(usages)

    async def stream(
        served: Model, context: LlmContext, options: StreamOptions
    ) -> AsyncIterator[StreamEvent]:
        usage = next(left)
        async for event in model(served, context, options):
            if isinstance(event, StreamDone | StreamError):
                event.message.usage = usage.model_copy()
            yield event

    return stream


def user_texts(request: LlmContext) -> list[str]:
    """What the person said, as the model got it."""
    return [text_of(m.content) for m in request.messages if m.role == "user"]


def waiting_tool(name: str = "wait") -> tuple[Tool, asyncio.Event, asyncio.Event]:
    """A tool that reports when it has started and returns when it is let go, or at an abort."""
    started, let_go = asyncio.Event(), asyncio.Event()

    async def execute(call_id: str, args: dict[str, Any], ctx: ToolContext) -> str:
        started.set()
        waits = [asyncio.ensure_future(let_go.wait()), asyncio.ensure_future(ctx.signal.wait())]
        await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        for wait in waits:
            wait.cancel()
        return "waited"

    return Tool(name, "Waits.", {"type": "object", "properties": {}}, execute), started, let_go


def plain_tool(name: str, answer: str = "done") -> Tool:
    """A tool that answers at once."""

    async def execute(call_id: str, args: dict[str, Any], ctx: ToolContext) -> str:
        return answer

    return Tool(name, "Answers.", {"type": "object"}, execute)


async def until(condition: Callable[[], bool]) -> None:
    """Let others run, threads included, until `condition` holds; fails after ten seconds."""
    deadline = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < deadline, "it never came to that"
        await asyncio.sleep(0)


def start(coroutine: Awaitable[None]) -> asyncio.Task[None]:
    """Run beside the test."""

    async def run() -> None:
        await coroutine

    return asyncio.get_running_loop().create_task(run())


async def lets_run(approvals: Approvals, name: str, args: dict[str, Any]) -> bool:
    """Whether a call runs without a question."""
    approvals.unattended = True
    asked = ToolCall(id="c1", name=name, arguments=args)
    ctx = BeforeToolCallContext(AssistantMessage(content=[asked]), asked, args, AgentContext())
    return await approvals.before_tool_call(ctx, AbortSignal()) is None
