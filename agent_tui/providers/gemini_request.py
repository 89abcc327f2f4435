"""A request of ours → one for Gemini. Pure; the same input gives the same bytes.

Which generation a model belongs to is read from its id: 2.5 thinks by a budget of tokens, 3 and
later by a level; from 3 on calls must carry a signature, and results may hold pictures.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from urllib.parse import quote

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
from agent_tui.providers.openai_chat_request import NO_OUTPUT
from agent_tui.providers.request import Request, without_nan
from agent_tui.providers.signatures import signed_parts

MADE_ID = "made-"
"""How ids of calls begin that came without one; the server never sees them."""
NO_SIGNATURE = "skip_thought_signature_validator"
"""What stands for the signature of a call that Gemini did not make."""
_SEE_IMAGE = "(see the attached image)"
_IMAGES = "The images that the tools returned:"

_LEVELS = {"low": "LOW", "medium": "MEDIUM", "high": "HIGH"}
"""What every model of the third generation and later has."""
_BUDGETS = {"minimal": "1024", "low": "4096", "medium": "10240", "high": "24576"}
"""Tokens for a model of generation 2.5; the Pro cannot go without, and may think for longer."""

_NAME_MAPS = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
_DATA = ("const", "enum", "default", "examples", "required")


def build(model: Model, context: LlmContext, options: StreamOptions) -> Request:
    """Address, headers and body; the key is not part of it."""
    body: dict[str, Any] = {}
    if context.system_prompt:
        body["systemInstruction"] = {"parts": [{"text": context.system_prompt}]}
    body["contents"] = _contents(context.messages, model)
    if context.tools:
        body["tools"] = [{"functionDeclarations": [_declaration(tool) for tool in context.tools]}]
    if config := _generation_config(model, options):
        body["generationConfig"] = config
    return Request(_address(model), {}, body)


def enum_for_const(schema: Any) -> Any:
    """A JSON schema in which each `const`, which Gemini overlooks, is an `enum` of one value."""
    if isinstance(schema, list):
        return [enum_for_const(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    changed: dict[str, Any] = {}
    for name, value in schema.items():
        if name == "const" and "enum" not in schema:
            changed["enum"] = [value]
        elif name in _NAME_MAPS and isinstance(value, dict):
            changed[name] = {key: enum_for_const(inner) for key, inner in value.items()}
        elif name not in _DATA:
            changed[name] = enum_for_const(value)
        else:
            changed[name] = value
    return changed


def generation_of(model_id: str) -> float:
    """2.5 for `gemini-2.5-pro`; infinite where the id names none, as in `gemini-flash-latest`."""
    found = re.search(r"gemini-(?:live-)?(\d+(?:\.\d+)?)", model_id.lower())
    return float(found[1]) if found else float("inf")


def _address(model: Model) -> str:
    name = model.id if "/" in model.id else f"models/{model.id}"
    url = with_endpoint(
        model.base_url, f"/v1beta/{quote(name, safe='/')}:streamGenerateContent", "gemini"
    )
    return f"{url}{'&' if '?' in url else '?'}alt=sse"


def _declaration(tool: ToolSchema) -> dict[str, Any]:
    return {
        "name": tool.name,
        "description": tool.description,
        "parametersJsonSchema": enum_for_const(tool.parameters),
    }


# -- generation --------------------------------------------------------------------------------


def _generation_config(model: Model, options: StreamOptions) -> dict[str, Any]:
    config: dict[str, Any] = {}
    thinking = _thinking_config(model, options.thinking_level)
    if options.max_output_tokens is not None:
        # Thoughts are a part of the output, so that a limit must leave room for their budget.
        budget = thinking.get("thinkingBudget", 0)
        most = model.max_output_tokens or options.max_output_tokens + budget
        limit = min(options.max_output_tokens + budget, most)
        config["maxOutputTokens"] = max(limit, options.max_output_tokens)
    if options.temperature is not None:
        config["temperature"] = options.temperature
    if thinking:
        config["thinkingConfig"] = thinking
    return config


def _thinking_config(model: Model, level: ThinkingLevel) -> dict[str, Any]:
    """Empty where the model does not think, or is not known to and need not."""
    efforts = compat_for(model).efforts or _efforts(model.id)
    word = effort_word(efforts, level) if efforts else None
    if word is None or (level == "off" and not model.reasoning):
        return {}
    shown: dict[str, Any] = {} if level == "off" else {"includeThoughts": True}
    if word.lstrip("-").isdecimal():
        return {**shown, "thinkingBudget": int(word)}
    return {**shown, "thinkingLevel": word.upper()}


def _efforts(model_id: str) -> Mapping[str, str]:
    """The words for a model of which only the id is known."""
    generation = generation_of(model_id)
    if generation >= 3:
        return _LEVELS
    if generation < 2.5:
        return {}
    is_pro = "pro" in model_id
    return {"off": "128" if is_pro else "0", **_BUDGETS, "xhigh": "32768" if is_pro else "24576"}


# -- contents ----------------------------------------------------------------------------------


def _contents(messages: Sequence[LlmMessage], model: Model) -> list[dict[str, Any]]:
    """The transcript; all results of one answer are one content, in the order of their calls."""
    out: list[dict[str, Any]] = []
    calls: Mapping[str, dict[str, Any]] = {}
    results: list[ToolResultMessage] = []
    for message in messages:
        if isinstance(message, ToolResultMessage):
            results.append(message)
            continue
        out += _result_contents(results, calls, model)
        results = []
        if isinstance(message, AssistantMessage):
            parts, calls = _answer(message, model)
        else:
            parts = _user_parts(message)
        if parts:
            out.append({"role": _role(message), "parts": parts})
    return out + _result_contents(results, calls, model)


def _role(message: LlmMessage) -> str:
    return "model" if isinstance(message, AssistantMessage) else "user"


def _user_parts(message: UserMessage) -> list[dict[str, Any]]:
    if isinstance(message.content, str):
        return [{"text": message.content}]
    return [
        _image(block) if isinstance(block, ImageBlock) else {"text": block.text}
        for block in message.content
    ]


def _image(block: ImageBlock) -> dict[str, Any]:
    return {"inlineData": {"mimeType": block.mime_type, "data": block.data}}


def _answer(
    message: AssistantMessage, model: Model
) -> tuple[list[dict[str, Any]], dict[str, dict[str, Any]]]:
    """The parts of an answer, and by call id what its result repeats of the call."""
    is_own = (message.provider, message.api, message.model) == (model.provider, model.api, model.id)
    parts: list[dict[str, Any]] = []
    calls: dict[str, dict[str, Any]] = {}
    for block in message.content:
        match block:
            case TextBlock():
                parts += _signed(block.text, block.signature)
            case ThinkingBlock():
                # A summary without a signature is for people; the model has no use for it.
                thoughts = _signed(block.thinking, block.signature)
                parts += [part | {"thought": True} for part in thoughts if len(part) > 1]
            case ToolCall():
                repeated = {"name": block.name}
                if is_own and not block.id.startswith(MADE_ID):
                    repeated["id"] = block.id
                parts.append(_call(block, repeated, model, is_first=not calls))
                calls[block.id] = repeated
    return parts, calls


def _signed(text: str, signature: str | None) -> list[dict[str, Any]]:
    return [
        {"text": part} if data is None else {"text": part, "thoughtSignature": data}
        for part, data in signed_parts(text, signature)
    ]


def _call(
    block: ToolCall, repeated: Mapping[str, Any], model: Model, *, is_first: bool
) -> dict[str, Any]:
    part: dict[str, Any] = {"functionCall": {**repeated, "args": without_nan(block.arguments)}}
    if block.thought_signature:
        part["thoughtSignature"] = block.thought_signature
    elif is_first and "gemini-" in model.id and generation_of(model.id) >= 3:
        # Of calls that were made side by side only the first one carries a signature.
        part["thoughtSignature"] = NO_SIGNATURE
    return part


def _result_contents(
    results: Iterable[ToolResultMessage], calls: Mapping[str, dict[str, Any]], model: Model
) -> list[dict[str, Any]]:
    takes_images = generation_of(model.id) >= 3
    parts: list[dict[str, Any]] = []
    images: list[dict[str, Any]] = []
    for result in results:
        pictures = [_image(block) for block in result.content if isinstance(block, ImageBlock)]
        text = result.text if result.text.strip() else _SEE_IMAGE if pictures else NO_OUTPUT
        response: dict[str, Any] = {
            **calls.get(result.tool_call_id, {"name": result.tool_name}),
            "response": {"error" if result.is_error else "output": text},
        }
        if pictures and takes_images:
            response["parts"] = pictures
        else:
            images += pictures
        parts.append({"functionResponse": response})
    contents = [{"role": "user", "parts": parts}] if parts else []
    if images:
        contents.append({"role": "user", "parts": [{"text": _IMAGES}, *images]})
    return contents
