"""Which links of a message may be opened: what a model writes is not to be trusted."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import unquote, urlsplit

from agent_tui.tui.wrap import clip

_LINE = re.compile(r"(?::\d+(?:[:-]\d+)?|#L\d+(?:-L?\d+)?)$")
"""Where in a file, as models write it: `a.py:12`, `a.py#L3-L5`."""
_SHOWN_CELLS = 60
"""Of a longer address the beginning is shown."""


def address_beside(text: str, address: str) -> str:
    """What is shown behind a link, ` (https://…)`; nothing where `text` says the same already."""
    if not address or address.startswith("#") or _bare(text) == _bare(address):
        return ""
    return f" ({clip(address, _SHOWN_CELLS)})"


def _bare(address: str) -> str:
    for scheme in ("mailto:", "https://", "http://"):
        address = address.removeprefix(scheme)
    return unquote(address).strip().rstrip("/")


def path_of(address: str) -> Path | None:
    """The file that a harmless address leads to; None for one of the web."""
    parts = urlsplit(address)
    return Path(unquote(parts.path)) if parts.scheme == "file" else None


def safe_address(address: str, folder: Path | None) -> str | None:
    """The address of a link if it is harmless to open: http(s), or a file below `folder`."""
    try:
        parts = urlsplit(address)
        if parts.scheme in ("http", "https"):
            return address
        parts = urlsplit(_LINE.sub("", address))
    except ValueError:
        return None
    if parts.scheme not in ("", "file") or parts.netloc or folder is None:
        return None
    path = (folder / unquote(parts.path)).resolve()
    return path.as_uri() if path.is_relative_to(folder.resolve()) and path.is_file() else None
