"""What Ollama knows about a model: how much it can read at once, and what it can do.

Asked once for each model and remembered with the connection, because a window that changes from
request to request would make the server load the model anew each time.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from agent_tui.core.abort import AbortSignal
from agent_tui.core.errors import AgentError
from agent_tui.core.model import Model
from agent_tui.providers.addresses import with_endpoint
from agent_tui.providers.compat import compat_for
from agent_tui.providers.lookup import headers_for, try_look_up
from agent_tui.providers.wire import connect

SHOW_SECONDS = 5.0
MOST_TOKENS = 65536
"""The window where nobody says otherwise: more would seldom fit beside the model in memory."""
_NUM_CTX = re.compile(r"^\s*num_ctx\s+(\d+)\s*$", re.M)


@dataclass(frozen=True, slots=True)
class Details:
    """The answer of `/api/show`, as far as it matters here."""

    context_length: int | None = None
    """Tokens that the model was made for."""
    num_ctx: int | None = None
    """Tokens that its Modelfile asks for."""
    capabilities: frozenset[str] | None = None
    """`completion`, `tools`, `thinking`, `vision` …; None from a server too old to say."""
    family: str = ""

    def can(self, capability: str) -> bool | None:
        """Whether the model has a capability; None if that is unknown."""
        return None if self.capabilities is None else capability in self.capabilities


UNKNOWN = Details()


async def details_of(
    model: Model,
    *,
    api_key: str | None = None,
    seconds: float = SHOW_SECONDS,
    signal: AbortSignal | None = None,
) -> Details:
    """What the server says about `model`; `UNKNOWN`, to be asked again, if it does not."""
    url = with_endpoint(model.base_url, "/api/show", "ollama")
    try:
        connection = await connect(url, compat_for(model))
        if (known := connection.learned.get(model.id)) is not None:
            assert isinstance(known, Details)
            return known
        headers = await headers_for(model, authorize, api_key)
    except AgentError:
        return UNKNOWN
    answer = await try_look_up(
        model, url, headers, {"model": model.id}, seconds=seconds, signal=signal
    )
    if not isinstance(answer, dict):
        return UNKNOWN
    details = connection.learned[model.id] = read_details(answer)
    return details


def authorize(key: str) -> dict[str, str]:
    """The header that carries a key."""
    return {"authorization": f"Bearer {key}"}


def window_of(model: Model, details: Details) -> int:
    """The tokens to load the model with: never more than it was made for or than the settings say.

    What the Modelfile asks for counts as a setting where the person's own say nothing.
    """
    if (chosen := compat_for(model).num_ctx) is not None:
        return chosen
    wanted = model.context_window or details.num_ctx or MOST_TOKENS
    return min(wanted, details.context_length or wanted, MOST_TOKENS)


def read_details(answer: Mapping[str, Any]) -> Details:
    """The details in an answer of `/api/show`, of which any part may be missing."""
    info, said = answer.get("model_info"), answer.get("details")
    info = info if isinstance(info, dict) else {}
    capabilities = answer.get("capabilities")
    parameters = answer.get("parameters")
    found = _NUM_CTX.search(parameters) if isinstance(parameters, str) else None
    family = said.get("family") if isinstance(said, dict) else None
    length = info.get(f"{info.get('general.architecture')}.context_length") or next(
        (value for name, value in info.items() if name.endswith(".context_length")), None
    )
    return Details(
        context_length=length if isinstance(length, int) and length > 0 else None,
        num_ctx=int(found[1]) if found else None,
        capabilities=frozenset(map(str, capabilities)) if isinstance(capabilities, list) else None,
        family=family if isinstance(family, str) else "",
    )
