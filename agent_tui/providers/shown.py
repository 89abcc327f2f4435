"""A request as it goes out, to be looked at: nothing in it is a key."""

from __future__ import annotations

from contextlib import suppress
from importlib import import_module
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from agent_tui.core.errors import AgentError
from agent_tui.core.model import Model
from agent_tui.core.registry import module_for
from agent_tui.core.stream import LlmContext, StreamOptions
from agent_tui.providers.compat import compat_for
from agent_tui.providers.request import Request, without_refused
from agent_tui.providers.wire import Wire, connect

HIDDEN = "[hidden]"
_HARMLESS = ("alt", "api-version")
"""Parameters of an address whose values are shown."""


async def shown_request(
    model: Model, context: LlmContext, options: StreamOptions
) -> dict[str, Any] | None:
    """`method`, `url`, `headers` and `body`; None where no wire of ours makes the request.

    Values of headers from the settings are hidden, and so is what an address holds beside its
    path. Without what the server has refused so far, like the request itself.

    Raises:
        AgentError: The request cannot be built.
    """
    module = module_for(model)
    wire = None if module is None else getattr(import_module(module), "WIRE", None)
    if not isinstance(wire, Wire):
        return None
    request = wire.build(model, context, options)
    compat = compat_for(model)
    refused: set[str] = set()
    with suppress(AgentError):  # no connection: nothing is known of the server
        connection = await connect(request.url, compat)
        refused = connection.refused.get(model.id, refused)
        request = _as_learned(connection.learned.get(model.id), request, model, context, options)
    body = without_refused(request.body | dict(compat.extra_body), refused, wire.swaps)
    headers = {**request.headers, **dict.fromkeys(map(str.lower, model.headers), HIDDEN)}
    return {"method": "POST", "url": _shown_url(request.url), "headers": headers, "body": body}


def _as_learned(
    known: object, request: Request, model: Model, context: LlmContext, options: StreamOptions
) -> Request:
    """The same request, with what an Ollama server has said about the model."""
    from agent_tui.providers.ollama_request import build
    from agent_tui.providers.ollama_show import Details

    if not isinstance(known, Details):
        return request
    return build(model, context, options, known)


def _shown_url(url: str) -> str:
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    known = parse_qsl(parts.query, keep_blank_values=True)
    query = [(name, value if name in _HARMLESS else HIDDEN) for name, value in known]
    return urlunsplit((parts.scheme, host, parts.path, urlencode(query, safe="[]"), ""))
