"""A session on disk, its model scripted; and the file as a list of lines."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from agent_tui import Tool, tool
from agent_tui.agent.agent import Agent
from agent_tui.core.messages import AgentMessage, AssistantMessage, ToolResultMessage
from agent_tui.core.stream import LlmContext
from agent_tui.core.usage import Usage
from agent_tui.session.session import Session
from agent_tui.testing import Part, ScriptedModel, call, calls, end, text

USED = Usage(input=900, output=30, total=930, cost_usd=0.0012)


@tool(name="shell")
def shell(command: str) -> str:
    """List."""
    return "a.txt\nb.txt\n"


@tool(name="read")
def read(path: str) -> str:
    """Read."""
    return "hello" if path == "a.txt" else "world"


TOOLS = [shell, read]
SCRIPT: list[Part | list[Part]] = [
    [text("Listing."), calls(call("shell", {"command": "ls"}, id="c1")), end(usage=USED)],
    [
        calls(call("read", {"path": "a.txt"}, id="c2"), call("read", {"path": "b.txt"}, id="c3")),
        end(usage=USED),
    ],
    [text("a.txt says hello, b.txt says world."), end(usage=USED)],
]


def opened(
    path: Path | None, *script: Part | list[Part], tools: Sequence[Tool] = TOOLS
) -> tuple[Session, ScriptedModel]:
    """A session in that file, with a model that plays this."""
    model = ScriptedModel([*script])
    agent = Agent("test/m", tools=tools, stream_fn=model)
    return Session.open(agent, path, mode="full-auto"), model


async def healthy(path: Path) -> list[AgentMessage]:
    """Write the session of the cases: seven messages, two parallel calls among them."""
    session, _ = opened(path, *SCRIPT)
    await session.prompt("List the files, then read the first. Grüße 漢字 🙂")
    session.close()
    return session.agent.state.messages


def records(path: Path) -> list[dict[str, Any]]:
    """Every line of the file."""
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def place_of(lines: Sequence[bytes], message_number: int) -> int:
    """Which line holds the message of that number, from 1."""
    return [n for n, line in enumerate(lines) if b'"type":"message"' in line][message_number - 1]


def problems_of(request: LlmContext) -> list[str]:
    """What a provider would refuse: unpaired calls, empty texts, arguments that are no object."""
    found = []
    waiting: list[str] = []
    for message in request.messages:
        if isinstance(message, ToolResultMessage):
            if message.tool_call_id not in waiting:
                found.append(f"result without a call: {message.tool_call_id}")
            else:
                waiting.remove(message.tool_call_id)
            continue
        if waiting:
            found.append(f"calls without a result: {waiting}")
        waiting = []
        if isinstance(message, AssistantMessage):
            waiting = [one.id for one in message.tool_calls]
            texts = [block.text for block in message.content if block.type == "text"]
            if not all(words.strip() for words in texts):
                found.append("an empty text")
    return found + ([f"calls without a result: {waiting}"] if waiting else [])
