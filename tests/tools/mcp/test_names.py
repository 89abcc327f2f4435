"""Names of foreign tools."""

from __future__ import annotations

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from agent_tui.tools.mcp.names import wire_name


def test_a_plain_name_stays_readable() -> None:
    assert wire_name("files", "read_file") == "mcp__files__read_file"


@settings(max_examples=30, deadline=None)
@given(st.lists(st.text(max_size=90), unique=True, max_size=8))
def test_every_name_fits_every_wire_and_none_comes_twice(tools: list[str]) -> None:
    taken: set[str] = set()
    for tool in tools:
        name = wire_name("a-server", tool, taken)
        assert re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", name)
        assert name not in taken
        taken.add(name)
