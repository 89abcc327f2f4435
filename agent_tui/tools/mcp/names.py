"""Names for foreign tools: every wire takes them, and no two are the same."""

from __future__ import annotations

import re
from collections.abc import Collection
from hashlib import sha256

LONGEST = 64
_ODD = re.compile(r"[^A-Za-z0-9_-]")


def wire_name(server: str, tool: str, taken: Collection[str] = ()) -> str:
    """The name under which a model calls `tool` of `server`: `mcp__files__read_file`.

    Letters, digits, `_` and `-`, at most 64. A name that is too long, or in `taken`, ends in a part
    that depends on the tool's own name.
    """
    name = _ODD.sub("_", f"mcp__{server}__{tool}")
    if len(name) <= LONGEST and name not in taken:
        return name
    for salt in range(len(taken) + 1):
        mark = sha256(f"{salt}:{server}:{tool}".encode("utf-8", "replace")).hexdigest()[:8]
        marked = f"{name[: LONGEST - 9]}_{mark}"
        if marked not in taken:
            return marked
    raise AssertionError("more marks than names")
