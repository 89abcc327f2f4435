"""Who serves models, and where: the providers that are known by name.

What they serve is in `models/NAME.json`; which key they get is in `keys.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Vendor:
    """One provider."""

    name: str
    api: str
    """The wire that its own address speaks."""
    base_url: str = ""
    takes_any_model: bool = False
    """It serves more models than any list holds: an unknown id is passed on."""
    is_local: bool = False
    """A program on the person's own machine: it costs nothing as long as its address is local."""
    address_variable: str = ""
    """The environment variable that moves it to another address."""
    api_elsewhere: str = ""
    """The wire for other addresses, where servers that imitate it know only that one."""

    def api_at(self, base_url: str) -> str:
        """The wire to use at `base_url`."""
        return self.api if base_url == self.base_url else self.api_elsewhere or self.api


_ALL = (
    Vendor("demo", "demo"),
    Vendor(
        "openai",
        "openai-responses",
        "https://api.openai.com/v1",
        address_variable="OPENAI_BASE_URL",
        api_elsewhere="openai-chat",
    ),
    Vendor(
        "anthropic",
        "anthropic",
        "https://api.anthropic.com",
        address_variable="ANTHROPIC_BASE_URL",
    ),
    Vendor("gemini", "gemini", "https://generativelanguage.googleapis.com"),
    Vendor("openrouter", "openai-chat", "https://openrouter.ai/api/v1", takes_any_model=True),
    Vendor("deepseek", "openai-chat", "https://api.deepseek.com/v1"),
    Vendor("groq", "openai-chat", "https://api.groq.com/openai/v1"),
    Vendor("mistral", "openai-chat", "https://api.mistral.ai/v1"),
    Vendor("xai", "openai-chat", "https://api.x.ai/v1"),
    Vendor("zai", "openai-chat", "https://api.z.ai/api/paas/v4"),
    Vendor("moonshot", "openai-chat", "https://api.moonshot.ai/v1"),
    Vendor("together", "openai-chat", "https://api.together.ai/v1", takes_any_model=True),
    Vendor(
        "fireworks", "openai-chat", "https://api.fireworks.ai/inference/v1", takes_any_model=True
    ),
    Vendor("cerebras", "openai-chat", "https://api.cerebras.ai/v1"),
    Vendor("nvidia", "openai-chat", "https://integrate.api.nvidia.com/v1", takes_any_model=True),
    Vendor("minimax", "anthropic", "https://api.minimax.io/anthropic"),
    Vendor("huggingface", "openai-chat", "https://router.huggingface.co/v1", takes_any_model=True),
    Vendor(
        "ollama",
        "ollama",
        "http://127.0.0.1:11434",
        takes_any_model=True,
        is_local=True,
        address_variable="OLLAMA_HOST",
    ),
    Vendor(
        "lmstudio", "openai-chat", "http://127.0.0.1:1234/v1", takes_any_model=True, is_local=True
    ),
    Vendor(
        "llamacpp", "openai-chat", "http://127.0.0.1:8080/v1", takes_any_model=True, is_local=True
    ),
    Vendor("vllm", "openai-chat", "http://127.0.0.1:8000/v1", takes_any_model=True, is_local=True),
)

VENDORS: Mapping[str, Vendor] = {vendor.name: vendor for vendor in _ALL}
"""By name, in the order in which they are listed."""
