"""Lists of models in the words of each kind of server."""

from __future__ import annotations

from typing import Any

import pytest

from agent_tui.providers.listings import (
    Listing,
    Reader,
    read_anthropic,
    read_gemini,
    read_lmstudio,
    read_ollama,
    read_openai,
    read_props,
)

READERS: list[Reader] = [read_openai, read_anthropic, read_gemini, read_ollama, read_lmstudio]


@pytest.mark.parametrize(
    ("entry", "listing"),
    [
        ({"id": "m"}, Listing("m")),
        ({"id": "m", "max_model_len": 32768, "owned_by": "vllm"}, Listing("m", None, 32768)),
        ({"id": "m", "meta": {"n_ctx": 8192, "n_ctx_train": 9}}, Listing("m", None, 8192)),
        (
            {"id": "m", "context_window": 131072, "max_completion_tokens": 8192},
            Listing("m", None, 131072, 8192),
        ),
        (
            {"id": "m", "max_context_length": 9, "capabilities": {"vision": True}},
            Listing("m", None, 9, images=True),
        ),
        (
            {
                "id": "a/m",
                "context_length": 200000,
                "top_provider": {"max_completion_tokens": 64000},
                "supported_parameters": ["tools", "reasoning"],
                "architecture": {"input_modalities": ["text"]},
            },
            Listing("a/m", None, 200000, 64000, reasoning=True, images=False),
        ),
    ],
    ids=str,
)
def test_imitators_of_openai_add_figures_of_their_own(entry: Any, listing: Listing) -> None:
    assert read_openai({"object": "list", "data": [entry]}) == [listing]


def test_models_that_do_not_talk_are_left_out() -> None:
    ids = [
        "gpt-x",
        "text-embedding-3",
        "whisper-1",
        "tts-1",
        "dall-e-3",
        "gpt-4o-realtime",
        "attsx",
    ]
    data: list[dict[str, Any]] = [{"id": model_id} for model_id in ids]
    data.append({"id": "mistral-ocr", "capabilities": {"completion_chat": False}})

    assert [listing.id for listing in read_openai({"data": data})] == ["gpt-x", "attsx"]


def test_anthropic_tells_windows_and_abilities() -> None:
    entry = {
        "id": "claude-x",
        "display_name": "Claude X",
        "max_input_tokens": 200000,
        "max_tokens": 64000,
        "capabilities": {"thinking": {"supported": True}, "image_input": {"supported": False}},
    }

    assert read_anthropic({"data": [entry]}) == [
        Listing("claude-x", "Claude X", 200000, 64000, reasoning=True, images=False)
    ]


def test_gemini_tells_limits_and_what_a_model_does() -> None:
    talks = {
        "name": "models/gemini-x",
        "displayName": "Gemini X",
        "inputTokenLimit": 1048576,
        "outputTokenLimit": 65536,
        "thinking": True,
        "supportedGenerationMethods": ["generateContent", "countTokens"],
    }
    draws = {"name": "models/imagen", "supportedGenerationMethods": ["predict"]}

    assert read_gemini({"models": [talks, draws]}) == [
        Listing("gemini-x", "Gemini X", 1048576, 65536, reasoning=True)
    ]


def test_ollama_may_tell_abilities() -> None:
    models = [
        {"name": "old:8b"},
        {"name": "new:8b", "capabilities": ["completion", "vision"]},
        {"name": "nomic:1", "capabilities": ["embedding"]},
    ]

    assert read_ollama({"models": models}) == [
        Listing("old:8b"),
        Listing("new:8b", reasoning=False, images=True),
    ]


def test_lm_studio_tells_the_window_that_is_loaded() -> None:
    newer = {
        "models": [
            {"type": "llm", "key": "a", "max_context_length": 32768, "loaded_instances": []},
            {
                "type": "llm",
                "key": "b",
                "max_context_length": 131072,
                "loaded_instances": [{"id": "b:2", "config": {"context_length": 8192}}],
                "capabilities": {"vision": True},
            },
            {"type": "embedding", "key": "c", "max_context_length": 512},
        ]
    }
    older = {
        "data": [
            {"id": "a", "type": "vlm", "max_context_length": 9, "loaded_context_length": 4},
            {"id": "c", "type": "embeddings"},
        ]
    }

    assert read_lmstudio(newer) == [
        Listing("a", None, 32768),
        Listing("b", None, 8192, images=True),
        Listing("b:2", None, 8192, images=True),
    ]
    assert read_lmstudio(older) == [Listing("a", None, 4, images=True)]


def test_llama_cpp_tells_what_it_was_started_with() -> None:
    props = {"default_generation_settings": {"n_ctx": 4096}, "modalities": {"vision": False}}

    assert read_props(props) == Listing("", None, 4096, images=False)
    assert read_props(None) == read_props([]) == Listing("")


@pytest.mark.parametrize("read", READERS, ids=lambda read: read.__name__)
@pytest.mark.parametrize(
    "answer",
    [
        None,
        [],
        "words",
        {},
        {"data": None, "models": 7},
        {"data": [None, {}, {"id": 7}, {"id": " "}], "models": [None, {"name": None}, {"key": []}]},
        {"data": [{"id": "\x1b[2J"}], "models": [{"name": "a\nb", "key": "\x00"}]},
    ],
    ids=str,
)
def test_nonsense_is_no_model(read: Reader, answer: Any) -> None:
    assert read(answer) == []


def test_figures_that_are_none_are_unknown() -> None:
    entry = {"id": "m", "max_model_len": "much", "context_window": -1, "context_length": True}

    assert read_openai({"data": [entry, entry]}) == [Listing("m")]
