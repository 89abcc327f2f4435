"""A renewal of the model lists, from a package made up here."""

from __future__ import annotations

import json
import runpy
from pathlib import Path
from typing import Any

import pytest

from agent_tui.providers.catalog import list_models

SCRIPT = Path(__file__).parent.parent.parent / "scripts" / "update_models.py"
LISTS = SCRIPT.parent.parent / "agent_tui" / "providers" / "models"
NOTICE = SCRIPT.parent.parent / "NOTICE"
script = runpy.run_path(str(SCRIPT), run_name="update_models")


def model(**changes: Any) -> dict[str, Any]:
    plain = {
        "id": "m-1",
        "name": "M 1",
        "api": "openai-completions",
        "type": "chat",
        "input": ["text"],
        "reasoning": True,
        "contextWindow": 1000,
        "maxTokens": 100,
        "cost": {"input": 1, "output": 2, "cacheRead": 0.5, "cacheWrite": 0},
    }
    return {**plain, **changes}


def entry(provider: str = "groq", **changes: Any) -> dict[str, Any]:
    made: dict[str, Any] = script["entry_of"](provider, model(**changes))
    return made


def test_an_entry_says_only_what_is_known() -> None:
    assert entry(reasoning=False, maxTokens=0) == {
        "id": "m-1",
        "name": "M 1",
        "context_window": 1000,
        "cost": {"input": 1, "output": 2, "cache_read": 0.5},
    }


def test_an_output_limit_is_never_larger_than_the_window() -> None:
    assert entry(maxTokens=5000)["max_output_tokens"] == 1000


def test_prices_of_zero_are_unknown_unless_the_id_says_free() -> None:
    nothing = {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0}

    assert "cost" not in entry(cost=nothing)
    assert entry(id="m:free", cost=nothing)["cost"] == {"input": 0, "output": 0}


def test_tiers_keep_their_step() -> None:
    tier = {"inputTokensAbove": 200, "input": 3, "output": 4, "cacheRead": 0, "cacheWrite": 1}
    cost = {"input": 1, "output": 2, "cacheRead": 0, "cacheWrite": 0, "tiers": [tier]}

    assert entry(cost=cost)["cost"]["tiers"] == [
        {"above": 200, "input": 3, "output": 4, "cache_write": 1}
    ]


@pytest.mark.parametrize(
    ("provider", "words", "efforts"),
    [
        pytest.param("groq", None, None, id="nothing said"),
        pytest.param(
            "groq",
            {"off": None, "minimal": None, "max": "max"},
            {"low": "low", "medium": "medium", "high": "high", "xhigh": "max"},
            id="the highest word there is",
        ),
        pytest.param(
            "openrouter",
            {"minimal": None, "low": None, "medium": None},
            {"off": "none", "high": "high"},
            id="can be switched off",
        ),
        pytest.param(
            "anthropic",
            {"off": None, "xhigh": "xhigh"},
            {"low": "low", "medium": "medium", "high": "high", "xhigh": "xhigh"},
            id="cannot be switched off",
        ),
    ],
)
def test_thinking_levels_are_told_in_our_words(
    provider: str, words: dict[str, Any] | None, efforts: dict[str, str] | None
) -> None:
    assert entry(provider, thinkingLevelMap=words).get("efforts") == efforts


def test_a_server_that_takes_no_efforts_gets_none() -> None:
    made = entry(thinkingLevelMap={"low": "low"}, compat={"supportsReasoningEffort": False})

    assert "efforts" not in made
    assert made["compat"] == {"reasoning_format": "none"}


def test_what_a_host_is_known_for_is_not_repeated() -> None:
    said = {"thinkingFormat": "deepseek", "requiresReasoningContentOnAssistantMessages": True}

    assert "compat" not in entry("deepseek", compat=said)
    assert entry("moonshot", compat=said)["compat"] == {
        "reasoning_format": "deepseek",
        "replay_empty_reasoning": True,
    }


def test_only_models_that_chat_are_taken(tmp_path: Path) -> None:
    file = tmp_path / "x.json"
    models = {"chat:a": model(), "image:b": model(id="b", type="image")}
    file.write_text(json.dumps({"openai-completions": models}))

    assert [found["id"] for found in script["chat_models"](file)] == ["m-1"]


@pytest.mark.parametrize("provider", script["FILES"])
def test_the_lists_are_as_the_script_writes_them(tmp_path: Path, provider: str) -> None:
    data = json.loads((LISTS / f"{provider}.json").read_text("utf-8"))
    again = tmp_path / "again.json"

    script["write"](again, {"read": data["read"], "source": data["source"]}, data["models"])

    assert again.read_text("utf-8") == (LISTS / f"{provider}.json").read_text("utf-8")
    assert data["source"] in NOTICE.read_text("utf-8")
    assert len(list_models({}, provider)) == len(data["models"])
