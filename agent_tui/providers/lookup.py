"""Short questions to a server beside its answers: what it serves, and what that can do."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from typing import Any

from agent_tui.core.abort import AbortSignal
from agent_tui.core.errors import AgentError, NetworkError, RequestTimeoutError
from agent_tui.core.model import Model
from agent_tui.providers.addresses import host_of
from agent_tui.providers.compat import compat_for
from agent_tui.providers.errors import http_error, mask, strange_answer
from agent_tui.providers.exchange import AbortedError, Exchange
from agent_tui.providers.http import StaleConnectionError
from agent_tui.providers.keys import clean_key
from agent_tui.providers.request import encode, merged_headers, secrets_in
from agent_tui.providers.vault import find_key
from agent_tui.providers.wire import connect

_MOST_BYTES = 8 << 20


async def headers_for(
    model: Model, authorize: Callable[[str], Mapping[str, str]], api_key: str | None = None
) -> dict[str, str]:
    """The headers that go with every question to `model`'s server; `authorize` is its wire's.

    Raises:
        ConfigError: The key or a header holds what no header may hold.
    """
    key = api_key or await find_key(model)
    keyed = authorize(clean_key(key, f"the key for {model.provider}")) if key else {}
    return merged_headers({"accept": "application/json"}, keyed, model.headers)


async def look_up(
    model: Model,
    url: str,
    headers: Mapping[str, str],
    body: Mapping[str, Any] | None = None,
    *,
    seconds: float,
    signal: AbortSignal | None = None,
    direct: bool = False,
) -> Any:
    """The JSON that `model`'s server gives at `url`, asked with a GET if there is no `body`.

    Loading the HTTP client does not count to `seconds`, the time for connecting and for the answer.
    With `direct` no proxy is used.

    Raises:
        AgentError: There is no good answer.
        AbortedError: The signal was set.
    """
    connection = await connect(url, compat_for(model), direct=direct)
    data = None if body is None else encode(body)
    for is_last in (False, True):
        deadline = asyncio.get_running_loop().time() + seconds
        exchange = Exchange(
            connection, url, headers, data, connect_limit=seconds, signal=signal or AbortSignal()
        )
        try:
            await exchange.head(deadline)
            answer = await exchange.read_all(deadline, _MOST_BYTES)
            return _json(model, exchange, answer, _secrets(headers))
        except StaleConnectionError:
            if is_last:
                break
        except TimeoutError:
            raise RequestTimeoutError(f"{host_of(url)} sent no answer in {seconds:g} s") from None
        finally:
            await exchange.close()
    raise NetworkError(f"{host_of(url)} closed the connection without an answer")


async def try_look_up(
    model: Model,
    url: str,
    headers: Mapping[str, str],
    body: Mapping[str, Any] | None = None,
    *,
    seconds: float,
    signal: AbortSignal | None = None,
    direct: bool = False,
) -> Any:
    """The same, None if there is no good answer for whatever reason."""
    try:
        return await look_up(
            model, url, headers, body, seconds=seconds, signal=signal, direct=direct
        )
    except (AgentError, AbortedError):
        return None


def _secrets(headers: Mapping[str, str]) -> list[str]:
    """What must not be shown: the headers with keys, and the keys in them."""
    return [secret for value in secrets_in(headers) for secret in (value, value.split(" ")[-1])]


def _json(model: Model, exchange: Exchange, answer: bytes, secrets: list[str]) -> Any:
    text = answer.decode("utf-8", "replace")
    if exchange.status >= 300:
        error = http_error(exchange.status, exchange.headers, text, model, secrets)
        error.message = mask(error.message, secrets)
        raise error
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        content_type = exchange.headers.get("content-type", "")
        raise strange_answer(exchange.status, content_type, text, model, secrets) from None
