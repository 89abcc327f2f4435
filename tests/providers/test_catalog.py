"""The models known without asking."""

from __future__ import annotations

from datetime import date

import pytest

from agent_tui.core.errors import InvalidInputError
from agent_tui.core.model import Model, ModelCost, PriceTier
from agent_tui.core.registry import require_wire
from agent_tui.providers import compat, keys
from agent_tui.providers.addresses import host_of
from agent_tui.providers.catalog import (
    get_model,
    levels_of,
    list_models,
    read_on,
)
from agent_tui.providers.vendors import VENDORS


def is_sound(model: Model) -> bool:
    window, most, cost = model.context_window, model.max_output_tokens, model.cost
    rows: list[ModelCost | PriceTier] = [cost, *cost.tiers] if cost else []
    require_wire(model)
    return (
        window is not None
        and (most is None or 0 < most <= window)
        and all(min(row.input, row.output) >= 0 for row in rows)
        and not compat.compat_problems(model.compat)
        and get_model(model.key, {}) == model
    )


@pytest.mark.parametrize("name", VENDORS)
def test_every_entry_makes_sense(name: str) -> None:
    models = list_models({}, name)

    assert [model.key for model in models if not is_sound(model)] == []
    assert len({model.key for model in models}) == len(models)


@pytest.mark.parametrize("name", VENDORS)
def test_every_hosted_provider_has_a_key_and_its_own_host(name: str) -> None:
    vendor = VENDORS[name]

    assert vendor.is_local or host_of(vendor.base_url) == keys.OWN_HOSTS.get(name, "")


@pytest.mark.parametrize("name", [n for n in VENDORS if list_models({}, n)])
def test_every_list_says_when_it_was_read(name: str) -> None:
    read = read_on(name)

    assert name == "demo" or (read is not None and date.fromisoformat(read) <= date.today())


def test_the_demonstration_is_there_and_free() -> None:
    model = get_model("demo/tour")

    assert model.api == "demo"
    assert model.cost is not None
    assert model.cost.output == 0


@pytest.mark.parametrize(
    ("dated", "plain"),
    [
        ("openai/gpt-5-2025-08-07", "openai/gpt-5"),
        ("openai/gpt-5-mini-2025-08-07", "openai/gpt-5-mini"),
        ("openai/gpt-4.1-nano-latest", "openai/gpt-4.1-nano"),
        ("openrouter/openai/gpt-5-mini-2025-08-07:nitro", "openrouter/openai/gpt-5-mini"),
    ],
)
def test_a_dated_id_has_the_figures_of_the_longest_id_that_it_begins_with(
    dated: str, plain: str
) -> None:
    found, known = get_model(dated, {}), get_model(plain, {})

    assert found.id == dated.partition("/")[2]
    assert found.context_window == known.context_window
    assert found.compat == known.compat


def test_a_dated_id_has_the_undated_price() -> None:
    assert get_model("openai/gpt-5-2025-08-07", {}).cost == get_model("openai/gpt-5", {}).cost


def test_another_model_is_no_variant_of_one_whose_name_it_begins_with() -> None:
    with pytest.raises(InvalidInputError):
        get_model("openai/gpt-5-ultra", {})


def test_prices_step_up_with_long_prompts() -> None:
    cost = get_model("openai/gpt-5.4", {}).cost

    assert cost is not None
    assert [(tier.above, tier.input) for tier in cost.tiers] == [(272_000, 5)]


@pytest.mark.parametrize(
    ("key", "levels"),
    [
        ("openai/gpt-4o", ["off"]),
        ("openai/gpt-5", ["minimal", "low", "medium", "high"]),
        ("deepseek/deepseek-v4-pro", ["high", "xhigh"]),
        ("zai/glm-4.7", ["off", "low", "medium", "high"]),
    ],
)
def test_a_model_has_the_thinking_levels_that_its_server_knows(key: str, levels: list[str]) -> None:
    assert levels_of(get_model(key, {})) == levels


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

    assert local.base_url == "http://127.0.0.1:11434"
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
        ("openai/gpt-oss-120b", ["gpt-5", "more (agent-tui models --provider openai)"]),
        ("ollama/", ["needs the id"]),
        ("", ["PROVIDER/ID"]),
    ],
)
def test_an_unknown_name_lists_what_is_known(key: str, words: list[str]) -> None:
    with pytest.raises(InvalidInputError) as caught:
        get_model(key, {})

    assert all(word in caught.value.message for word in words)
