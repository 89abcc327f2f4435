"""How a server departs from its API's reference: one record, guessed from the host, overridable.

A model's `compat` mapping overrides field by field. An unknown server gets the least: model,
messages, tools, stream, `stream_options` and `max_tokens`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Literal, get_args, get_origin, get_type_hints

from agent_tui.core.model import THINKING_LEVELS, Model, ThinkingLevel
from agent_tui.providers.addresses import host_of, is_local

ReasoningFormat = Literal[
    "openai", "openrouter", "deepseek", "zai", "together", "qwen", "chat_template", "none"
]


@dataclass(frozen=True, slots=True)
class Compat:
    """What a server wants and does. The defaults fit an unknown OpenAI-compatible server."""

    max_tokens_field: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    developer_role: bool = False
    """The system prompt goes out with the role `developer`."""
    store: bool = False
    """Send `store: false`, so that the vendor keeps nothing."""
    usage_in_stream: bool = True
    """Ask for token counts with `stream_options`."""
    unpadded_stream: bool = False
    """Ask the vendor not to pad its chunks against eavesdroppers on their length."""
    sends_finish_reason: bool = True
    """Without one, the end of the body is the end of the answer."""
    tool_id: Literal["any", "mistral9"] = "any"
    tool_result_name: bool = False
    """Tool messages carry the tool's `name`."""
    assistant_after_tool: bool = False
    """The template refuses a user message right after a tool result."""
    content_without_text: Literal["null", "empty", "absent"] = "null"
    """`content` of a message that holds calls only."""
    tools_with_tool_history: bool = False
    """Send `tools: []` when the transcript holds calls but no tool is on offer."""
    reasoning_format: ReasoningFormat = "openai"
    efforts: Mapping[str, str] = field(default_factory=dict)
    """Thinking level → the server's word, for the levels that the model has."""
    replay_reasoning: bool = True
    """Send thoughts back to the model they came from, in the field they came in."""
    replay_empty_reasoning: bool = False
    """Messages with calls need the field even when there are no thoughts."""
    think_tags: Literal["start", "implied", "off"] = "start"
    """`<think>` at the very start of an answer is thinking; `implied`: only its end is sent."""
    prompt_cache_key: bool = False
    affinity_header: str | None = None
    """The header that carries the session's id, for servers that route by it."""
    adaptive_thinking: bool | None = None
    """Anthropic: the model decides how long to think, not a budget; None goes by its id."""
    empty_signature_ok: bool = False
    """Anthropic: the server signs no thoughts, and takes them back without a signature."""
    cache_marks: bool = True
    """Anthropic: say where the server may cache what it has read."""
    num_ctx: int | None = None
    """Ollama: the window to load the model with, in tokens; None: chosen by what is known of it."""
    timeouts: Mapping[str, float] = field(default_factory=dict)
    """Seconds: `connect`, `first_byte`, `first_event`, `stall`."""
    local: bool = False
    """A server that may have to load its model first: long limits."""
    ca_bundle: str | None = None
    """A file of certificates to trust instead of the usual ones."""
    insecure_skip_verify: bool = False
    """Talk to the server whatever certificate it shows."""
    extra_body: Mapping[str, Any] = field(default_factory=dict)
    """Merged into every request last."""


OTHER_KEYS = frozenset(
    {
        "api_key_command",
        "api_key_env",
        "merge_user_messages",
        "unsigned_thinking",
    }
)
"""Keys of a model's `compat` that others read: the keys' owner and the engine's boundary."""

_DETECTED: Mapping[str, Mapping[str, Any]] = {
    "api.openai.com": {
        "max_tokens_field": "max_completion_tokens",
        "developer_role": True,
        "store": True,
        "unpadded_stream": True,
        "prompt_cache_key": True,
        "think_tags": "off",
    },
    "openrouter.ai": {"reasoning_format": "openrouter", "affinity_header": "x-session-id"},
    "api.deepseek.com": {"reasoning_format": "deepseek", "replay_empty_reasoning": True},
    "api.mistral.ai": {"tool_id": "mistral9", "tool_result_name": True},
    "api.z.ai": {"reasoning_format": "zai"},
    "api.moonshot.ai": {"content_without_text": "absent"},
    "api.together.ai": {"reasoning_format": "together"},
    "api.together.xyz": {"reasoning_format": "together"},
    "api.fireworks.ai": {"affinity_header": "x-session-affinity"},
    "dashscope.aliyuncs.com": {"reasoning_format": "qwen"},
    "dashscope-intl.aliyuncs.com": {"reasoning_format": "qwen"},
}
_FIELDS = {f.name: f for f in dataclasses.fields(Compat)}


def compat_for(model: Model) -> Compat:
    """The record for `model`: defaults < what its host is known for < its own `compat`."""
    found = dict(_DETECTED.get(host_of(model.base_url), {}))
    found["local"] = found["empty_signature_ok"] = is_local(model.base_url)
    for name, value in model.compat.items():
        if name in _FIELDS:
            found[name] = _adjusted(name, value)
    return Compat(**found)


def compat_problems(compat: Mapping[str, Any]) -> list[str]:
    """One sentence for each key or value of a `compat` table that means nothing."""
    problems = []
    for name, value in compat.items():
        if name not in _FIELDS and name not in OTHER_KEYS:
            known = ", ".join(sorted({*_FIELDS, *OTHER_KEYS}))
            problems.append(f"unknown key {name!r}; known: {known}")
        elif name in _FIELDS and (allowed := _allowed(name)):
            value = _adjusted(name, value)
            if value not in allowed:
                words = ", ".join(str(word).lower() for word in allowed)
                problems.append(f"{name} = {value!r} is not one of {words}")
    return problems


def reasoning_fields(compat: Compat, model: Model, level: ThinkingLevel) -> dict[str, Any]:
    """The request fields that switch thinking to `level`; empty where the server decides.

    With thinking off, only models that are known to think are told so.
    """
    is_on = level != "off"
    if not (is_on or model.reasoning) or compat.reasoning_format == "none":
        return {}
    effort = effort_word(compat.efforts, level)
    match compat.reasoning_format:
        case "openai":
            return {"reasoning_effort": effort} if effort else {}
        case "openrouter":
            return {"reasoning": {"effort": effort} if effort else {"enabled": is_on}}
        case "together":
            return {"reasoning": {"enabled": is_on}}
        case "qwen":
            return {"enable_thinking": is_on}
        case "chat_template":
            return {"chat_template_kwargs": {"enable_thinking": is_on}}
        case _:
            fields: dict[str, Any] = {"thinking": {"type": "enabled" if is_on else "disabled"}}
            if is_on and compat.efforts and effort:
                fields["reasoning_effort"] = effort
            return fields


def effort_word(efforts: Mapping[str, str], level: ThinkingLevel) -> str | None:
    """The server's word for `level`, else for the nearest level below it, else above it."""
    if not efforts:
        # All servers with efforts know these three.
        plain = {"off": None, "minimal": "low", "xhigh": "high"}
        return plain.get(level, level)
    place = THINKING_LEVELS.index(level)
    nearest = [*reversed(THINKING_LEVELS[: place + 1]), *THINKING_LEVELS[place + 1 :]]
    if level != "off":
        nearest = [name for name in nearest if name != "off"]
    return next((efforts[name] for name in nearest if name in efforts), None)


def _adjusted(name: str, value: Any) -> Any:
    if name == "think_tags" and isinstance(value, bool):
        return "start" if value else "off"
    return value


@lru_cache(maxsize=1)
def _hints() -> dict[str, Any]:
    return get_type_hints(Compat)


def _allowed(name: str) -> tuple[Any, ...]:
    hint = _hints()[name]
    if hint is bool:
        return (True, False)
    return get_args(hint) if get_origin(hint) is Literal else ()
