"""One response on its way to the screen: stream events and messages become blocks.

Blocks are made when there is something to show: an answer without text leaves no empty block. What
was not streamed (a provider that answers at once, a loaded session) is taken from the message.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol, TypeVar

from agent_tui.core.messages import AssistantMessage, TextBlock, ThinkingBlock, ToolCall
from agent_tui.core.stream import BlockEvent
from agent_tui.tui.blocks import AssistantBlock, Block, ThoughtBlock, ToolBlock
from agent_tui.tui.panels import path_of, target_of, target_of_partial

NOTES: Mapping[str, str] = {
    "aborted": "interrupted",
    "length": "cut off: the model's output limit was reached",
    "error": "unfinished: the request failed here",
}
B = TypeVar("B", bound=Block)


class View(Protocol):
    """Where blocks go. `mark` asks for a block to be drawn again soon."""

    def append(self, *blocks: Block) -> None:
        """Add blocks at the end."""

    def remove(self, block: Block) -> None:
        """Take a block out."""

    def mark(self, block: Block) -> None:
        """The block has changed."""


class Answer:
    """The blocks of one assistant message."""

    def __init__(
        self,
        view: View,
        adopt: Callable[[ToolBlock], None],
        *,
        unfold_thoughts: bool = False,
        raw: bool = False,
    ) -> None:
        """`adopt` receives each tool panel once the id of its call is known.

        `raw`: its texts are shown as they were written.
        """
        self.characters = 0
        """Characters received so far, thinking and arguments included."""
        self._view = view
        self._adopt = adopt
        self._unfold_thoughts = unfold_thoughts
        self._raw = raw
        self._blocks: dict[int, Block] = {}

    @property
    def is_empty(self) -> bool:
        """Nothing has been shown yet."""
        return not self._blocks

    def take(self, event: BlockEvent, message: AssistantMessage) -> str:
        """Show one stream event; returns what is arriving: `text`, `thinking` or `call`."""
        index = event.content_index
        match event.type:
            case "text_delta":
                if event.delta:
                    self._text(index).append(event.delta)
            case "thinking_delta":
                if event.delta:
                    self._thought(index).append(event.delta)
            case "thinking_end":
                if isinstance(block := self._blocks.get(index), ThoughtBlock):
                    block.finish()
            case "toolcall_start" | "toolcall_delta" | "toolcall_end":
                if index < len(message.content) and isinstance(
                    call := message.content[index], ToolCall
                ):
                    self._call(index, call)
            case _:
                pass
        self.characters += len(getattr(event, "delta", ""))
        if (changed := self._blocks.get(index)) is not None:
            self._view.mark(changed)
        return "call" if event.type.startswith("tool") else event.type.partition("_")[0]

    def finish(self, message: AssistantMessage) -> None:
        """The message is final: show what was not streamed, mark what is unfinished."""
        last_text: AssistantBlock | None = None
        for index, content in enumerate(message.content):
            self._complete(index, content)
            if isinstance(block := self._blocks.get(index), AssistantBlock):
                last_text = block
        note = NOTES.get(message.stop_reason)
        for block in self._blocks.values():
            block.message_id = message.id
            if isinstance(block, AssistantBlock):
                block.finish(message.stop_reason, note if block is last_text else None)
            elif isinstance(block, ThoughtBlock):
                block.finish()
            elif isinstance(block, ToolBlock):
                self._close_call(block, message)
            self._view.mark(block)

    def _complete(self, index: int, content: TextBlock | ThinkingBlock | ToolCall) -> None:
        if isinstance(content, ToolCall):
            self._call(index, content)
        elif index in self._blocks:
            return
        elif isinstance(content, TextBlock) and content.text.strip():
            self._text(index).append(content.text)
        elif isinstance(content, ThinkingBlock) and content.thinking.strip():
            self._thought(index).append(content.thinking)

    def _close_call(self, block: ToolBlock, message: AssistantMessage) -> None:
        if message.stop_reason in ("aborted", "error"):
            block.finish("killed", summary="before the call was complete")
        else:
            self._adopt(block)

    def _text(self, index: int) -> AssistantBlock:
        block = self._blocks.get(index)
        if not isinstance(block, AssistantBlock):
            block = self._show(index, AssistantBlock())
        return block

    def _thought(self, index: int) -> ThoughtBlock:
        block = self._blocks.get(index)
        if not isinstance(block, ThoughtBlock):
            block = ThoughtBlock()
            block.expanded = self._unfold_thoughts
            self._show(index, block)
        return block

    def _call(self, index: int, call: ToolCall) -> None:
        block = self._blocks.get(index)
        if not isinstance(block, ToolBlock):
            block = self._show(index, ToolBlock(call.id, call.name))
        block.call_id = call.id
        if call.raw_arguments is not None and call.arguments_error is None:
            block.arguments(call.raw_arguments)
            block.name_target(call.name, target_of_partial(call.raw_arguments))
        else:
            args = call.arguments
            block.name_target(call.name, target_of(call.name, args), path_of(call.name, args))

    def _show(self, index: int, block: B) -> B:
        self._blocks[index] = block
        block.is_raw = self._raw
        self._view.append(block)
        return block
