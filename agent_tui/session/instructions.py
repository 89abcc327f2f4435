"""Instruction files: what the person and the project want every session to know.

The user's `AGENTS.md` comes first, then one for each folder from the repository's root down to the
working folder, so that what is nearer stands later and counts more. Where a folder has no
`AGENTS.md`, its `CLAUDE.md` is taken. They are text and are read in every folder, trusted or not.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from agent_tui.session.texts import read_text
from agent_tui.tools.paths import size_text

NAMES = ("AGENTS.md", "CLAUDE.md")
FILE_BYTES = 32 * 1024
ALL_BYTES = 96 * 1024
"""Of all files together; the nearest ones are kept."""
_CHARS_PER_TOKEN = 4
_ROOT_MARKS = (".git", ".hg", ".jj", ".svn")


@dataclass(frozen=True, slots=True)
class InstructionFile:
    """One file as it stands in the system prompt."""

    path: Path
    text: str
    tokens: int
    """An estimate."""


@dataclass(slots=True)
class Instructions:
    """What was found."""

    files: list[InstructionFile] = field(default_factory=list)
    """In the order of the prompt: the user's, then from the root down."""
    notices: list[str] = field(default_factory=list)
    """What a person should know: files that were cut or left out."""
    looked_at: list[Path] = field(default_factory=list)
    """Every path where a file was or could have been."""


def find_instructions(cwd: Path, config: Path, home: Path | None) -> Instructions:
    """The instruction files for a session in `cwd`; `config` is the user's own folder.

    `home` is where looking upwards ends if there is no repository.
    """
    found = Instructions()
    root = repository_root(cwd)
    places: list[tuple[Path, Sequence[str], Path | None]] = [(config, NAMES[:1], None)]
    places += [(folder, NAMES, root or folder) for folder in _folders(cwd, root, home)]
    left = ALL_BYTES
    known: set[Path] = set()
    for folder, names, inside in reversed(places):
        file = _read(folder, names, inside, min(left, FILE_BYTES), found)
        if file is None or file.path.resolve() in known:
            continue
        known.add(file.path.resolve())
        left -= len(file.text.encode())
        found.files.insert(0, file)
    return found


def repository_root(folder: Path) -> Path | None:
    """The nearest folder, from this one upwards, that is under version control."""
    return next(
        (
            place
            for place in (folder, *folder.parents)
            if any((place / mark).exists() for mark in _ROOT_MARKS)
        ),
        None,
    )


def _folders(cwd: Path, root: Path | None, home: Path | None) -> Iterator[Path]:
    """From the repository's root, else from the home folder, down to `cwd`."""
    top = root or (home if home is not None and cwd.is_relative_to(home) else cwd)
    yield from reversed([place for place in (cwd, *cwd.parents) if place.is_relative_to(top)])


def _read(
    folder: Path, names: Sequence[str], inside: Path | None, limit: int, found: Instructions
) -> InstructionFile | None:
    for name in names:
        path = folder / name
        found.looked_at.append(path)
        if limit <= 0:
            if path.is_file():
                found.notices.append(f"{path} is left out: the files nearer to you fill the room.")
                return None
            continue
        read = read_text(path, limit, inside=inside)
        if isinstance(read, str):
            found.notices.append(f"{path} {read}; it is not used.")
        elif read is not None and read.text:
            if read.is_cut:
                kept = size_text(len(read.text.encode()))
                found.notices.append(
                    f"{path}: only the first {kept} of {size_text(read.size)} are used."
                )
            return InstructionFile(path, read.text, -(-len(read.text) // _CHARS_PER_TOKEN))
    return None
