"""Recordings in the chat's screen: what they show, and what the keys do.

Look at what has changed before you accept it: `python -m tests.tui.test_replay` writes it anew.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from textual.pilot import Pilot

from agent_tui.session.replay import AT_ONCE, Pace, Player, load_recording
from agent_tui.tui.canvas import plain_canvas
from agent_tui.tui.replay import ReplayApp
from agent_tui.tui.screens.output import OutputScreen
from tests.tui.chat import as_text

RECORDINGS = sorted((Path(__file__).parent.parent / "cases" / "recordings").glob("*.jsonl"))
PATIENCE_SECONDS = 10.0


@asynccontextmanager
async def playing(path: Path, pace: Pace) -> AsyncIterator[tuple[ReplayApp, Pilot[None]]]:
    """The screen of a recording."""
    app = ReplayApp(Player(load_recording(path), path.parent, pace))
    async with app.run_test(size=(80, 24)) as pilot:
        yield app, pilot


async def until(pilot: Pilot[None], condition: Callable[[], bool]) -> None:
    loop = asyncio.get_running_loop()
    latest = loop.time() + PATIENCE_SECONDS
    while not condition():
        assert loop.time() < latest
        await pilot.pause(0.01)


async def shown(path: Path) -> str:
    """The whole transcript as text, without what the clock says."""
    async with playing(path, Pace(AT_ONCE)) as (app, pilot):
        await until(pilot, app.has_ended.is_set)
        canvas = plain_canvas(76)
        rows = [line.text for block in app.transcript.blocks for line in block.lines(canvas)]
        rows += ["", as_text(app.chrome.rows("status"))]
    text = "\n".join(row.rstrip() for row in rows) + "\n"
    return re.sub(r"\d+(\.\d)? s\b", "N s", re.sub(r"~?\d+ tok/s · ", "", text))


@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: path.stem)
async def test_a_recording_looks_as_it_did(path: Path) -> None:
    assert await shown(path) == path.with_suffix(".txt").read_text("utf-8")


async def test_the_keyboard_steers_the_playing_and_types_nothing() -> None:
    pace = Pace(AT_ONCE, until=1)
    async with playing(RECORDINGS[0], pace) as (app, pilot):
        await until(pilot, lambda: pace.is_standing and pace.step == 1)
        await pilot.press(*"text", "enter")
        assert app.prompt.text == ""
        assert "space pause" in as_text(app.chrome.rows("hint"))
        await pilot.press("right")
        await until(pilot, lambda: pace.is_standing and pace.step == 2)
        await pilot.press("space")
        await until(pilot, app.has_ended.is_set)


async def test_a_recording_can_be_searched_and_looked_at() -> None:
    async with playing(RECORDINGS[0], Pace(AT_ONCE)) as (app, pilot):
        await until(pilot, app.has_ended.is_set)
        await pilot.press("slash", *"ends q", "backspace", "backspace", "enter")
        await until(pilot, lambda: "1 of 1 “ends”" in as_text(app.chrome.rows("hint")))
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, OutputScreen))
        await pilot.press("q")
        await until(pilot, lambda: len(app.screen_stack) == 1)
        await pilot.press("escape")

        assert app.prompt.text == ""
        assert "q leave" in as_text(app.chrome.rows("hint"))


async def test_keys_of_the_block_cursor_that_do_something_do_nothing_in_a_recording() -> None:
    async with playing(RECORDINGS[0], Pace(AT_ONCE)) as (app, pilot):
        await until(pilot, app.has_ended.is_set)
        for key in ("p", "k", "b", "o", "m"):
            await pilot.press("f6", key)

            assert app.modes.mode == "none"
            assert app.prompt.text == ""
            assert len(app.screen_stack) == 1


async def test_the_speed_has_bounds() -> None:
    pace = Pace(1.0, until=1)
    async with playing(RECORDINGS[0], pace) as (_, pilot):
        await pilot.press(*["plus"] * 9)
        assert pace.speed == 64
        await pilot.press(*["minus"] * 20)
        assert pace.speed == 1 / 8


@pytest.mark.parametrize("key", ["q", "ctrl+c", "ctrl+d"])
async def test_a_recording_can_be_left_at_any_time(key: str) -> None:
    async with playing(RECORDINGS[0], Pace(AT_ONCE, until=1)) as (app, pilot):
        await until(pilot, lambda: app.is_ready)
        await pilot.press(key)
        await until(pilot, lambda: not app.is_running)


if __name__ == "__main__":
    for recording in RECORDINGS:
        recording.with_suffix(".txt").write_text(asyncio.run(shown(recording)), "utf-8")
