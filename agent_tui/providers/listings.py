"""What servers answer when they are asked which models they serve, each in its own words."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from agent_tui.providers.loose import items, mapping, number, text

_NO_CHAT = re.compile(r"embed|rerank|whisper|dall-e|moderation|transcribe|\btts\b|realtime", re.I)


@dataclass(frozen=True, slots=True)
class Listing:
    """What a server says about one model; None is "not said"."""

    id: str
    name: str | None = None
    context_window: int | None = None
    max_output_tokens: int | None = None
    reasoning: bool | None = None
    images: bool | None = None


Reader = Callable[[Any], list[Listing]]


def read_openai(answer: Any) -> list[Listing]:
    """`/v1/models` of OpenAI and of all that imitate it, with what some of them add."""
    return [
        Listing(
            model_id,
            context_window=_first_number(
                entry.get("max_model_len"),  # vLLM
                mapping(entry.get("meta")).get("n_ctx"),  # llama.cpp
                entry.get("context_length"),  # OpenRouter, Together, Fireworks
                entry.get("context_window"),  # Groq
                entry.get("max_context_length"),  # Mistral
            ),
            max_output_tokens=_first_number(
                entry.get("max_completion_tokens"),
                mapping(entry.get("top_provider")).get("max_completion_tokens"),
            ),
            reasoning=_contains(entry.get("supported_parameters"), "reasoning"),
            images=_images(entry),
        )
        for model_id, entry in _entries(mapping(answer).get("data"), "id")
        if mapping(entry.get("capabilities")).get("completion_chat") is not False
    ]


def read_anthropic(answer: Any) -> list[Listing]:
    """`/v1/models` of Anthropic."""
    return [
        Listing(
            model_id,
            name=text(entry.get("display_name")) or None,
            context_window=_first_number(entry.get("max_input_tokens")),
            max_output_tokens=_first_number(entry.get("max_tokens")),
            reasoning=_flag(mapping(entry.get("capabilities")).get("thinking")),
            images=_flag(mapping(entry.get("capabilities")).get("image_input")),
        )
        for model_id, entry in _entries(mapping(answer).get("data"), "id")
    ]


def read_gemini(answer: Any) -> list[Listing]:
    """`/v1beta/models` of Gemini, without those that give no text."""
    return [
        Listing(
            name.removeprefix("models/"),
            name=text(entry.get("displayName")) or None,
            context_window=_first_number(entry.get("inputTokenLimit")),
            max_output_tokens=_first_number(entry.get("outputTokenLimit")),
            reasoning=_flag(entry.get("thinking")),
        )
        for name, entry in _entries(mapping(answer).get("models"), "name")
        if "generateContent" in items(entry.get("supportedGenerationMethods"))
    ]


def read_ollama(answer: Any) -> list[Listing]:
    """`/api/tags` of Ollama; what a model can do is said by newer servers only."""
    return [
        Listing(
            model_id,
            reasoning=_contains(entry.get("capabilities"), "thinking"),
            images=_contains(entry.get("capabilities"), "vision"),
        )
        for model_id, entry in _entries(mapping(answer).get("models"), "name")
        if _contains(entry.get("capabilities"), "completion") is not False
    ]


def read_lmstudio(answer: Any) -> list[Listing]:
    """`/api/v1/models` of LM Studio, or the older `/api/v0/models`.

    The window is that of the loaded model; what is not loaded shows the most it could have.
    """
    found = []
    whole = mapping(answer)
    for model_id, entry in [
        *_entries(whole.get("models"), "key"),
        *_entries(whole.get("data"), "id"),
    ]:
        if text(entry.get("type")).startswith("embedding"):
            continue
        loaded = mapping(next(iter(items(entry.get("loaded_instances"))), None))
        window = _first_number(
            mapping(loaded.get("config")).get("context_length"),
            entry.get("loaded_context_length"),
            entry.get("max_context_length"),
        )
        sees = _images(entry) or (True if entry.get("type") == "vlm" else None)
        found.append(Listing(model_id, context_window=window, images=sees))
        if (instance := text(loaded.get("id"))) and instance != model_id:
            found.append(Listing(instance, context_window=window, images=sees))
    return found


def read_props(answer: Any) -> Listing:
    """`/props` of llama.cpp: what the one model that it serves was started with; no id."""
    whole = mapping(answer)
    settings = mapping(whole.get("default_generation_settings"))
    return Listing(
        "",
        context_window=_first_number(settings.get("n_ctx")),
        images=_flag(mapping(whole.get("modalities")).get("vision")),
    )


def _entries(value: Any, name: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """(id, entry) of all that may be models to talk to, each id once."""
    seen: set[str] = set()
    for entry in map(mapping, items(value)):
        model_id = text(entry.get(name)).strip()
        if model_id and model_id.isprintable() and model_id not in seen:
            seen.add(model_id)
            if not _NO_CHAT.search(model_id):
                yield model_id, entry


def _first_number(*values: Any) -> int | None:
    return next((found for value in values if (found := number(value))), None)


def _contains(value: Any, word: str) -> bool | None:
    return word in value if isinstance(value, list) else None


def _flag(value: Any) -> bool | None:
    """A truth value, or an object that holds one as `supported`."""
    found = value.get("supported") if isinstance(value, dict) else value
    return found if isinstance(found, bool) else None


def _images(entry: Mapping[str, Any]) -> bool | None:
    kinds = mapping(entry.get("architecture")).get("input_modalities")
    said = _contains(kinds, "image")
    return _flag(mapping(entry.get("capabilities")).get("vision")) if said is None else said
