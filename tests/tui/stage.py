"""A session and a presenter that watches it, without an app: what would be shown, as data."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

from agent_tui import Agent, Tool
from agent_tui.session.approvals import ApprovalMode
from agent_tui.session.session import Session
from agent_tui.testing import Part, ScriptedModel
from agent_tui.tui.blocks import Block
from agent_tui.tui.canvas import plain_canvas
from agent_tui.tui.presenter import Presenter
from agent_tui.tui.status import status_lines
from tests.tui.chat import as_text


class Screen:
    """Where blocks go in a test; `marks` counts how often each was to be drawn again."""

    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self.marks: list[str] = []

    def append(self, *blocks: Block) -> None:
        self.blocks += blocks

    def remove(self, block: Block) -> None:
        self.blocks.remove(block)

    def mark(self, block: Block) -> None:
        assert block in self.blocks
        self.marks.append(block.id)

    @property
    def text(self) -> str:
        """Everything as it is drawn at 80 columns."""
        canvas = plain_canvas(80)
        return "\n".join(line.text for block in self.blocks for line in block.lines(canvas))

    @property
    def kinds(self) -> list[str]:
        return [type(block).__name__.removesuffix("Block").lower() for block in self.blocks]


class Stage:
    """A session, a presenter that watches it, and a clock that stands still."""

    def __init__(
        self, script: Sequence[Any], tools: Sequence[Tool], mode: ApprovalMode, **agent: Any
    ) -> None:
        self.time = 100.0
        self.model = ScriptedModel(script)
        self.waits: list[float] = []
        model = agent.pop("model", "test/m")
        self.session = Session.open(
            Agent(model, stream_fn=self.model, tools=tools, **agent),
            mode=mode,
            clock=lambda: self.time,
            sleep=self._sleep,
            jitter=lambda: 1.0,
        )
        self.screen = Screen()
        self.presenter = Presenter(
            self.screen,
            self.session,
            lambda: self.time,
            max_steps=self.session.agent.max_iterations,
        )
        self.session.subscribe(lambda event, signal: self.presenter.take(event))
        self.on_wait: Callable[[], None] = lambda: None

    async def _sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.on_wait()
        await asyncio.sleep(0)

    @property
    def lines(self) -> str:
        return as_text(status_lines(self.presenter.status, 120))


@asynccontextmanager
async def stage(
    *script: Part | Sequence[Part],
    tools: Sequence[Tool] = (),
    mode: ApprovalMode = "full-auto",
    **agent: Any,
) -> AsyncIterator[Stage]:
    made = Stage(script, tools, mode, **agent)
    yield made
    made.session.close()


async def until(claim: Callable[[], object]) -> None:
    """Let the loop run until something is true."""
    async with asyncio.timeout(10):
        while not claim():
            await asyncio.sleep(0)
