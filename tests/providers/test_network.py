"""Proxies, keys and addresses of the environment, seen from a server on this machine."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from agent_tui.core.messages import AssistantMessage
from agent_tui.core.model import Model
from agent_tui.core.stream import StreamOptions
from agent_tui.providers.catalog import get_model
from agent_tui.providers.wire import warm_up
from tests.providers.loopback import CASES, CERTIFICATE, Loopback, answer_of, plays, says, serving
from tests.providers.wires import SPEECHES


def environment_of(case: str, lab: Loopback) -> dict[str, str]:
    data = json.loads((CASES / "network" / f"{case}.scenario.json").read_text("utf-8"))
    return {name: value.replace("{PORT}", str(lab.port)) for name, value in data["env"].items()}


async def openai_answer(
    lab: Loopback, monkeypatch: pytest.MonkeyPatch, environment: dict[str, str]
) -> AssistantMessage:
    """The answer of `openai/gpt-5.5` with its address pointing here."""
    everything = {"OPENAI_BASE_URL": lab.url, "OPENAI_API_KEY": "sk-test-0001"} | environment
    for name, value in everything.items():
        monkeypatch.setenv(name, value)
    return await answer_of(get_model("openai/gpt-5.5"))


@pytest.mark.parametrize(
    "case", ["base-url-variants", "key-with-newline", "no-proxy-bracketed-ipv6", "socks-proxy"]
)
async def test_the_local_server_is_reached(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async with serving(plays(says("Hello"))) as lab:
        message = await openai_answer(lab, monkeypatch, environment_of(case, lab))

    assert message.text == "Hello"
    assert lab.requests[0].path == "/v1/chat/completions"
    assert lab.requests[0].headers["authorization"] == "Bearer sk-test-0001"


@pytest.mark.parametrize("suffix", ["", "/", "/v1", "/v1/"])
@pytest.mark.parametrize(
    ("variable", "header", "sent"),
    [
        ("ANTHROPIC_API_KEY", "x-api-key", "sk-ant-0001"),
        ("ANTHROPIC_AUTH_TOKEN", "authorization", "Bearer sk-ant-0001"),
    ],
)
async def test_anthropic_is_reached_at_the_address_of_the_environment(
    suffix: str, variable: str, header: str, sent: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (speech,) = (speech for speech in SPEECHES if speech.api == "anthropic")

    async with serving(speech.answers()) as lab:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", lab.url.removesuffix("/v1") + suffix)
        monkeypatch.setenv(variable, "sk-ant-0001\n")
        message = await answer_of(get_model("anthropic/claude-sonnet-5"))

    assert message.text == "Hello"
    assert lab.requests[0].path == "/v1/messages"
    keys = {k: v for k, v in lab.requests[0].headers.items() if k in ("x-api-key", "authorization")}
    assert keys == {header: sent}


@pytest.mark.parametrize(
    "proxy", ["http://user:hunter2@127.0.0.1:9", "socks5://user:hunter2@127.0.0.1:9"]
)
async def test_a_dead_proxy_is_named_without_its_password(
    proxy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ALL_PROXY", proxy)

    message = await answer_of(Model("lab", "m", api="openai-chat", base_url="http://lab.test/v1"))

    assert message.error is not None
    assert "the proxy 127.0.0.1:9" in message.error.message
    assert "hunter2" not in message.model_dump_json()


async def test_a_proxy_of_an_unknown_kind_is_refused_in_one_sentence(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("ALL_PROXY", "gopher://user:hunter2@127.0.0.1:9")
    model = Model("lab", "m", api="openai-chat", base_url="http://lab.test/v1")

    await warm_up(model)
    message = await answer_of(model)

    assert message.error is not None
    assert (message.error.code, message.error.retryable) == ("config", False)
    assert "proxy" in message.error.message
    assert "hunter2" not in message.model_dump_json()


async def test_requests_go_through_the_proxy_that_the_environment_names(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with serving(plays(says("Hello"))) as proxy:
        monkeypatch.setenv("HTTP_PROXY", f"127.0.0.1:{proxy.port}")
        model = Model("lab", "m", api="openai-chat", base_url="http://lab.test/v1")
        message = await answer_of(model)

    assert message.text == "Hello"
    assert proxy.requests[0].path == "http://lab.test/v1/chat/completions"


async def test_missing_certificates_are_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    model = Model(
        "lab",
        "m",
        api="openai-chat",
        base_url="https://127.0.0.1:9/v1",
        compat={"ca_bundle": "/no/such/file.pem"},
    )

    message = await answer_of(model)

    assert message.error is not None
    assert message.error.code == "config"
    assert "/no/such/file.pem" in message.error.message


async def test_a_certificate_that_nobody_vouches_for_is_refused() -> None:
    async with serving(plays(says("Hello")), tls=True) as lab:
        message = await answer_of(lab.model())

    assert message.error is not None
    assert (message.error.code, message.error.retryable) == ("network", False)
    assert "ca_bundle" in message.error.message
    assert lab.requests == []


@pytest.mark.parametrize(
    "compat", [{"ca_bundle": str(CERTIFICATE)}, {"insecure_skip_verify": True}], ids=lambda c: [*c]
)
async def test_a_server_may_be_trusted_by_its_own_certificate_or_blindly(
    compat: dict[str, Any],
) -> None:
    async with serving(plays(says("Hello")), tls=True) as lab:
        message = await answer_of(lab.model(compat=compat))

    assert message.text == "Hello"


@pytest.mark.parametrize("key", ["sk-\nsplit", "sk-sch\u00f6n", "sk two"])
async def test_a_key_with_an_illegal_character_is_refused_without_showing_it(key: str) -> None:
    async with serving(plays(says("Hello"))) as lab:
        message = await answer_of(lab.model(), options=StreamOptions(api_key=key))

    assert message.error is not None
    assert message.error.code == "config"
    assert key not in message.error.message
    assert lab.requests == []


@pytest.mark.parametrize(
    "headers", [{"x-team": "a\r\nx-evil: 1"}, {"x team": "a"}, {"x-team": "schön"}]
)
async def test_an_illegal_header_is_refused(headers: dict[str, str]) -> None:
    async with serving(plays(says("Hello"))) as lab:
        message = await answer_of(lab.model(headers=headers))

    assert message.error is not None
    assert "header" in message.error.message
    assert lab.requests == []


async def test_headers_of_model_and_options_are_sent_and_win() -> None:
    model: dict[str, Any] = {"headers": {"X-Team": "ml", "User-Agent": "mine"}}

    async with serving(plays(says("Hello"))) as lab:
        await answer_of(
            lab.model(**model), options=StreamOptions(headers={"Authorization": "Basic abc"})
        )

    sent = lab.requests[0].headers
    assert (sent["x-team"], sent["user-agent"]) == ("ml", "mine")
    assert sent["authorization"] == "Basic abc"


async def test_without_a_key_a_hosted_provider_is_not_even_asked() -> None:
    message = await answer_of(get_model("openai/gpt-5.5"))

    assert message.error is not None
    assert (message.error.code, message.error.retryable) == ("auth", False)
    assert "set OPENAI_API_KEY" in message.error.message


async def test_an_address_without_scheme_is_one_sentence() -> None:
    message = await answer_of(Model("lab", "m", api="openai-chat", base_url="localhost:8080"))

    assert message.error is not None
    assert "http://" in message.error.message


async def test_extra_body_is_merged_last() -> None:
    async with serving(plays(says("Hello"))) as lab:
        await answer_of(lab.model(compat={"extra_body": {"stream_options": None, "seed": 7}}))

    assert lab.requests[0].body["seed"] == 7
    assert lab.requests[0].body["stream_options"] is None


async def test_warming_up_makes_the_client_and_sends_nothing() -> None:
    async with serving(plays(says("Hello"))) as lab:
        await asyncio.gather(warm_up(lab.model()), warm_up(lab.model()))
        await warm_up(Model("demo", "tour", api="demo"))

    assert lab.connections == 0
