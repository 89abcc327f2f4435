"""What a tool panel says about its call: the target in the header, and the size of the result.

Known tools get their own words; any other tool shows its arguments.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from agent_tui.core.pictures import labels_of
from agent_tui.core.text import one_line
from agent_tui.tui.figures import count, plural

TARGET_KEYS = ("command", "path", "pattern", "url", "query", "file", "name")
TARGET_LIMIT = 400
LOOKING = ("read", "grep", "find", "ls")
"""Tools that change nothing; panels of them that stand together are folded into one."""
_PARTIAL = re.compile(r'"(' + "|".join(TARGET_KEYS) + r')"\s*:\s*"((?:[^"\\]|\\.)*)', re.S)


def target_of(name: str, args: Mapping[str, Any]) -> str:
    """What the call is about: the command, the path with its lines, the pattern and its place."""
    path = _text(args.get("path"))
    match name:
        case "bash":
            return one_line(_text(args.get("command")), TARGET_LIMIT)
        case "read":
            return path + _range(args.get("offset"), args.get("limit"))
        case "write" | "edit" | "ls":
            return path or "."
        case "grep" | "find":
            pattern = one_line(_text(args.get("pattern")), TARGET_LIMIT)
            where = path or _text(args.get("glob"))
            return f"{pattern} in {where}" if where else pattern
        case _:
            return _any_target(args)


def target_of_partial(raw: str) -> str:
    """The target as far as it can be seen in argument text that is still arriving."""
    match = _PARTIAL.search(raw[: 4 * TARGET_LIMIT])
    if match is None:
        return ""
    try:
        value = str(json.loads(f'"{match[2]}"', strict=False))
    except ValueError:
        value = match[2]
    return one_line(value, TARGET_LIMIT)


def path_of(name: str, args: Mapping[str, Any]) -> str:
    """The file that a call reads or changes; empty for any other tool."""
    return _text(args.get("path")) if name in ("read", "write", "edit") else ""


def size_of(name: str, text: str, details: object, *, is_error: bool) -> str:
    """The size of a result for the header: `120 lines`, `+12 −3`, `exit 1 · 8 lines`."""
    known: Mapping[str, Any] = details if isinstance(details, Mapping) else {}
    parts: list[str] = []
    exit_code = known.get("exit_code")
    if isinstance(exit_code, int) and exit_code != 0:
        parts.append(f"exit {exit_code}")
    if isinstance(known.get("job"), int):
        parts.append(f"in the background as job {known['job']}")
    if isinstance(known.get("added"), int) and isinstance(known.get("removed"), int):
        parts.append(f"+{known['added']} −{known['removed']}")
    elif not (is_error and not parts and name != "bash"):
        lines = known.get("lines")
        total = lines if isinstance(lines, int) else _lines(text)
        read = _lines_read(known) if name == "read" else None
        if read is not None and read[1] - read[0] + 1 < total:
            parts.append(f"{read[1] - read[0] + 1:,} of {total:,} lines")
        elif total:
            parts.append(plural(total, "line") if total < 10_000 else f"{count(total)} lines")
    return " · ".join(parts)


def range_read(details: object) -> str:
    """The lines of a file that were read, `:1-120`; empty where that is not known."""
    read = _lines_read(details) if isinstance(details, Mapping) else None
    return "" if read is None else f":{read[0]}-{read[1]}"


def _lines_read(details: Mapping[str, Any]) -> tuple[int, int] | None:
    first, last = details.get("first_line"), details.get("last_line")
    if isinstance(first, int) and isinstance(last, int) and 0 < first <= last:
        return first, last
    return None


def group_target(calls: Iterable[tuple[str, str]]) -> str:
    """What several calls that only looked were about, out of their tools and places: `5 files`."""
    kinds = {"read": "file", "grep": "search", "find": "search", "ls": "folder"}
    places: dict[str, list[str]] = {}
    for name, place in calls:
        known = places.setdefault(kinds.get(name, name), [])
        if place not in known:
            known.append(place)
    parts = [_counted(len(known), kind) for kind, known in places.items()]
    names = [place for known in places.values() for place in known]
    return f"{', '.join(parts)}: {', '.join(names)}"


def _counted(number: int, kind: str) -> str:
    return f"{number} {kind}" + ("" if number == 1 else "es" if kind == "search" else "s")


def changed_path(name: str, details: object) -> str | None:
    """The file that a writing tool changed, None for any other result."""
    if name in ("edit", "write") and isinstance(details, Mapping):
        path = details.get("path")
        return str(path) if path else None
    return None


def _any_target(args: Mapping[str, Any]) -> str:
    for key in TARGET_KEYS:
        if isinstance(args.get(key), str) and args[key]:
            return one_line(args[key], TARGET_LIMIT)
    shown = (
        f"{key}={json.dumps(value, ensure_ascii=False, default=str)}"
        for key, value in list(args.items())[:8]
    )
    return one_line(" ".join(shown), TARGET_LIMIT)


def _range(offset: object, limit: object) -> str:
    if not isinstance(offset, int) and not isinstance(limit, int):
        return ""
    first = offset if isinstance(offset, int) else 1
    return f":{first}-{first + limit - 1}" if isinstance(limit, int) else f":{first}-"


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _lines(text: str) -> int:
    return text.count("\n") + (not text.endswith("\n")) if text else 0


def text_of_call(text: str, details: object, content: object = ()) -> str:
    """What a panel shows of a result: text, pictures, and where the person's own code failed."""
    text = "\n".join(part for part in (text, *labels_of(content)) if part)
    trace = details.get("trace") if isinstance(details, Mapping) else None
    if not isinstance(trace, list) or not trace:
        return text
    return "\n".join([text.rstrip("\n"), *(f"  at {place}" for place in trace)])
