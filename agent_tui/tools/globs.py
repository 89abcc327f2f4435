"""Glob patterns over relative paths, in time that no pattern can blow up.

`*` and `?` stay within a name, `**` stands for any folders, `{a,b}` for either. A pattern without a
slash is about the name alone, at any depth; one with a slash is about the whole path.
"""

from __future__ import annotations

from collections.abc import Callable
from fnmatch import fnmatchcase

from agent_tui.tools.paths import Refused

ALTERNATIVES = 64


def matcher(pattern: str) -> Callable[[str], bool]:
    """A test for paths with slashes. Raises `Refused` if the pattern has too many alternatives."""
    wanted = [_segments(alternative) for alternative in _alternatives(pattern)]
    return lambda path: any(_fits(path.split("/"), segments) for segments in wanted)


def _segments(pattern: str) -> list[str]:
    pattern = pattern.removeprefix("./").rstrip("/")
    if "/" not in pattern:
        return ["**", pattern]
    return pattern.lstrip("/").split("/")


def _alternatives(pattern: str) -> list[str]:
    done: list[str] = []
    waiting = [pattern]
    while waiting:
        text = waiting.pop()
        end = text.find("}")
        start = text.rfind("{", 0, max(end, 0))
        if start < 0 or "," not in text[start:end]:
            done.append(text)
            continue
        waiting += [
            f"{text[:start]}{part}{text[end + 1 :]}" for part in text[start + 1 : end].split(",")
        ]
        if len(waiting) + len(done) > ALTERNATIVES:
            raise Refused(f"The pattern has more than {ALTERNATIVES} alternatives.")
    return done


def _fits(names: list[str], segments: list[str]) -> bool:
    """Whether the names match; only the last `**` seen needs to be reconsidered."""
    name = segment = 0
    star, resumed = -1, 0
    while name < len(names):
        if segment < len(segments) and segments[segment] == "**":
            star, resumed = segment, name
            segment += 1
        elif segment < len(segments) and fnmatchcase(names[name], segments[segment]):
            name += 1
            segment += 1
        elif star >= 0:
            resumed += 1
            name, segment = resumed, star + 1
        else:
            return False
    return all(rest == "**" for rest in segments[segment:])
