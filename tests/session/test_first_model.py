"""Which model a start begins with, and the reason that the screen shows."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_tui.config import Flags, Settings, load_settings
from agent_tui.core.model import Model
from agent_tui.providers.catalog import get_model
from agent_tui.providers.probing import LocalServer
from agent_tui.session.first_model import FIRST_MODELS, FindLocal, local_search, settle_model
from agent_tui.session.models import ModelBook

OLLAMA = LocalServer("ollama", "http://127.0.0.1:11434", ("qwen3:8b", "llama3"))
OWN_SERVER = """
[providers.cellar]
base_url = "http://127.0.0.1:9/v1"
[[providers.cellar.models]]
id = "qwen"
"""


def loaded(
    tmp_path: Path, toml: str = "", flags: Flags | None = None, /, **environ: str
) -> Settings:
    (tmp_path / "config.toml").write_text(toml)
    home = {"AGENT_TUI_HOME": str(tmp_path)}
    return load_settings(flags or Flags(), {**home, **environ}, tmp_path)


def settled(
    tmp_path: Path, toml: str = "", find_local: FindLocal | None = None, /, **environ: str
) -> Settings:
    return settle_model(loaded(tmp_path, toml, None, **environ), find_local)


def model_of(settings: Settings) -> Model:
    return ModelBook(settings).find(settings.model or "")


def test_with_nothing_at_all_the_demonstration_answers(tmp_path: Path) -> None:
    settings = settled(tmp_path)

    assert settings.model == "demo/tour"
    assert settings.model_reason == "no model is configured and no key was found"


@pytest.mark.parametrize(
    ("variable", "provider"),
    [
        ("ANTHROPIC_API_KEY", "anthropic"),
        ("ANTHROPIC_AUTH_TOKEN", "anthropic"),
        ("OPENAI_API_KEY", "openai"),
        ("GOOGLE_API_KEY", "gemini"),
        ("OPENROUTER_API_KEY", "openrouter"),
        ("DEEPSEEK_API_KEY", "deepseek"),
        ("GROQ_API_KEY", "groq"),
        ("MISTRAL_API_KEY", "mistral"),
        ("XAI_API_KEY", "xai"),
    ],
)
def test_a_key_in_the_environment_chooses_its_provider(
    tmp_path: Path, variable: str, provider: str
) -> None:
    settings = settled(tmp_path, **{variable: "k"})

    assert settings.model == f"{provider}/{FIRST_MODELS[provider]}"
    assert settings.model_reason == f"{variable} is set"


def test_a_configured_model_wins_over_a_key(tmp_path: Path) -> None:
    settings = settled(tmp_path, 'model = "demo/tour"', OPENAI_API_KEY="k")

    assert settings.model == "demo/tour"


def test_an_unusable_key_is_a_problem_and_not_chosen(tmp_path: Path) -> None:
    settings = settled(tmp_path, OPENAI_API_KEY="sk canary")

    assert settings.model == "demo/tour"
    assert "OPENAI_API_KEY" in settings.problems[0]
    assert "canary" not in settings.problems[0]


def test_an_address_alone_chooses_openais_wire(tmp_path: Path) -> None:
    settings = settled(tmp_path, OPENAI_BASE_URL="http://127.0.0.1:1/v1/")

    assert model_of(settings).base_url == "http://127.0.0.1:1/v1"
    assert settings.model_reason == "OPENAI_BASE_URL is set"


@pytest.mark.parametrize("provider", FIRST_MODELS)
def test_every_first_model_is_in_the_catalog(provider: str) -> None:
    model = get_model(f"{provider}/{FIRST_MODELS[provider]}", {})

    assert model.context_window is not None


def test_a_command_for_a_key_counts_as_a_key(tmp_path: Path) -> None:
    toml = '[providers.groq]\napi_key_command = "pass show groq"'

    settings = settled(tmp_path, toml)

    assert settings.model == f"groq/{FIRST_MODELS['groq']}"
    assert settings.model_reason == "providers.groq.api_key_command is set"


def test_a_variable_of_the_settings_stands_for_the_providers_own(tmp_path: Path) -> None:
    toml = '[providers.groq]\napi_key_env = "SPARE"'

    assert settled(tmp_path, toml, GROQ_API_KEY="k").model == "demo/tour"
    assert settled(tmp_path, toml, SPARE="k").model_reason == "SPARE is set"


def test_a_server_of_ones_own_wins_over_a_key(tmp_path: Path) -> None:
    settings = settled(tmp_path, OWN_SERVER, OPENAI_API_KEY="k")

    assert settings.model == "cellar/qwen"
    assert settings.model_reason == f"it is the first one in {tmp_path / 'config.toml'}"


def test_a_token_for_downloads_chooses_nothing(tmp_path: Path) -> None:
    assert settled(tmp_path, HF_TOKEN="k").model == "demo/tour"


# -- local servers -------------------------------------------------------------------------------


def test_without_a_key_a_local_server_answers(tmp_path: Path) -> None:
    settings = settled(tmp_path, "", lambda: [OLLAMA])

    assert settings.model == "ollama/qwen3:8b"
    assert settings.model_reason == "no key was found, but ollama answers at 127.0.0.1:11434"


def test_a_key_wins_over_a_local_server(tmp_path: Path) -> None:
    settings = settled(tmp_path, "", lambda: [OLLAMA], OPENAI_API_KEY="k")

    assert settings.model == f"openai/{FIRST_MODELS['openai']}"


def test_with_no_server_either_the_demonstration_answers(tmp_path: Path) -> None:
    settings = settled(tmp_path, "", list)

    assert settings.model == "demo/tour"
    assert settings.model_reason.endswith("no key was found and no local server answers")


@pytest.mark.parametrize(
    ("toml", "flags", "environ"),
    [
        pytest.param('model = "demo/tour"', Flags(), {}, id="a model is set"),
        pytest.param("", Flags(agent="m:a"), {}, id="an agent of one's own"),
        pytest.param("", Flags(), {"GROQ_API_KEY": "k"}, id="a key is there"),
        pytest.param(OWN_SERVER, Flags(), {}, id="a server is set"),
        pytest.param('local_servers = "ignore"', Flags(), {}, id="nobody wants it"),
        pytest.param("", Flags(), {"AGENT_TUI_LOCAL_SERVERS": "ignore"}, id="not here"),
    ],
)
def test_nobody_looks_for_servers_that_would_not_be_used(
    tmp_path: Path, toml: str, flags: Flags, environ: dict[str, str]
) -> None:
    assert local_search(loaded(tmp_path, toml, flags, **environ)) is None


def test_looking_for_servers_does_not_wait_for_them(tmp_path: Path) -> None:
    assert local_search(loaded(tmp_path)) is not None
