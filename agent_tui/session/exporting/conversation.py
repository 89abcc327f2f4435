"""The conversation at the leaf of a session as a row of parts, whatever form they take on paper."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from agent_tui.core.figures import count, money
from agent_tui.core.messages import (
    AgentMessage,
    AssistantMessage,
    BashExecutionMessage,
    TextBlock,
    ThinkingBlock,
    ToolCall,
    ToolResultMessage,
    UserMessage,
)
from agent_tui.session.journal.entries import Entry, Header
from agent_tui.session.journal.tree import SessionTree
from agent_tui.session.targets import target_of

PartKind = Literal["user", "answer", "thinking", "tool", "note"]


@dataclass(frozen=True, slots=True)
class Part:
    """One piece of a conversation."""

    kind: PartKind
    title: str
    """Who or what it is, in a few words."""
    text: str
    """Markdown in an `answer`; plain text elsewhere."""
    timestamp: int = 0
    """Milliseconds since the epoch."""
    is_error: bool = False


def title_of(header: Header, entries: Sequence[Entry]) -> str:
    """The session's name, or how it began."""
    names = [entry.data.get("name") for entry in entries if entry.type == "session_info"]
    first = next((e.message.text for e in entries if isinstance(e.message, UserMessage)), "")
    return str(names[-1]) if names and names[-1] else " ".join(first.split())[:80] or header.id


def parts_of(entries: Sequence[Entry]) -> Iterator[Part]:
    """The conversation, in its order, each result behind its call."""
    path = SessionTree(entries).path()
    results = {
        entry.message.tool_call_id: entry.message
        for entry in path
        if isinstance(entry.message, ToolResultMessage)
    }
    for entry in path:
        if entry.type == "compaction":
            summary = str(entry.data.get("summary", ""))
            yield Part("note", "Summary of everything before", summary, entry.timestamp)
        elif entry.message is not None:
            yield from _parts(entry.message, results)


def _parts(message: AgentMessage, results: dict[str, ToolResultMessage]) -> Iterator[Part]:
    when = message.timestamp
    match message:
        case UserMessage():
            yield Part("user", "You", message.text, when)
        case AssistantMessage():
            for block in message.content:
                yield _part(block, message, results)
            if message.error is not None:
                yield Part("note", "Error", message.error.message, when, is_error=True)
            elif message.stop_reason == "aborted":
                yield Part("note", "Stopped", "The answer was interrupted.", when)
        case BashExecutionMessage():
            text = f"$ {message.command}\n{message.output}"
            yield Part("tool", "Your command", text, when, is_error=bool(message.exit_code))
        case ToolResultMessage():
            return
        case _:
            text = getattr(message, "summary", "") or str(getattr(message, "content", ""))
            yield Part("note", message.role.replace("_", " "), text, when)


def _part(
    block: TextBlock | ThinkingBlock | ToolCall,
    message: AssistantMessage,
    results: dict[str, ToolResultMessage],
) -> Part:
    match block:
        case TextBlock():
            usage = message.usage
            spent = (
                f" · {count(usage.output)} tokens · {money(usage.cost_usd)}" if usage.output else ""
            )
            return Part("answer", f"{message.model}{spent}", block.text, message.timestamp)
        case ThinkingBlock():
            return Part("thinking", "Thinking", block.thinking, message.timestamp)
        case ToolCall():
            result = results.get(block.id)
            target = " ".join(target_of(block.arguments).split())
            asked = json.dumps(block.arguments, ensure_ascii=False, indent=2)
            answer = "no result" if result is None else result.text
            return Part(
                "tool",
                f"{block.name} {target}".strip(),
                f"{asked}\n\n{answer}",
                message.timestamp,
                is_error=result is None or result.is_error,
            )
