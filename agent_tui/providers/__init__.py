"""The wires: how each kind of server is asked and answers. Names load when first used."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agent_tui.core.model import Model as Model
    from agent_tui.core.model import ModelCost as ModelCost
    from agent_tui.core.registry import register_provider as register_provider
    from agent_tui.core.stream import *  # noqa: F403
    from agent_tui.providers.catalog import get_model as get_model
    from agent_tui.providers.catalog import list_models as list_models
    from agent_tui.providers.retries import with_retries as with_retries
    from agent_tui.providers.stream import MessageBuilder as MessageBuilder
    from agent_tui.providers.wire import warm_up as warm_up

_NAMES = {
    "core.model": "Model ModelCost",
    "core.registry": "register_provider",
    "core.stream": (
        "StreamFn LlmContext StreamOptions ToolSchema StreamEvent StreamStart TextStart TextDelta "
        "TextEnd ThinkingStart ThinkingDelta ThinkingEnd ToolCallStart ToolCallDelta ToolCallEnd "
        "StreamDone StreamError"
    ),
    "providers.catalog": "get_model list_models",
    "providers.retries": "with_retries",
    "providers.stream": "MessageBuilder",
    "providers.wire": "warm_up",
}
_HOME = {name: module for module, names in _NAMES.items() for name in names.split()}

__all__ = sorted(_HOME)


def __getattr__(name: str) -> Any:
    if (module := _HOME.get(name)) is None:
        raise AttributeError(f"module 'agent_tui.providers' has no attribute {name!r}")
    value = getattr(import_module(f"agent_tui.{module}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return list(__all__)
