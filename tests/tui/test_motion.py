"""Nothing blinks, and with reduced motion nothing moves by itself."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.widgets import Input

from agent_tui.config.folders import Folders
from agent_tui.config.settings import Motion, Settings
from agent_tui.testing import call, calls, text
from agent_tui.tui.screens.output import OutputScreen
from tests.tui.chat import Chat, Gate, chat


def glyphs_of(c: Chat) -> set[str]:
    """How the panel that runs begins, a few beats of its spinner long."""
    (block,) = [block for block in c.app.transcript.blocks if block.is_running]
    seen = set()
    for _ in range(4):
        c.clock.time += 0.25
        block.tick(c.clock.time)
        c.app.transcript.changed(block)
        rows = range(c.app.transcript.size.height)
        shown = [c.app.transcript.render_line(y).text for y in rows]
        seen.add(next(row.strip()[0] for row in shown if "bash" in row))
    return seen


@pytest.mark.parametrize(("motion", "count"), [("full", 4), ("reduced", 1)])
async def test_the_spinner_turns_only_with_motion(
    tmp_path: Path, motion: Motion, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("textual.constants.TEXTUAL_ANIMATIONS", "full")
    gate = Gate()
    settings = Settings(cwd=tmp_path, folders=Folders(tmp_path, tmp_path), motion=motion)
    script = (calls(call("bash", {"command": "make"})), text("ok"))
    async with chat(*script, tools=[gate.tool], settings=settings) as c:
        await c.say("go")
        await c.until(lambda: gate.running)
        glyphs = glyphs_of(c)
        gate.open.set()
        await c.idle()

        assert len(glyphs) == count
        assert (c.app.animation_level == "none") == (motion == "reduced")


async def test_where_textual_may_not_animate_nothing_moves_either(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("textual.constants.TEXTUAL_ANIMATIONS", "none")
    gate = Gate()
    async with chat(calls(call("bash", {"command": "make"})), tools=[gate.tool]) as c:
        await c.say("go")
        await c.until(lambda: gate.running)
        glyphs = glyphs_of(c)
        gate.open.set()

        assert glyphs == {"●"}


@pytest.mark.parametrize("key", ["ctrl+p", "ctrl+l", "viewer"])
async def test_no_cursor_blinks(tmp_path: Path, key: str) -> None:
    settings = Settings(cwd=tmp_path, folders=Folders(tmp_path, tmp_path))
    async with chat(settings=settings) as c:
        if key == "viewer":
            c.app.push_screen(OutputScreen("a", "text"))
        else:
            await c.press(key)
        await c.until(lambda: c.app.screen.query(Input))

        assert not c.app.prompt.cursor_blink
        assert not any(line.cursor_blink for line in c.app.screen.query(Input))
