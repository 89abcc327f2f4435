"""What a breakpoint holds: what the card says, and what the answers to it are."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Protocol

from rich.cells import cell_len

from agent_tui.core.text import printable
from agent_tui.tui.keymap import Keymap
from agent_tui.tui.status import Span, cut

Row = list[Span]

ON_HELD = frozenset({"once", "step", "comment", "halt", "card_up", "card_down"})
"""What the keys of the card are called."""


class HeldCall(Protocol):
    """What the session holds."""

    @property
    def id(self) -> str:
        """Names it in the answer."""

    @property
    def tool_name(self) -> str:
        """Empty before a model call."""

    @property
    def args(self) -> Mapping[str, Any]:
        """What the tool would be called with."""

    @property
    def place(self) -> str:
        """`before the model call of step 8`."""


def head(held: HeldCall, width: int) -> Row:
    """Where the loop is held."""
    of_tool = f"{held.tool_name} is held " if held.tool_name else "Held "
    return cut([(f"{of_tool}{printable(held.place)}", "title")], width)


def arguments(held: HeldCall) -> str:
    """The arguments as a person reads and edits them; empty before a model call."""
    return json.dumps(held.args, indent=2, ensure_ascii=False) if held.tool_name else ""


def feet(held: HeldCall, width: int, keymap: Keymap) -> list[Row]:
    """The ways on; the shortest form names commands alone."""
    edit = " · alt+e edit the arguments" if held.tool_name else ""
    short = " · alt+e edit" if held.tool_name else ""
    texts = (
        f"alt+y go on · alt+t go on, hold before the next model call{edit} · alt+s stop here",
        f"alt+y go on · alt+t one step{edit} · alt+s stop",
        f"alt+y go on · alt+t one step{short} · alt+s stop",
        "/yes · /step · /stop",
    )
    shown = [keymap.shown(text) for text in texts]
    keys = next((text for text in shown if cell_len(text) <= width), shown[-1])
    said = "Everything so far is kept; what you send is delivered when it goes on."
    rows: list[Row] = [[(said, "quiet")]] if cell_len(said) <= width and not held.tool_name else []
    return [*rows, cut([(keys, "key")], width)]


def as_arguments(text: str) -> dict[str, Any] | str:
    """Arguments from edited text, or what is wrong with it, as a sentence."""
    try:
        found = json.loads(text)
    except ValueError as error:
        return f"That is no JSON: {error}."
    return found if isinstance(found, dict) else "Arguments are an object, { … }."
