"""Base addresses, local servers, proxies."""

from __future__ import annotations

import pytest

from agent_tui.core.errors import InvalidInputError
from agent_tui.providers.addresses import (
    clean_base_url,
    host_of,
    is_local,
    is_loopback,
    ollama_base_url,
    proxy_for,
    with_endpoint,
)


@pytest.mark.parametrize(
    ("written", "clean"),
    [
        ("http://127.0.0.1:8080", "http://127.0.0.1:8080/v1"),
        ("http://127.0.0.1:8080/", "http://127.0.0.1:8080/v1"),
        (" http://127.0.0.1:8080/v1/ ", "http://127.0.0.1:8080/v1"),
        ("http://h/v1/chat/completions", "http://h/v1"),
        ("http://h/v1/chat/completions/", "http://h/v1"),
        ("http://h/chat/completions", "http://h/v1"),
        ("https://api.z.ai/api/paas/v4", "https://api.z.ai/api/paas/v4"),
        ("https://h/v1?api-version=2", "https://h/v1?api-version=2"),
        ("http://[::1]:8080", "http://[::1]:8080/v1"),
    ],
)
def test_a_base_address_may_be_written_in_many_ways(written: str, clean: str) -> None:
    assert clean_base_url(written) == clean


@pytest.mark.parametrize(
    ("api", "written", "clean"),
    [
        ("anthropic", "http://h", "http://h"),
        ("anthropic", "http://h/v1", "http://h"),
        ("anthropic", "http://h/anthropic/v1/messages", "http://h/anthropic"),
        ("gemini", "http://h/", "http://h"),
        ("gemini", "http://h/v1beta", "http://h"),
        ("gemini", "http://h/v1", "http://h"),
        ("gemini", "http://h/google/v1beta/models/", "http://h/google"),
        ("ollama", "http://h", "http://h"),
        ("ollama", "http://h/v1/", "http://h"),
        ("ollama", "http://h/v1/chat/completions", "http://h"),
        ("ollama", "http://h/box/api/chat", "http://h/box"),
        ("openai-responses", "http://h", "http://h/v1"),
    ],
)
def test_each_api_has_its_own_version_and_endpoint_in_the_address(
    api: str, written: str, clean: str
) -> None:
    assert clean_base_url(written, api) == clean


@pytest.mark.parametrize(
    "url", ["", "localhost:8080", "ftp://h", "http://", "http://h:port", "h/v1"]
)
def test_what_is_no_address_is_refused(url: str) -> None:
    with pytest.raises(InvalidInputError, match="must look like http://"):
        clean_base_url(url)


def test_a_query_stays_behind_the_endpoint() -> None:
    url = with_endpoint("https://h/openai/?api-version=2", "/chat/completions")

    assert url == "https://h/openai/chat/completions?api-version=2"


@pytest.mark.parametrize(
    ("host", "url"),
    [
        ("", "http://127.0.0.1:11434"),
        ("0.0.0.0", "http://127.0.0.1:11434"),
        ("box", "http://box:11434"),
        ("box:9", "http://box:9"),
        ("http://box", "http://box"),
        ("https://ollama.com", "https://ollama.com"),
        ("[::]:9", "http://[::1]:9"),
        ("[fd00::1]", "http://[fd00::1]:11434"),
    ],
)
def test_ollama_host_may_lack_scheme_and_port(host: str, url: str) -> None:
    assert ollama_base_url(host) == url


@pytest.mark.parametrize(
    "host", ["localhost", "x.localhost", "127.0.0.1", "127.9.9.9", "::1", "0.0.0.0", "::"]
)
def test_this_machine_has_many_names(host: str) -> None:
    assert is_loopback(host)


@pytest.mark.parametrize("host", ["example.org", "10.0.0.5", "localhost.evil.org", ""])
def test_other_machines_are_not_this_one(host: str) -> None:
    assert not is_loopback(host)


def test_private_networks_are_local_and_the_internet_is_not() -> None:
    assert is_local("http://10.0.0.5:8000/v1")
    assert is_local("http://gpu.local/v1")
    assert not is_local("https://api.openai.com/v1")
    assert not is_local("nonsense")


def test_an_address_without_host_has_none() -> None:
    assert host_of("nonsense") == ""
    assert host_of("http://[broken") == ""


PROXY = {"HTTPS_PROXY": "http://p:1", "ALL_PROXY": "socks5://s:2"}


@pytest.mark.parametrize(
    ("url", "environ", "proxy"),
    [
        ("https://api.x.ai/v1", PROXY, "http://p:1"),
        ("http://api.x.ai/v1", PROXY, "socks5://s:2"),
        ("http://127.0.0.1:8080/v1", PROXY, None),
        ("http://[::1]:8080/v1", PROXY, None),
        ("https://localhost/v1", PROXY, None),
        ("https://api.x.ai/v1", {}, None),
        ("https://api.x.ai/v1", {"https_proxy": "p:1", "HTTPS_PROXY": "http://q:2"}, "http://p:1"),
        ("http://api.x.ai", {"HTTP_PROXY": "http://p:1", "REQUEST_METHOD": "GET"}, None),
        ("https://api.x.ai/v1", PROXY | {"NO_PROXY": "*"}, None),
        ("https://api.x.ai/v1", PROXY | {"NO_PROXY": "foo, x.ai"}, None),
        ("https://api.x.ai/v1", PROXY | {"NO_PROXY": ".x.ai"}, None),
        ("https://api.x.ai/v1", PROXY | {"NO_PROXY": "*.x.ai"}, None),
        ("https://api.x.ai/v1", PROXY | {"NO_PROXY": "https://api.x.ai"}, None),
        ("https://api.x.ai/v1", PROXY | {"NO_PROXY": "i.x.ai"}, "http://p:1"),
        ("https://api.x.ai:444/v1", PROXY | {"NO_PROXY": "api.x.ai:444"}, None),
        ("https://api.x.ai:445/v1", PROXY | {"NO_PROXY": "api.x.ai:444"}, "http://p:1"),
        ("https://10.1.2.3/v1", PROXY | {"no_proxy": "10.0.0.0/8"}, None),
        ("https://11.1.2.3/v1", PROXY | {"no_proxy": "10.0.0.0/8"}, "http://p:1"),
        ("https://10.1.2.3/v1", PROXY | {"no_proxy": "10.1.2.3"}, None),
        ("https://10.1.2.3/v1", PROXY | {"no_proxy": "example.org"}, "http://p:1"),
        ("https://[fd00::1]/v1", PROXY | {"NO_PROXY": "[fd00::1]"}, None),
        ("https://[fd00::1]:9/v1", PROXY | {"NO_PROXY": "[fd00::1]:9"}, None),
        ("https://[fd00::1]/v1", PROXY | {"NO_PROXY": "fd00::/16"}, None),
        ("https://[fd00::1]/v1", PROXY | {"NO_PROXY": "[::1]"}, "http://p:1"),
    ],
)
def test_the_environment_chooses_the_proxy(
    url: str, environ: dict[str, str], proxy: str | None
) -> None:
    assert proxy_for(url, environ) == proxy
