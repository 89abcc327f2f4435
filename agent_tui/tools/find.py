"""The `find` tool: files and folders by name."""

from __future__ import annotations

from pathlib import Path, PurePosixPath
from typing import Any

from agent_tui.core.abort import AbortSignal
from agent_tui.core.text import without_surrogates
from agent_tui.core.tool import Tool, ToolResult
from agent_tui.tools.globs import matcher
from agent_tui.tools.output import head
from agent_tui.tools.paths import Refused, not_found, real_path, shown
from agent_tui.tools.slots import Slots, check
from agent_tui.tools.walk import files

LIMIT_FOUND = 1000

DESCRIPTION = f"""Find files and folders by a glob pattern. A pattern without a slash is about \
the name at any depth ("*.py"); with a slash about the path from `path` on ("src/**/test_*.py"). \
Folders end in a slash. At most {LIMIT_FOUND} results, in order of path. Skips what git ignores, \
unless `path` names it."""

PARAMETERS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "pattern": {
            "type": "string",
            "description": "Glob: * ? [abc] {a,b} and ** for any folders",
        },
        "path": {
            "type": "string",
            "description": "The directory to search; the working directory if left out",
        },
    },
    "required": ["pattern"],
    "additionalProperties": False,
}


def find_tool(cwd: Path, slots: Slots) -> Tool:
    """The `find` tool for a project in `cwd`."""

    def find(args: dict[str, Any], signal: AbortSignal) -> ToolResult:
        name = args.get("path") or "."
        root = real_path(name, cwd)
        if not root.is_dir():
            raise Refused(f"{name} is not a directory.") if root.exists() else not_found(name, root)
        fits = matcher(args["pattern"])
        found = []
        for path in _with_folders(files(root, signal)):
            check(signal)
            if fits(path.rstrip("/")):
                found.append(path)
        return _answer(name, root, cwd, found)

    return Tool("find", DESCRIPTION, PARAMETERS, slots.run(find))


def _with_folders(paths: list[str]) -> list[str]:
    folders = {
        f"{parent}/"
        for folder in {path.rpartition("/")[0] for path in paths}
        for parent in (folder, *map(str, PurePosixPath(folder).parents))
    } - {"/", "./"}
    return sorted([*paths, *folders])


def _answer(name: str, root: Path, cwd: Path, found: list[str]) -> ToolResult:
    there = [
        path
        for path in found[: 2 * LIMIT_FOUND]
        if (root / path).is_symlink() or (root / path).exists()
    ]
    lines = []
    for path in there[:LIMIT_FOUND]:
        line = shown(root / path, cwd) + "/" * path.endswith("/")
        # A newline in a name must not look like another result.
        lines.append(line if line.isprintable() else repr(line))
    part = head(without_surrogates("\n".join(lines)))
    text = part.text or "Nothing found."
    if part.lines < len(there):
        text += f"\n\n[The first {part.lines} results; there are more, narrow the search]"
    return ToolResult(text, details={"path": name, "found": part.lines})
