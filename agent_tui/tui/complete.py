"""What could stand at the cursor: slash commands, and files that git does not ignore."""

from __future__ import annotations

import asyncio
import contextlib
import heapq
import os
import re
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

SHOWN = 50
"""How many entries a menu has at most."""

_FILE_LIMIT = 50_000
_LISTING_BYTES = 16_000_000
_LISTING_SECONDS = 5.0
_FRESH_SECONDS = 3.0
_LEFT_OUT = {"node_modules", "__pycache__", "venv", "target", "dist", "build"}
_FILE_WORD = re.compile(r'(?:^|(?<=\s))@(?:"(?P<quoted>[^"\n]*)|(?P<plain>[^\s"]*))\Z')
_COMMAND = re.compile(r"/(?P<name>[^\s/]*)(?:(?P<gap>[ ]+)(?P<argument>\S*))?\Z")


@dataclass(frozen=True, slots=True)
class Completion:
    """One entry of the menu: put `insert` in place of the text from `start` to `end` (offsets)."""

    start: int
    end: int
    insert: str
    label: str
    detail: str = ""
    sends: bool = False
    """True when Enter on the entry also sends the text (a command that needs no argument)."""


@dataclass(frozen=True, slots=True)
class CommandHint:
    """A slash command as the menu shows it."""

    name: str
    """Without the slash."""
    summary: str
    takes_argument: bool = False
    choices: Callable[[], Sequence[str]] | None = None
    """The values its argument may have, if they can be listed."""


class Completer:
    """The hook for `Prompt.completions`: `prompt.completions = Completer(cwd, hints)`."""

    def __init__(self, cwd: Path, commands: Callable[[], Sequence[CommandHint]]) -> None:
        self._files = FileIndex(cwd)
        self._commands = commands

    async def __call__(self, text: str, cursor: int) -> Sequence[Completion]:
        """What could stand at `cursor`, best first, at most `SHOWN`; never blocks the loop."""
        typed = text[:cursor]
        if match := _COMMAND.match(typed):
            return self._for_command(match, cursor)
        if match := _FILE_WORD.search(typed):
            query = match["quoted"] if match["quoted"] is not None else match["plain"]
            paths = await self._files.search(query)
            return [_file_entry(path, match.start(), cursor) for path in paths]
        return []

    def _for_command(self, match: re.Match[str], cursor: int) -> Sequence[Completion]:
        hints = {hint.name: hint for hint in self._commands()}
        if match["gap"] is None:
            names = rank(match["name"], hints, SHOWN)
            return [_command_entry(hints[name], cursor) for name in names]
        hint = hints.get(match["name"])
        if hint is None or hint.choices is None:
            return []
        start = match.start("argument")
        choices = rank(match["argument"], hint.choices(), SHOWN)
        return [Completion(start, cursor, choice, choice, sends=True) for choice in choices]


def _command_entry(hint: CommandHint, cursor: int) -> Completion:
    insert = f"/{hint.name} " if hint.takes_argument else f"/{hint.name}"
    return Completion(0, cursor, insert, f"/{hint.name}", hint.summary, not hint.takes_argument)


def _file_entry(path: str, start: int, end: int) -> Completion:
    has_space = any(character.isspace() for character in path)
    is_folder = path.endswith("/")
    word = f'@"{path}' if has_space else f"@{path}"
    if not is_folder:
        word += '" ' if has_space else " "
    return Completion(start, end, word, path)


class FileIndex:
    """The files and folders below `cwd` that git does not ignore, listed anew when they may be old.

    Outside of a repository everything but hidden and well-known build folders is listed.
    """

    def __init__(self, cwd: Path, clock: Callable[[], float] = time.monotonic) -> None:
        self._cwd = cwd
        self._clock = clock
        self._paths: Sequence[str] = ()
        self._listed_at = float("-inf")
        self._listing: asyncio.Task[None] | None = None

    async def search(self, query: str) -> list[str]:
        """The best paths for `query`, folders with a slash at the end, at most `SHOWN`."""
        if self._clock() - self._listed_at > _FRESH_SECONDS and self._listing is None:
            self._listing = asyncio.create_task(self._list())
        if not self._paths:
            await self.settle()
        return await asyncio.to_thread(self._existing, query, self._paths)

    async def settle(self) -> None:
        """Wait until no listing is under way."""
        if self._listing is not None:
            await asyncio.shield(self._listing)

    def _existing(self, query: str, paths: Sequence[str]) -> list[str]:
        """Git also lists what has been deleted since; that is left out."""
        found = rank(query, paths, 2 * SHOWN)
        return [path for path in found if (self._cwd / path).exists()][:SHOWN]

    async def _list(self) -> None:
        try:
            listing = await _listed_by_git(self._cwd)
            if listing is None:
                paths = await asyncio.to_thread(_walked, self._cwd)
            else:
                paths = await asyncio.to_thread(_split, listing)
            self._paths = await asyncio.to_thread(_with_folders, paths)
            self._listed_at = self._clock()
        finally:
            self._listing = None


async def _listed_by_git(cwd: Path) -> bytes | None:
    """What `git ls-files` prints for `cwd`; None when git cannot tell."""
    command = "git -c core.fsmonitor=false ls-files -z --cached --others --exclude-standard"
    try:
        process = await asyncio.create_subprocess_exec(
            *command.split(),
            cwd=cwd,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            env={**os.environ, "GIT_OPTIONAL_LOCKS": "0"},
            start_new_session=True,
        )
    except OSError:
        return None
    assert process.stdout is not None
    chunks: list[bytes] = []
    try:
        async with asyncio.timeout(_LISTING_SECONDS):
            while chunk := await process.stdout.read(1 << 20):
                chunks.append(chunk)
                if sum(map(len, chunks)) > _LISTING_BYTES:
                    break
            else:
                return b"".join(chunks) if await process.wait() == 0 else None
    except TimeoutError:
        pass
    with contextlib.suppress(ProcessLookupError):
        process.kill()
    await process.wait()
    return b"".join(chunks) or None


def _split(listing: bytes) -> list[str]:
    names = listing.decode("utf-8", "replace").split("\0")
    return [name for name in names if name and name.isprintable()][:_FILE_LIMIT]


def _walked(cwd: Path) -> list[str]:
    """The files below `cwd` without git's help; stops at a limit of number and time."""
    found: list[str] = []
    until = time.monotonic() + _LISTING_SECONDS
    for folder, folders, files in os.walk(cwd):
        folders[:] = sorted(f for f in folders if f[0] != "." and f not in _LEFT_OUT)
        inside = os.path.relpath(folder, cwd)
        prefix = "" if inside == "." else f"{inside}/"
        found += [f"{prefix}{name}" for name in sorted(files) if name.isprintable()]
        if len(found) > _FILE_LIMIT or time.monotonic() > until:
            break
    return found[:_FILE_LIMIT]


def _with_folders(paths: Iterable[str]) -> list[str]:
    """`paths` and the folders that hold them, each once."""
    found: dict[str, None] = {}
    for path in paths:
        end = path.find("/")
        while end >= 0:
            found[path[: end + 1]] = None
            end = path.find("/", end + 1)
        found[path] = None
    return list(found)


def rank(query: str, names: Iterable[str], limit: int) -> list[str]:
    """The names whose characters contain those of `query` in order, best first; case counts not.

    Best is a last part that begins with the query, then one that contains it or a folder that
    begins with it, then a name that contains it, then the others; among equals the shorter. An
    empty query takes names as they come, those with fewer folders first.
    """
    if not query:
        return heapq.nsmallest(limit, names, key=lambda name: name.rstrip("/").count("/"))
    wanted = query.lower()
    pattern = re.compile("".join(f"[^{re.escape(c)}]*{re.escape(c)}" for c in wanted), re.DOTALL)

    def scored() -> Iterable[tuple[int, int, str]]:
        for name in names:
            lower = name.lower()
            if pattern.match(lower):
                yield _score(wanted, lower, pattern), len(name), name

    return [name for _, _, name in heapq.nsmallest(limit, scored())]


def _score(wanted: str, lower: str, pattern: re.Pattern[str]) -> int:
    """How well `lower` fits, 0 best."""
    last = lower.rstrip("/").rfind("/") + 1
    at = lower.find(wanted, last)
    if at == last or lower.startswith(wanted):
        return 0
    if at > last or f"/{wanted}" in lower:
        return 1
    if wanted in lower:
        return 2
    return 3 if pattern.match(lower, last) else 4
