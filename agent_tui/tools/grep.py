"""The `grep` tool: lines that match a regular expression, in the files worth looking at.

ripgrep does the work where it is installed, else a process of our own; both can be killed at once.
"""

from __future__ import annotations

import re
import shutil
import stat
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agent_tui.core.abort import AbortSignal
from agent_tui.core.tool import Tool, ToolResult
from agent_tui.tools import search
from agent_tui.tools.globs import matcher
from agent_tui.tools.output import head
from agent_tui.tools.paths import Refused, holds_credentials, kind_of, not_found, real_path, shown
from agent_tui.tools.program import Program, program
from agent_tui.tools.slots import Slots
from agent_tui.tools.walk import files

LIMIT_MATCHES = 200
LIMIT_SECONDS = 60
_RG_FAILED = 2

DESCRIPTION = f"""Search file contents with a regular expression, line by line. Returns \
path:line:text, at most {LIMIT_MATCHES} matches, long lines shortened. Skips binary files, \
credentials and what git ignores, unless `path` names it. Use this instead of grep or rg in bash."""

PARAMETERS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "pattern": {"type": "string", "description": "The regular expression"},
        "path": {
            "type": "string",
            "description": "A directory or file; the working directory if left out",
        },
        "glob": {"type": "string", "description": 'Only such files, e.g. "*.py" or "src/**/*.ts"'},
        "ignore_case": {"type": "boolean", "description": "Take upper and lower case as equal"},
    },
    "required": ["pattern"],
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True)
class _Query:
    pattern: str
    ignore_case: bool
    root: Path
    """The directory to search from."""
    names: list[str] | None
    """Paths below `root` to search; None for everything worth looking at."""
    wanted: Callable[[str], bool]


def grep_tool(cwd: Path, slots: Slots, *, ripgrep: str | None = None) -> Tool:
    """The `grep` tool for a project in `cwd`.

    `ripgrep` is the program to use: None looks for it, "" does without.
    """
    rg = shutil.which("rg") if ripgrep is None else ripgrep

    def grep(args: dict[str, Any], signal: AbortSignal) -> ToolResult:
        query = _query(args, cwd)
        found, overdue = (_by_ripgrep(rg, query, signal) if rg else None) or _by_python(
            query, signal
        )
        return _answer(args, query.root, cwd, found, overdue)

    return Tool("grep", DESCRIPTION, PARAMETERS, slots.run(grep))


def _query(args: dict[str, Any], cwd: Path) -> _Query:
    if not args["pattern"]:
        raise Refused("The pattern is empty; use find to list files.")
    name = args.get("path") or "."
    root, names = real_path(name, cwd), None
    try:
        mode = root.stat().st_mode
    except FileNotFoundError:
        raise not_found(name, root) from None
    if stat.S_ISREG(mode):
        root, names = root.parent, [root.name]
    elif not stat.S_ISDIR(mode):
        raise Refused(f"{name} is a {kind_of(mode)}, not a file or directory.")
    glob = args.get("glob")
    fits = matcher(glob) if glob else lambda path: True

    def wanted(path: str) -> bool:
        return fits(path) and (names is not None or not holds_credentials(path))

    return _Query(args["pattern"], bool(args.get("ignore_case")), root, names, wanted)


Match = tuple[str, str, str]  # path below the root, line number, text
Found = tuple[list[Match], bool]


def _by_ripgrep(rg: str, query: _Query, signal: AbortSignal) -> Found | None:
    """The matches and whether the time was up; None if ripgrep does not take the pattern."""
    command = [
        *(rg, "--no-config", "--hidden", "--glob", "!.git", "--sort", "path", "--color", "never"),
        *("--null", "--line-number", "--no-heading", "--with-filename", "--no-messages"),
        *("--max-columns", str(search.WIDTH), "--max-columns-preview"),
        *(["--ignore-case"] if query.ignore_case else []),
        *("--regexp", query.pattern, "--", *(query.names or ["."])),
    ]
    try:
        with program(command, query.root, signal, seconds=LIMIT_SECONDS) as running:
            matches = _matches(running, query.wanted)
            is_whole = len(matches) <= LIMIT_MATCHES and not running.overdue
            failed = is_whole and not matches and running.code == _RG_FAILED
            return None if failed else (matches, running.overdue)
    except OSError:
        return None


def _by_python(query: _Query, signal: AbortSignal) -> Found:
    try:
        re.compile(query.pattern)
    except (re.error, RecursionError, OverflowError) as error:
        raise Refused(f"The pattern is not a valid regular expression: {error}.") from None
    names = query.names if query.names is not None else files(query.root, signal)
    names = [name for name in names if query.wanted(name)]
    limit = str(LIMIT_MATCHES + 1)
    arguments = [query.pattern, "i" if query.ignore_case else "", limit]
    # Isolated: neither the folder it runs in nor the environment adds modules.
    command = [sys.executable, "-I", "-S", search.__file__, *arguments]
    with (
        _spooled(names) as listing,
        program(command, query.root, signal, seconds=LIMIT_SECONDS, stdin=listing) as running,
    ):
        return _matches(running, lambda path: True), running.overdue


@contextmanager
def _spooled(names: list[str]) -> Iterator[Any]:
    """The names as a file: a pipe could fill up while the other end waits to print."""
    with tempfile.TemporaryFile() as listing:
        listing.write("\0".join(names).encode("utf-8", "surrogateescape"))
        listing.seek(0)
        yield listing


def _matches(running: Program, wanted: Callable[[str], bool]) -> list[Match]:
    """At most one match more than is shown."""
    matches: list[Match] = []
    for record in running.records(b"\n"):
        path, _, rest = record.decode("utf-8", "replace").partition("\0")
        number, _, line = rest.partition(":")
        path = path.removeprefix("./")
        if number.isdecimal() and wanted(path):
            matches.append((path, number, line.rstrip("\r")))
        if len(matches) > LIMIT_MATCHES:
            break
    return matches


def _answer(
    args: dict[str, Any], root: Path, cwd: Path, found: list[Match], overdue: bool
) -> ToolResult:
    matches = found[:LIMIT_MATCHES]
    lines = [f"{shown(root / path, cwd)}:{number}:{text}" for path, number, text in matches]
    part = head("\n".join(lines))
    notices = []
    if part.lines < len(found):
        notices.append(f"The first {part.lines} matches; there are more, narrow the search")
    if overdue:
        notices.append(f"Stopped after {LIMIT_SECONDS} s; narrow the search")
    text = part.text or "No matches."
    details = {
        "path": args.get("path") or ".",
        "matches": part.lines,
        "files": len({path for path, _, _ in matches[: part.lines]}),
    }
    return ToolResult(text + "".join(f"\n\n[{notice}]" for notice in notices), details=details)
