"""The models as they are offered: what comes first, and what is missing for the rest."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agent_tui.config import Flags, load_settings
from agent_tui.core.errors import InvalidInputError
from agent_tui.core.model import Model
from agent_tui.session.models import ModelBook
from agent_tui.session.saved_lists import SavedLists
from agent_tui.session.shelf import ModelShelf, ShelfItem
from tests.providers.loopback import JSON, Script, plays, serving

IGNORE = 'local_servers = "ignore"'


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


# -- asking servers ------------------------------------------------------------------------------


def listing(*models: dict[str, Any]) -> Script:
    return plays(json.dumps({"data": list(models)}).encode(), headers=JSON)


async def test_what_a_server_of_the_settings_serves_joins_with_its_facts(tmp_path: Path) -> None:
    async with serving(listing({"id": "qwen", "max_model_len": 4096})) as lab:
        models = shelf(tmp_path, f'{IGNORE}\n[providers.cellar]\nbase_url = "{lab.url}"')
        problems = await models.renew()

    found = item(models, "cellar/qwen")
    assert problems == []
    assert (found.model.context_window, found.lacks) == (4096, "")
    assert found.model.base_url == lab.url


async def test_a_server_of_the_settings_that_is_silent_is_told(tmp_path: Path) -> None:
    toml = f'{IGNORE}\n[providers.cellar]\nbase_url = "http://127.0.0.1:9/v1"'

    [problem] = await shelf(tmp_path, toml).renew()

    assert problem.startswith("cellar: nothing answers at 127.0.0.1:9")


async def test_hosted_servers_are_asked_only_when_told_to(tmp_path: Path) -> None:
    async with serving(listing({"id": "gpt-9"})) as lab:
        environ = {"OPENAI_BASE_URL": lab.url, "OPENAI_API_KEY": "sk-1"}
        models = shelf(tmp_path, IGNORE, **environ)
        await models.renew()
        unasked = len(lab.requests)
        await models.ask("openai")

    assert unasked == 0
    assert item(models, "openai/gpt-9").model.base_url == lab.url


async def test_nobody_is_asked_who_does_not_exist(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="unknown provider 'nobody'; known: demo"):
        await shelf(tmp_path).ask("nobody")


async def test_a_table_that_is_no_good_is_told(tmp_path: Path) -> None:
    models = shelf(tmp_path, '[providers.x]\n[[providers.x.models]]\nid = "m"')

    assert await models.ask("x") == "providers.x: base_url is missing"
    assert all(found.model.provider != "x" for found in models.items())


async def test_the_usual_ports_are_asked_unless_the_settings_say_no(tmp_path: Path) -> None:
    async with serving(listing({"id": "qwen"})) as lab:
        await shelf(tmp_path, IGNORE, OLLAMA_HOST=f"127.0.0.1:{lab.port}").renew()
        before = len(lab.requests)
        await shelf(tmp_path, OLLAMA_HOST=f"127.0.0.1:{lab.port}").renew()

    assert before == 0
    assert lab.requests[0].path == "/api/tags"


async def test_a_near_server_knows_more_of_its_model(tmp_path: Path) -> None:
    async with serving(listing({"id": "m", "max_model_len": 4096})) as lab:
        models = shelf(tmp_path)
        described = await models.described(lab.model())

    assert models.is_near(described)
    assert described.context_window == 4096
    assert item(models, "lab/m").model == described


async def test_what_a_hosted_server_once_said_can_be_named(tmp_path: Path) -> None:
    settings = load_settings(Flags(), {"AGENT_TUI_HOME": str(tmp_path)}, tmp_path)
    new = Model("groq", "llama-9", name="Llama 9", context_window=9000, images=True)
    SavedLists(settings.folders).put("groq", [new])

    found = ModelBook(settings).find("groq/llama-9")

    assert (found.name, found.context_window, found.images) == ("Llama 9", 9000, True)
    assert found.base_url == "https://api.groq.com/openai/v1"
    assert item(ModelShelf(settings), "groq/llama-9").lacks == "GROQ_API_KEY"
