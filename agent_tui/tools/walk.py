"""Which files of a folder are worth looking at.

In a git repository git itself says so (tracked, or neither tracked nor ignored); elsewhere
everything except folders that programs fill. Links to folders are not followed.
"""

from __future__ import annotations

import os
from pathlib import Path

from agent_tui.core.abort import AbortSignal
from agent_tui.tools.program import program
from agent_tui.tools.slots import check

GIT_SECONDS = 20
LIMIT_FILES = 500_000
SKIPPED = frozenset(
    {
        ".git",
        ".hg",
        ".svn",
        ".jj",
        "node_modules",
        "__pycache__",
        ".venv",
        "venv",
        ".tox",
        ".nox",
        ".mypy_cache",
        ".ruff_cache",
        ".pytest_cache",
        ".hypothesis",
        ".gradle",
        ".terraform",
        ".idea",
        ".DS_Store",
    }
)


def files(root: Path, signal: AbortSignal) -> list[str]:
    """Paths below `root`, relative to it, with slashes, sorted; at most `LIMIT_FILES`.

    Some may be no regular files, or be gone. Raises `Refused` when the call should end.
    """
    # A folder that git ignores is empty for git; whoever names it wants to see into it.
    found = _known_to_git(root, signal) or _below(root, signal)
    return sorted(found)[:LIMIT_FILES]


def _known_to_git(root: Path, signal: AbortSignal) -> list[str]:
    command = [
        *("git", "-c", "core.fsmonitor=false", "--no-optional-locks"),
        *("ls-files", "-z", "--cached", "--others", "--exclude-standard"),
    ]
    # `core.fsmonitor` of an untrusted repository would name a program to run.
    try:
        with program(command, root, signal, seconds=GIT_SECONDS) as git:
            listed = {os.fsdecode(name) for name in git.records(b"\0")}
            if git.code != 0:
                return []
    except FileNotFoundError:
        return []
    if ".gitmodules" in listed:
        listed = {f"{name}/" if (root / name).is_dir() else name for name in listed}
    inner = [name for name in listed if name.endswith("/")]
    found = [name for name in listed if not name.endswith("/")]
    for folder in inner:  # repositories within the repository
        found += [f"{folder}{name}" for name in files(root / folder, signal)]
    return found


def _below(root: Path, signal: AbortSignal) -> list[str]:
    found: list[str] = []
    waiting = [""]
    while waiting and len(found) < LIMIT_FILES:
        check(signal)
        folder = waiting.pop()
        try:
            with os.scandir(root / folder) as entries:
                inside = [entry for entry in entries if entry.name not in SKIPPED]
        except OSError:
            continue
        for entry in inside:
            path = f"{folder}{entry.name}"
            if entry.is_dir(follow_symlinks=False):
                waiting.append(f"{path}/")
            else:
                found.append(path)
    return found
