"""Transcripts for the tests of compaction, and a session with a small window."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from agent_tui.agent.agent import Agent
from agent_tui.core.events import AgentEndEvent
from agent_tui.core.messages import (
    AgentMessage,
    AssistantMessage,
    TextBlock,
    ToolCall,
    ToolResultMessage,
    UserMessage,
)
from agent_tui.core.model import Model
from agent_tui.core.tool import Tool
from agent_tui.core.usage import Usage
from agent_tui.session.events import AnyEvent, CompactionEndEvent, CompactionStartEvent
from agent_tui.session.session import Session
from agent_tui.testing import Part, ScriptedModel
from tests.session.rig import Clock

WINDOW = 8192
"""Reserve 2048, threshold 6144, 2730 kept."""


def said(tokens: int, text: str = "") -> UserMessage:
    """A message of the person of so many tokens."""
    return UserMessage(content=text.ljust(4 * tokens, "u"))


def answered(tokens: int, *call_ids: str, usage: int = 0, path: str = "a.txt") -> AssistantMessage:
    """An answer of about so many tokens, with calls of `read`."""
    calls = [ToolCall(id=name, name="read", arguments={"path": path}) for name in call_ids]
    return AssistantMessage(
        content=[TextBlock(text="a" * 4 * tokens), *calls],
        provider="test",
        model="m",
        stop_reason="tool_use" if call_ids else "stop",
        usage=Usage(input=usage, total=usage),
    )


def result(call_id: str, tokens: int, *, is_error: bool = False) -> ToolResultMessage:
    """The result of a call of `read`."""
    return ToolResultMessage(
        tool_call_id=call_id,
        tool_name="read",
        content=[TextBlock(text="r" * 4 * tokens)],
        is_error=is_error,
    )


class Small:
    """A session with a window of 8192 tokens and a script."""

    def __init__(
        self,
        *script: Part | list[Part],
        messages: list[AgentMessage] | None = None,
        path: Path | None = None,
        tools: list[Tool] | None = None,
        window: int | None = WINDOW,
        **options: Any,
    ) -> None:
        self.model = ScriptedModel(list(script))
        self.clock = Clock()
        self.agent = Agent(
            Model("test", "m", context_window=window),
            stream_fn=self.model,
            messages=messages or [],
            tools=tools or [],
            **options,
        )
        self.session = Session.open(
            self.agent,
            path,
            mode="full-auto",
            clock=self.clock,
            sleep=self.clock.sleep,
            jitter=lambda: 1.0,
        )
        self.events: list[AnyEvent] = []
        self.session.subscribe(lambda event, signal: self.events.append(event))

    @property
    def ends(self) -> list[CompactionEndEvent]:
        """How the compactions ended."""
        return [event for event in self.events if isinstance(event, CompactionEndEvent)]

    @property
    def reasons(self) -> list[str]:
        """Why they began."""
        return [event.reason for event in self.events if isinstance(event, CompactionStartEvent)]

    @property
    def runs(self) -> list[AgentEndEvent]:
        """How the runs ended."""
        return [event for event in self.events if isinstance(event, AgentEndEvent)]

    @property
    def roles(self) -> list[str]:
        """The context, by role."""
        return [message.role for message in self.agent.state.messages]
