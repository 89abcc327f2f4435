"""The `write` tool: a whole file, new or replaced."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from agent_tui.core.abort import AbortSignal
from agent_tui.core.text import without_surrogates
from agent_tui.core.tool import Tool, ToolResult
from agent_tui.tools.diff import Diff, unified
from agent_tui.tools.files import content_of
from agent_tui.tools.memory import FileMemory
from agent_tui.tools.paths import Refused, real_path, shown
from agent_tui.tools.slots import Slots

DESCRIPTION = """Write a file: create it, with missing folders, or replace all of its content.
`content` is written as it is, so end it with a newline. To change a part of an existing file use \
edit."""

PARAMETERS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "path": {"type": "string", "description": "The file, relative to the working directory"},
        "content": {"type": "string", "description": "The whole new content"},
    },
    "required": ["path", "content"],
    "additionalProperties": False,
}


def write_tool(cwd: Path, slots: Slots, memory: FileMemory) -> Tool:
    """The `write` tool for a project in `cwd`."""

    def write(call_id: str, args: dict[str, Any], signal: AbortSignal) -> ToolResult:
        name = args["path"]
        real = real_path(name, cwd)
        data = without_surrogates(args["content"]).encode()
        with slots.writing(real, signal):
            before = _current(real, name, signal)
            if before == data:
                return ToolResult(
                    f"{name} already has this content.", details=_details(name, Diff("", 0, 0))
                )
            if before is not None and memory.is_stale(real, before):
                raise Refused(
                    f"{name} was changed on disk since it was read; nothing was written. "
                    "Read it again, then write what it should hold, or edit it."
                )
            change = _change(before, data, shown(real, cwd))
            memory.check_shown(call_id, name, change)
            memory.change(real, name, before, data, signal)
        lines = data.count(b"\n") + (not data.endswith(b"\n") and bool(data))
        verb = "Created" if before is None else "Wrote"
        text = f"{verb} {name} ({lines} line{'' if lines == 1 else 's'}, {len(data)} bytes)."
        return ToolResult(text, details=_details(name, change))

    return Tool("write", DESCRIPTION, PARAMETERS, slots.run_named(write))


def preview(args: dict[str, Any], cwd: Path) -> Diff:
    """What the call would change. Raises `Refused` or `OSError` as the call would."""
    name = args["path"]
    real = real_path(name, cwd)
    data = without_surrogates(args["content"]).encode()
    return _change(_current(real, name, AbortSignal()), data, shown(real, cwd))


def _current(real: Path, name: str, signal: AbortSignal) -> bytes | None:
    if not real.exists():
        return None
    return content_of(real, name, signal)


def _change(before: bytes | None, after: bytes, name: str) -> Diff:
    if before is not None and b"\0" in before:
        # The lines of a binary file say nothing to a person.
        return unified("", after.decode(), name)
    old = "" if before is None else before.decode("utf-8", "replace")
    return unified(old, after.decode(), name, is_new=before is None)


def _details(name: str, change: Diff) -> dict[str, Any]:
    return {
        "path": name,
        "diff": change.bounded(),
        "added": change.added,
        "removed": change.removed,
    }
