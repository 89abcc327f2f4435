"""Which model answers, why, where its requests go, and with whose key."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from agent_tui.config import Flags, ProviderSettings, Settings, load_settings
from agent_tui.core.errors import AgentError, ConfigError
from agent_tui.core.model import Model, ModelCost
from agent_tui.providers.catalog import get_model
from agent_tui.providers.keys import key_for
from agent_tui.session.first_model import settle_model
from agent_tui.session.models import ModelBook

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


# -- names ---------------------------------------------------------------------------------------


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


@pytest.mark.parametrize("key", ["openai/gpt-99", "anthropic/claude-new"])
def test_a_new_model_of_a_provider_whose_key_is_there_is_taken_with_a_warning(
    tmp_path: Path, key: str
) -> None:
    keys = {"OPENAI_API_KEY": "sk-test-1", "ANTHROPIC_API_KEY": "sk-test-2"}
    settings = settled(tmp_path, flags=Flags(model=key), **keys)

    model = model_of(settings)
    assert model.key == key
    assert (model.context_window, model.cost) == (None, None)
    assert model.base_url == get_model(f"{model.provider}/{KNOWN[model.provider]}").base_url
    assert any(
        f"{key} is not in the catalogue: its window and price are unknown" in problem
        for problem in settings.problems
    )


KNOWN = {"openai": "gpt-5.5", "anthropic": "claude-sonnet-5"}


def test_a_slip_in_a_known_name_is_refused_with_what_was_meant(tmp_path: Path) -> None:
    with pytest.raises(AgentError, match="claude-sonnet-5"):
        settled(tmp_path, flags=Flags(model="anthropic/claude-sonet-5"), ANTHROPIC_API_KEY="k" * 9)


def test_another_number_is_another_model(tmp_path: Path) -> None:
    settings = settled(tmp_path, flags=Flags(model="openai/gpt-5.77"), OPENAI_API_KEY="sk-test-1")

    assert "it looks like gpt-5" in settings.problems[-1]


def test_a_known_model_is_no_matter_of_doubt(tmp_path: Path) -> None:
    settings = settled(tmp_path, flags=Flags(model="openai/gpt-5.5"), OPENAI_API_KEY="sk-test-1")

    assert settings.problems == ()


def test_models_of_the_settings_are_named_among_what_is_known(tmp_path: Path) -> None:
    with pytest.raises(AgentError, match="local/qwen"):
        settled(tmp_path, LOCAL, Flags(model="lokal/qwen"), LOCAL_KEY="k")


def test_an_unknown_id_of_a_configured_provider_says_its_ids(tmp_path: Path) -> None:
    with pytest.raises(AgentError, match="unknown model 'llama' of local; known: qwen"):
        settled(tmp_path, LOCAL, Flags(model="local/llama"))


def test_a_wire_that_is_not_built_in_is_refused(tmp_path: Path) -> None:
    table = ProviderSettings("x", api="pigeon", base_url="http://h")
    settings = replace(settled(tmp_path), providers={"x": table})

    with pytest.raises(AgentError, match="nothing serves x/m"):
        ModelBook(settings).find("x/m")


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


@pytest.mark.parametrize(
    ("toml", "words"),
    [
        ('api_key_env = "sk-canary"', "api_key_env takes the name of a variable"),
        ('ca_bundle = "/nowhere.pem"', "ca_bundle: there is no file /nowhere.pem"),
        ("insecure_skip_verify = true", "insecure_skip_verify: whoever stands between"),
    ],
)
def test_what_will_not_work_or_is_dangerous_is_told(tmp_path: Path, toml: str, words: str) -> None:
    toml = f'[providers.lab]\nbase_url = "https://h/v1"\n{toml}'

    [problem] = settled(tmp_path, toml, Flags(model="lab/m")).problems

    assert words in problem
    assert "canary" not in problem


def test_certificates_and_the_keys_command_go_with_the_model(tmp_path: Path) -> None:
    (tmp_path / "ca.pem").touch()
    toml = f"""
    [providers.lab]
    base_url = "https://h/v1"
    api_key_command = "pass show lab"
    ca_bundle = "{tmp_path}/ca.pem"
    insecure_skip_verify = false
    """

    compat = model_of(settled(tmp_path, toml, Flags(model="lab/m"))).compat

    assert compat["api_key_command"] == "pass show lab"
    assert compat["ca_bundle"] == f"{tmp_path}/ca.pem"
    assert compat["insecure_skip_verify"] is False


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
