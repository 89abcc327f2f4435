"""Finding out what servers serve, on sockets of this machine."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import pytest

from agent_tui.core.errors import InvalidInputError
from agent_tui.core.model import Model, ModelCost
from agent_tui.providers.discovery import described, local_models, served_by
from agent_tui.providers.http import connection_to
from tests.providers.loopback import JSON, Loopback, Peer, Script, plays, serving


def tells(answers: Mapping[str, Any]) -> Script:
    """JSON for each path, an error 404 for all others."""

    async def script(peer: Peer) -> None:
        answer = answers.get(peer.request.path)
        body = json.dumps({"error": "no"} if answer is None else answer).encode()
        await plays(body, status=404 if answer is None else 200, headers=JSON)(peer)

    return script


async def silent(peer: Peer) -> None:
    await peer.hung_up()


@asynccontextmanager
async def machine(**scripts: Script) -> AsyncIterator[dict[str, Loopback]]:
    """A server for each provider."""
    async with AsyncExitStack() as stack:
        yield {
            name: await stack.enter_async_context(serving(script))
            for name, script in scripts.items()
        }


def addresses(servers: Mapping[str, Loopback]) -> dict[str, str]:
    return {
        name: f"http://127.0.0.1:{lab.port}{'' if name == 'ollama' else '/v1'}"
        for name, lab in servers.items()
    }


OLLAMA = tells(
    {
        "/api/tags": {"models": [{"name": "qwen3:8b"}, {"name": "nomic-embed-text"}]},
        "/api/show": {
            "capabilities": ["completion", "thinking", "vision"],
            "model_info": {"general.architecture": "q", "q.context_length": 40960},
        },
    }
)
LMSTUDIO = tells(
    {
        "/v1/models": {"data": [{"id": "a"}, {"id": "text-embedding-b"}]},
        "/api/v0/models": {"data": [{"id": "a", "type": "vlm", "max_context_length": 8192}]},
    }
)
LLAMACPP = tells(
    {
        "/v1/models": {"data": [{"id": "model.gguf", "meta": {"n_ctx_train": 131072}}]},
        "/props": {"default_generation_settings": {"n_ctx": 4096}},
    }
)
VLLM = tells({"/v1/models": {"data": [{"id": "org/m", "max_model_len": 32768}]}})


# -- this machine ------------------------------------------------------------------------------


async def test_every_local_server_is_found_with_its_windows() -> None:
    async with machine(ollama=OLLAMA, lmstudio=LMSTUDIO, llamacpp=LLAMACPP, vllm=VLLM) as servers:
        found = await local_models(addresses(servers))

    assert [(model.key, model.api, model.context_window, model.images) for model in found] == [
        ("ollama/qwen3:8b", "ollama", None, False),
        ("lmstudio/a", "openai-chat", 8192, True),
        ("llamacpp/model.gguf", "openai-chat", 4096, False),
        ("vllm/org/m", "openai-chat", 32768, False),
    ]
    assert {model.cost for model in found} == {ModelCost(0.0, 0.0)}
    assert [model.base_url for model in found] == list(addresses(servers).values())


async def test_a_server_that_is_silent_holds_up_nobody_for_long() -> None:
    async with machine(ollama=silent, vllm=VLLM) as servers:
        await local_models(addresses(servers), seconds=0.05)  # loads the HTTP client
        began = asyncio.get_running_loop().time()
        found = await local_models(addresses(servers), seconds=0.2)
        took = asyncio.get_running_loop().time() - began

    assert [model.key for model in found] == ["vllm/org/m"]
    assert took < 0.5


@pytest.mark.parametrize(
    "script",
    [
        tells({}),
        tells({"/v1/models": ["nothing"]}),
        plays(b"<html>a web server</html>", headers={"content-type": "text/html"}),
        plays(b"\x00\xff", headers=JSON),
    ],
    ids=["404", "other json", "html", "bytes"],
)
async def test_another_program_at_the_port_is_no_server_of_models(script: Script) -> None:
    async with machine(llamacpp=script) as servers:
        assert await local_models(addresses(servers)) == []


async def test_nobody_there_is_no_model() -> None:
    async with machine(vllm=VLLM) as servers:
        places = addresses(servers)

    assert await local_models(places) == []
    assert await local_models({}) == []
    assert await local_models({"vllm": "no address"}) == []


async def test_no_proxy_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    async with machine(vllm=VLLM, proxy=silent) as servers:
        url = f"http://127.0.0.1:{servers['proxy'].port}"
        for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, url)
        found = await local_models({"vllm": addresses(servers)["vllm"]})
        elsewhere = await connection_to("http://box.lan:11434", direct=True)

    assert [model.id for model in found] == ["org/m"]
    assert elsewhere.proxy is None
    assert servers["proxy"].connections == 0


# -- any provider ------------------------------------------------------------------------------


def lab(server: Loopback, **fields: Any) -> Model:
    known: dict[str, Any] = {"api": "openai-chat", "base_url": server.url}
    return Model("lab", "m", **(known | fields))


async def test_a_configured_provider_is_asked_with_its_key_and_headers() -> None:
    async with serving(tells({"/v1/models": {"data": [{"id": "a"}, {"id": "b"}]}})) as server:
        template = lab(server, headers={"X-Team": "ml"}, compat={"efforts": {"low": "l"}})
        served = await served_by(template, api_key="k1")

    request = server.requests[0]
    assert [model.key for model in served.models] == ["lab/a", "lab/b"]
    assert served.problem == ""
    assert (request.headers["authorization"], request.headers["x-team"]) == ("Bearer k1", "ml")
    assert served.models[0].headers == {"X-Team": "ml"}
    assert served.models[0].compat == {}


@pytest.mark.parametrize(
    ("api", "path", "header"),
    [
        ("openai-responses", "/v1/models", "authorization"),
        ("anthropic", "/v1/models?limit=1000", "x-api-key"),
        ("gemini", "/v1beta/models?pageSize=1000", "x-goog-api-key"),
        ("ollama", "/api/tags", "authorization"),
    ],
)
async def test_each_api_is_asked_in_its_own_way(api: str, path: str, header: str) -> None:
    async with serving(tells({path: {}})) as server:
        served = await served_by(lab(server, api=api), api_key="k1")

    assert server.requests[0].path == path
    assert server.requests[0].headers[header].endswith("k1")
    assert (served.models, served.problem) == ((), "")


async def test_what_is_known_already_stays_and_gaps_are_filled() -> None:
    own = Model(
        "lab", "a", context_window=5, cost=ModelCost(1.0, 2.0), compat={"efforts": {"low": "l"}}
    )

    def find(key: str) -> Model:
        if key == own.key:
            return own
        raise InvalidInputError("unknown")

    entries = [{"id": "a", "max_model_len": 9, "max_completion_tokens": 3}, {"id": "b"}]
    async with serving(tells({"/v1/models": {"data": entries}})) as server:
        first, second = (await served_by(lab(server), find=find)).models

    assert (first.context_window, first.max_output_tokens, first.cost) == (5, 3, own.cost)
    assert first.compat == own.compat
    assert (second.context_window, second.cost) == (None, None)


async def test_a_refusal_is_one_sentence_without_the_key() -> None:
    refusal = plays(b'{"error":{"message":"bad key secret-key-1"}}', status=401, headers=JSON)

    async with serving(refusal) as server:
        served = await served_by(lab(server), api_key="secret-key-1")

    assert served.models == ()
    assert "bad key" in served.problem
    assert "secret-key-1" not in served.problem


async def test_a_key_that_can_be_no_header_is_one_sentence() -> None:
    async with serving(VLLM) as server:
        served = await served_by(lab(server), api_key="two words")

    assert "no key may have" in served.problem
    assert server.requests == []


async def test_an_api_without_a_list_has_no_models() -> None:
    assert (await served_by(Model("demo", "tour", api="demo"))).models == ()


async def test_a_kept_connection_that_the_server_dropped_is_replaced() -> None:
    async def drops(peer: Peer) -> None:
        peer.writer.close()

    async with serving(VLLM, drops, VLLM) as server:
        counts = [len((await served_by(lab(server))).models) for _ in range(2)]

    assert counts == [1, 1]


# -- one model ---------------------------------------------------------------------------------


async def test_a_model_of_ollama_gets_the_window_it_will_be_loaded_with() -> None:
    async with machine(ollama=OLLAMA) as servers:
        base_url = addresses(servers)["ollama"]
        plain = Model("ollama", "qwen3:8b", api="ollama", base_url=base_url)
        found = await described(plain)
        again = await described(found)

    assert (found.context_window, found.reasoning, found.images) == (40960, True, True)
    assert again == found


@pytest.mark.parametrize(
    ("script", "model_id", "window"),
    [(LLAMACPP, "whatever", 4096), (VLLM, "org/m", 32768), (LMSTUDIO, "a", 8192)],
    ids=["llamacpp", "vllm", "lmstudio"],
)
async def test_a_local_model_gets_the_window_of_its_server(
    script: Script, model_id: str, window: int
) -> None:
    provider = "lmstudio" if script is LMSTUDIO else "lab"

    async with serving(script) as server:
        found = await described(
            Model(provider, model_id, api="openai-chat", base_url=server.url, images=True)
        )

    assert (found.id, found.context_window, found.images) == (model_id, window, True)


async def test_llamacpp_says_its_window_to_anthropics_api_too() -> None:
    listed = {"data": [{"id": "model.gguf"}]}
    props = {"default_generation_settings": {"n_ctx": 4096}}
    script = tells({"/v1/models?limit=1000": listed, "/props": props})

    async with serving(script) as server:
        url = server.url.removesuffix("/v1")
        found = await described(Model("lab", "m", api="anthropic", base_url=url))

    assert (found.id, found.context_window) == ("m", 4096)


async def test_a_model_whose_window_is_known_is_not_asked_about() -> None:
    async with serving(VLLM) as server:
        model = lab(server, context_window=7)

        assert await described(model) is model

    assert server.requests == []


async def test_a_server_that_says_nothing_leaves_a_model_as_it_is() -> None:
    many = tells({"/v1/models": {"data": [{"id": "x"}, {"id": "y"}]}})

    async with serving(many) as server:
        model = lab(server)
        found = await described(model)

    assert found == model
    assert await described(model) == model
