"""The `[[hooks.X]]` tables of a settings file: commands that are run at certain moments."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from agent_tui.core.tables import Table

HookEvent = Literal["before_tool", "after_tool", "turn_end"]
HOOK_EVENTS: tuple[HookEvent, ...] = ("before_tool", "after_tool", "turn_end")
HOOK_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class HookSettings:
    """One command and when it is run."""

    event: HookEvent
    command: str | tuple[str, ...]
    """A line for the shell, or a program and its arguments."""
    match: str = "*"
    """For tool calls: the tool's name, where `*`, `?` and `[…]` stand for others."""
    timeout: float = HOOK_SECONDS
    """Seconds; then it is killed."""

    def __str__(self) -> str:
        words = self.command if isinstance(self.command, str) else " ".join(self.command)
        return f"{self.event} hook `{words if len(words) <= 60 else words[:59] + '…'}`"


def read_hooks(table: Table) -> tuple[HookSettings, ...]:
    """All hooks of one file, in its order; one that makes no sense is a problem of the table's."""
    found = [
        hook
        for event in HOOK_EVENTS
        for inner in table.tables(event)
        if (hook := _hook(event, inner)) is not None
    ]
    table.finish()
    return tuple(found)


def _hook(event: HookEvent, table: Table) -> HookSettings | None:
    command = table.command("command")
    seconds = table.amount("timeout")
    match = table.text("match") if event != "turn_end" else None
    table.finish()
    if command is None:
        table.missing("command")
        return None
    return HookSettings(event, command, match or "*", seconds or HOOK_SECONDS)
