"""A conversation with the demonstration, one request at a time, without an agent."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence

from agent_tui.core.abort import AbortSignal
from agent_tui.core.messages import (
    AssistantMessage,
    LlmMessage,
    TextBlock,
    ThinkingBlock,
    ToolCall,
    ToolResultMessage,
    UserMessage,
)
from agent_tui.core.model import Model
from agent_tui.core.stream import LlmContext, StreamEvent, StreamOptions, ToolCallDelta, ToolSchema
from agent_tui.providers.demo import stream

TOOLS = ("read", "bash", "edit", "write", "grep", "find", "ls")
AT_ONCE = Model("demo", "tour", api="demo", compat={"pace": 0})
LONG_AGO = 1
MUCH_LATER = 2**43
DECLINED = "The user declined this call."
NOBODY = "bash needs approval and nobody is there to give it; --mode full-auto would allow it."
FOLDER = "docs/\nsrc/\n.env  12 bytes\nREADME.md  1.2 KiB\nlogo.png  3 KiB"


class Talk:
    """What was said so far; each method adds something and returns the demonstration's answer."""

    def __init__(self, tools: Sequence[str] = TOOLS) -> None:
        self.messages: list[LlmMessage] = []
        self.tools = [ToolSchema(name, f"The tool {name}. More about it.") for name in tools]
        self.events: list[StreamEvent] = []
        """Those of the latest answer."""

    @property
    def context(self) -> LlmContext:
        """The request that would be sent now."""
        return LlmContext("You are helpful.", list(self.messages), self.tools)

    @property
    def last(self) -> AssistantMessage:
        """The latest answer."""
        answers = [m for m in self.messages if isinstance(m, AssistantMessage)]
        return answers[-1]

    async def prompt(self, text: str) -> AssistantMessage:
        """Typed after the last answer had ended."""
        return await self._say(text, MUCH_LATER)

    async def waiting(self, text: str) -> AssistantMessage:
        """Typed before the last answer had ended, and delivered now."""
        return await self._say(text, LONG_AGO)

    async def results(
        self, *texts: str, failed: bool = False, steering: str | None = None
    ) -> AssistantMessage:
        """The results of the latest calls, with what was typed while they ran."""
        self.messages += [
            ToolResultMessage(
                tool_call_id=call.id,
                tool_name=call.name,
                content=[TextBlock(text=text)],
                is_error=failed,
            )
            for call, text in zip(self.last.tool_calls, texts, strict=True)
        ]
        return await (self.answer() if steering is None else self.waiting(steering))

    async def answer(self) -> AssistantMessage:
        """The answer to everything so far."""
        self.events = await play(self.context)
        self.messages.append(message_of(self.events))
        return self.last

    def interrupt(self, text: str) -> None:
        """The latest answer was stopped when it had come to `text`, as the engine would show it."""
        self.messages[-1] = AssistantMessage(
            content=[
                TextBlock(text=text),
                TextBlock(text="[Interrupted by the user before this answer was complete.]"),
            ],
            stop_reason="aborted",
        )

    async def _say(self, text: str, timestamp: int) -> AssistantMessage:
        self.messages.append(UserMessage(content=text, timestamp=timestamp))
        return await self.answer()


async def play(context: LlmContext, model: Model = AT_ONCE) -> list[StreamEvent]:
    """All events of one answer."""
    return [event async for event in stream(model, context, StreamOptions())]


async def play_until(
    context: LlmContext, model: Model, is_reached: str
) -> tuple[list[StreamEvent], AbortSignal]:
    """The events of an answer that is aborted as soon as an event of that type was seen."""
    signal = AbortSignal()
    events: list[StreamEvent] = []
    async for event in stream(model, context, StreamOptions(signal=signal)):
        events.append(event)
        if event.type == is_reached:
            asyncio.get_running_loop().call_soon(signal.set)
    return events, signal


def message_of(events: Sequence[StreamEvent]) -> AssistantMessage:
    """The finished message of an answer, its arguments parsed as the engine does."""
    last = events[-1]
    assert last.type in ("done", "error")
    message: AssistantMessage = last.message
    pieces: dict[int, str] = {}
    for event in events:
        if isinstance(event, ToolCallDelta):
            pieces[event.content_index] = pieces.get(event.content_index, "") + event.delta
    for index, arguments in pieces.items():
        call = message.content[index]
        assert isinstance(call, ToolCall)
        call.arguments = json.loads(arguments)
    return message


def words_of(message: AssistantMessage) -> list[str]:
    """Everything that would be read: texts and thoughts."""
    return [
        block.text if isinstance(block, TextBlock) else block.thinking
        for block in message.content
        if isinstance(block, TextBlock | ThinkingBlock)
    ]
