"""The real app around a scripted model, driven by keys and looked at as a person would."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from textual.pilot import Pilot

from agent_tui import Agent, Tool, ToolContext, UserMessage
from agent_tui.config.settings import Settings
from agent_tui.core.limits import Limits
from agent_tui.core.model import Model, ModelCost
from agent_tui.core.stream import LlmContext
from agent_tui.session.approvals import ApprovalMode
from agent_tui.session.session import Session
from agent_tui.testing import Part, ScriptedModel
from agent_tui.tui.app import ChatApp
from agent_tui.tui.blocks import ToolBlock
from agent_tui.tui.canvas import plain_canvas
from agent_tui.tui.keys import InputReader
from agent_tui.tui.pending import text_of_item
from agent_tui.tui.status import Span

PATIENCE_SECONDS = 10.0


class Gate:
    """A tool that runs until the test lets it go; `args` of its calls are recorded."""

    def __init__(self, name: str = "bash") -> None:
        self.open = asyncio.Event()
        self.calls: list[dict[str, Any]] = []
        self.running = 0
        schema = {"type": "object", "properties": {"command": {"type": "string"}}}
        self.tool = Tool(name, "waits", schema, self._run)

    async def _run(self, call_id: str, args: dict[str, Any], ctx: ToolContext) -> str:
        self.calls.append(args)
        self.running += 1
        waiting = asyncio.ensure_future(self.open.wait())
        aborted = asyncio.ensure_future(ctx.signal.wait())
        try:
            await asyncio.wait([waiting, aborted], return_when=asyncio.FIRST_COMPLETED)
        finally:
            waiting.cancel()
            aborted.cancel()
            self.running -= 1
        if ctx.signal.aborted:
            raise RuntimeError("interrupted by the user")
        return "done\n"


class Clock:
    """Stands still until it is moved."""

    def __init__(self) -> None:
        self.time = 1000.0

    def __call__(self) -> float:
        return self.time


class Chat:
    """What a test does to the app and sees of it."""

    def __init__(
        self, app: ChatApp, pilot: Pilot[None], model: ScriptedModel, session: Session, clock: Clock
    ) -> None:
        self.app = app
        self.pilot = pilot
        self.model = model
        self.session = session
        self.clock = clock

    # -- doing -----------------------------------------------------------------------------------

    async def press(self, *keys: str) -> None:
        """Keys, one after another, each fully handled."""
        for key in keys:
            await self.pilot.press(key)
        await self.pilot.pause()

    async def gets(self, data: bytes) -> None:
        """What the terminal sends, in one piece."""
        reader = InputReader()
        for event in [*reader.feed(data), *reader.expire()]:
            self.app.post_message(event)
        await self.pilot.pause()
        await self.app.workers.wait_for_complete()
        await self.pilot.pause()

    async def say(self, text: str, key: str = "enter") -> None:
        """Put text into the composer and send it."""
        self.app.prompt.set_text(text)
        await self.press(key)

    async def until(self, claim: Callable[[], object], what: str = "") -> None:
        """Wait for something to become true."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not claim():
            assert time.monotonic() < deadline, what or "it did not happen"
            await self.pilot.pause(0.005)
        await self.pilot.pause()

    async def idle(self) -> None:
        """Wait until no turn runs."""
        await self.until(lambda: not self.app.is_busy, "the turn did not end")

    # -- seeing ----------------------------------------------------------------------------------

    @property
    def draft(self) -> str:
        """What stands in the composer."""
        return self.app.prompt.expanded_text

    @property
    def queued(self) -> list[str]:
        """The texts in the pending strip, in delivery order."""
        return [text_of_item(item) for item in self.session.agent.queued()]

    @property
    def said(self) -> list[str]:
        """The person's messages in the model's transcript."""
        messages = self.session.agent.state.messages
        return [message.text for message in messages if isinstance(message, UserMessage)]

    @property
    def shown(self) -> list[str]:
        """The blocks of the transcript: kind and text."""
        return [
            f"{type(block).__name__.removesuffix('Block').lower()}: {block.source()}"
            for block in self.app.transcript.blocks
        ]

    @property
    def panels(self) -> list[str]:
        """The tool panels as they are drawn, without colours."""
        canvas = plain_canvas(self.app.size.width)
        return [
            "\n".join(line.text for line in block.lines(canvas))
            for block in self.app.transcript.blocks
            if isinstance(block, ToolBlock)
        ]

    def line(self, name: str) -> str:
        """A line around the transcript, `header`, `hint`, `status`, as text."""
        return as_text(self.app.chrome.rows(name))

    def request(self, place: int) -> list[str]:
        """The user messages of one request."""
        return [m.text for m in self.model.requests[place].messages if isinstance(m, UserMessage)]

    @property
    def requests(self) -> list[LlmContext]:
        """All requests."""
        return self.model.requests


def as_text(rows: Sequence[Sequence[Span]]) -> str:
    """Rows of spans as lines."""
    return "\n".join("".join(text for text, _ in row) for row in rows)


@asynccontextmanager
async def chat(
    *script: Part | Sequence[Part],
    tools: Sequence[Tool] = (),
    size: tuple[int, int] = (80, 24),
    mode: ApprovalMode = "full-auto",
    cwd: Path | None = None,
    prices: ModelCost | None = None,
    turn_limits: Limits | None = None,
    session_limits: Limits | None = None,
    settings: Settings | None = None,
    **agent: Any,
) -> AsyncIterator[Chat]:
    """The app on a screen of its own, its session open."""
    script_model, clock = ScriptedModel(script), Clock()
    model = agent.pop("model", None) or Model("test", "m", cost=prices)
    session = Session.open(
        Agent(model, stream_fn=script_model, tools=tools, **agent),
        cwd=cwd,
        mode=mode,
        clock=clock,
        turn_limits=turn_limits,
        session_limits=session_limits,
    )
    app = ChatApp(session, settings=settings, clock=clock, environ={})
    async with app.run_test(size=size) as pilot:
        made = Chat(app, pilot, script_model, session, clock)
        await made.until(lambda: app.is_ready)
        yield made
