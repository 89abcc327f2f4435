"""Measures what the context is filled with."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Sequence

from agent_tui.agent.state import AgentState
from agent_tui.core.messages import (
    AgentMessage,
    AssistantMessage,
    BashExecutionMessage,
    BranchSummaryMessage,
    CompactionSummaryMessage,
    ToolResultMessage,
    text_of,
)
from agent_tui.core.occupancy import ContextItem, ContextPart, ContextReport
from agent_tui.session.context import estimate_context, fixed_tokens, message_tokens
from agent_tui.session.instructions import InstructionFile

PARTS = ("system", "instructions", "tools", "history", "tool results", "summaries")
_LARGEST = 10
_LABEL_CHARS = 200


def context_report(
    state: AgentState,
    instructions: Sequence[InstructionFile],
    pins: Collection[str],
    threshold: int | None,
) -> ContextReport:
    """The context of an agent, part by part."""
    items = [
        *_fixed_items(state, instructions),
        *(_message_item(message, message.id in pins) for message in state.messages),
    ]
    return ContextReport(
        tokens=estimate_context(state.messages, state.system_prompt, state.tools),
        window=state.model.context_window,
        threshold=threshold,
        parts=tuple(ContextPart(name, _sum(items, name)) for name in PARTS),
        largest=tuple(sorted(items, key=lambda item: item.tokens, reverse=True)[:_LARGEST]),
    )


def _sum(items: Iterable[ContextItem], part: str) -> int:
    return sum(item.tokens for item in items if item.part == part)


def _fixed_items(
    state: AgentState, instructions: Sequence[InstructionFile]
) -> Iterator[ContextItem]:
    files = [
        ContextItem("instructions", str(file.path), fixed_tokens(file.text, ()))
        for file in instructions
        if file.text in (state.system_prompt or "")
    ]
    prompt = fixed_tokens(state.system_prompt, ()) - sum(item.tokens for item in files)
    yield ContextItem("system", "system prompt", max(0, prompt))
    yield from files
    for tool in state.tools:
        yield ContextItem("tools", f"description of {tool.name}", fixed_tokens(None, [tool]))


def _message_item(message: AgentMessage, is_pinned: bool) -> ContextItem:
    part, label = _described(message)
    cut = " ".join(label.split())[:_LABEL_CHARS]
    return ContextItem(part, cut, message_tokens(message), is_pinned)


def _described(message: AgentMessage) -> tuple[str, str]:
    match message:
        case CompactionSummaryMessage():
            return "summaries", f"summary: {message.summary}"
        case BranchSummaryMessage():
            return "summaries", f"summary of a branch: {message.summary}"
        case ToolResultMessage():
            return "tool results", f"{message.tool_name}: {message.text[:_LABEL_CHARS]}"
        case BashExecutionMessage():
            return "history", f"your command: {message.command}"
        case AssistantMessage():
            calls = [f"{call.name} {json.dumps(call.arguments)}" for call in message.tool_calls]
            return "history", f"answer: {' '.join([message.text[:_LABEL_CHARS], *calls]).strip()}"
    return "history", f"you: {text_of(message.content)[:_LABEL_CHARS]}"
