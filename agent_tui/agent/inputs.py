"""What people hand to an agent, turned into checked messages."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, TypeAlias

from agent_tui.core.errors import InvalidInputError
from agent_tui.core.messages import AgentMessage, ImageBlock, TextBlock, UserMessage

Input: TypeAlias = str | AgentMessage | Sequence[AgentMessage]


def messages_from(
    input: Input, images: Sequence[ImageBlock] | None, taken_ids: Collection[str]
) -> list[AgentMessage]:
    """The messages that a prompt stands for; raises `InvalidInputError` for nothing at all."""
    if isinstance(input, str) and images:
        words: list[TextBlock | ImageBlock] = [TextBlock(text=input)] if input.strip() else []
        return [UserMessage(content=[*words, *images])]
    items = list(input) if isinstance(input, Sequence) and not isinstance(input, str) else [input]
    if not items:
        raise InvalidInputError("there is nothing to prompt with: the list is empty")
    messages = [message_from(item, taken_ids) for item in items]
    if len({message.id for message in messages}) < len(messages):
        raise InvalidInputError("two messages of the prompt have the same id")
    return messages


def message_from(item: str | AgentMessage, taken_ids: Collection[str]) -> AgentMessage:
    """One checked message; raises `InvalidInputError` if it is empty or its id is taken."""
    message: AgentMessage = UserMessage(content=item) if isinstance(item, str) else item
    if isinstance(message, UserMessage) and not _says_something(message.content):
        raise InvalidInputError("the message is empty")
    if message.id in taken_ids:
        raise InvalidInputError(f"a message with the id {message.id!r} is already there")
    return message


def _says_something(content: Any) -> bool:
    if isinstance(content, str):
        return bool(content.strip())
    return any(not isinstance(block, TextBlock) or block.text.strip() for block in content or ())
