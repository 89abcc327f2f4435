"""The models known without asking."""

from __future__ import annotations

import pytest

from agent_tui.core.errors import InvalidInputError
from agent_tui.core.model import Model
from agent_tui.core.registry import stream_fn_for
from agent_tui.providers import compat, keys
from agent_tui.providers.addresses import host_of
from agent_tui.providers.catalog import get_model, list_models, provider_names


@pytest.mark.parametrize("model", list_models({}), ids=lambda model: model.key)
def test_every_entry_makes_sense(model: Model) -> None:
    assert get_model(model.key, {}) == model
    assert stream_fn_for(model) is not None
    assert compat.compat_problems(model.compat) == []
    assert model.context_window is not None
    assert model.max_output_tokens is None or 0 < model.max_output_tokens <= model.context_window
    assert model.cost is None or min(model.cost.input, model.cost.output) >= 0


@pytest.mark.parametrize("name", provider_names())
def test_every_hosted_provider_has_a_key_and_its_own_host(name: str) -> None:
    models = [model for model in list_models({}) if model.provider == name]

    assert all(host_of(m.base_url) == keys.OWN_HOSTS.get(name, "") for m in models)


def test_the_demonstration_is_there_and_free() -> None:
    model = get_model("demo/tour")

    assert model.api == "demo"
    assert model.cost is not None
    assert model.cost.output == 0


def test_a_dated_id_has_the_figures_of_the_undated_one() -> None:
    dated = get_model("openai/gpt-5-2025-08-07", {})
    plain = get_model("openai/gpt-5", {})

    assert dated.id == "gpt-5-2025-08-07"
    assert (dated.cost, dated.context_window) == (plain.cost, plain.context_window)


def test_a_variant_has_no_known_price() -> None:
    free = get_model("openrouter/openai/gpt-oss-120b:free", {})

    assert free.cost is None
    assert free.context_window == get_model("openrouter/openai/gpt-oss-120b", {}).context_window


def test_a_provider_with_countless_models_takes_any_id() -> None:
    model = get_model("openrouter/some/new-model", {})

    assert (model.id, model.cost, model.context_window) == ("some/new-model", None, None)


def test_local_models_cost_nothing_as_long_as_they_are_local() -> None:
    local = get_model("ollama/qwen3:8b", {})
    hosted = get_model("ollama/qwen3:8b", {"OLLAMA_HOST": "https://ollama.com"})

    assert local.base_url == "http://127.0.0.1:11434/v1"
    assert local.cost is not None
    assert local.cost.input == 0
    assert hosted.cost is None


def test_openai_base_url_moves_the_provider_and_opens_its_list() -> None:
    environ = {"OPENAI_BASE_URL": "http://127.0.0.1:8080/"}

    assert get_model("openai/gpt-5.5", environ).base_url == "http://127.0.0.1:8080/v1"
    assert get_model("openai/my-own", environ).base_url == "http://127.0.0.1:8080/v1"


def test_an_id_alone_will_do_where_it_is_the_only_one() -> None:
    assert get_model("gpt-5.5", {}).provider == "openai"


@pytest.mark.parametrize(
    ("key", "words"),
    [
        ("openai/gpt-99", ["gpt-99", "gpt-5.5"]),
        ("nobody/x", ["unknown provider 'nobody'", "demo", "openai"]),
        ("gpt5.5", ["openai/gpt-5.5", "PROVIDER/ID"]),
        ("openai/gpt-oss-120b", ["gpt-5.5"]),
        ("ollama/", ["needs the id"]),
        ("", ["PROVIDER/ID"]),
    ],
)
def test_an_unknown_name_lists_what_is_known(key: str, words: list[str]) -> None:
    with pytest.raises(InvalidInputError) as caught:
        get_model(key, {})

    assert all(word in caught.value.message for word in words)
