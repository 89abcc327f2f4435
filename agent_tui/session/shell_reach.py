"""Where the words of a command may lead, in every folder that it may be in by then."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from agent_tui.session.shell_parts import Part, ShellParts
from agent_tui.tools import Places, Reach, Refused

NO_FILES = frozenset({"/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/zero"})
"""Paths that are always there, and that nothing can be done to."""
_OTHERS_VIEWS = ("/proc/", "/dev/fd")
"""What stands here is another thing for each process that looks."""
_ADDRESS = re.compile(r"(?!file:)[a-z][a-z0-9+.-]*://", re.IGNORECASE)
_MOST_FOLDERS = 6


def folders_of(found: ShellParts, places: Places) -> tuple[list[Path], str | None]:
    """The folders that the parts may run in, and why that is not sure, if it is not."""
    folders = [places.project]
    if found.has_loop and any(is_change_of_folder(part) for part in found.parts):
        return folders, "it changes the folder again and again"
    for part in found.parts:
        if part.name not in ("cd", "pushd", "popd"):
            continue
        words = part.literals
        if part.name != "cd" or words is None or len(words) != 2 or part.assignments:
            return folders, "it changes the folder in a way that is not sure"
        target = words[1]
        if target.startswith("-") or ".." in Path(target).parts or not target:
            return folders, "it leaves its folder"
        if os.environ.get("CDPATH") and not target.startswith(("/", "./")):
            return folders, "CDPATH decides where it goes"
        for folder in list(folders):
            reach = _reach(places, target, folder)
            if reach is None or not reach.inside or reach.guarded:
                return folders, f"it goes to {target}"
            if reach.path not in folders:
                folders.append(reach.path)
        if len(folders) > _MOST_FOLDERS:
            return folders, "it changes the folder many times"
    return folders, None


def is_change_of_folder(part: Part) -> bool:
    """Whether the part is a `cd`, which `folders_of` looks after."""
    return part.name == "cd"


def places_in(word: str) -> Iterator[str]:
    """Every piece of a word that a program may take for a path; of an address only the whole."""
    if not word or word == "-":
        return
    yield word
    option, is_set, value = word.partition("=")
    if _ADDRESS.match(word) or (is_set and _ADDRESS.match(value)):
        yield value or word
        return
    if word.startswith("-") and not word.startswith("--"):
        yield word[2:]
        yield from (word[place:] for place, sign in enumerate(word) if sign in "./~")
    yield from (value, option, *re.split(r"[=:,@]", word))


def reaches(word: str, folders: Sequence[Path], places: Places) -> Iterator[Reach]:
    """Where a word may lead, in each of the folders.

    A path that cannot be followed counts as outside.
    """
    for piece in dict.fromkeys(places_in(word)):
        if not piece or piece in NO_FILES:
            continue
        for folder in folders:
            reach = _reach(places, piece, folder)
            yield Reach(folder / "?", inside=False, guarded=None) if reach is None else reach


def strays(word: str, folders: Sequence[Path], places: Places) -> Iterator[Reach]:
    """Where a word may lead that is outside the project or guarded."""
    return (reach for reach in reaches(word, folders, places) if not reach.inside or reach.guarded)


def _reach(places: Places, path: str, folder: Path) -> Reach | None:
    if path.startswith(_OTHERS_VIEWS):
        return None
    try:
        return places.reach(path, folder)
    except Refused:
        return None
