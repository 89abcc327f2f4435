"""How long a server asks us to wait."""

from __future__ import annotations

from email.utils import formatdate
from typing import Any

import pytest

from agent_tui.providers.waits import parse_duration, retry_after

NOW = 1_700_000_000.0


def wait(
    headers: dict[str, str] | None = None, payload: Any = None, message: str = ""
) -> float | None:
    return retry_after(headers or {}, payload, message, lambda: NOW)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "1.5"}, 1.5),
        ({"retry-after": "0"}, 0.0),
        ({"retry-after-ms": "350", "retry-after": "7"}, 0.35),
        ({"retry-after": formatdate(NOW + 90, usegmt=True)}, 90.0),
        ({"retry-after": formatdate(NOW - 90, usegmt=True)}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "Mon, 99 Foo 2023 99:99:99 GMT"}, None),
        ({"x-ratelimit-reset-requests": "6m0s"}, 360.0),
        ({"x-ratelimit-reset-requests": "9s", "x-ratelimit-remaining-requests": "3"}, None),
        ({"x-ratelimit-reset": str(int((NOW + 12) * 1000))}, 12.0),
        ({"x-ratelimit-reset": str(int(NOW + 12))}, 12.0),
        ({"x-ratelimit-reset": "tomorrow"}, None),
        ({}, None),
    ],
    ids=str,
)
def test_headers(headers: dict[str, str], seconds: float | None) -> None:
    assert wait(headers) == seconds


@pytest.mark.parametrize(
    ("message", "seconds"),
    [
        ("Please try again in 1.2s.", 1.2),
        ("try again in 350ms", 0.35),
        ("Please try again in 1m3s", 63.0),
        ("Please retry in 2.837906927s.", 2.837906927),
        ("Retry after 20 seconds", 20.0),
        ("try again in 2 minutes", 120.0),
        ("try again later", None),
    ],
)
def test_wording(message: str, seconds: float | None) -> None:
    assert wait(message=message) == seconds


def test_the_delay_among_googles_details() -> None:
    payload = {"error": {"details": [{"@type": "QuotaFailure"}, {"retryDelay": "39s"}]}}

    assert wait(payload=payload) == 39.0
    assert wait({"retry-after": "3"}, payload) == 3.0


@pytest.mark.parametrize("text", ["", "s", "x1s", "1s!", "1 fortnight"])
def test_what_is_no_duration_is_none(text: str) -> None:
    assert parse_duration(text) is None
