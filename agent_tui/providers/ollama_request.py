"""A request of ours → one for Ollama's own API. Pure; the same input gives the same bytes."""

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
from agent_tui.providers.compat import compat_for, effort_word
from agent_tui.providers.ollama_show import UNKNOWN, Details, window_of
from agent_tui.providers.openai_chat_request import NO_OUTPUT
from agent_tui.providers.request import Request, without_nan

KEEP_ALIVE = "10m"
"""How long the server holds the model in memory after an answer: people think between questions."""
_LEVELS = {"low": "low", "medium": "medium", "high": "high"}
_SEE_IMAGE = "(the image follows in the next message)"
_IMAGES = "The images that the tools returned:"


def build(
    model: Model, context: LlmContext, options: StreamOptions, details: Details = UNKNOWN
) -> Request:
    """Address, headers and body; the key is not part of it."""
    body: dict[str, Any] = {"model": model.id, "messages": _messages(context)}
    if context.tools:
        body["tools"] = [_tool(tool) for tool in context.tools]
    body["stream"] = True
    body |= _thinking(model, options.thinking_level, details)
    settings: dict[str, Any] = {"num_ctx": window_of(model, details)}
    if options.max_output_tokens is not None:
        settings["num_predict"] = options.max_output_tokens
    if options.temperature is not None:
        settings["temperature"] = options.temperature
    # Without `truncate: false` the server drops the oldest messages and says nothing.
    body |= {"options": settings, "keep_alive": KEEP_ALIVE, "truncate": False}
    url = with_endpoint(model.base_url, "/api/chat", "ollama")
    return Request(url, {"accept": "application/x-ndjson"}, body)


def _thinking(model: Model, level: ThinkingLevel, details: Details) -> dict[str, Any]:
    """Thinking models think unless they are told not to; all others refuse the word."""
    can = details.can("thinking")
    if not (model.reasoning if can is None else can):
        return {}
    efforts = compat_for(model).efforts
    if _wants_a_level(model, details):
        return {"think": effort_word(efforts or _LEVELS, level)}
    if level == "off" or not efforts:
        return {"think": level != "off"}
    return {"think": effort_word(efforts, level)}


def _wants_a_level(model: Model, details: Details) -> bool:
    """Whether the model cannot be switched, only be told how much to think."""
    return "gptoss" in f"{details.family} {model.id}".replace("-", "").lower()


def _tool(tool: ToolSchema) -> dict[str, Any]:
    function = {
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.parameters,
    }
    return {"type": "function", "function": function}


def _messages(context: LlmContext) -> list[dict[str, Any]]:
    out: list[dict[str, Any]] = []
    if context.system_prompt:
        out.append({"role": "system", "content": context.system_prompt})
    last_question = max(
        (place for place, m in enumerate(context.messages) if isinstance(m, UserMessage)),
        default=-1,
    )
    images: list[ImageBlock] = []
    for place, message in enumerate(context.messages):
        if images and not isinstance(message, ToolResultMessage):
            out.append(_with_images(_IMAGES, images))
            images = []
        if isinstance(message, ToolResultMessage):
            images += _images_in(message.content)
        out += _message(message, is_current=place > last_question)
    if images:
        out.append(_with_images(_IMAGES, images))
    return out


def _message(message: LlmMessage, *, is_current: bool) -> list[dict[str, Any]]:
    match message:
        case UserMessage(content=str() as text):
            return [{"role": "user", "content": text}]
        case UserMessage():
            return [_with_images(message.text, _images_in(message.content))]
        case AssistantMessage():
            return _answer(message, is_current=is_current)
        case ToolResultMessage():
            return [_result(message)]


def _images_in(content: str | Sequence[TextBlock | ImageBlock]) -> list[ImageBlock]:
    return [block for block in content if isinstance(block, ImageBlock)]


def _with_images(text: str, images: Sequence[ImageBlock]) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "user", "content": text}
    return message | ({"images": [image.data for image in images]} if images else {})


def _answer(message: AssistantMessage, *, is_current: bool) -> list[dict[str, Any]]:
    """Nothing for a message that has nothing to say. Thoughts go back as long as the loop runs."""
    texts = [b.text for b in message.content if isinstance(b, TextBlock) and b.text]
    thoughts = [b.thinking for b in message.content if isinstance(b, ThinkingBlock) and b.thinking]
    calls = message.tool_calls
    if not texts and not calls:
        return []
    out: dict[str, Any] = {"role": "assistant", "content": "\n\n".join(texts)}
    if is_current and thoughts:
        out["thinking"] = "\n\n".join(thoughts)
    if calls:
        out["tool_calls"] = [_call(index, call) for index, call in enumerate(calls)]
    return [out]


def _call(index: int, call: ToolCall) -> dict[str, Any]:
    arguments = without_nan(call.arguments)
    function = {"index": index, "name": call.name, "arguments": arguments}
    return {"id": call.id, "function": function}


def _result(message: ToolResultMessage) -> dict[str, Any]:
    text = message.text
    if not text.strip():
        text = _SEE_IMAGE if _images_in(message.content) else NO_OUTPUT
    return {
        "role": "tool",
        "tool_name": message.tool_name,
        "tool_call_id": message.tool_call_id,
        "content": text,
    }
