"""How much of a model's window a transcript fills: the provider's last count and a guess on top."""

from __future__ import annotations

import json
from collections.abc import Sequence
from operator import is_

from agent_tui.core.messages import (
    AgentMessage,
    AssistantMessage,
    BashExecutionMessage,
    BranchSummaryMessage,
    CompactionSummaryMessage,
    ImageBlock,
    TextBlock,
    ThinkingBlock,
    ToolCall,
)
from agent_tui.core.tool import Tool

_CHARS_PER_TOKEN = 4
_TOKENS_PER_IMAGE = 1200
_TRUSTED_TOKENS = 5000


def estimate_context(
    messages: Sequence[AgentMessage], system_prompt: str | None, tools: Sequence[Tool]
) -> int:
    """Tokens that the next request will roughly hold.

    The newest answer whose usage is known anchors the figure; what follows it is guessed from its
    length. An anchor of more than twice a fresh guess is not believed.
    """
    return ContextMeter().tokens(messages, system_prompt, tools)


class ContextMeter:
    """`estimate_context` for a transcript that grows: nothing is sized a second time.

    What follows the first other message is sized anew. A message in it never changes.
    """

    def __init__(self) -> None:
        self._seen: list[AgentMessage] = []
        self._sums: list[int] = [0]
        """The guessed size of the first so many messages."""
        self._anchors: list[int | None] = [None]
        """Where the newest usable count of the first so many messages is."""
        self._fixed: tuple[str | None, list[Tool], int] = (None, [], 0)
        self.is_guess = False
        """No count of the provider stands behind the last figure."""

    def tokens(
        self, messages: Sequence[AgentMessage], system_prompt: str | None, tools: Sequence[Tool]
    ) -> int:
        """What `estimate_context` gives."""
        self._take(messages)
        guess = self._fixed_tokens(system_prompt, tools) + self._sums[-1]
        place = self._anchors[-1]
        self.is_guess = place is None
        if place is None:
            return guess
        anchor = messages[place]
        assert isinstance(anchor, AssistantMessage)
        anchored = anchor.usage.total + self._sums[-1] - self._sums[place + 1]
        self.is_guess = anchored > max(2 * guess, _TRUSTED_TOKENS)
        return guess if self.is_guess else anchored

    def _take(self, messages: Sequence[AgentMessage]) -> None:
        if len(self._seen) > len(messages) or not all(map(is_, self._seen, messages)):
            same = list(map(is_, self._seen, messages))
            known = same.index(False) if False in same else len(same)
            del self._seen[known:], self._sums[known + 1 :], self._anchors[known + 1 :]
        # What a summary has kept tells of an older context.
        first = messages[0] if messages else None
        since = first.timestamp if isinstance(first, CompactionSummaryMessage) else 0
        for place in range(len(self._seen), len(messages)):
            message, anchor = messages[place], self._anchors[-1]
            if isinstance(message, CompactionSummaryMessage):
                anchor = None
            elif _may_anchor(message, since):
                anchor = place
            self._seen.append(message)
            self._sums.append(self._sums[-1] + message_tokens(message))
            self._anchors.append(anchor)

    def _fixed_tokens(self, system_prompt: str | None, tools: Sequence[Tool]) -> int:
        if self._fixed[:2] != (system_prompt, tools):
            self._fixed = (system_prompt, [*tools], fixed_tokens(system_prompt, tools))
        return self._fixed[2]


def _may_anchor(message: AgentMessage, since: int) -> bool:
    """An answer with a known usage, from `since` on."""
    return (
        isinstance(message, AssistantMessage)
        and message.timestamp >= since
        and message.stop_reason not in ("error", "aborted")
        and bool(message.usage.total)
    )


def fixed_tokens(system_prompt: str | None, tools: Sequence[Tool]) -> int:
    """What every request holds before its first message, guessed from its length."""
    return _tokens(len(system_prompt or "")) + sum(map(_tool_tokens, tools))


def message_tokens(message: AgentMessage) -> int:
    """The tokens of one message, guessed from its length."""
    match message:
        case CompactionSummaryMessage() | BranchSummaryMessage():
            return _tokens(len(message.summary))
        case BashExecutionMessage():
            shown = 0 if message.exclude_from_context else len(message.command + message.output)
            return _tokens(shown)
    if isinstance(message.content, str):
        return _tokens(len(message.content))
    images = sum(isinstance(block, ImageBlock) for block in message.content)
    return images * _TOKENS_PER_IMAGE + _tokens(sum(map(_chars, message.content)))


def _chars(block: TextBlock | ThinkingBlock | ToolCall | ImageBlock) -> int:
    match block:
        case TextBlock():
            return len(block.text)
        case ThinkingBlock():
            return len(block.thinking)
        case ToolCall():
            arguments = block.raw_arguments or json.dumps(block.arguments, default=str)
            return len(block.name) + len(arguments)
    return 0


def _tool_tokens(tool: Tool) -> int:
    return _tokens(len(tool.name) + len(tool.description) + len(json.dumps(tool.schema)))


def _tokens(chars: int) -> int:
    return -(-chars // _CHARS_PER_TOKEN)
