"""What the doctor finds, and what it never shows."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent_tui.config import Flags, Settings, load_settings
from agent_tui.providers.vault import forget_keys
from agent_tui.session.doctor import Key, examine
from tests.providers.test_probing import answering, good


@pytest.fixture(autouse=True)
def _nothing_remembered() -> Iterator[None]:
    forget_keys()
    yield
    forget_keys()


def settings_of(tmp_path: Path, toml: str = "", /, **environ: str) -> Settings:
    (tmp_path / "config.toml").write_text(toml)
    return load_settings(Flags(), {"AGENT_TUI_HOME": str(tmp_path), **environ}, tmp_path)


async def test_with_nothing_there_it_says_so(tmp_path: Path) -> None:
    report = await examine(settings_of(tmp_path), {})

    assert (report.model, report.keys, report.servers) == ("demo/tour", (), ())
    assert ("key", "none was found") in report.rows()
    assert ("problems", "none") in report.rows()


async def test_keys_are_named_and_never_shown(tmp_path: Path) -> None:
    toml = '[providers.lab]\nbase_url = "https://h/v1"\napi_key_env = "LAB"'
    environ = {"GROQ_API_KEY": "canary-1", "LAB": "canary-2", "XAI_API_KEY": "canary 3"}

    report = await examine(settings_of(tmp_path, toml, **environ), {})

    assert report.keys[0] == Key("groq", "GROQ_API_KEY")
    assert Key("lab", "LAB") in report.keys
    [broken] = [key for key in report.keys if key.problem]
    assert broken.source == "XAI_API_KEY"
    assert "canary" not in json.dumps(report.to_json()) + str(report.rows())


@pytest.mark.skipif(sys.platform == "win32", reason="the commands are for a Unix shell")
async def test_commands_for_keys_are_tried(tmp_path: Path) -> None:
    toml = """
    [providers.groq]
    api_key_command = "echo canary"
    [providers.xai]
    api_key_command = "echo locked >&2; exit 1"
    """

    report = await examine(settings_of(tmp_path, toml), {})

    good_key, bad_key = report.keys
    assert good_key == Key("groq", "api_key_command")
    assert bad_key.problem == "api_key_command of xai ended with 1: locked"
    assert "canary" not in json.dumps(report.to_json())


async def test_servers_say_what_they_serve_and_who_is_silent(tmp_path: Path) -> None:
    names = [{"name": f"m{number}"} for number in range(7)]
    with answering(good({"models": names})) as stage:
        report = await examine(
            settings_of(tmp_path), {"ollama": stage.url, "vllm": "http://127.0.0.1:9/v1"}
        )

    rows = dict(report.rows())
    assert rows["server"] == f"ollama at {stage.url}: m0, m1, m2, m3, m4 and 2 more"
    assert rows["no server"] == "vllm (http://127.0.0.1:9/v1)"
    assert report.model == "ollama/m0"


async def test_the_window_of_a_local_model_is_what_its_server_says(tmp_path: Path) -> None:
    listed = {"data": [{"id": "qwen", "max_model_len": 4096}]}
    with answering(good(listed)) as stage:
        toml = f'model = "cellar/qwen"\n[providers.cellar]\nbase_url = "{stage.url}/v1"'
        report = await examine(settings_of(tmp_path, toml, OLLAMA_HOST="127.0.0.1:9"), {})

    assert dict(report.rows())["window"] == "4,096 tokens"
    assert report.to_json()["context_window"] == 4096


async def test_a_server_of_ones_own_is_asked_too(tmp_path: Path) -> None:
    with answering(good({"data": [{"id": "qwen"}]})) as stage:
        toml = f'[providers.cellar]\nbase_url = "{stage.url}/v1"'
        environ = {"OLLAMA_HOST": "127.0.0.1:9"}
        report = await examine(settings_of(tmp_path, toml, **environ))

    assert [server.provider for server in report.servers if server.base_url.startswith(stage.url)]


async def test_problems_of_settings_and_model_are_listed(tmp_path: Path) -> None:
    toml = """
    model = "nobody/m"
    mod = "ask"
    [providers.lab]
    base_url = "https://h/v1"
    insecure_skip_verify = true
    """

    report = await examine(settings_of(tmp_path, toml), {})

    assert report.model is None
    assert any("unknown provider 'nobody'" in problem for problem in report.problems)
    assert any("unknown key 'mod'" in problem for problem in report.problems)
    assert any("insecure_skip_verify" in problem for problem in report.problems)


async def test_versions_are_there(tmp_path: Path) -> None:
    report = await examine(settings_of(tmp_path), {})

    assert {"agent-tui", "python", "textual", "httpx", "system"} <= set(report.versions)
