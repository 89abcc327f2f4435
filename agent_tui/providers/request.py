"""What goes out: address, headers and body of a request, made safe to send.

A request parameter that a server refused is left out, or sent under its other name, from then on.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from agent_tui.core.errors import ConfigError, ProviderError
from agent_tui.core.messages import ImageBlock, TextBlock, ThinkingBlock, ToolCall
from agent_tui.core.stream import LlmContext
from agent_tui.core.text import printable, without_surrogates
from agent_tui.providers.compat import Compat
from agent_tui.providers.errors import read_fault
from agent_tui.version import __version__

_SECRET_HEADERS = ("authorization", "proxy-authorization", "api-key", "x-api-key", "x-goog-api-key")
_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False)
_BYTES_PER_TOKEN = 3.5
_IMAGE_TOKENS = 1200
_HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")


class Request(NamedTuple):
    """What `build` makes: an address, headers without the key, and a body to send as JSON."""

    url: str
    headers: dict[str, str]
    body: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Limits:
    """Seconds."""

    connect: float
    first_byte: float
    first_event: float
    stall: float


def limits_for(compat: Compat, silence: float | None) -> Limits:
    """The time limits: by where the server is, by configuration, by `StreamOptions.timeout`."""
    found = {"connect": 10.0, "first_byte": 120.0, "first_event": 300.0, "stall": 120.0}
    if compat.local:
        found |= {"connect": 3.0, "first_byte": 600.0, "first_event": 600.0}
    if silence is not None:
        found |= {"first_byte": silence, "first_event": silence, "stall": silence}
    found |= {name: float(value) for name, value in compat.timeouts.items() if name in found}
    return Limits(**found)


def merged_headers(*parts: Mapping[str, str]) -> dict[str, str]:
    """The usual headers and `parts`, later ones winning; lower-case names.

    Raises:
        ConfigError: A header holds a character that none may have. Its value is not shown.
    """
    merged = {
        "accept": "text/event-stream",
        # A proxy that compresses also collects, and the words come late.
        "accept-encoding": "identity",
        "content-type": "application/json",
        "user-agent": f"agent-tui/{__version__}",
    }
    for part in parts:
        merged |= {name.lower(): str(value).strip() for name, value in part.items()}
    for name, value in merged.items():
        if not _HEADER_NAME.fullmatch(name) or not (value.isascii() and value.isprintable()):
            raise ConfigError(
                f"the header {printable(name)!r} holds a character that no header may have"
            )
    return merged


def secrets_in(headers: Mapping[str, str]) -> list[str]:
    """The values of headers that carry keys."""
    return [headers[name] for name in _SECRET_HEADERS if name in headers]


def encode(body: Mapping[str, Any]) -> bytes:
    """The body as JSON in UTF-8, without what JSON or UTF-8 cannot hold."""
    try:
        text = json.dumps(body, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except ValueError:
        text = json.dumps(
            without_nan(body), ensure_ascii=False, allow_nan=False, separators=(",", ":")
        )
    return without_surrogates(text).encode()


def arguments_text(arguments: Mapping[str, Any]) -> str:
    """The arguments of a call as JSON text, without what JSON cannot hold."""
    try:
        return _ENCODER.encode(arguments)
    except ValueError:
        return _ENCODER.encode(without_nan(arguments))


def without_nan(value: Any) -> Any:
    """A copy of JSON data in which numbers that JSON lacks are null."""
    if isinstance(value, dict):
        return {key: without_nan(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [without_nan(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def estimated_tokens(context: LlmContext) -> int:
    """A guess at the tokens of a request, from its length in UTF-8: 3.5 bytes are a token."""
    texts = [context.system_prompt or "", *(str(tool.parameters) for tool in context.tools)]
    tokens = 0.0
    for message in context.messages:
        tokens += 4
        if isinstance(message.content, str):
            texts.append(message.content)
            continue
        for block in message.content:
            match block:
                case TextBlock():
                    texts.append(block.text)
                case ThinkingBlock():
                    texts.append(block.thinking)
                case ToolCall():
                    texts.append(str(block.arguments))
                case ImageBlock():
                    tokens += _IMAGE_TOKENS
    size = sum(len(text.encode("utf-8", "replace")) for text in texts)
    return math.ceil(tokens + size / _BYTES_PER_TOKEN)


def refused_parameter(
    error: ProviderError,
    body: str,
    swaps: Mapping[str, str | None],
    sent: Mapping[str, Any],
    refused: set[str],
) -> str | None:
    """The request parameter that the server does not take, if we can do without it.

    `swaps` names what we can do without, and what may be sent instead. `sent` is the body as built,
    `refused` what was left out of it already.
    A name with a dot in it is that of a field of a parameter.
    """
    if error.status not in (400, 422) or type(error) is not ProviderError:
        return None
    named = read_fault(body).parameter
    for name in swaps:
        is_word = "_" in name or "." in name or name == "temperature"
        pattern = rf"(?<![\w.]){re.escape(name)}(?!\w)" if is_word else rf"['\"`]{name}['\"`]"
        was_sent = _has(sent, name) or any(swaps[other] == name for other in refused)
        if was_sent and name not in refused and (named == name or re.search(pattern, body)):
            return name
    return None


def without_refused(
    body: Mapping[str, Any], refused: set[str], swaps: Mapping[str, str | None]
) -> dict[str, Any]:
    """`body` without refused parameters, or with their other names.

    A name with a dot in it is that of a field of a parameter.
    """
    kept: dict[str, Any] = {}
    for name, value in body.items():
        if name not in refused:
            has_gaps = isinstance(value, dict) and any(f"{name}.{key}" in refused for key in value)
            kept[name] = _thinned(name, value, refused) if has_gaps else value
        elif (other := swaps[name]) is not None and other not in refused:
            kept[other] = value
    return kept


def _thinned(name: str, fields: Mapping[str, Any], refused: set[str]) -> dict[str, Any]:
    return {key: value for key, value in fields.items() if f"{name}.{key}" not in refused}


def _has(body: Mapping[str, Any], name: str) -> bool:
    outer, _, inner = name.partition(".")
    value = body.get(outer)
    return outer in body and (not inner or (isinstance(value, dict) and inner in value))
