"""Which key goes to which server.

A key from the environment goes only to its provider's own host, so that a changed `base_url` cannot
carry it elsewhere. Nothing here prints, stores or logs a key, and no error shows one.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from agent_tui.core.errors import AuthenticationError, ConfigError
from agent_tui.core.model import Model
from agent_tui.providers.addresses import host_of
from agent_tui.providers.vendors import VENDORS

BEARER_NAME = "ANTHROPIC_AUTH_TOKEN"
"""The variable whose key goes out as `Authorization: Bearer`, as gateways before Anthropic want."""

KEY_NAMES: Mapping[str, tuple[str, ...]] = {
    "openai": ("OPENAI_API_KEY",),
    "anthropic": ("ANTHROPIC_API_KEY", BEARER_NAME),
    "gemini": ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    "openrouter": ("OPENROUTER_API_KEY",),
    "deepseek": ("DEEPSEEK_API_KEY",),
    "groq": ("GROQ_API_KEY",),
    "mistral": ("MISTRAL_API_KEY",),
    "xai": ("XAI_API_KEY",),
    "zai": ("ZAI_API_KEY",),
    "moonshot": ("MOONSHOT_API_KEY",),
    "together": ("TOGETHER_API_KEY",),
    "fireworks": ("FIREWORKS_API_KEY",),
    "cerebras": ("CEREBRAS_API_KEY",),
    "nvidia": ("NVIDIA_API_KEY",),
    "minimax": ("MINIMAX_API_KEY",),
    "huggingface": ("HF_TOKEN",),
    "ollama": ("OLLAMA_API_KEY",),
}
"""The environment variables of each provider, in the order in which they are tried."""

OWN_HOSTS: Mapping[str, str] = {
    "openai": "api.openai.com",
    "anthropic": "api.anthropic.com",
    "gemini": "generativelanguage.googleapis.com",
    "openrouter": "openrouter.ai",
    "deepseek": "api.deepseek.com",
    "groq": "api.groq.com",
    "mistral": "api.mistral.ai",
    "xai": "api.x.ai",
    "zai": "api.z.ai",
    "moonshot": "api.moonshot.ai",
    "together": "api.together.ai",
    "fireworks": "api.fireworks.ai",
    "cerebras": "api.cerebras.ai",
    "nvidia": "integrate.api.nvidia.com",
    "minimax": "api.minimax.io",
    "huggingface": "router.huggingface.co",
    "ollama": "ollama.com",
}
"""The only host that a provider's key from the environment is sent to."""


def clean_key(raw: str, source: str = "the key") -> str:
    """`raw` without white space around it; `source` names it in the error.

    Raises:
        ConfigError: It holds a character that no HTTP header may have. The key is not shown.
    """
    key = raw.strip()
    if not (key.isascii() and key.isprintable()) or " " in key:
        raise ConfigError(
            f"{source} holds a character that no key may have (a line break, a blank or a letter "
            "outside ASCII); copy it again"
        )
    return key


def key_from_environment(provider: str, environ: Mapping[str, str] | None = None) -> str | None:
    """The provider's key, cleaned; None if no variable of `KEY_NAMES` holds one."""
    found = os.environ if environ is None else environ
    for name in KEY_NAMES.get(provider, ()):
        if found.get(name, "").strip():
            return clean_key(found[name], name)
    return None


def named_key(name: str, environ: Mapping[str, str] | None = None) -> str | None:
    """The key in the variable `name` that a person chose; None if it is not set or empty."""
    raw = (os.environ if environ is None else environ).get(name, "")
    return clean_key(raw, name) if raw.strip() else None


def key_for(model: Model, environ: Mapping[str, str] | None = None) -> str | None:
    """The key to send to `model.base_url`, None if there is none or it must not go there.

    `model.compat["api_key_env"]` names a variable for any host; an empty name means no key at all.
    The provider's own variable counts for its own host, and for the address in `OPENAI_BASE_URL` or
    `ANTHROPIC_BASE_URL` if that stands beside it.
    """
    if (name := model.compat.get("api_key_env")) is not None:
        return named_key(str(name), environ)
    if not is_own_address(model, environ):
        return None
    return key_from_environment(model.provider, environ)


def require_key(model: Model, environ: Mapping[str, str] | None = None) -> None:
    """Say which variable to set when a hosted provider is asked without a key.

    Raises:
        AuthenticationError: `model` is served by its provider's own host, and no key is there.
    """
    if host_of(model.base_url) == OWN_HOSTS.get(model.provider) and not key_for(model, environ):
        names = model.compat.get("api_key_env") or " or ".join(KEY_NAMES[model.provider])
        raise AuthenticationError(
            f"there is no key for {model.provider}: set {names} in the environment",
            provider=model.provider,
        )


def is_own_address(model: Model, environ: Mapping[str, str] | None = None) -> bool:
    """Whether the provider's own key may go to `model.base_url`."""
    host = host_of(model.base_url)
    if host == OWN_HOSTS.get(model.provider):
        return True
    vendor = VENDORS.get(model.provider)
    if vendor is None or vendor.is_local or not vendor.address_variable:
        return False
    found = os.environ if environ is None else environ
    chosen = found.get(vendor.address_variable, "").strip()
    return bool(chosen) and host == host_of(chosen)
