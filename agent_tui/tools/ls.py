"""The `ls` tool: what a directory holds."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Any

from agent_tui.core.abort import AbortSignal
from agent_tui.core.text import without_surrogates
from agent_tui.core.tool import Tool, ToolResult
from agent_tui.tools.output import head
from agent_tui.tools.paths import Refused, kind_of, not_found, real_path, size_text
from agent_tui.tools.slots import Slots, check

LIMIT_ENTRIES = 1000

DESCRIPTION = f"""List a directory: names in alphabetical order, hidden ones included. Directories \
end in a slash, files have their size, links show where they lead. At most {LIMIT_ENTRIES} \
entries."""

PARAMETERS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "path": {
            "type": "string",
            "description": "The directory; the working directory if left out",
        }
    },
    "additionalProperties": False,
}


def ls_tool(cwd: Path, slots: Slots) -> Tool:
    """The `ls` tool for a project in `cwd`."""

    def ls(args: dict[str, Any], signal: AbortSignal) -> ToolResult:
        name = args.get("path") or "."
        real = real_path(name, cwd)
        entries = _entries(real, name)
        lines = []
        for entry in entries[:LIMIT_ENTRIES]:
            check(signal)
            lines.append(_line(entry))
        part = head(without_surrogates("\n".join(lines)))
        text = part.text or f"{name} is empty."
        if part.lines < len(entries):
            text += f"\n\n[The first {part.lines} of {len(entries)} entries; use find to search]"
        return ToolResult(text, details={"path": name, "entries": len(entries)})

    return Tool("ls", DESCRIPTION, PARAMETERS, slots.run(ls))


def _entries(real: Path, name: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(real) as entries:
            return sorted(entries, key=lambda entry: (entry.name.casefold(), entry.name))
    except FileNotFoundError:
        raise not_found(name, real) from None
    except NotADirectoryError:
        raise Refused(f"{name} is a {kind_of(real.stat().st_mode)}, not a directory.") from None


def _line(entry: os.DirEntry[str]) -> str:
    # A newline in a name must not look like another entry.
    name = entry.name if entry.name.isprintable() else repr(entry.name)
    try:
        info = entry.stat(follow_symlinks=False)
    except OSError:
        return f"{name}  (gone)"
    if stat.S_ISDIR(info.st_mode):
        return f"{name}/"
    if stat.S_ISLNK(info.st_mode):
        return f"{name} -> {_link_target(entry)}"
    if stat.S_ISREG(info.st_mode):
        return f"{name}  {size_text(info.st_size)}"
    return f"{name}  ({kind_of(info.st_mode)})"


def _link_target(entry: os.DirEntry[str]) -> str:
    try:
        target = os.readlink(entry.path)  # noqa: PTH115 - the text of the link as it stands
    except OSError:
        return "?"
    return target if target.isprintable() else repr(target)
