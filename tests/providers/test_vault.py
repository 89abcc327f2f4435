"""Keys from a command or the keyring: asked once, kept in memory, sent nowhere else."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agent_tui.core.abort import AbortSignal
from agent_tui.core.errors import ConfigError
from agent_tui.core.model import Model
from agent_tui.core.stream import StreamOptions
from agent_tui.providers import vault
from agent_tui.providers.vault import find_key, forget_keys
from tests.providers.loopback import answer_of, plays, says, serving

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the commands are for a Unix shell")
OWN = "https://api.openai.com/v1"


@pytest.fixture(autouse=True)
def _nothing_remembered() -> Iterator[None]:
    forget_keys()
    yield
    forget_keys()


def model(base_url: str = OWN, provider: str = "openai", **compat: Any) -> Model:
    return Model(provider, "m", base_url=base_url, compat=compat)


class Ring:
    """A keyring that counts."""

    def __init__(self, **keys: str) -> None:
        self.keys = keys
        self.asked: list[str] = []

    def __call__(self, provider: str) -> str | None:
        self.asked.append(provider)
        return self.keys.get(provider)


# -- the command ---------------------------------------------------------------------------------


async def test_a_command_prints_the_key() -> None:
    target = model("http://127.0.0.1:1/v1", "lab", api_key_command="printf 'sk-1\\nnote\\n'")

    assert await find_key(target, {}) == "sk-1"


async def test_a_command_runs_once_however_often_and_at_once_it_is_needed(tmp_path: Path) -> None:
    target = model(provider="lab", api_key_command=f"echo run >> {tmp_path}/runs; echo sk-1")

    keys = await asyncio.gather(*(find_key(target, {}) for _ in range(5)))
    keys.append(await find_key(target, {}))

    assert keys == ["sk-1"] * 6
    assert (tmp_path / "runs").read_text() == "run\n"


async def test_a_command_that_failed_is_run_again(tmp_path: Path) -> None:
    target = model(provider="lab", api_key_command=f"cat {tmp_path}/key")
    with pytest.raises(ConfigError):
        await find_key(target, {})

    (tmp_path / "key").write_text("sk-1")

    assert await find_key(target, {}) == "sk-1"


@pytest.mark.parametrize(
    ("command", "sentence"),
    [
        ("echo sk-secret; echo locked >&2; exit 3", "api_key_command of lab ended with 3: locked"),
        ("true", "api_key_command of lab printed nothing"),
        ("echo 'sk secret'", "a character that no key may have"),
    ],
)
async def test_a_command_without_a_key_is_one_sentence_that_shows_no_key(
    command: str, sentence: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        await find_key(model(provider="lab", api_key_command=command), {})

    assert sentence in caught.value.message
    assert "secret" not in caught.value.message


async def test_a_command_that_hangs_is_ended_with_everything_it_started(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(vault, "COMMAND_SECONDS", 0.05)
    target = model(provider="lab", api_key_command=f"(sleep 60; echo > {tmp_path}/late) | cat")

    with pytest.raises(ConfigError, match="gave no key within"):
        await find_key(target, {})


async def test_the_variable_that_the_settings_name_comes_before_the_command() -> None:
    target = model(provider="lab", api_key_env="LAB", api_key_command="echo from-command")

    assert await find_key(target, {"LAB": "from-variable"}) == "from-variable"
    assert await find_key(target, {}) == "from-command"


async def test_the_command_comes_before_the_providers_own_variable() -> None:
    target = model(api_key_command="echo from-command")

    assert await find_key(target, {"OPENAI_API_KEY": "from-variable"}) == "from-command"


async def test_a_request_carries_the_key_of_the_command() -> None:
    async with serving(plays(says("Hello"))) as lab:
        await answer_of(lab.model(compat={"api_key_command": "echo sk-1"}))

    assert lab.requests[0].headers["authorization"] == "Bearer sk-1"


async def test_a_stop_does_not_wait_for_the_command() -> None:
    signal = AbortSignal()
    asyncio.get_running_loop().call_later(0.05, signal.set)

    async with serving(plays(says("Hello"))) as lab:
        target = lab.model(compat={"api_key_command": "sleep 60"})
        async with asyncio.timeout(5):
            message = await answer_of(target, options=StreamOptions(signal=signal))

    assert message.stop_reason == "aborted"
    assert lab.requests == []


# -- the keyring ---------------------------------------------------------------------------------


async def test_the_keyring_is_asked_last_and_once() -> None:
    ring = Ring(openai="sk-ring")

    assert await find_key(model(), {"OPENAI_API_KEY": "sk-env"}, lookup=ring) == "sk-env"
    assert ring.asked == []
    assert await find_key(model(), {}, lookup=ring) == "sk-ring"
    assert await find_key(model(), {}, lookup=ring) == "sk-ring"
    assert ring.asked == ["openai"]


@pytest.mark.parametrize(
    "target",
    [
        pytest.param(model("https://evil.example/v1"), id="a changed address"),
        pytest.param(model("http://127.0.0.1:1/v1", "lab"), id="a server of one's own"),
        pytest.param(model(api_key_env=""), id="an address of the command line"),
        pytest.param(model(api_key_env="UNSET"), id="a variable was named"),
    ],
)
async def test_the_keyring_is_for_the_providers_own_address_only(target: Model) -> None:
    ring = Ring(openai="sk-ring", lab="sk-ring")

    assert await find_key(target, {}, lookup=ring) is None
    assert ring.asked == []


async def test_an_empty_or_broken_keyring_is_no_key() -> None:
    def broken(provider: str) -> str | None:
        raise RuntimeError("no backend")

    assert await find_key(model(), {}, lookup=Ring()) is None
    forget_keys()
    assert await find_key(model(), {}, lookup=broken) is None


async def test_a_keyring_that_never_answers_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vault, "KEYRING_SECONDS", 0.05)
    locked = threading.Event()

    def lookup(provider: str) -> str | None:
        locked.wait(5)
        return None

    with pytest.raises(ConfigError, match="the keyring did not answer"):
        await find_key(model(), {}, lookup=lookup)
    locked.set()
