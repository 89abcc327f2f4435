"""Which model answers, why, where its requests go, and with whose key."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_tui.config import Flags, Settings, load_settings
from agent_tui.core.errors import AgentError, ConfigError
from agent_tui.core.model import Model, ModelCost
from agent_tui.providers.catalog import get_model
from agent_tui.providers.keys import key_for
from agent_tui.session.models import FIRST_MODELS, ModelBook, settle_model

LOCAL = """
[providers.local]
base_url = "http://127.0.0.1:8080"
api_key_env = "LOCAL_KEY"
timeouts = { stall = 5 }
[[providers.local.models]]
id = "qwen"
context_window = 32768
cost = { input = 0.0, output = 0.0 }
"""


def settled(tmp_path: Path, toml: str = "", flags: Flags | None = None, **environ: str) -> Settings:
    (tmp_path / "config.toml").write_text(toml)
    home = {"AGENT_TUI_HOME": str(tmp_path)}
    return settle_model(load_settings(flags or Flags(), {**home, **environ}, tmp_path))


def model_of(settings: Settings) -> Model:
    return ModelBook(settings).find(settings.model or "")


# -- the choice ----------------------------------------------------------------------------------


def test_with_nothing_at_all_the_demonstration_answers(tmp_path: Path) -> None:
    settings = settled(tmp_path)

    assert settings.model == "demo/tour"
    assert settings.model_reason == "no model is configured and no key was found"


@pytest.mark.parametrize(
    ("variable", "provider"),
    [
        ("OPENAI_API_KEY", "openai"),
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
    settings = settled(tmp_path, "", None, **{variable: "k"})

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


@pytest.mark.parametrize(
    ("key", "words"),
    [
        ("nobody/m", "unknown provider 'nobody'"),
        ("openai/gpt-none", "known: "),
        ("what-is-this", "PROVIDER/ID"),
    ],
)
def test_an_unknown_model_says_what_is_known_and_who_asked(
    tmp_path: Path, key: str, words: str
) -> None:
    with pytest.raises(AgentError) as caught:
        settled(tmp_path, f'model = "{key}"')

    assert words in caught.value.message
    assert f"it is set in {tmp_path / 'config.toml'}" in caught.value.message


def test_models_of_the_settings_are_named_among_what_is_known(tmp_path: Path) -> None:
    with pytest.raises(AgentError, match="local/qwen"):
        settled(tmp_path, LOCAL, Flags(model="lokal/qwen"), LOCAL_KEY="k")


def test_an_unknown_id_of_a_configured_provider_says_its_ids(tmp_path: Path) -> None:
    with pytest.raises(AgentError, match="unknown model 'llama' of local; known: qwen"):
        settled(tmp_path, LOCAL, Flags(model="local/llama"))


def test_a_wire_that_is_not_built_in_is_refused(tmp_path: Path) -> None:
    toml = '[providers.x]\napi = "gemini"\nbase_url = "http://h"'

    with pytest.raises(AgentError, match="nothing serves x/m"):
        settled(tmp_path, toml, Flags(model="x/m"))


# -- what a table makes of it --------------------------------------------------------------------


def test_a_provider_of_the_settings_is_a_server_of_its_own(tmp_path: Path) -> None:
    model = model_of(settled(tmp_path, LOCAL, Flags(model="local/qwen"), LOCAL_KEY="k"))

    assert (model.api, model.base_url) == ("openai-chat", "http://127.0.0.1:8080/v1")
    assert (model.context_window, model.cost) == (32768, ModelCost(0.0, 0.0))
    assert model.compat["timeouts"] == {"stall": 5.0}
    assert key_for(model, {"LOCAL_KEY": " k\n"}) == "k"


def test_an_id_alone_finds_a_model_of_the_settings(tmp_path: Path) -> None:
    assert settled(tmp_path, LOCAL, Flags(model="qwen"), LOCAL_KEY="k").model == "local/qwen"


def test_a_table_changes_a_known_provider_only_in_what_it_names(tmp_path: Path) -> None:
    toml = '[providers.groq]\nheaders = { X-Team = "ml" }'

    model = model_of(settled(tmp_path, toml, Flags(model="groq/openai/gpt-oss-120b")))

    known = get_model("groq/openai/gpt-oss-120b", {})
    assert model.headers == {"X-Team": "ml"}
    assert (model.base_url, model.cost) == (known.base_url, known.cost)


def test_a_table_may_add_a_model_to_a_known_provider(tmp_path: Path) -> None:
    toml = '[[providers.groq.models]]\nid = "brand-new"\ncontext_window = 5000'

    model = model_of(settled(tmp_path, toml, Flags(model="groq/brand-new")))

    assert model.context_window == 5000
    assert model.base_url == get_model("groq/openai/gpt-oss-120b", {}).base_url


def test_the_address_in_the_environment_wins_over_the_file(tmp_path: Path) -> None:
    toml = '[providers.openai]\nbase_url = "http://file/v1"'

    model = model_of(
        settled(tmp_path, toml, Flags(model="openai/m"), OPENAI_BASE_URL="http://env/v1")
    )

    assert model.base_url == "http://env/v1"


def test_a_table_without_an_address_says_so(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"providers\.x: base_url is missing"):
        settled(tmp_path, '[[providers.x.models]]\nid = "m"', Flags(model="x/m"))


def test_a_bad_address_names_its_key(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"providers\.x\.base_url: the base address"):
        settled(tmp_path, '[providers.x]\nbase_url = "not a url"', Flags(model="x/m"))


def test_problems_of_the_provider_in_use_are_told(tmp_path: Path) -> None:
    toml = LOCAL.replace("timeouts", "compat = { think_tag = true }\ntimeouts")

    problems = settled(tmp_path, toml, Flags(model="local/qwen")).problems

    assert "providers.local.compat: unknown key 'think_tag'" in problems[0]
    assert "LOCAL_KEY" in problems[1]


def test_all_models_are_listed_once_the_settings_first(tmp_path: Path) -> None:
    models = ModelBook(settled(tmp_path, LOCAL)).all()

    keys = [model.key for model in models]
    assert keys[0] == "local/qwen"
    assert len(keys) == len(set(keys))
    assert "demo/tour" in keys


# -- keys ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("url", "base_url"),
    [
        ("http://h:1", "http://h:1/v1"),
        ("http://h:1/", "http://h:1/v1"),
        ("http://h:1/v1/", "http://h:1/v1"),
        ("http://h:1/api", "http://h:1/api"),
        ("http://h:1/v1/chat/completions", "http://h:1/v1"),
    ],
)
def test_a_base_url_may_be_written_in_every_usual_way(
    tmp_path: Path, url: str, base_url: str
) -> None:
    model = model_of(settled(tmp_path, flags=Flags(base_url=url, model="m")))

    assert model.base_url == base_url


@pytest.mark.parametrize("name", ["openai/gpt-5", "custom/m", "groq/m"])
def test_a_base_url_never_gets_a_key_that_nobody_named(tmp_path: Path, name: str) -> None:
    environ = {"OPENAI_API_KEY": "canary", "GROQ_API_KEY": "canary"}
    flags = Flags(base_url="https://api.openai.com/v1", model=name)

    model = model_of(settled(tmp_path, flags=flags, **environ))

    assert key_for(model, environ) is None


def test_a_changed_address_does_not_take_the_providers_key_with_it(tmp_path: Path) -> None:
    toml = '[providers.openai]\nbase_url = "http://evil.test/v1"'
    environ = {"OPENAI_API_KEY": "canary"}

    model = model_of(settled(tmp_path, toml, Flags(model="openai/gpt-5"), **environ))

    assert key_for(model, environ) is None


def test_a_named_variable_goes_where_the_person_said(tmp_path: Path) -> None:
    environ = {"LAB": " sk-1\n"}
    flags = Flags(base_url="http://lab.test/v1", model="m", api_key_env="LAB")

    model = model_of(settled(tmp_path, flags=flags, **environ))

    assert key_for(model, environ) == "sk-1"


def test_a_named_variable_without_an_address_serves_the_chosen_model(tmp_path: Path) -> None:
    environ = {"SPARE": "k2", "GROQ_API_KEY": "k1"}
    flags = Flags(model="groq/openai/gpt-oss-120b", api_key_env="SPARE")

    model = model_of(settled(tmp_path, flags=flags, **environ))

    assert key_for(model, environ) == "k2"
