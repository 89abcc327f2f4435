"""Servers on this machine, found by asking the usual ports what they serve.

Made for the start of the program: plain sockets in threads of their own, because the HTTP client
alone takes longer to load than the answer to come. Nothing is asked but `GET`.
"""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from agent_tui.providers.addresses import is_local, ollama_base_url
from agent_tui.providers.vendors import VENDORS

SECONDS = 0.3
"""How long a server has for its answer."""
_MOST_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class LocalServer:
    """A server that answered."""

    provider: str
    base_url: str
    models: tuple[str, ...]
    """Ids, in the server's order; Ollama names the one that was changed last first."""

    @property
    def address(self) -> str:
        """`127.0.0.1:11434`."""
        return urlsplit(self.base_url).netloc


def local_addresses(environ: Mapping[str, str]) -> dict[str, str]:
    """Provider → base address of every server that may run on this machine, by preference."""
    found = {vendor.name: vendor.base_url for vendor in VENDORS.values() if vendor.is_local}
    if host := environ.get("OLLAMA_HOST", "").strip():
        found["ollama"] = ollama_base_url(host)
    return {name: url for name, url in found.items() if url.startswith("http:") and is_local(url)}


class LocalSearch:
    """Asks all addresses at once, from the moment it is made."""

    def __init__(self, addresses: Mapping[str, str], seconds: float = SECONDS) -> None:
        self._deadline = time.monotonic() + seconds
        self._found: dict[str, LocalServer] = {}
        self._order = list(addresses)
        self._threads = [
            threading.Thread(target=self._ask, args=item, name="local-search", daemon=True)
            for item in addresses.items()
        ]
        for thread in self._threads:
            thread.start()

    def servers(self) -> list[LocalServer]:
        """Those that answered, by preference; waits no longer than the time that was given."""
        for thread in self._threads:
            thread.join(max(0.0, self._deadline - time.monotonic()))
        found = dict(self._found)
        return [found[name] for name in self._order if name in found]

    def _ask(self, provider: str, base_url: str) -> None:
        try:
            body = _get(base_url, _path(provider, base_url), self._deadline)
            models = _ids(json.loads(body))
        except (OSError, ValueError, RecursionError):
            return
        if models:
            self._found[provider] = LocalServer(provider, base_url, models)


def _path(provider: str, base_url: str) -> str:
    path = urlsplit(base_url).path.rstrip("/")
    return f"{path}/api/tags" if provider == "ollama" else f"{path}/models"


def _get(base_url: str, path: str, deadline: float) -> bytes:
    """The body of a good answer. HTTP/1.0, so that it comes in one piece and ends with the socket.

    Raises:
        OSError, ValueError: There is none by `deadline`, a time of the monotonic clock.
    """
    parts = urlsplit(base_url)
    asked = f"GET {path} HTTP/1.0\r\nHost: {parts.netloc}\r\nAccept: application/json\r\n\r\n"
    answer = bytearray()
    address = (parts.hostname or "", parts.port or 80)
    with socket.create_connection(address, _left(deadline)) as server:
        server.sendall(asked.encode("ascii"))
        while not _is_whole(answer) and len(answer) < _MOST_BYTES:
            server.settimeout(_left(deadline))
            if not (piece := server.recv(65536)):
                break
            answer += piece
    head, _, body = bytes(answer).partition(b"\r\n\r\n")
    if head.split(b" ", 2)[1:2] != [b"200"]:
        raise ValueError("no good answer")
    return body


def _left(deadline: float) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left


def _is_whole(answer: bytearray) -> bool:
    head, found, body = bytes(answer).partition(b"\r\n\r\n")
    for line in head.lower().split(b"\r\n") if found else ():
        if line.startswith(b"content-length:"):
            return len(body) >= int(line[15:])
    return False


def _ids(data: Any) -> tuple[str, ...]:
    """The ids in the answer of Ollama, or of an OpenAI-compatible server; embedders left out."""
    entries = data.get("data") or data.get("models") if isinstance(data, dict) else None
    if not isinstance(entries, list):
        return ()
    names = [entry.get("id") or entry.get("name") for entry in entries if isinstance(entry, dict)]
    return tuple(
        name for name in names if isinstance(name, str) and name and "embed" not in name.lower()
    )
