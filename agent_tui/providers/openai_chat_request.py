"""A request of ours → a body for Chat Completions. Pure; the same input gives the same bytes."""

from __future__ import annotations

import hashlib
import json
import re
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
from agent_tui.core.model import Model
from agent_tui.core.stream import LlmContext, StreamOptions, ToolSchema
from agent_tui.providers.addresses import with_endpoint
from agent_tui.providers.compat import Compat, compat_for, reasoning_fields
from agent_tui.providers.request import Request, arguments_text

NO_OUTPUT = "(no output)"
_SEE_IMAGE = "(the image follows in the next message)"
_IMAGES = "The images that the tools returned:"
_AFTER_TOOL = "I have read the results."


def build(model: Model, context: LlmContext, options: StreamOptions) -> Request:
    """Address, headers and body; the key is not part of it."""
    compat = compat_for(model)
    body: dict[str, Any] = {"model": model.id, "messages": _messages(context, compat)}
    body |= _tools(context, compat)
    body |= {"stream": True}
    if compat.usage_in_stream:
        body["stream_options"] = {"include_usage": True}
        if compat.unpadded_stream:
            body["stream_options"]["include_obfuscation"] = False
    if options.max_output_tokens is not None:
        body[compat.max_tokens_field] = options.max_output_tokens
    if options.temperature is not None:
        body["temperature"] = options.temperature
    body |= reasoning_fields(compat, model, options.thinking_level)
    if compat.store:
        body["store"] = False
    headers: dict[str, str] = {}
    if options.session_id and compat.prompt_cache_key:
        body["prompt_cache_key"] = options.session_id
    if options.session_id and compat.affinity_header:
        headers[compat.affinity_header] = options.session_id
    return Request(with_endpoint(model.base_url, "/chat/completions"), headers, body)


def _tools(context: LlmContext, compat: Compat) -> dict[str, Any]:
    if context.tools:
        return {"tools": [_tool(tool) for tool in context.tools]}
    has_calls = any(isinstance(m, AssistantMessage) and m.tool_calls for m in context.messages)
    # An empty list is an error for most servers; some proxies demand it.
    return {"tools": []} if has_calls and compat.tools_with_tool_history else {}


def _tool(tool: ToolSchema) -> dict[str, Any]:
    function = {
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.parameters,
    }
    return {"type": "function", "function": function}


def _messages(context: LlmContext, compat: Compat) -> list[dict[str, Any]]:
    out: list[dict[str, Any]] = []
    if context.system_prompt:
        role = "developer" if compat.developer_role else "system"
        out.append({"role": role, "content": context.system_prompt})
    images: list[ImageBlock] = []
    for message in context.messages:
        if images and not isinstance(message, ToolResultMessage):
            out.append(_image_message(images))
            images = []
        if isinstance(message, ToolResultMessage):
            images += [block for block in message.content if isinstance(block, ImageBlock)]
        out += _message(message, compat, is_after_tool=bool(out) and out[-1]["role"] == "tool")
    if images:
        out.append(_image_message(images))
    return out


def _message(message: LlmMessage, compat: Compat, *, is_after_tool: bool) -> list[dict[str, Any]]:
    match message:
        case UserMessage():
            user = {"role": "user", "content": _user_content(message.content)}
            if is_after_tool and compat.assistant_after_tool:
                return [{"role": "assistant", "content": _AFTER_TOOL}, user]
            return [user]
        case AssistantMessage():
            assistant = _assistant(message, compat)
            return [assistant] if assistant else []
        case ToolResultMessage():
            return [_tool_result(message, compat)]


def _user_content(content: str | Sequence[TextBlock | ImageBlock]) -> str | list[dict[str, Any]]:
    if isinstance(content, str):
        return content
    if not any(isinstance(block, ImageBlock) for block in content):
        return "\n".join(block.text for block in content if isinstance(block, TextBlock))
    return [
        _image(block) if isinstance(block, ImageBlock) else {"type": "text", "text": block.text}
        for block in content
    ]


def _image(block: ImageBlock) -> dict[str, Any]:
    url = f"data:{block.mime_type};base64,{block.data}"
    return {"type": "image_url", "image_url": {"url": url}}


def _image_message(images: Sequence[ImageBlock]) -> dict[str, Any]:
    """Tool messages hold text only, so their pictures follow as if a person had sent them."""
    parts = [{"type": "text", "text": _IMAGES}, *(_image(block) for block in images)]
    return {"role": "user", "content": parts}


def _tool_result(message: ToolResultMessage, compat: Compat) -> dict[str, Any]:
    has_image = any(isinstance(block, ImageBlock) for block in message.content)
    text = message.text if message.text.strip() else _SEE_IMAGE if has_image else NO_OUTPUT
    result = {"role": "tool", "tool_call_id": _call_id(message.tool_call_id, compat)}
    if compat.tool_result_name and message.tool_name:
        result["name"] = message.tool_name
    return result | {"content": text}


def _assistant(message: AssistantMessage, compat: Compat) -> dict[str, Any] | None:
    """None for a message that has nothing to say; an empty one is refused by most servers."""
    texts = [b.text for b in message.content if isinstance(b, TextBlock) and b.text]
    calls = message.tool_calls
    if not texts and not calls:
        return None
    out: dict[str, Any] = {"role": "assistant"}
    text = "\n\n".join(texts)
    if text or compat.content_without_text != "absent":
        out["content"] = text or ("" if compat.content_without_text == "empty" else None)
    if compat.replay_reasoning:
        _add_reasoning(out, message)
    if calls and compat.replay_empty_reasoning and "reasoning_details" not in out:
        out.setdefault("reasoning_content", "")
    if calls:
        out["tool_calls"] = [_call(call, compat) for call in calls]
    return out


def _add_reasoning(out: dict[str, Any], message: AssistantMessage) -> None:
    """Thoughts go back in the field that they came in, which their signature names."""
    for block in message.content:
        if not isinstance(block, ThinkingBlock) or not block.signature:
            continue
        signature = block.signature
        if signature.startswith("["):
            out["reasoning_details"] = json.loads(signature)
        elif signature == "parts":
            text = [{"type": "text", "text": out["content"]}] if out.get("content") else []
            thought = {"type": "thinking", "thinking": [{"type": "text", "text": block.thinking}]}
            out["content"] = [thought, *text]
        elif block.thinking:
            out[signature] = out.get(signature, "") + block.thinking


def _call(call: ToolCall, compat: Compat) -> dict[str, Any]:
    arguments = arguments_text(call.arguments)
    return {
        "id": _call_id(call.id, compat),
        "type": "function",
        "function": {"name": call.name, "arguments": arguments},
    }


def _call_id(call_id: str, compat: Compat) -> str:
    """The id as the server takes it; a function of the id alone, so that pairs stay pairs."""
    if compat.tool_id == "any" or re.fullmatch(r"[A-Za-z0-9]{9}", call_id):
        return call_id
    return hashlib.blake2s(call_id.encode("utf-8", "replace")).hexdigest()[:9]
