"""Saying truthfully what a tool returned, and choosing what is harmless to look at."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from agent_tui.core.text import printable
from agent_tui.providers.demo.history import Outcome, names_in

_READABLE = (".md", ".rst", ".txt", ".toml", ".py", ".js", ".ts", ".go", ".rs", ".c", ".java")
_DULL = {"node_modules", "__pycache__", "venv", "env", "dist", "build", "target"}


@dataclass(frozen=True, slots=True)
class Look:
    """One thing to look at: the call, and what it does in a few words."""

    tool: str
    args: Mapping[str, Any]
    words: str


def readable_file(listing: Collection[str]) -> str | None:
    """The file of a folder that is most likely prose, a README first; None if none is fit.

    Hidden files are left alone: they may hold keys.
    """
    files = [name for name in listing if name.lower().endswith(_READABLE) and name[0] != "."]
    return min(files, key=_dullness, default=None)


def looks_for(listing: Collection[str], tools: Collection[str], count: int) -> list[Look]:
    """`count` quick looks around a folder with tools that only read; none without such a tool."""
    looks: list[Look] = []
    if "ls" in tools:
        folders = [name for name in listing if name.endswith("/") and _is_plain(name[:-1])]
        looks = [Look("ls", {"path": "."}, "I list this folder")] + [
            Look("ls", {"path": name[:-1]}, f"I list {as_code(name)}")
            for name in folders[: count // 2]
        ]
    file = readable_file(listing)
    if file and "read" in tools:
        looks += [
            Look(
                "read",
                {"path": file, "limit": n},
                f"I read the first {f'{n} lines' if n > 1 else 'line'} of {as_code(file)}",
            )
            for n in range(1, count - len(looks) + 1)
        ]
    if "ls" in tools:
        looks.append(Look("ls", {}, "I list this folder once more"))
    return (looks * count)[:count]


def described(outcome: Outcome) -> str:
    """What came back, as the end of a sentence without its full stop."""
    if outcome.verdict == "aborted":
        ends = [n for n, line in enumerate(outcome.lines) if line.startswith("Command aborted")]
        return _output(outcome.lines[: ends[-1]] if ends else outcome.lines)
    if outcome.verdict != "done":
        return f"this came back: {as_code(first_line(outcome.text))}"
    match outcome.call.name:
        case "ls":
            return _folder(outcome.text)
        case "read":
            return f"a file that begins {as_code(first_line(outcome.text))}"
        case "grep":
            matches = [line for line in outcome.lines if re.search(r":\d+:", line)]
            pattern = as_code(str(outcome.call.arguments.get("pattern", "")))
            return f"{plural(len(matches), 'line')} with {pattern}"
        case _:
            return _output(outcome.lines)


def first_line(text: str) -> str:
    """The first line that holds something, shortened; `nothing` if none does."""
    line = next((line.strip() for line in text.splitlines() if line.strip()), "nothing")
    return line if len(line) <= 200 else f"{line[:199]}…"


def as_code(text: str) -> str:
    """Foreign text as one piece of inline code that cannot end early."""
    plain = " ".join(printable(text).split()).replace("`", "'").replace("|", "¦")
    return f"`{plain[:200]}`" if plain else "(nothing)"


def quote(text: str) -> str:
    """What a person wrote, as a quotation; long text is shortened."""
    lines = printable(text).strip().splitlines() or [""]
    more = ["…"] if len(lines) > 4 else []
    return "\n".join(f"> {line[:300]}" for line in [*lines[:4], *more])


def plural(count: int, noun: str) -> str:
    """`1 file`, `3 files`."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _folder(text: str) -> str:
    names = names_in(text)
    if not names:
        return "an empty folder"
    if more := re.search(r"\[The first \d+ of (\d+) entries", text):
        return f"{more[1]} entries"
    folders = sum(name.endswith("/") for name in names)
    counts = ((folders, "folder"), (len(names) - folders, "file"))
    return " and ".join(plural(count, noun) for count, noun in counts if count)


def _output(lines: list[str]) -> str:
    if not lines:
        return "no output"
    last = lines[-1].strip()
    return f"{plural(len(lines), 'line')} of output, the last one {as_code(last)}"


def _dullness(name: str) -> tuple[bool, int, str]:
    kind = next(n for n, suffix in enumerate(_READABLE) if name.lower().endswith(suffix))
    return not name.lower().startswith("readme"), kind, name


def _is_plain(name: str) -> bool:
    return name[:1] != "." and name not in _DULL
