"""The settings that are one value each, or a plain list, by whatever name a source gives them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, get_args

from agent_tui.config.settings import (
    LIMITS,
    AfterAbort,
    Compaction,
    LocalServers,
    LongLines,
    Mode,
    Motion,
    NotifyBy,
    QueueMode,
)
from agent_tui.core.model import THINKING_LEVELS
from agent_tui.core.tables import Table

MOST_TAIL_LINES = 20


def read_scalars(table: Table, spell: Callable[[str], str] = str) -> dict[str, Any]:
    """The settings that are one value each; `spell` gives the table's name for each."""
    choices = {
        "thinking": THINKING_LEVELS,
        "mode": get_args(Mode),
        "after_abort": get_args(AfterAbort),
        "steering_mode": get_args(QueueMode),
        "follow_up_mode": get_args(QueueMode),
        "compaction": get_args(Compaction),
        "local_servers": get_args(LocalServers),
        "motion": get_args(Motion),
        "long_lines": get_args(LongLines),
        "notify": get_args(NotifyBy),
    }
    texts = ("model", "theme", "system_prompt", "append_system_prompt", "notify_command")
    found: dict[str, Any] = {key: table.text(spell(key)) for key in texts}
    found |= {key: table.choice(spell(key), allowed) for key, allowed in choices.items()}
    found["fallback"] = table.words(spell("fallback"))
    found["tail_lines"] = table.up_to(spell("tail_lines"), MOST_TAIL_LINES)
    found["max_iterations"] = table.count(spell("max_iterations"))
    found |= {key: read_limit(table, key, spell) for key in LIMITS}
    return found


def read_limit(table: Table, key: str, spell: Callable[[str], str]) -> float | None:
    """One limit by its name in `LIMITS`; None if it is not there or makes no sense."""
    is_whole = LIMITS[key][1] in ("tokens", "iterations")
    return table.count(spell(key)) if is_whole else table.amount(spell(key))


def given(found: Mapping[str, Any]) -> dict[str, Any]:
    """What was said at all."""
    return {key: value for key, value in found.items() if value is not None}
