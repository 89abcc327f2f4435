"""A request of ours → a body for the Responses API. Pure; the same input gives the same bytes.

The conversation goes out whole each time, as a list of items. Ids of items bind an item to the
reasoning that led to it: they go back only together, and only to the model that made them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agent_tui.core.messages import (
    AssistantMessage,
    ImageBlock,
    LlmMessage,
    TextBlock,
    ThinkingBlock,
    ToolCall,
    ToolResultMessage,
    UserMessage,
)
from agent_tui.core.model import Model, ThinkingLevel
from agent_tui.core.stream import LlmContext, StreamOptions, ToolSchema
from agent_tui.providers.addresses import with_endpoint
from agent_tui.providers.compat import Compat, compat_for, effort_word
from agent_tui.providers.loose import unpacked
from agent_tui.providers.openai_chat_request import NO_OUTPUT
from agent_tui.providers.request import Request, arguments_text

_ENCRYPTED = "reasoning.encrypted_content"
_LONGEST_ID = 64

_Json = dict[str, Any]


def build(model: Model, context: LlmContext, options: StreamOptions) -> Request:
    """Address, headers and body; the key is not part of it."""
    compat = compat_for(model)
    body: _Json = {"model": model.id}
    if context.system_prompt:
        body["instructions"] = context.system_prompt
    body["input"] = _input(context.messages, compat)
    if context.tools:
        body["tools"] = [_tool(tool) for tool in context.tools]
    body |= _reasoning(model, compat, options.thinking_level)
    if options.max_output_tokens is not None:
        body["max_output_tokens"] = options.max_output_tokens
    if options.temperature is not None:
        body["temperature"] = options.temperature
    body |= {"store": False, "stream": True}
    if compat.unpadded_stream:
        body["stream_options"] = {"include_obfuscation": False}
    headers: dict[str, str] = {}
    if options.session_id and compat.prompt_cache_key:
        body["prompt_cache_key"] = options.session_id
    if options.session_id and compat.affinity_header:
        headers[compat.affinity_header] = options.session_id
    return Request(with_endpoint(model.base_url, "/responses"), headers, body)


def _reasoning(model: Model, compat: Compat, level: ThinkingLevel) -> _Json:
    """How hard to think; with thinking off, only models that are known to think are told so."""
    is_on = level != "off"
    if not (is_on or model.reasoning) or compat.reasoning_format == "none":
        return {}
    reasoning: _Json = {}
    if (effort := effort_word(compat.efforts, level)) is not None:
        reasoning["effort"] = effort
    if is_on:
        reasoning["summary"] = "auto"
    # Models that do not reason refuse to be asked for what they thought.
    return ({"reasoning": reasoning} if reasoning else {}) | {"include": [_ENCRYPTED]}


def _tool(tool: ToolSchema) -> _Json:
    return {
        "type": "function",
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.parameters,
        # The default is to demand schemas of a narrow kind.
        "strict": False,
    }


# -- input -------------------------------------------------------------------------------------


def _input(messages: Sequence[LlmMessage], compat: Compat) -> list[_Json]:
    out: list[_Json] = []
    for message in messages:
        match message:
            case UserMessage():
                out.append({"role": "user", "content": _user_content(message)})
            case AssistantMessage():
                out += _answer(message, compat)
            case ToolResultMessage():
                out.append(_result(message))
    return out


def _user_content(message: UserMessage) -> list[_Json]:
    if isinstance(message.content, str):
        return [_text(message.content)]
    return [_part(block) for block in message.content]


def _text(text: str) -> _Json:
    return {"type": "input_text", "text": text}


def _part(block: TextBlock | ImageBlock) -> _Json:
    if isinstance(block, TextBlock):
        return _text(block.text)
    url = f"data:{block.mime_type};base64,{block.data}"
    return {"type": "input_image", "image_url": url, "detail": "auto"}


def _result(message: ToolResultMessage) -> _Json:
    """Text as text; as a list of parts only where there are images among it."""
    output: str | list[_Json] = message.text if message.text.strip() else NO_OUTPUT
    if any(isinstance(block, ImageBlock) for block in message.content):
        output = [
            _part(block)
            for block in message.content
            if isinstance(block, ImageBlock) or block.text.strip()
        ]
    return {"type": "function_call_output", "call_id": message.tool_call_id, "output": output}


# -- answers -----------------------------------------------------------------------------------


def _answer(message: AssistantMessage, compat: Compat) -> list[_Json]:
    """The items of an answer; without ids where reasoning that they belong to cannot go back."""
    thoughts = [block for block in message.content if isinstance(block, ThinkingBlock)]
    keeps_ids = (
        compat.replay_reasoning
        and message.stop_reason != "aborted"
        and all(_reasoning_item(block) for block in thoughts)
    )
    out: list[_Json] = []
    for block in message.content:
        match block:
            case ThinkingBlock() if keeps_ids:
                out.append(_reasoning_item(block))
            case TextBlock() if block.text.strip():
                out.append(_message_item(block, keeps_id=keeps_ids))
            case ToolCall():
                out.append(_call_item(block, keeps_id=keeps_ids))
    while out and out[-1]["type"] == "reasoning":
        # Reasoning without the item that it led to is refused.
        out.pop()
    return out


def _reasoning_item(block: ThinkingBlock) -> _Json:
    """The item as it came; empty if it cannot be understood without the server's memory."""
    item = unpacked(block.signature)
    return dict(item) if item.get("encrypted_content") or item.get("content") else {}


def _message_item(block: TextBlock, *, keeps_id: bool) -> _Json:
    known = unpacked(block.signature)
    phase = {"phase": known["phase"]} if "phase" in known else {}
    item_id = known.get("id", "")
    message: _Json = {"type": "message", "role": "assistant"}
    if not keeps_id or not 0 < len(item_id) <= _LONGEST_ID:
        return message | phase | {"content": block.text}
    content = [{"type": "output_text", "text": block.text, "annotations": []}]
    return message | phase | {"id": item_id, "status": "completed", "content": content}


def _call_item(call: ToolCall, *, keeps_id: bool) -> _Json:
    item_id = call.thought_signature or ""
    item: _Json = {"type": "function_call"}
    if keeps_id and 0 < len(item_id) <= _LONGEST_ID:
        item["id"] = item_id
    arguments = arguments_text(call.arguments)
    return item | {"call_id": call.id, "name": call.name, "arguments": arguments}
