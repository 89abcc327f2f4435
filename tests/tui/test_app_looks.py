"""How the chat looks: a few states as pictures. Look at every picture that changes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from agent_tui import Agent, Usage
from agent_tui.config import Folders, Settings
from agent_tui.core.functions import tool
from agent_tui.core.model import Model, ModelCost
from agent_tui.core.tool import ToolContext
from agent_tui.session.approvals import ApprovalMode
from agent_tui.session.session import Session
from agent_tui.testing import Part, ScriptedModel, call, calls, end, text, think
from agent_tui.tui.app import ChatApp
from agent_tui.tui.first_hint import FirstHint
from tests.tui.chat import Chat, Clock

MODEL = Model(
    "test", "m", name="Test Model", context_window=200_000, cost=ModelCost(1, 2), api="test"
)
ANSWER = """I'll give **`Cache`** a timestamp for each entry:

- read `cache.py`
- add `max_age` in seconds

```python
class Cache:
    def __init__(self, size: int = 128) -> None:
        self._items = {}  # by key
```

| Name | Value |
|---|---:|
| size | 128 |
"""
Scene = Callable[[Pilot[None]], Awaitable[None]]


@tool(name="bash")
async def slow(command: str, ctx: ToolContext) -> str:
    """Run until it is stopped."""
    ctx.on_update("tests/test_a.py ....\ntests/test_b.py ..F\n")
    await ctx.signal.wait()
    raise RuntimeError("interrupted by the user")


@tool(name="read")
def quick(path: str) -> str:
    """Read."""
    return "one\ntwo\nthree\n"


def counted(*parts: Part) -> list[Part]:
    usage = Usage(input=1600, cache_read=16_800, output=700, total=19_100)
    return [*parts, end(usage=usage)]


SCRIPT = (
    counted(think("The cache evicts by size. Age is new."), text(ANSWER)),
    counted(calls(call("read", {"path": "src/cache.py"}))),
    counted(text("Now the tests."), calls(call("bash", {"command": "pytest -q tests/"}))),
)


class Stage:
    """The app with its script, in a folder that looks the same everywhere."""

    def __init__(
        self, home: Path, mode: ApprovalMode = "full-auto", theme: str = "harbour"
    ) -> None:
        self.model, self.clock = ScriptedModel(SCRIPT), Clock()
        agent = Agent(MODEL, stream_fn=self.model, tools=[slow, quick], max_iterations=100)
        FirstHint(home).done()
        cwd = Path("/project")
        self.session = Session.open(agent, cwd=cwd, mode=mode, clock=self.clock)
        settings = Settings(cwd=cwd, folders=Folders(home, home), theme=theme)
        self.app = ChatApp(self.session, settings=settings, clock=self.clock, environ={})

    def chat(self, pilot: Pilot[None]) -> Chat:
        return Chat(self.app, pilot, self.model, self.session, self.clock)

    async def begin(self, pilot: Pilot[None]) -> Chat:
        """One turn is over, a tool of the second one runs or asks."""
        c = self.chat(pilot)
        await c.until(lambda: self.app.is_ready)
        await c.say("Refactor the cache so that it evicts by age.")
        await c.idle()
        await c.say("Go on, and run the tests.")
        await c.until(lambda: self.app.presenter.moment.phase in ("tools", "asking"))
        await c.until(lambda: len(c.requests) == 3)
        await c.until(lambda: self.app.presenter.moment.phase in ("tools", "asking"))
        c.clock.time += 14
        return c

    async def rest(self, c: Chat) -> None:
        """Everything is drawn."""
        self.app.redraw()
        for block in self.app.transcript.blocks:
            block.tick(c.clock.time) if block.is_running else None
            self.app.pacer.mark(block)
        self.app.pacer.flush()
        await c.pilot.pause(0.1)


def test_a_running_tool_with_pending_messages(snap_compare: Any, tmp_path: Path) -> None:
    stage = Stage(tmp_path)

    async def scene(pilot: Pilot[None]) -> None:
        c = await stage.begin(pilot)
        await c.say("use the fixtures from tests/conftest.py, don't write new ones")
        await c.say("then update CHANGELOG", "alt+enter")
        await c.press(*"my draft")
        await stage.rest(c)

    assert snap_compare(stage.app, terminal_size=(110, 36), run_before=scene)


def test_a_stopped_turn(snap_compare: Any, tmp_path: Path) -> None:
    stage = Stage(tmp_path, theme="paper")

    async def scene(pilot: Pilot[None]) -> None:
        c = await stage.begin(pilot)
        await c.say("later", "alt+enter")
        await c.press("ctrl+c")
        await c.idle()
        await stage.rest(c)

    assert snap_compare(stage.app, terminal_size=(90, 30), run_before=scene)


def test_a_question(snap_compare: Any, tmp_path: Path) -> None:
    stage = Stage(tmp_path, mode="ask")

    async def scene(pilot: Pilot[None]) -> None:
        c = await stage.begin(pilot)
        await stage.rest(c)

    assert snap_compare(stage.app, terminal_size=(80, 24), run_before=scene)


@pytest.mark.parametrize("size", [(40, 12)], ids=["40x12"])
def test_a_very_small_screen(snap_compare: Any, tmp_path: Path, size: tuple[int, int]) -> None:
    stage = Stage(tmp_path)

    async def scene(pilot: Pilot[None]) -> None:
        c = await stage.begin(pilot)
        await c.say("be brief")
        await stage.rest(c)

    assert snap_compare(stage.app, terminal_size=size, run_before=scene)


def test_the_loop_inspector(snap_compare: Any, tmp_path: Path) -> None:
    stage = Stage(tmp_path)

    async def scene(pilot: Pilot[None]) -> None:
        c = await stage.begin(pilot)
        await stage.rest(c)
        await c.press("f2")
        await c.until(lambda: len(stage.app.screen_stack) == 2)

    assert snap_compare(stage.app, terminal_size=(100, 20), run_before=scene)


def test_a_call_that_is_held(snap_compare: Any, tmp_path: Path) -> None:
    stage = Stage(tmp_path, theme="daylight")

    async def scene(pilot: Pilot[None]) -> None:
        stage.session.breakpoints.tools.append("bash")
        c = await stage.begin(pilot)
        await stage.rest(c)

    assert snap_compare(stage.app, terminal_size=(80, 24), run_before=scene)


def test_the_help_during_a_turn(snap_compare: Any, tmp_path: Path) -> None:
    stage = Stage(tmp_path, theme="contrast")

    async def scene(pilot: Pilot[None]) -> None:
        c = await stage.begin(pilot)
        await stage.rest(c)
        await c.press("f1")
        await c.until(lambda: len(stage.app.screen_stack) == 2)

    assert snap_compare(stage.app, terminal_size=(100, 34), run_before=scene)
