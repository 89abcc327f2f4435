"""The tools by `tests/cases/tools`: files before, one call, what must be true after."""

from __future__ import annotations

import asyncio
import base64
import json
import os
import re
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import pytest

from agent_tui.core.tool import ToolContext, ToolResult
from tests.tools.calls import as_result, named, run

CASES = Path(__file__).parent.parent / "cases" / "tools"
NAMES = sorted(path.name.removesuffix(".scenario.json") for path in CASES.glob("*.json"))
TICK_SECONDS = 0.01


class Case:
    """One call in a folder of its own, and what was seen of it."""

    def __init__(self, name: str, folder: Path) -> None:
        data = json.loads((CASES / f"{name}.scenario.json").read_text("utf-8"))
        self.folder = folder
        self.checks: list[tuple[str, Any]] = [
            pair for check in data["checks"] for pair in check.items()
        ]
        self.call = data["call"]
        self.shown: list[tuple[float, str]] = []
        """What the panel got, each with its time since the beginning."""
        self.longest_wait = 0.0
        """How late the loop was for a tick, at worst."""
        for path, content in data["setup"].get("files", {}).items():
            (folder / path).write_bytes(_content(content))
            if "mode" in content:
                (folder / path).chmod(int(content["mode"], 8))
        for path in data["setup"].get("fifos", ()):
            os.mkfifo(folder / path)

    async def go(self) -> None:
        """Make the call."""
        tool = named({"shell": "bash"}.get(self.call["name"], self.call["name"]), self.folder)
        self.began = time.monotonic()
        context = ToolContext(on_update=self._show)
        ticker = asyncio.create_task(self._tick())
        call = asyncio.create_task(run(tool, context, **self.call["arguments"]))
        for kind, value in self.checks:
            if kind == "abort_after_ms":
                await asyncio.sleep(value / 1000)
                self.began = time.monotonic()
                context.signal.set()
        self.result = await call
        self.milliseconds = 1000 * (time.monotonic() - self.began)
        ticker.cancel()

    async def _tick(self) -> None:
        while True:
            before = time.monotonic()
            await asyncio.sleep(TICK_SECONDS)
            self.longest_wait = max(self.longest_wait, time.monotonic() - before - TICK_SECONDS)

    def _show(self, partial: ToolResult | str) -> None:
        self.shown.append((time.monotonic() - self.began, as_result(partial).text))

    def check(self, kind: str, value: Any) -> None:
        """Fail unless this is true."""
        text = self.result.text
        match kind:
            case "result_matches":
                assert re.search(value, text), text
            case "result_equals":
                assert text == value
            case "result_is_error":
                assert self.result.is_error == value, text
            case "result_bytes_max":
                assert len(text.encode()) <= value
            case "request_is_valid_utf8":
                assert text.encode("utf-8")
            case "within_ms" | "idle_within_ms":
                assert self.milliseconds <= value
            case "key_echo_ms_max":
                assert 1000 * self.longest_wait <= value
            case "file_text":
                assert (self.folder / value[0]).read_text("utf-8") == value[1]
            case "file_bytes_equal":
                expected = (CASES / value[1]).read_bytes()
                assert (self.folder / value[0]).read_bytes() == expected
            case "file_mode":
                assert (self.folder / value[0]).stat().st_mode & 0o7777 == int(value[1], 8)
            case "no_process":
                assert value not in [" ".join(each.cmdline()) for each in _inside(self.folder)]
            case "screen_has_within_ms":
                seen = next(when for when, shown in self.shown if value[0] in shown)
                assert 1000 * seen <= value[1]
            case "live_panel_not_has":
                assert not any(value in shown for _, shown in self.shown)
            case "app_alive" | "abort_after_ms":
                pass  # the call came back; the abort was made
            case _:
                pytest.fail(f"nobody knows how to check {kind}")


def _content(said: dict[str, str]) -> bytes:
    if "bytes_from" in said:
        return (CASES / said["bytes_from"]).read_bytes()
    return base64.b64decode(said["base64"]) if "base64" in said else said["text"].encode()


def _inside(folder: Path) -> list[psutil.Process]:
    """Live processes that work in this folder."""
    found = []
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            is_dead = process.status() == psutil.STATUS_ZOMBIE
            if not is_dead and Path(process.cwd()).is_relative_to(folder):
                found.append(process)
    return found


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path
    for process in _inside(tmp_path):
        process.kill()


@pytest.mark.parametrize("name", NAMES)
async def test_a_tool_does_what_the_case_says(name: str, folder: Path) -> None:
    case = Case(name, folder)
    await case.go()
    for kind, value in case.checks:
        case.check(kind, value)
