"""The agent that is killed: slow streams, two tools that leave a trace, a model that keeps a diary.

Every request is written to the diary before it is answered, every tool call when it runs.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator
from pathlib import Path

from agent_tui import Agent, tool
from agent_tui.core.messages import ToolResultMessage, UserMessage
from agent_tui.core.model import Model
from agent_tui.core.stream import LlmContext, StreamEvent, StreamOptions
from agent_tui.core.usage import Usage
from agent_tui.testing import ScriptedModel, call, calls, end, pause, text
from tests.session.journal.kept import problems_of

DIARY = Path(os.environ.get("CRASH_DIARY", "diary.jsonl"))
BEAT = 0.02


def note(**what: object) -> None:
    """One line in the diary, with one write."""
    descriptor = os.open(DIARY, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    try:
        os.write(descriptor, json.dumps(what).encode() + b"\n")
    finally:
        os.close(descriptor)


async def _work(what: str) -> str:
    note(ran=what)
    await asyncio.sleep(2 * BEAT)
    return f"did {what}"


@tool(name="work")
async def work(what: str) -> str:
    """Do something once."""
    return await _work(what)


@tool(name="check")
async def check(what: str) -> str:
    """Check something once."""
    return await _work(what)


async def stream(
    model: Model, context: LlmContext, options: StreamOptions
) -> AsyncIterator[StreamEvent]:
    """A message of the person is answered with two calls, their results with words.

    The window is small: every few turns the older part of the conversation is summarised.
    """
    messages = context.messages
    size = sum(len(message.model_dump_json()) for message in messages) // 8
    used = end(usage=Usage(input=size, output=20, total=size + 20, cost_usd=0.001))
    if not context.tools:  # a summary is asked for, which happens now and then
        note(summary=len(messages))
        parts = [pause(BEAT), text("Much was done. " * 4, chunk=8), used]
        async for event in ScriptedModel([parts])(model, context, options):
            yield event
        return
    note(request=[message.id for message in messages], problems=problems_of(context))
    asked = [m for m in messages if isinstance(m, UserMessage)][-1]
    if isinstance(messages[-1], ToolResultMessage):
        parts = [pause(BEAT), text(f"Done with {asked.text}. " * 4, chunk=8), used]
    else:
        both = calls(
            call("work", {"what": f"work {len(messages)} {asked.id}"}),
            call("check", {"what": f"check {len(messages)} {asked.id}"}),
        )
        parts = [text("On it. " * 4, chunk=4), pause(BEAT), both, used]
    async for event in ScriptedModel([parts])(model, context, options):
        await asyncio.sleep(0.001)
        yield event


agent = Agent(Model("test", "crash", context_window=1500), tools=[work, check], stream_fn=stream)
