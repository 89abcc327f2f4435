"""Playing a recorded session again: its answers as a model, its results as tools, no network.

The recording goes through an ordinary session that keeps nothing, so that a screen shows it exactly
as it shows a live one.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from agent_tui.agent.agent import Agent
from agent_tui.core.errors import AgentError, SessionError
from agent_tui.core.messages import (
    AgentMessage,
    AssistantMessage,
    CustomMessage,
    TextBlock,
    ThinkingBlock,
    ToolCall,
    ToolResultMessage,
)
from agent_tui.core.model import Model
from agent_tui.core.registry import find_model
from agent_tui.core.stream import (
    LlmContext,
    StreamDone,
    StreamError,
    StreamEvent,
    StreamOptions,
    StreamStart,
    TextDelta,
    TextEnd,
    TextStart,
    ThinkingDelta,
    ThinkingEnd,
    ThinkingStart,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
)
from agent_tui.core.tool import Tool, ToolContext, ToolResult
from agent_tui.session.approvals import Approvals
from agent_tui.session.journal.entries import Entry
from agent_tui.session.journal.reading import read_session
from agent_tui.session.journal.tree import SessionTree
from agent_tui.session.retry import RetryPolicy
from agent_tui.session.session import Session

CHUNK_CHARACTERS = 16
CHUNK_SECONDS = 0.02
LONGEST_BLOCK_SECONDS = 6.0
LONGEST_TOOL_SECONDS = 3.0
SLOWEST, FASTEST = 1 / 8, 64.0
SUMMARISED = "Here the conversation was summarised to make room."
AT_ONCE = math.inf
"""The speed at which nothing is waited for."""


@dataclass(slots=True)
class RecordedAnswer:
    """An answer of the model, and what the person had said before it."""

    message: AssistantMessage
    before: list[AgentMessage] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Recording:
    """The conversation at the leaf of a session, cut into turns."""

    turns: tuple[tuple[RecordedAnswer, ...], ...]
    results: dict[str, ToolResultMessage]
    """By the id of the call."""
    title: str


class Pace:
    """How fast a recording plays, and whether it stands; for the player and for whoever watches."""

    def __init__(self, speed: float = 1.0, until: int | None = None) -> None:
        """`until` is the step behind which it stands."""
        self.speed = speed
        self.step = 0
        """Answers begun."""
        self._until = until
        self._going = asyncio.Event()
        self._going.set()
        self._one_step = False

    @property
    def is_standing(self) -> bool:
        """Paused, or at the step where it shall stop."""
        return not self._going.is_set()

    def toggle(self) -> None:
        """Pause, or go on."""
        self._one_step = False
        if self.is_standing:
            self._going.set()
        else:
            self._going.clear()

    def one_step(self) -> None:
        """Play to the end of this answer or of the next one, and pause there."""
        self._one_step = True
        self._going.set()

    def change(self, factor: float) -> None:
        """Play faster or slower."""
        self.speed = min(FASTEST, max(SLOWEST, self.speed * factor))

    async def begin_answer(self) -> None:
        """Wait until the next answer may begin."""
        if self._one_step and self.step:
            self._one_step = False
            self._going.clear()
        if self._until is not None and self.step >= self._until:
            self._until = None
            self._going.clear()
        await self._going.wait()
        self.step += 1

    async def wait(self, seconds: float) -> None:
        """Let so much time of the recording pass."""
        await self._going.wait()
        if self.speed != AT_ONCE and seconds > 0:
            await asyncio.sleep(seconds / self.speed)


class Player:
    """Plays a recording in a session of its own."""

    def __init__(self, recording: Recording, cwd: Path, pace: Pace) -> None:
        self.recording = recording
        self.pace = pace
        self._answers: list[RecordedAnswer] = []
        first = next((turn[0].message for turn in recording.turns if turn), None)
        agent = Agent(
            _model_of(first),
            tools=self._tools(),
            stream_fn=self._stream,
            steering_mode="all",
        )
        self.session = Session(
            agent,
            Approvals("full-auto", cwd, access={}),
            retry=RetryPolicy(max_retries=0),
        )
        self.session.compacts_by_itself = False

    async def play(self) -> None:
        """Play from the beginning to the end."""
        for turn in self.recording.turns:
            self._answers = list(turn)
            await self.session.prompt(list(turn[0].before))

    async def _stream(
        self, model: Model, context: LlmContext, options: StreamOptions
    ) -> AsyncIterator[StreamEvent]:
        await self.pace.begin_answer()
        recorded = self._answers.pop(0).message
        message = recorded.model_copy(
            update={"content": [], "usage": recorded.usage, "error": None, "stop_reason": "stop"}
        )
        yield StreamStart(partial=message)
        for index, block in enumerate(recorded.content):
            async for event in self._block(message, index, block):
                yield event
        if self._answers:
            for said in self._answers[0].before:
                self.session.steer(said)
        message.stop_reason, message.error = recorded.stop_reason, recorded.error
        if recorded.stop_reason == "aborted":
            self.session.abort("stopped in the recording")
            yield StreamError(reason="aborted", message=message)
        elif recorded.stop_reason == "error":
            yield StreamError(reason="error", message=message)
        else:
            yield StreamDone(reason=recorded.stop_reason, message=message)

    async def _block(
        self, message: AssistantMessage, index: int, block: TextBlock | ThinkingBlock | ToolCall
    ) -> AsyncIterator[StreamEvent]:
        match block:
            case TextBlock():
                text = TextBlock(signature=block.signature)
                message.content.append(text)
                yield TextStart(index, message)
                async for piece in self._pieces(block.text):
                    text.append(piece)
                    yield TextDelta(index, piece, message)
                yield TextEnd(index, message)
            case ThinkingBlock():
                thought = ThinkingBlock(signature=block.signature, redacted=block.redacted)
                message.content.append(thought)
                yield ThinkingStart(index, message)
                async for piece in self._pieces(block.thinking):
                    thought.append(piece)
                    yield ThinkingDelta(index, piece, message)
                yield ThinkingEnd(index, message)
            case ToolCall():
                message.content.append(ToolCall(id=block.id, name=block.name))
                yield ToolCallStart(index, message)
                async for piece in self._pieces(_argument_text(block)):
                    yield ToolCallDelta(index, piece, message)
                yield ToolCallEnd(index, message)

    async def _pieces(self, text: str) -> AsyncIterator[str]:
        pieces = max(1, math.ceil(len(text) / CHUNK_CHARACTERS))
        seconds = min(CHUNK_SECONDS, LONGEST_BLOCK_SECONDS / pieces)
        for start in range(0, len(text), CHUNK_CHARACTERS):
            await self.pace.wait(seconds)
            yield text[start : start + CHUNK_CHARACTERS]

    def _tools(self) -> list[Tool]:
        """Every tool that was called, answering as it did."""
        names = {
            call.name
            for turn in self.recording.turns
            for answer in turn
            for call in answer.message.tool_calls
        }
        schema = {"type": "object"}
        return [Tool(name, "as recorded", schema, self._answer) for name in sorted(names) if name]

    async def _answer(self, call_id: str, args: dict[str, object], ctx: ToolContext) -> ToolResult:
        result = self.recording.results.get(call_id)
        if result is None:
            return ToolResult("The recording has no result for this call.", is_error=True)
        seconds = LONGEST_TOOL_SECONDS / 4
        if len(lines := result.text.splitlines(keepends=True)) > 1:
            ctx.on_update("".join(lines[: len(lines) // 2]))
        await self.pace.wait(seconds)
        return ToolResult(list(result.content), details=result.details, is_error=result.is_error)


def load_recording(path: Path) -> Recording:
    """The recording in a session file.

    Raises:
        SessionError: It cannot be read, or nothing was said in it.
    """
    file = read_session(path)
    entries = [] if file is None else SessionTree(file.entries).path()
    turns = _turns_of(entries)
    if not turns:
        raise SessionError(f"{path}: nothing was said in this session", path=str(path))
    results = {
        entry.message.tool_call_id: entry.message
        for entry in entries
        if isinstance(entry.message, ToolResultMessage)
    }
    names = [entry.data.get("name") for entry in entries if entry.type == "session_info"]
    return Recording(turns, results, str(names[-1] or "") if names else "")


def _turns_of(entries: Sequence[Entry]) -> tuple[tuple[RecordedAnswer, ...], ...]:
    """A turn begins with what the person said while nothing ran."""
    turns: list[list[RecordedAnswer]] = []
    said: list[AgentMessage] = []
    is_running = False
    for entry in entries:
        message = entry.message
        if entry.type == "run":
            is_running = entry.data.get("phase") == "start" and bool(turns) and not said
            is_running = False if entry.data.get("phase") == "start" else is_running
        elif isinstance(message, AssistantMessage):
            answer = RecordedAnswer(message, said)
            if (said and not is_running) or not turns:
                turns.append([answer])
            else:
                turns[-1].append(answer)
            said, is_running = [], True
        elif entry.type == "compaction":
            said.append(CustomMessage(custom_type="compaction", content=SUMMARISED))
        elif message is not None and not isinstance(message, ToolResultMessage):
            said.append(message)
    return tuple(tuple(turn) for turn in turns if turn[0].before)


def _argument_text(call: ToolCall) -> str:
    import json

    if call.arguments_error is not None and call.raw_arguments is not None:
        return call.raw_arguments
    return json.dumps(call.arguments, ensure_ascii=False)


def _model_of(answer: AssistantMessage | None) -> Model:
    if answer is None or not answer.provider:
        return Model("recorded", "session")
    try:
        return find_model(f"{answer.provider}/{answer.model}")
    except AgentError:
        return Model(answer.provider, answer.model)
