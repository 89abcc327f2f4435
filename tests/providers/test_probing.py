"""Servers of this machine, found at the start of the program."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest

from agent_tui.providers.probing import LocalSearch, LocalServer, local_addresses


@dataclass
class Stage:
    """A server that sends the same pieces to everybody, then hangs up or stays silent."""

    port: int
    asked: list[bytes] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"


@contextmanager
def answering(*pieces: bytes, hangs_up: bool = True) -> Iterator[Stage]:
    over = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        stage = Stage(listener.getsockname()[1])

        def play() -> None:
            try:
                peer, _ = listener.accept()
            except OSError:
                return
            with peer:
                stage.asked.append(peer.recv(65536))
                for piece in pieces:
                    peer.sendall(piece)
                if not hangs_up:
                    over.wait(10)

        thread = threading.Thread(target=play)
        thread.start()
        try:
            yield stage
        finally:
            over.set()
            listener.shutdown(socket.SHUT_RDWR)
            thread.join()


def good(data: Any, *headers: bytes) -> bytes:
    return b"\r\n".join([b"HTTP/1.1 200 OK", *headers, b"", json.dumps(data).encode()])


def found(url: str, provider: str = "llamacpp", seconds: float = 5.0) -> list[LocalServer]:
    return LocalSearch({provider: url}, seconds).servers()


def test_a_server_says_what_it_serves() -> None:
    with answering(good({"data": [{"id": "qwen"}, {"id": "nomic-embed-text"}]})) as stage:
        servers = found(f"{stage.url}/v1")

    assert servers == [LocalServer("llamacpp", f"{stage.url}/v1", ("qwen",))]
    assert servers[0].address == f"127.0.0.1:{stage.port}"
    assert stage.asked[0].startswith(b"GET /v1/models HTTP/1.0\r\nHost: 127.0.0.1:")


def test_ollama_is_asked_in_its_own_way() -> None:
    with answering(good({"models": [{"name": "qwen3:8b"}, {"name": "llama3"}]})) as stage:
        servers = found(stage.url, "ollama")

    assert servers[0].models == ("qwen3:8b", "llama3")
    assert stage.asked[0].startswith(b"GET /api/tags ")


def test_an_answer_in_pieces_is_put_together_without_waiting_for_the_end() -> None:
    body = json.dumps({"data": [{"id": "qwen"}]}).encode()
    head = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body)
    with answering(head[:9], head[9:] + body[:5], body[5:], hangs_up=False) as stage:
        servers = found(f"{stage.url}/v1")

    assert servers[0].models == ("qwen",)


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(b"HTTP/1.1 404 Not Found\r\n\r\n{}", id="not found"),
        pytest.param(b"HTTP/1.1 401 No\r\n\r\n" + b'{"data": [{"id": "m"}]}', id="wants a key"),
        pytest.param(good({"data": []}), id="serves nothing"),
        pytest.param(good({"data": [{"id": "text-embed-3"}]}), id="embeds only"),
        pytest.param(good(["m"]), id="a list"),
        pytest.param(good({"data": [{"id": 7}, None]}), id="strange ids"),
        pytest.param(b"HTTP/1.1 200 OK\r\n\r\n<html>", id="a web page"),
        pytest.param(b"SSH-2.0-OpenSSH\r\n", id="something else altogether"),
        pytest.param(b"", id="nothing"),
        pytest.param(b"HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n", id="a strange length"),
    ],
)
def test_what_is_no_model_server_is_passed_over(answer: bytes) -> None:
    with answering(answer) as stage:
        assert found(f"{stage.url}/v1") == []


def test_a_silent_server_costs_no_more_than_the_time_that_was_given() -> None:
    with answering(hangs_up=False) as stage:
        began = time.monotonic()
        servers = found(f"{stage.url}/v1", seconds=0.1)

    assert servers == []
    assert time.monotonic() - began < 2


def test_nobody_there_is_no_server() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]

    assert found(f"http://127.0.0.1:{port}/v1") == []


def test_servers_come_by_preference() -> None:
    answer = good({"data": [{"id": "m"}], "models": [{"name": "m"}]})
    with answering(answer) as first, answering(answer) as second:
        search = LocalSearch({"ollama": first.url, "vllm": second.url}, 5.0)

        assert [server.provider for server in search.servers()] == ["ollama", "vllm"]


def test_the_usual_ports_are_asked_and_ollama_where_its_variable_says() -> None:
    addresses = local_addresses({"OLLAMA_HOST": "127.0.0.1:9"})

    assert addresses == {
        "ollama": "http://127.0.0.1:9",
        "lmstudio": "http://127.0.0.1:1234/v1",
        "llamacpp": "http://127.0.0.1:8080/v1",
        "vllm": "http://127.0.0.1:8000/v1",
    }


def test_a_server_elsewhere_is_not_looked_for() -> None:
    assert "ollama" not in local_addresses({"OLLAMA_HOST": "https://ollama.com"})
