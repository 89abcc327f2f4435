"""Commands that only read: which programs, with which options, on what.

The list is short on purpose. A program is on it if nothing that it takes from its words can write,
run something else or reach into folders that were not named; options that could are left out here.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from agent_tui.session.shell_words import Word


@dataclass(frozen=True, slots=True)
class _Reader:
    long: tuple[str, ...] = ()
    """Long options that are not harmless, also when they are shortened."""
    short: str = ""
    """Letters that are not, alone or among others."""
    operands: int | None = None
    """At most so many words that are no options."""
    takes_anything: bool = False
    """Its words are text, not files."""


_PLAIN = _Reader()
_READERS: dict[str, _Reader] = {
    "basename": _PLAIN,
    "cat": _PLAIN,
    "cmp": _PLAIN,
    "cut": _PLAIN,
    "date": _Reader(("--set", "--file"), "sf", operands=0),
    "df": _PLAIN,
    "dirname": _PLAIN,
    "du": _Reader(("--files0-from",)),
    "echo": _Reader(takes_anything=True),
    "false": _Reader(takes_anything=True),
    "grep": _Reader(("--recursive", "--dereference-recursive", "--directories"), "rRd"),
    "egrep": _Reader(("--recursive", "--dereference-recursive", "--directories"), "rRd"),
    "fgrep": _Reader(("--recursive", "--dereference-recursive", "--directories"), "rRd"),
    "head": _PLAIN,
    "ls": _PLAIN,
    "nl": _PLAIN,
    "pwd": _PLAIN,
    "readlink": _PLAIN,
    "realpath": _PLAIN,
    "sort": _Reader(("--output", "--compress-program", "--temporary-directory", "--files0"), "oT"),
    "stat": _PLAIN,
    "tail": _PLAIN,
    "tr": _PLAIN,
    "true": _Reader(takes_anything=True),
    "uname": _PLAIN,
    "uniq": _Reader(operands=1),
    "wc": _Reader(("--files0-from",)),
    "whoami": _PLAIN,
}
_BUILT_INTO_THE_SHELL = frozenset({"echo", "pwd", "true", "false", "eval", "command", "time"})
_FIND_DOES = re.compile(
    r"-(exec|execdir|ok|okdir|delete|fprint|fprint0|fprintf|fls|files0-from|follow|L)"
)
_GIT_SUBCOMMANDS = frozenset(
    {"status", "log", "diff", "show", "blame", "describe", "shortlog", "rev-parse", "ls-files"}
)
_GIT_OPTIONS = ("--output", "--ext-diff", "--textconv", "--no-index", "--exec", "--open-files")
_GIT_RUNS = re.compile(
    r"fsmonitor|external|textconv|\[\s*(filter|include|alias)|pager|hookspath|command|program|signature",
    re.IGNORECASE,
)
"""Settings of a repository that name a program."""


def only_reads(words: Sequence[Word], cwd: Path) -> bool:
    """Whether this simple command does nothing but read the files that it names.

    Where those files are is not looked at. `cwd` is the project: a program that lies in there is
    not the one that the list means.
    """
    name = words[0].literal if words else None
    if name is None or "/" in name:
        return False
    arguments = [word.literal for word in words[1:] if word.literal is not None]
    if len(arguments) < len(words) - 1:
        return False
    return _is_harmless(name, arguments, cwd) and is_the_systems(name, cwd)


def takes_files(name: str | None) -> bool:
    """Whether the words of this program may name files."""
    reader = _READERS.get(name or "")
    return reader is None or not reader.takes_anything


def risky_option(name: str, arguments: Sequence[str]) -> str | None:
    """The word among `arguments` that lets a program on the list do more than read, if any."""
    if name == "find":
        return next((word for word in arguments if _FIND_DOES.match(word)), None)
    if name == "git":
        return next((word for word in arguments if _starts(word, _GIT_OPTIONS)), None)
    reader = _READERS.get(name)
    if reader is None:
        return None
    return next((word for word in arguments if _is_risky(word, reader)), None)


def _is_harmless(name: str, arguments: list[str], cwd: Path) -> bool:
    if risky_option(name, arguments) is not None:
        return False
    if name == "find":
        return True
    if name == "git":
        return bool(arguments) and arguments[0] in _GIT_SUBCOMMANDS and _is_plain_repository(cwd)
    reader = _READERS.get(name)
    if reader is None:
        return False
    if reader.takes_anything:
        return True
    operands = [word for word in arguments if word[:1] not in ("-", "+") or word == "-"]
    return reader.operands is None or len(operands) <= reader.operands


def _is_risky(word: str, reader: _Reader) -> bool:
    if word.startswith("--"):
        return _starts(word, reader.long)
    return word.startswith("-") and any(letter in reader.short for letter in word[1:])


def _starts(word: str, options: tuple[str, ...]) -> bool:
    """Whether `word` is one of the options, or what programs take for one: its beginning."""
    option = word.partition("=")[0]
    return len(option) > 2 and any(
        known.startswith(option) or option.startswith(known) for known in options
    )


def is_the_systems(name: str, cwd: Path) -> bool:
    """Whether the shell would find this program outside of the project `cwd`."""
    found = shutil.which(name)
    if found is None:
        return name in _BUILT_INTO_THE_SHELL
    root = cwd.resolve()
    places = (Path(found).absolute(), Path(found).resolve())
    return not any(place.is_relative_to(root) for place in places)


def _is_plain_repository(cwd: Path) -> bool:
    """Whether git finds its repository where nobody can have put one, and runs nothing for it."""
    for folder in (cwd.resolve(), *cwd.resolve().parents):
        place = folder / ".git"
        if place.is_dir():
            return not (folder / ".gitmodules").exists() and _runs_nothing(place)
        if place.exists() or (folder / "HEAD").exists():
            return False
    return True


def _runs_nothing(repository: Path) -> bool:
    files = (repository / "config", repository / "config.worktree")
    try:
        texts = [file.read_text("utf-8", "replace") for file in files if file.exists()]
    except OSError:
        return False
    return not any(_GIT_RUNS.search(text) for text in texts)
