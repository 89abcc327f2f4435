"""A request of ours → a body for the Messages API. Pure; the same input gives the same bytes.

What the server may cache is marked at the end of the tools, of the system prompt, and of the last
two messages of the user: the newer mark writes, the older one finds what the request before wrote.
Everything before the newest message stays byte by byte what it was.
"""

from __future__ import annotations

import re
import sys
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
from agent_tui.providers.request import Request, estimated_tokens, without_nan

VERSION = "2023-06-01"
USUAL_OUTPUT = 32_000
"""Tokens that an answer may have if nobody said otherwise and the model can write as many."""
UNKNOWN_OUTPUT = 8_192
"""The same for a model of which that is not known."""
_BUDGETS = {"minimal": 1024, "low": 4096, "medium": 10_240, "high": 24_576}
_LEAST_BUDGET = 1024
_LEAST_OUTPUT = 1024
_ANSWER = 8_192
"""Tokens that the largest budget leaves for the answer."""
_BETWEEN_TOOLS = "interleaved-thinking-2025-05-14"
_IMAGE_TYPES = ("image/jpeg", "image/png", "image/gif", "image/webp")
_MARK = {"type": "ephemeral"}
_GOES_ON = "(The conversation goes on.)"
_SEE_IMAGE = "(the image follows the results)"
_VERSION_IN_ID = re.compile(r"claude-(?:[a-z]+-)*(\d+)(?:[-.](\d{1,2}))?(?!\d)")

_Json = dict[str, Any]


def build(model: Model, context: LlmContext, options: StreamOptions) -> Request:
    """Address, headers and body; the key is not part of it."""
    compat = compat_for(model)
    messages = _messages(context.messages, compat)
    thinking, most = _thinking_and_limit(model, compat, context, options, messages)
    body: _Json = {"model": model.id, "max_tokens": most, **thinking}
    if context.system_prompt:
        body["system"] = [{"type": "text", "text": context.system_prompt}]
    body |= _tools(context)
    if options.temperature is not None and not _is_on(thinking):
        body["temperature"] = options.temperature
    body |= {"messages": messages, "stream": True}
    if compat.cache_marks:
        _mark(body)
    headers = {"anthropic-version": VERSION}
    if "budget_tokens" in thinking.get("thinking", {}):
        headers["anthropic-beta"] = _BETWEEN_TOOLS
    if options.session_id and compat.affinity_header:
        headers[compat.affinity_header] = options.session_id
    return Request(with_endpoint(model.base_url, "/v1/messages", "anthropic"), headers, body)


def is_adaptive(model: Model, compat: Compat) -> bool:
    """Whether the model decides itself how long to think: all since Claude 4.6."""
    if compat.adaptive_thinking is not None:
        return compat.adaptive_thinking
    if "claude" not in model.id.lower():
        return False
    found = _VERSION_IN_ID.search(model.id.lower())
    return found is None or (int(found[1]), int(found[2] or 0)) >= (4, 6)


# -- thinking and limits -----------------------------------------------------------------------


def _thinking_and_limit(
    model: Model,
    compat: Compat,
    context: LlmContext,
    options: StreamOptions,
    messages: Sequence[_Json],
) -> tuple[_Json, int]:
    """The fields that switch thinking, and how much may be written, thoughts included."""
    level = options.thinking_level
    able = model.max_output_tokens or UNKNOWN_OUTPUT
    usual = options.max_output_tokens or min(able, USUAL_OUTPUT)
    room = _room(model, context)
    if level != "off" and not is_adaptive(model, compat) and not _began_without_thoughts(messages):
        most = model.max_output_tokens
        budget = _budget(level, usual, most)
        limit = min(usual + budget, most or usual + budget, max(room, 2 * _LEAST_BUDGET))
        # A budget that changed would empty the cache, so that only a lack of room changes it.
        budget = min(budget, limit - _LEAST_BUDGET)
        if budget >= _LEAST_BUDGET:
            return {"thinking": {"type": "enabled", "budget_tokens": budget}}, limit
    return _switched(model, compat, level), min(usual, max(room, _LEAST_OUTPUT))


def _switched(model: Model, compat: Compat, level: ThinkingLevel) -> _Json:
    """Thinking without a budget, or none; a model that cannot do without does as little as may be.

    With thinking off, only models that are known to think are told so.
    """
    can_be_off = not compat.efforts or "off" in compat.efforts
    if level == "off" and not model.reasoning:
        return {}
    if not is_adaptive(model, compat) or (level == "off" and can_be_off):
        return {"thinking": {"type": "disabled"}} if model.reasoning else {}
    fields: _Json = {"thinking": {"type": "adaptive", "display": "summarized"}}
    if (effort := effort_word(compat.efforts, level)) is not None:
        fields["output_config"] = {"effort": effort}
    return fields


def _budget(level: ThinkingLevel, usual: int, most: int | None) -> int:
    """Tokens to think with, the answer's share left out; the highest level takes all there are."""
    if most is None:
        return _BUDGETS.get(level, USUAL_OUTPUT)
    return max(_LEAST_BUDGET, min(_BUDGETS.get(level, most), most - min(usual, _ANSWER, most // 2)))


def _room(model: Model, context: LlmContext) -> int:
    """Tokens that the window leaves for the answer, by a guess; asking for more is refused."""
    if model.context_window is None:
        return sys.maxsize
    return model.context_window - estimated_tokens(context) - 1024


def _is_on(thinking: _Json) -> bool:
    return thinking.get("thinking", {}).get("type") in ("enabled", "adaptive")


def _began_without_thoughts(messages: Sequence[_Json]) -> bool:
    """Whether the turn has calls but no thoughts: with a budget the server would refuse to go on.

    So it is after another model, or with thinking off, made the first calls of the turn.
    """
    has_calls = False
    for message in reversed(messages):
        types = {block["type"] for block in message["content"]}
        if message["role"] == "user" and "tool_result" not in types:
            break
        if message["role"] == "assistant":
            if types & {"thinking", "redacted_thinking"}:
                return False
            has_calls = has_calls or "tool_use" in types
    return has_calls


# -- tools and marks ---------------------------------------------------------------------------


def _tools(context: LlmContext) -> _Json:
    if context.tools:
        return {"tools": [_tool(tool) for tool in context.tools]}
    # Calls in the transcript are refused where no tool is known.
    names = {
        call.name: None
        for message in context.messages
        if isinstance(message, AssistantMessage)
        for call in message.tool_calls
    }
    known = [_tool(ToolSchema(name)) for name in names]
    return {"tools": known, "tool_choice": {"type": "none"}} if known else {}


def _tool(tool: ToolSchema) -> _Json:
    # Alternatives at the top of a schema are refused, and so is a type other than object.
    schema = {k: v for k, v in tool.parameters.items() if k not in ("anyOf", "oneOf", "allOf")}
    sent: _Json = {"name": tool.name}
    if tool.description:
        sent["description"] = tool.description
    return sent | {"input_schema": schema | {"type": "object"}}


def _mark(body: _Json) -> None:
    """At most four marks, the most that are taken."""
    from_user = [message["content"] for message in body["messages"] if message["role"] == "user"]
    for blocks in (body.get("tools"), body.get("system"), *from_user[-2:]):
        if blocks:
            blocks[-1]["cache_control"] = dict(_MARK)


# -- messages ----------------------------------------------------------------------------------


def _messages(messages: Sequence[LlmMessage], compat: Compat) -> list[_Json]:
    """The transcript with roles taking turns, all results of an answer first in one message."""
    out: list[_Json] = []
    images: list[_Json] = []
    for message in messages:
        if images and not isinstance(message, ToolResultMessage):
            _append(out, "user", images)
            images = []
        match message:
            case UserMessage():
                _append(out, "user", _user_blocks(message))
            case AssistantMessage():
                _append(out, "assistant", _answer_blocks(message, compat))
            case ToolResultMessage():
                result, rest = _result(message)
                _append(out, "user", [result])
                images += rest
    _append(out, "user", images)
    if out and out[0]["role"] == "assistant":
        out.insert(0, {"role": "user", "content": [{"type": "text", "text": _GOES_ON}]})
    if out and out[-1]["role"] == "assistant" and "text" in (last := out[-1]["content"][-1]):
        last["text"] = last["text"].rstrip()
    return out


def _append(out: list[_Json], role: str, blocks: list[_Json]) -> None:
    if out and out[-1]["role"] == role:
        out[-1]["content"] += blocks
    elif blocks:
        out.append({"role": role, "content": list(blocks)})


def _user_blocks(message: UserMessage) -> list[_Json]:
    if isinstance(message.content, str):
        return [_text(message.content)] if message.content.strip() else []
    return [_block(b) for b in message.content if isinstance(b, ImageBlock) or b.text.strip()]


def _block(block: TextBlock | ImageBlock) -> _Json:
    if isinstance(block, TextBlock):
        return _text(block.text)
    if block.mime_type not in _IMAGE_TYPES:
        return _text(f"[image left out: {block.mime_type} is not one of {', '.join(_IMAGE_TYPES)}]")
    source = {"type": "base64", "media_type": block.mime_type, "data": block.data}
    return {"type": "image", "source": source}


def _text(text: str) -> _Json:
    return {"type": "text", "text": text}


def _answer_blocks(message: AssistantMessage, compat: Compat) -> list[_Json]:
    blocks: list[_Json] = []
    for block in message.content:
        match block:
            case TextBlock() if block.text.strip():
                blocks.append(_text(block.text))
            case ThinkingBlock():
                blocks += _thought(block, compat)
            case ToolCall():
                call: _Json = {"type": "tool_use", "id": block.id, "name": block.name}
                blocks.append(call | {"input": without_nan(block.arguments)})
    return blocks


def _thought(block: ThinkingBlock, compat: Compat) -> list[_Json]:
    """Sealed ones go back as they came; unsigned ones as text, unless the server signs none."""
    if block.redacted and block.signature:
        # A whole block of another kind is kept as JSON, which redacted data never is.
        whole = unpacked(block.signature)
        return [dict(whole) or {"type": "redacted_thinking", "data": block.signature}]
    if block.signature or (compat.empty_signature_ok and block.thinking.strip()):
        signature = block.signature or ""
        return [{"type": "thinking", "thinking": block.thinking, "signature": signature}]
    return [_text(block.thinking)] if block.thinking.strip() else []


def _result(message: ToolResultMessage) -> tuple[_Json, list[_Json]]:
    """A result, and images that must follow it: one of a failed call may hold text only."""
    blocks = [_block(b) for b in message.content if isinstance(b, ImageBlock) or b.text.strip()]
    images = [block for block in blocks if block["type"] == "image"]
    if message.is_error and images:
        blocks = [block for block in blocks if block["type"] != "image"] or [_text(_SEE_IMAGE)]
    result: _Json = {
        "type": "tool_result",
        "tool_use_id": message.tool_call_id,
        "content": blocks or [_text(NO_OUTPUT)],
    }
    if message.is_error:
        return result | {"is_error": True}, images
    return result, []
