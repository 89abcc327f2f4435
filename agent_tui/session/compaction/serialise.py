"""A transcript as text that a model reads about, instead of taking part in it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from agent_tui.core.messages import (
    AgentMessage,
    AssistantMessage,
    BashExecutionMessage,
    BranchSummaryMessage,
    CompactionSummaryMessage,
    ImageBlock,
    TextBlock,
    ToolCall,
    ToolResultMessage,
    text_of,
)

RESULT_CHARS = 2000
"""No more of a tool's result is read for a summary."""
_READERS, _WRITERS = ("read",), ("edit", "write")


@dataclass(frozen=True, slots=True)
class TouchedFiles:
    """Paths as the calls named them, sorted; one that was modified is in that list alone."""

    read: tuple[str, ...] = ()
    modified: tuple[str, ...] = ()

    def to_text(self) -> str:
        """The lists for the end of a summary; empty if there are none."""
        parts = [
            "\n".join((f"## {title}", *(f"- {path}" for path in paths)))
            for title, paths in (("Files read", self.read), ("Files modified", self.modified))
            if paths
        ]
        return "\n\n".join(parts)


def transcript_text(messages: Sequence[AgentMessage]) -> str:
    """All that was said and done, long results cut."""
    return "\n\n".join(part for message in messages for part in _parts(message))


def fitted(text: str, limit: int) -> str:
    """`text`, or its beginning and its end where it is longer than `limit` characters."""
    if len(text) <= limit:
        return text
    head = limit // 3
    left_out = len(text) - limit
    tail = text[len(text) - (limit - head) :]
    return f"{text[:head]}\n\n[… {left_out} characters left out …]\n\n{tail}"


def touched_files(messages: Sequence[AgentMessage], earlier: TouchedFiles) -> TouchedFiles:
    """The files of `earlier` and those that calls without an error have read or modified."""
    failed = {m.tool_call_id for m in messages if isinstance(m, ToolResultMessage) and m.is_error}
    answers = [m for m in messages if isinstance(m, AssistantMessage)]
    calls = [call for answer in answers for call in answer.tool_calls if call.id not in failed]
    modified = {*earlier.modified, *_paths(calls, _WRITERS)}
    read = {*earlier.read, *_paths(calls, _READERS)} - modified
    return TouchedFiles(tuple(sorted(read)), tuple(sorted(modified)))


def _paths(calls: Iterable[ToolCall], tools: Sequence[str]) -> Iterator[str]:
    for call in calls:
        path = call.arguments.get("path")
        if call.name in tools and isinstance(path, str):
            yield path


def _parts(message: AgentMessage) -> Iterator[str]:
    match message:
        case AssistantMessage():
            yield from _answer(message)
        case ToolResultMessage():
            mark = "failed" if message.is_error else "result"
            yield f"[Tool {mark}: {message.tool_name}]\n{_cut(_content(message.content))}"
        case CompactionSummaryMessage() | BranchSummaryMessage():
            yield f"[Earlier summary]\n{message.summary}"
        case BashExecutionMessage():
            if not message.exclude_from_context:
                shown = f"{message.command}\n{_cut(message.output)}"
                yield f"[Command of the user]\n{shown}"
        case _:
            if text := _content(message.content):
                yield f"[User]\n{text}"


def _answer(message: AssistantMessage) -> Iterator[str]:
    if message.text:
        yield f"[Assistant]\n{message.text}"
    for call in message.tool_calls:
        arguments = call.raw_arguments or json.dumps(
            call.arguments, default=str, ensure_ascii=False
        )
        yield f"[Tool call: {call.name}]\n{_cut(arguments)}"


def _content(content: str | Sequence[TextBlock | ImageBlock]) -> str:
    if isinstance(content, str):
        return content
    images = sum(isinstance(block, ImageBlock) for block in content)
    return "\n".join([text_of([*content]), *["[image]"] * images]).strip()


def _cut(text: str) -> str:
    if len(text) <= RESULT_CHARS:
        return text
    return f"{text[:RESULT_CHARS]}\n[… {len(text) - RESULT_CHARS} more characters]"
