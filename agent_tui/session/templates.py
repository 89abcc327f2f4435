"""Prompt templates: Markdown files that are sent by their name, with what was typed put in."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from agent_tui.session.front_matter import split_front_matter
from agent_tui.session.texts import read_text

FILE_BYTES = 256 * 1024
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}")
_PLACE = re.compile(r"\\\$|\$(?:(?P<number>[1-9]\d?)|@|ARGUMENTS\b)")


@dataclass(frozen=True, slots=True)
class Template:
    """One template; `/name arguments` sends it."""

    name: str
    description: str
    """What it is for; its first line if it does not say."""
    argument_hint: str
    """What may follow its name, for the menu: `<file> [how]`; empty if it does not say."""
    path: Path
    body: str

    @property
    def takes_arguments(self) -> bool:
        """Whether there is a place in it for what was typed."""
        return any(match[0] != r"\$" for match in _PLACE.finditer(self.body))

    def expanded(self, arguments: str) -> str:
        r"""The text with what was typed put in: `$1`, `$2`, … are words, `$@` and `$ARGUMENTS` all.

        Quotes hold words together; a word that was not given is nothing; `\$1` stays `$1`. What was
        typed goes to the end of a template that has no place for it.
        """
        words = _words(arguments)
        has_place = False

        def put_in(match: re.Match[str]) -> str:
            nonlocal has_place
            if match[0] == r"\$":
                return "$"
            has_place = True
            if match["number"] is None:
                return arguments
            place = int(match["number"]) - 1
            return words[place] if place < len(words) else ""

        text = _PLACE.sub(put_in, self.body)
        return text if has_place or not arguments else f"{text}\n\n{arguments}"


def find_templates(folders: Sequence[Path], notices: list[str]) -> list[Template]:
    """The templates of all folders by name; one of a later folder stands for an earlier one's."""
    found: dict[str, Template] = {}
    for folder in folders:
        try:
            paths = sorted(folder.glob("*.md"))
        except OSError as error:
            notices.append(f"{folder} cannot be read: {error.strerror}")
            continue
        for path in paths:
            template = _read(path, notices)
            if template is None:
                continue
            if template.name in found:
                notices.append(f"{path} is used instead of {found[template.name].path}.")
            found[template.name] = template
    return sorted(found.values(), key=lambda template: template.name)


def _read(path: Path, notices: list[str]) -> Template | None:
    name = path.stem
    if not _NAME.fullmatch(name):
        notices.append(f"{path}: {name!r} cannot be a command: letters, digits, - and _ can.")
        return None
    read = read_text(path, FILE_BYTES)
    if read is None or isinstance(read, str):
        notices.append(f"{path} {read or 'is no file'}; it is not used.")
        return None
    entries, body = split_front_matter(read.text)
    body = body.strip()
    if not body:
        notices.append(f"{path} is empty; it is not used.")
        return None
    description = entries.get("description") or body.splitlines()[0]
    hint = entries.get("argument-hint", "")
    return Template(name, " ".join(description.split())[:200], hint, path, body)


def _words(arguments: str) -> list[str]:
    try:
        return shlex.split(arguments)
    except ValueError:  # an open quote
        return arguments.split()
