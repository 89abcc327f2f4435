"""How long a server asks us to wait, in every form in which servers say it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from datetime import UTC
from typing import Any

_PART = re.compile(
    r"(\d+(?:\.\d+)?)\s*(ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?)?(?![a-z])",
    re.I,
)
_SECONDS = {"m": 60.0, "h": 3600.0, "s": 1.0}
_ASKED = re.compile(
    r"(?:try|retry)(?:ing)?(?: again)?(?: in| after)\s+"
    r"((?:\d+(?:\.\d+)?\s*(?:milliseconds?|ms|seconds?|secs?|s|minutes?|mins?|m|hours?|hrs?|h)\b\s*)+"
    r"|(?:\d+(?:\.\d+)?(?:ms|s|m|h))+)",
    re.I,
)


def retry_after(
    headers: Mapping[str, str], payload: Any, message: str, now: Callable[[], float]
) -> float | None:
    """Seconds to wait, at least 0; None if the server did not say, or not readably.

    Tried in order: `retry-after-ms`, `retry-after` (seconds or a date), a `retryDelay` in the body,
    the wording of `message`, `x-ratelimit-reset`. `now` gives seconds since the epoch.
    """
    for seconds in _stated(headers, payload, message, now):
        if seconds is not None and seconds == seconds and seconds != float("inf"):
            return max(0.0, seconds)
    return None


def parse_duration(text: str) -> float | None:
    """Seconds in `1m3s`, `350ms`, `2.8s` or a bare number of seconds; None for anything else."""
    text = text.strip()
    parts = list(_PART.finditer(text))
    if not parts or "".join(part[0] for part in parts).replace(" ", "") != text.replace(" ", ""):
        return None
    return sum(_seconds(float(part[1]), (part[2] or "s").lower()) for part in parts)


def _seconds(number: float, unit: str) -> float:
    return number / 1000 if unit.startswith(("ms", "milli")) else number * _SECONDS[unit[0]]


def _stated(
    headers: Mapping[str, str], payload: Any, message: str, now: Callable[[], float]
) -> Iterator[float | None]:
    if milliseconds := _number(headers.get("retry-after-ms", "")):
        yield milliseconds / 1000
    after = headers.get("retry-after", "").strip()
    yield _number(after)
    yield _until_date(after, now)
    yield _delay_in(payload)
    if asked := _ASKED.search(message):
        yield parse_duration(asked[1])
    yield _reset_in(headers, now)


def _number(text: str) -> float | None:
    with suppress(ValueError):
        return float(text)
    return None


def _until_date(text: str, now: Callable[[], float]) -> float | None:
    if not text:
        return None
    from email.utils import parsedate_to_datetime

    with suppress(ValueError, TypeError, OverflowError, IndexError):
        date = parsedate_to_datetime(text)
        return (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp() - now()
    return None


def _delay_in(payload: Any) -> float | None:
    """Google's `RetryInfo`, wherever it stands among the details."""
    error = payload.get("error") if isinstance(payload, dict) else None
    details = error.get("details") if isinstance(error, dict) else None
    for detail in details if isinstance(details, list) else ():
        delay = detail.get("retryDelay") if isinstance(detail, dict) else None
        if isinstance(delay, str) and (seconds := parse_duration(delay)) is not None:
            return seconds
    return None


def _reset_in(headers: Mapping[str, str], now: Callable[[], float]) -> float | None:
    """When the exhausted limit starts anew: a duration, or a moment in epoch (milli)seconds."""
    waits = []
    for suffix in ("", "-requests", "-tokens"):
        text = headers.get(f"x-ratelimit-reset{suffix}", "")
        if headers.get(f"x-ratelimit-remaining{suffix}", "0").strip() != "0":
            continue
        if (seconds := parse_duration(text)) is None:
            continue
        if seconds > 1e12:
            seconds = seconds / 1000
        waits.append(seconds - now() if seconds > 1e9 else seconds)
    return max(waits) if waits else None
