"""The models as they are offered: what comes first, and what is missing for the rest."""

from __future__ import annotations

from pathlib import Path

from agent_tui.config import Flags, load_settings
from agent_tui.session.shelf import ModelShelf, ShelfItem
from tests.providers.test_probing import answering, good


def shelf(tmp_path: Path, toml: str = "", /, **environ: str) -> ModelShelf:
    (tmp_path / "config.toml").write_text(toml)
    home = {"AGENT_TUI_HOME": str(tmp_path), "OLLAMA_HOST": "127.0.0.1:9"}
    return ModelShelf(load_settings(Flags(), home | environ, tmp_path))


def item(shelf: ModelShelf, key: str) -> ShelfItem:
    [found] = [item for item in shelf.items() if item.model.key == key]
    return found


def test_what_can_be_used_comes_before_what_lacks_a_key(tmp_path: Path) -> None:
    items = shelf(tmp_path, GROQ_API_KEY="k").items()

    lacking = [bool(item.lacks) for item in items]
    assert lacking == sorted(lacking)
    assert {item.model.provider for item in items if not item.lacks} == {"demo", "groq"}


def test_what_is_missing_is_named(tmp_path: Path) -> None:
    toml = '[providers.xai]\napi_key_env = "SPARE"'

    models = shelf(tmp_path, toml)

    assert item(models, "openai/gpt-5.5").lacks == "OPENAI_API_KEY"
    assert item(models, "xai/grok-4.7").lacks == "SPARE"


def test_a_command_for_a_key_or_a_server_of_ones_own_lacks_nothing(tmp_path: Path) -> None:
    toml = """
    [providers.groq]
    api_key_command = "pass show groq"
    [providers.cellar]
    base_url = "http://127.0.0.1:9/v1"
    [[providers.cellar.models]]
    id = "qwen"
    """

    models = shelf(tmp_path, toml)

    assert item(models, "groq/openai/gpt-oss-20b").lacks == ""
    assert item(models, "cellar/qwen").lacks == ""


def test_an_unusable_key_is_as_good_as_none(tmp_path: Path) -> None:
    models = shelf(tmp_path, GROQ_API_KEY="two words")

    assert item(models, "groq/openai/gpt-oss-20b").lacks == "GROQ_API_KEY"


def test_favourites_come_first_in_the_order_of_marking(tmp_path: Path) -> None:
    models = shelf(tmp_path)
    models.toggle("xai/grok-4.7")
    models.toggle("demo/tour")

    assert [i.model.key for i in models.items()[:2]] == ["xai/grok-4.7", "demo/tour"]
    assert [i.is_favourite for i in models.items()[:3]] == [True, True, False]


def test_levels_are_those_of_the_model(tmp_path: Path) -> None:
    models = shelf(tmp_path)

    assert item(models, "openai/gpt-4o").levels == ("off",)
    assert item(models, "openai/gpt-5").levels == ("minimal", "low", "medium", "high")


async def test_what_local_servers_serve_joins_when_they_were_asked(tmp_path: Path) -> None:
    with answering(good({"models": [{"name": "qwen3:8b"}]})) as stage:
        models = shelf(tmp_path, OLLAMA_HOST=stage.url)
        await models.renew()

    assert item(models, "ollama/qwen3:8b").lacks == ""
