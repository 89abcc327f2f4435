"""Skills: instructions for special tasks that a model reads when it has such a task.

A skill is a folder `skills/NAME` with a file `SKILL.md`. The prompt holds its name, its description
and its place, and nothing else of it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from agent_tui.core.invocation import skill_message
from agent_tui.session.front_matter import split_front_matter
from agent_tui.session.texts import read_text

FILE = "SKILL.md"
FILE_BYTES = 256 * 1024
DESCRIPTION_CHARACTERS = 1024
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")


@dataclass(frozen=True, slots=True)
class Skill:
    """One skill."""

    name: str
    description: str
    path: Path
    """Its `SKILL.md`."""
    body: str
    """What stands in it behind the front matter."""

    def called(self, arguments: str) -> str:
        """The message that gives it to the model by hand."""
        path, folder = str(self.path), str(self.path.parent)
        return skill_message(self.name, path, folder, self.body, arguments)


def find_skills(folders: Sequence[Path], notices: list[str]) -> list[Skill]:
    """The skills of all folders by name; one of a later folder stands for an earlier one's."""
    found: dict[str, Skill] = {}
    for folder in folders:
        for path in _skill_files(folder, notices):
            skill = _read(path, notices)
            if skill is None:
                continue
            if skill.name in found:
                notices.append(f"{path} is used instead of {found[skill.name].path}.")
            found[skill.name] = skill
    return sorted(found.values(), key=lambda skill: skill.name)


def _skill_files(folder: Path, notices: list[str]) -> list[Path]:
    try:
        return sorted(entry / FILE for entry in folder.iterdir() if (entry / FILE).exists())
    except FileNotFoundError:
        return []
    except OSError as error:
        notices.append(f"{folder} cannot be read: {error.strerror}")
        return []


def _read(path: Path, notices: list[str]) -> Skill | None:
    read = read_text(path, FILE_BYTES)
    if read is None or isinstance(read, str):
        notices.append(f"{path} {read or 'is no file'}; it is not used.")
        return None
    entries, body = split_front_matter(read.text)
    name = entries.get("name") or path.parent.name
    description = " ".join(entries.get("description", "").split())
    if not _NAME.fullmatch(name):
        notices.append(f"{path}: {name!r} is no name for a skill: letters, digits, - and _ are.")
    elif not description:
        notices.append(f"{path}: there is no description: in its front matter; it is not used.")
    else:
        return Skill(name, description[:DESCRIPTION_CHARACTERS], path, body.strip())
    return None
