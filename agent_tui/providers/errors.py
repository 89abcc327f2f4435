"""What a server says went wrong → one of our errors, in words for a person, without keys.

Servers put the same facts in a dozen shapes; everything is read leniently, and what cannot be read
is shown as it came, shortened. Status first, then the server's own codes, wording last.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from agent_tui.core.errors import (
    BAD_TOOL_CALL,
    AuthenticationError,
    ContentPolicyError,
    ContextOverflowError,
    OverloadedError,
    ProviderError,
    QuotaError,
    RateLimitError,
    RequestTimeoutError,
)
from agent_tui.core.model import Model
from agent_tui.core.text import printable
from agent_tui.providers.keys import KEY_NAMES
from agent_tui.providers.waits import retry_after

SHOWN_CHARACTERS = 2000
"""How much of a server's text is shown."""

OVERFLOW = re.compile(
    r"""context[_ ]length[_ ]exceeded|exceed_context_size_error|request_too_large
    |ContextWindowExceeded|model_context_window_exceeded|model_context_exceeded
    |prompt\ (?:is\ )?too\ long|prompt_too_long|context\ too\ long|prompt\ exceeds\ max\ length
    |input\ is\ too\ (?:long|large)|input\ too\ large|exceeds\ the\ context\ window
    |prompt\ is\ longer\ than\ the\ context\ length
    |context\ window\ (?:exceeded|exceeds\ limit)
    |exceeds?\ (?:the\ )?(?:model'?s\ )?max(?:imum)?\ context\ length
    |max(?:imum)?\ context\ length\ is\ [\d,]+|exceeded\ (?:max\ )?context\ length
    |exceed\ context\ limit|input\ token\ count.{0,40}exceeds\ the\ maximum
    |maximum\ prompt\ length\ is\ \d+|reduce\ the\ length\ of\ the\ messages
    |maximum\ allowed\ input\ length|longer\ than\ the\ (?:model'?s\ )?context\ length
    |greater\ than\ the\ context\ length|exceeds\ the\ available\ context\ size
    |exceeds\ the\ limit\ of\ \d+|configured\ (?:limit|context\ size)\ (?:of|is)\ [\d,]+
    |exceeded\ model\ token\ limit|too\ large\ for\ model\ with\ \d+
    |range\ of\ input\ length\ should\ be|context\ the\ overflows|too\ many\ tokens
    |token\ limit\ exceeded""",
    re.I | re.X,
)
OVERFLOW_CODE = re.compile(
    r"\b(?:context_length_exceeded|exceed_context_size_error|model_context_window_exceeded"
    r"|model_context_exceeded|ContextWindowExceededError)\b"
)
"""Codes that say it for certain, whatever the words beside them are."""
NOT_OVERFLOW = re.compile(
    r"rate.?limit|too many requests|throttl|service unavailable|per.?(?:minute|day)|please wait",
    re.I,
)
_QUOTA = re.compile(
    r"insufficient_quota|quota exceeded|billing|out of budget|available balance|credit balance"
    r"|insufficient (?:credits|balance|funds)|usage limit reached|enforced_spend_limit_reached",
    re.I,
)
_POLICY = re.compile(
    r"content_policy_violation|content_filter|invalid_prompt|\bflagged\b|[a-z]_policy(?:_|\b)", re.I
)
_BAD_KEY = re.compile(
    r"api_key_invalid|invalid[ _]api[ _]key|api key not valid|authentication|permission_error", re.I
)
_GROQ_BAD_CALL = "tool_use_failed"
_FINAL_WORDS = ("invalid_request", "badrequest", "not_found", "invalid_image", '"image_')
"""What an error in mid-stream says when the same request would fail again."""
_SECRET = re.compile(
    r"(?P<scheme>://)[^/\s:@]+:[^/\s@]+@"
    r"|(?P<name>(?:\b(?:x-|x-goog-)?(?:api[_-]?key|authorization)[\"']?\s*[=:]|[?&]key=|\btoken=)\s*"
    r"(?:bearer\s+)?)[\"']?[^\s\"'&,;<>]{6,}"
    r"|(?P<bearer>\bbearer\s+)[^\s\"',;<>]{6,}"
    r"|(?P<prefix>\b(?:sk|gsk|xai|pk|csk|fw|nvapi|hf)[-_])[A-Za-z0-9_-]{12,}"
    r"|(?P<google>\bAIza)[A-Za-z0-9_-]{20,}",
    re.I,
)
_TITLE = re.compile(r"<title[^>]*>(.*?)</title>", re.I | re.S)
_TAG = re.compile(r"<(?:script|style)\b.*?</(?:script|style)>|<[^>]*>", re.I | re.S)
_NUMBER = re.compile(r"\d[\d,]{2,}")


@dataclass(frozen=True, slots=True)
class Fault:
    """What could be read from an error body."""

    message: str
    """The server's own words, plain text; empty if it sent none."""
    words: str = ""
    """Everything that is searched for codes and phrases."""
    status: int | None = None
    """A number in the body that stands for an HTTP status."""
    parameter: str | None = None
    """The request field that the server named."""
    payload: Any = None


def mask(text: str, secrets: Iterable[str] = ()) -> str:
    """`text` with known secrets, and whatever looks like one, replaced."""
    for secret in secrets:
        if len(secret) >= 4:
            text = text.replace(secret, "[key]")
    return _SECRET.sub(_masked, text)


def read_fault(body: str) -> Fault:
    """The facts of an error body: JSON in any of its shapes, HTML, or plain text."""
    try:
        payload = json.loads(body)
    except (ValueError, RecursionError):
        return Fault(_plain(body), words=body[:SHOWN_CHARACTERS])
    return fault_of(payload)


def fault_of(payload: Any) -> Fault:
    """The facts of a decoded error; `payload` may hold an `error` or be one."""
    if isinstance(payload, list) and payload:
        payload = payload[0]
    whole = payload if isinstance(payload, dict) else {}
    error = whole.get("error", payload)
    fields = error if isinstance(error, dict) else whole
    message = error if isinstance(error, str) else _message_in(fields) or _message_in(whole)
    metadata = fields.get("metadata")
    raw = metadata.get("raw") if isinstance(metadata, dict) else None
    if raw:
        raw_text = raw if isinstance(raw, str) else json.dumps(raw)
        message = f"{message}: {raw_text}" if message else raw_text
    code = fields.get("code", fields.get("status_code"))
    return Fault(
        message=printable(message).strip()[:SHOWN_CHARACTERS],
        words=json.dumps(payload, ensure_ascii=False)[: 4 * SHOWN_CHARACTERS],
        status=code if isinstance(code, int) and 400 <= code < 600 else None,
        parameter=fields["param"] if isinstance(fields.get("param"), str) else None,
        payload=payload,
    )


def http_error(
    status: int,
    headers: Mapping[str, str],
    body: str,
    model: Model,
    secrets: Iterable[str] = (),
    now: Callable[[], float] = time.time,
) -> ProviderError:
    """The error for an answer that is no success. `headers` have lower-case names."""
    fault = read_fault(body)
    if 300 <= status < 400:
        place = headers.get("location", "another address")
        fault = Fault(f"the server sends us on to {printable(place)}; set base_url to that address")
    error = _classified(status, fault, headers, model, secrets, now)
    request_id = headers.get("x-request-id") or headers.get("request-id")
    error.request_id = request_id and mask(printable(request_id), secrets)[:200]
    asked = headers.get("x-should-retry", "").lower()
    if asked in ("true", "false"):
        error.retryable = asked == "true"
    return error


def stream_error(payload: Any, model: Model, secrets: Iterable[str] = ()) -> ProviderError:
    """The error for what a server reports inside a response that began well."""
    fault = fault_of(payload)
    return _classified(fault.status, fault, {}, model, secrets, time.time)


def strange_answer(
    status: int, content_type: str, body: str, model: Model, secrets: Iterable[str] = ()
) -> ProviderError:
    """The error for a success that is no answer of a model: a login page, a wrong address."""
    start = mask(_plain(body), secrets)[:200]
    return ProviderError(
        f"{model.provider}: HTTP {status} with {content_type or 'no content type'} instead of an "
        f"answer; is {model.base_url} the right address?" + (f" It says: {start}" if start else ""),
        status=status,
        provider=model.provider,
    )


def _classified(
    status: int | None,
    fault: Fault,
    headers: Mapping[str, str],
    model: Model,
    secrets: Iterable[str],
    now: Callable[[], float],
) -> ProviderError:
    kind, retryable = _kind(status, fault)
    said = mask(fault.message, secrets).rstrip(". \n") or "no reason given"
    where = f" (HTTP {status})" if status else ""
    hint = _hint(kind, status, fault, model)
    return kind(
        f"{model.provider or model.id}: {said}{where}{'. ' + hint if hint else ''}",
        status=status,
        provider=model.provider,
        code=BAD_TOOL_CALL if kind is ProviderError and _GROQ_BAD_CALL in fault.words else None,
        retryable=retryable,
        retry_after=retry_after(headers, fault.payload, fault.message, now),
    )


def _kind(status: int | None, fault: Fault) -> tuple[type[ProviderError], bool | None]:
    """The class, and whether another try may help where the class does not say it."""
    words = fault.words
    is_throttled = NOT_OVERFLOW.search(words) is not None
    may_be_overflow = status in (None, 400, 413, 422, 429, 500)
    if may_be_overflow and OVERFLOW_CODE.search(words):
        return ContextOverflowError, None
    if may_be_overflow and OVERFLOW.search(words) and not is_throttled:
        return ContextOverflowError, None
    if status == 413:
        return (RateLimitError if is_throttled else ContextOverflowError), None
    if _GROQ_BAD_CALL in words:
        return ProviderError, True
    if (status in (400, 403, None) and _POLICY.search(words)) or _is_moderated(status, fault):
        return ContentPolicyError, None
    if status == 401 or (status in (400, None) and _BAD_KEY.search(words)):
        return AuthenticationError, None
    if status in (400, 402, 403, 429, None) and _is_used_up(status, fault):
        return QuotaError, None
    return _kind_of_status(status, words)


def _kind_of_status(status: int | None, words: str) -> tuple[type[ProviderError], bool | None]:
    match status:
        case 403:
            return AuthenticationError, None
        case 429 | 498:
            return RateLimitError, None
        case 408:
            return RequestTimeoutError, None
        case 409 | 425 | 500 | 502 | 503 | 504 | 520 | 521 | 522 | 523 | 524 | 529:
            return OverloadedError, None
        case None:
            return _kind_of_words(words)
        case _:
            return ProviderError, status > 504


def _kind_of_words(words: str) -> tuple[type[ProviderError], bool | None]:
    """Errors in mid-stream have no status: the server's type and code decide."""
    lower = words.lower()
    if "rate_limit" in lower or "rate limit" in lower or "too_many_requests" in lower:
        return RateLimitError, None
    if "timeout" in lower or "timed out" in lower:
        return RequestTimeoutError, None
    if any(word in lower for word in ("overload", "server_error", "api_error", "unavailable")):
        return OverloadedError, None
    return ProviderError, not any(word in lower for word in _FINAL_WORDS)


def _is_moderated(status: int | None, fault: Fault) -> bool:
    error = fault.payload.get("error") if isinstance(fault.payload, dict) else None
    metadata = error.get("metadata") if isinstance(error, dict) else None
    return status == 403 and isinstance(metadata, dict) and bool(metadata.get("reasons"))


def _is_used_up(status: int | None, fault: Fault) -> bool:
    """Whether waiting cannot help. Gemini's per-minute limits are worded like a used-up quota."""
    if '"quotaId"' in fault.words:
        return "PerDay" in fault.words
    return status == 402 or _QUOTA.search(fault.words) is not None or '"1308"' in fault.words


def _hint(kind: type[ProviderError], status: int | None, fault: Fault, model: Model) -> str:
    if kind is ContextOverflowError:
        numbers = _NUMBER.findall(fault.message)
        much = "" if numbers else "The conversation is too long for this model. "
        return much + "Start a new session, or choose a model with a larger window"
    if kind is AuthenticationError:
        name = model.compat.get("api_key_env") or " or ".join(KEY_NAMES.get(model.provider, ()))
        return f"Check the key in {name}" if name else "Check the key (--api-key-env NAME)"
    if status == 404:
        return f"Check the model's name ({model.id}) and the address {model.base_url}"
    return ""


def _message_in(fields: Mapping[str, Any]) -> str:
    for name in ("message", "detail", "msg", "error_description"):
        value = fields.get(name)
        if isinstance(value, str) and value.strip():
            return value
        if isinstance(value, dict) and (inner := _message_in(value)):
            return inner
        if isinstance(value, list) and value:
            return "; ".join(filter(None, (_detail(item) for item in value)))
        if value:
            return json.dumps(value, ensure_ascii=False)
    return ""


def _detail(item: Any) -> str:
    """One entry of a validation error: `{"loc": ["body", "x"], "msg": "…"}`."""
    if not isinstance(item, dict):
        return str(item)
    place = ".".join(str(part) for part in item.get("loc") or ())
    message = _message_in(item)
    return f"{place}: {message}" if place and message else message or place


def _plain(body: str) -> str:
    """A body as one line of text; of a page of HTML only its title, or its words."""
    text = body[: 4 * SHOWN_CHARACTERS]
    if "<" in text and ">" in text:
        title = _TITLE.search(text)
        rest = " ".join(_TAG.sub(" ", text[title.end() :] if title else text).split())
        text = _titled(" ".join(title[1].split()), rest) if title else rest
    return " ".join(printable(text).split())[:SHOWN_CHARACTERS]


def _titled(title: str, rest: str) -> str:
    """Title and words of a page; most pages begin with their title once more."""
    rest = rest.removeprefix(title).strip()
    return f"{title}. {rest}" if title and rest else title or rest


def _masked(match: re.Match[str]) -> str:
    if match["scheme"]:
        return "://[key]@"
    kept = match["name"] or match["bearer"] or match["prefix"] or match["google"] or ""
    return f"{kept}[key]"
