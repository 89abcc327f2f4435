"""The chat in G3's flood, for `echo.py`: `python -m benchmarks.flooded URL TOKENS RATE #ID`.

An agent streams its answer or runs its tools, never both at once. So this program is the chat as
it is, and from the first tool call on a second answer streams into its transcript, from the same
server by the same provider, drawn by the same pacer.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from agent_tui.config import Flags, load_settings
from agent_tui.core.events import ToolExecutionStartEvent
from agent_tui.core.messages import UserMessage
from agent_tui.core.registry import stream_fn_for
from agent_tui.core.stream import LlmContext, StreamOptions, TextDelta
from agent_tui.session.build import build_session
from agent_tui.session.first_model import settle_model
from agent_tui.session.session import Session
from agent_tui.tui import ChatApp
from agent_tui.tui.blocks import AssistantBlock


def main(url: str, *question: str) -> None:
    flags = Flags(model="bench", base_url=url, mode="full-auto")
    settings = settle_model(load_settings(flags, os.environ, Path.cwd()))

    def open_session() -> Session:
        session = build_session(settings)
        session.subscribe(flood)
        return session

    def flood(event: object, signal: object) -> None:
        if isinstance(event, ToolExecutionStartEvent):
            app.start(second_answer())

    async def second_answer() -> None:
        block = AssistantBlock()
        app.transcript.append(block)
        model = app.session.agent.state.model
        context = LlmContext(messages=[UserMessage(content=" ".join(question))])
        async for event in stream_fn_for(model)(model, context, StreamOptions()):
            if isinstance(event, TextDelta):
                block.append(event.delta)
                app.pacer.mark(block)

    app = ChatApp(open_session, settings=settings)
    app.run()


if __name__ == "__main__":
    main(*sys.argv[1:])
