"""Where requests go: base addresses as people write them, what is local, and which proxy to take.

httpx reads the proxy variables itself but cannot take every `NO_PROXY` (encode/httpx#3221 is one of
several), and it would send loopback traffic through a proxy; so the choice is made here.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping
from urllib.parse import urlsplit, urlunsplit

from agent_tui.core.errors import InvalidInputError

_ENDPOINTS: Mapping[str, tuple[str, ...]] = {
    "anthropic": ("/messages", "/v1"),
    "gemini": ("/models", "/v1beta", "/v1"),
    "ollama": ("/chat", "/api", "/chat/completions", "/v1"),
}
"""By api, what is cut from the end of a base address, in this order."""
_OPENAI_ENDPOINTS = ("/chat/completions", "/completions", "/responses", "/messages")
_ANY_ADDRESS = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}


def clean_base_url(url: str, api: str = "openai-chat") -> str:
    """A base address without slash, endpoint or version at its end; a query is kept.

    An empty path becomes `/v1` for OpenAI's wires, whose version is a part of the address.

    Raises:
        InvalidInputError: It is no http or https address.
    """
    try:
        parts = urlsplit(url.strip())
        host, _ = parts.hostname, parts.port
    except ValueError:
        host = None
    if not host or parts.scheme not in ("http", "https"):
        raise InvalidInputError(
            f"the base address {url.strip()!r} must look like http://127.0.0.1:8080/v1"
        )
    path = parts.path.rstrip("/")
    for endpoint in _ENDPOINTS.get(api, _OPENAI_ENDPOINTS):
        path = path.removesuffix(endpoint).rstrip("/")
    if not path and api not in _ENDPOINTS:
        path = "/v1"
    return urlunsplit((parts.scheme, parts.netloc, path, parts.query, ""))


def with_endpoint(base_url: str, endpoint: str, api: str = "openai-chat") -> str:
    """The address of `endpoint` under a base address; a query stays at the end."""
    parts = urlsplit(clean_base_url(base_url, api))
    return urlunsplit((parts.scheme, parts.netloc, parts.path + endpoint, parts.query, ""))


def ollama_base_url(host: str) -> str:
    """The base address for a value of `OLLAMA_HOST`, in which scheme and port may be missing.

    A bare host means http and port 11434; a scheme without port means that scheme's own port.
    """
    value = host.strip() or "127.0.0.1"
    scheme, has_scheme, rest = value.rpartition("://")
    parts = urlsplit(f"{scheme or 'http'}://{rest}")
    name = parts.hostname or "127.0.0.1"
    name = _ANY_ADDRESS.get(name, f"[{name}]" if ":" in name else name)
    port = parts.port or (None if has_scheme else 11434)
    address = f"{parts.scheme}://{name}{f':{port}' if port else ''}{parts.path}"
    return clean_base_url(address, "ollama")


def host_of(url: str) -> str:
    """The lower-case host name of an address, empty if it has none."""
    try:
        return urlsplit(url.strip()).hostname or ""
    except ValueError:
        return ""


def is_loopback(host: str) -> bool:
    """Whether `host` is this machine."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    address = _address(host)
    return address is not None and (address.is_loopback or address.is_unspecified)


def is_local(url: str) -> bool:
    """Whether the server stands on this machine or in a private network: it may have to load."""
    host = host_of(url)
    address = _address(host)
    return (
        is_loopback(host)
        or host.endswith((".local", ".lan", ".internal"))
        or (address is not None and address.is_private)
    )


def proxy_for(url: str, environ: Mapping[str, str]) -> str | None:
    """The proxy that the environment names for `url`; None for none, and always for loopback."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    if is_loopback(host) or _is_exempt(host, parts.port, _variable(environ, "no_proxy")):
        return None
    proxy = _variable(environ, f"{parts.scheme}_proxy") or _variable(environ, "all_proxy")
    if not proxy:
        return None
    return proxy if "://" in proxy else f"http://{proxy}"


def _variable(environ: Mapping[str, str], name: str) -> str:
    # A web server turns a request header `Proxy:` into HTTP_PROXY, so under CGI only the
    # lower-case name is trusted (httpoxy); everywhere else both are.
    upper = "" if name == "http_proxy" and "REQUEST_METHOD" in environ else name.upper()
    return (environ.get(name) or environ.get(upper) or "").strip()


def _is_exempt(host: str, port: int | None, no_proxy: str) -> bool:
    return any(_matches(host, port, entry) for entry in re.split(r"[,\s]+", no_proxy) if entry)


def _matches(host: str, port: int | None, entry: str) -> bool:
    if entry == "*":
        return True
    entry = entry.rpartition("://")[2].lower().rstrip("/" if not _has_mask(entry) else "")
    if (bracketed := re.fullmatch(r"\[([0-9a-f:.]+)\](?::(\d+))?", entry)) is not None:
        entry, wanted = bracketed[1], bracketed[2]
    elif entry.count(":") == 1:
        entry, _, wanted = entry.partition(":")
    else:
        wanted = None
    if wanted and wanted != str(port or ""):
        return False
    address = _address(host)
    if address is not None:
        try:
            return address in ipaddress.ip_network(entry, strict=False)
        except ValueError:
            return False
    name = entry.lstrip("*.")
    return host == name or host.endswith(f".{name}")


def _has_mask(entry: str) -> bool:
    return re.search(r"/\d+$", entry) is not None


def _address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return None
