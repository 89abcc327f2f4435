"""Agents for `agent-tui chat --agent`: scripted models with the real tools."""

from __future__ import annotations

import os
from pathlib import Path

from agent_tui import Agent
from agent_tui.testing import ScriptedModel, call, calls, text
from agent_tui.tools import builtin_tools

MARK = os.environ.get("TEST_MARK", "")
SLEEP = f'python3 -c "import time; time.sleep(60)  # {MARK}" & wait'

sleeper = Agent(
    "test/sleeper",
    stream_fn=ScriptedModel(
        [
            [text("Running it."), calls(call("bash", {"command": SLEEP}))],
            text("STILL HERE"),
            text("FOLLOWED"),
        ]
    ),
    tools=builtin_tools(Path.cwd()),
)
