"""Renew `agent_tui/providers/models/*.json` from an unpacked copy of the package pi-ai.

    npm pack @earendil-works/pi-ai        # in an empty folder
    tar xf earendil-works-pi-ai-*.tgz
    python scripts/update_models.py package

The catalogue of that package (MIT, see NOTICE) is built from models.dev and the vendors' own lists.
Each provider of ours becomes one file, one model a line, so that a renewal reads as a diff. What
the source does not know is left out: an absent price is unknown, an absent cache price the input
price.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from agent_tui.core.model import Model
from agent_tui.providers.compat import compat_for
from agent_tui.providers.vendors import VENDORS

SOURCE = "@earendil-works/pi-ai"
TARGET = Path(__file__).parent.parent / "agent_tui" / "providers" / "models"
FILES = {
    "openai": "openai",
    "anthropic": "anthropic",
    "gemini": "google",
    "openrouter": "openrouter",
    "deepseek": "deepseek",
    "groq": "groq",
    "mistral": "mistral",
    "xai": "xai",
    "zai": "zai",
    "moonshot": "moonshotai",
    "together": "together",
    "fireworks": "fireworks",
    "cerebras": "cerebras",
    "nvidia": "nvidia",
    "minimax": "minimax",
    "huggingface": "huggingface",
}
"""Our name of a provider → the source's file."""

_LEVELS = ("off", "minimal", "low", "medium", "high", "xhigh")
_PLAIN_WORDS = {"minimal": "minimal", "low": "low", "medium": "medium", "high": "high"}
"""What a level is called where the source says nothing about it."""


def main(package: Path) -> None:
    """Write all files."""
    manifest = json.loads((package / "package.json").read_text("utf-8"))
    if manifest["name"] != SOURCE:
        sys.exit(f"{package} holds {manifest['name']}, not {SOURCE}")
    data = package / "dist" / "providers" / "data"
    generated = json.loads((data / ".manifest.json").read_text("utf-8"))["generatedAt"]
    head = {"read": generated[:10], "source": f"{SOURCE} {manifest['version']}"}
    TARGET.mkdir(exist_ok=True)
    for provider, name in FILES.items():
        entries = [entry_of(provider, model) for model in chat_models(data / f"{name}.json")]
        entries.sort(key=lambda entry: entry["id"])
        write(TARGET / f"{provider}.json", head, entries)
        sys.stdout.write(f"{provider:<12} {len(entries):>4} models\n")


def chat_models(file: Path) -> Iterator[Mapping[str, Any]]:
    """The models of a file that answer in words, whatever their wire."""
    for models in json.loads(file.read_text("utf-8")).values():
        for model in models.values():
            if model["type"] == "chat":
                yield model


def entry_of(provider: str, model: Mapping[str, Any]) -> dict[str, Any]:
    """One line of our file, unknown and plain things left out."""
    window = model["contextWindow"] or None
    most = model.get("maxTokens") or None
    entry = {
        "id": model["id"],
        "name": model["name"],
        "context_window": window,
        "max_output_tokens": min(most, window) if most and window else most,
        "reasoning": model.get("reasoning"),
        "images": "image" in model["input"],
        "cost": cost_of(model),
        "efforts": efforts_of(provider, model),
        "compat": compat_of(provider, model),
    }
    return {key: value for key, value in entry.items() if value}


def cost_of(model: Mapping[str, Any]) -> dict[str, Any] | None:
    """Prices in US dollars per million tokens; None if they are not known."""
    cost = model["cost"]
    if not (cost["input"] or cost["output"]):
        return {"input": 0, "output": 0} if model["id"].endswith(":free") else None
    tiers = [
        {"above": tier["inputTokensAbove"], **prices_of(tier)} for tier in cost.get("tiers", ())
    ]
    return prices_of(cost) | ({"tiers": tiers} if tiers else {})


def prices_of(cost: Mapping[str, Any]) -> dict[str, Any]:
    """The four prices; a cache price of 0 means that there is no other than the input price."""
    caches = {"cache_read": cost["cacheRead"], "cache_write": cost["cacheWrite"]}
    return {"input": cost["input"], "output": cost["output"]} | {
        name: price for name, price in caches.items() if price
    }


def efforts_of(provider: str, model: Mapping[str, Any]) -> dict[str, str] | None:
    """Our thinking level → the server's word; None where levels make no difference to it."""
    words = model.get("thinkingLevelMap")
    takes_efforts = (model.get("compat") or {}).get("supportsReasoningEffort", True)
    if not (words and model.get("reasoning") and takes_efforts):
        return None
    plain = dict(_PLAIN_WORDS)
    if provider in ("anthropic", "openrouter", "minimax"):
        plain["off"] = "none"  # these can be switched off unless the source says that they cannot
    if VENDORS[provider].api == "anthropic":
        del plain["minimal"]
    efforts = {level: words.get(level, plain.get(level)) for level in _LEVELS}
    efforts["xhigh"] = efforts["xhigh"] or words.get("max")
    return {level: word for level, word in efforts.items() if word} or None


def compat_of(provider: str, model: Mapping[str, Any]) -> dict[str, Any]:
    """How the model departs from what its host is known for."""
    vendor, said = VENDORS[provider], model.get("compat") or {}
    if vendor.api == "anthropic":
        return {"adaptive_thinking": True} if said.get("forceAdaptiveThinking") else {}
    if vendor.api == "gemini" or model["api"] == "anthropic-messages":
        return {}
    usual = compat_for(Model(provider, model["id"], vendor.api, vendor.base_url))
    found: dict[str, Any] = {}
    if model.get("reasoning"):
        default = "openai" if said.get("supportsReasoningEffort", True) else "none"
        style = said.get("thinkingFormat")
        if style is None:
            style = usual.reasoning_format if usual.reasoning_format != "openai" else default
        if style != usual.reasoning_format:
            found["reasoning_format"] = style
    needs_thoughts = said.get("requiresReasoningContentOnAssistantMessages", False)
    if needs_thoughts and not usual.replay_empty_reasoning:
        found["replay_empty_reasoning"] = True
    return found


def write(file: Path, head: Mapping[str, str], entries: list[dict[str, Any]]) -> None:
    """A JSON file with one model a line."""
    lines = ",\n".join(json.dumps(entry, ensure_ascii=False) for entry in entries)
    start = json.dumps(head, ensure_ascii=False)[:-1]
    file.write_text(f'{start}, "models": [\n{lines}\n]}}\n', "utf-8")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python scripts/update_models.py FOLDER_OF_THE_UNPACKED_PACKAGE")
    main(Path(sys.argv[1]))
