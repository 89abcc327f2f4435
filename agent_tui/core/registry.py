"""Who serves a model: built-in wires by `api`, and what an application registered by provider.

Built-in wires are named as text and imported at their first request: the engine knows no wire.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, cast

from agent_tui.core.errors import InvalidInputError
from agent_tui.core.model import Model

if TYPE_CHECKING:
    # Models are looked up before the first paint, which does without messages and pydantic.
    from agent_tui.core.stream import StreamFn

_WIRE_BY_API = {
    "openai-chat": "agent_tui.providers.openai_chat:stream",
    "openai-responses": "agent_tui.providers.openai_responses:stream",
    "anthropic": "agent_tui.providers.anthropic:stream",
    "gemini": "agent_tui.providers.gemini:stream",
    "ollama": "agent_tui.providers.ollama:stream",
    "demo": "agent_tui.providers.demo:stream",
}
_registered: dict[str, StreamFn] = {}


def register_provider(name: str, stream_fn: StreamFn) -> None:
    """Serve every model of provider `name` with `stream_fn`; the last registration wins."""
    _registered[name] = stream_fn


def is_registered(name: str) -> bool:
    """Whether an application serves this provider itself."""
    return name in _registered


def stream_fn_for(model: Model) -> StreamFn:
    """The function that serves `model`; raises `InvalidInputError` if nothing does."""
    if (registered := _registered.get(model.provider)) is not None:
        return registered
    module, _, name = _wire_of(model).partition(":")
    return cast("StreamFn", getattr(import_module(module), name))


def module_for(model: Model) -> str | None:
    """The module of the wire that serves `model`; None if an application does, or nobody."""
    if model.provider in _registered:
        return None
    return _WIRE_BY_API.get(model.api, "").partition(":")[0] or None


def require_wire(model: Model) -> None:
    """Raise `InvalidInputError` if nothing serves `model`; loads nothing."""
    if model.provider not in _registered:
        _wire_of(model)


def _wire_of(model: Model) -> str:
    target = _WIRE_BY_API.get(model.api)
    if target is None:
        known = ", ".join(sorted(_WIRE_BY_API))
        raise InvalidInputError(
            f"nothing serves {model.key}: api {model.api!r} is not one of {known}"
        )
    return target


def find_model(key: str) -> Model:
    """The model that `provider/id` names; raises `InvalidInputError` with what is known."""
    model = Model.from_key(key)
    if model.provider in _registered:
        return model
    catalog = import_module("agent_tui.providers.catalog")
    return cast("Model", catalog.get_model(key))
