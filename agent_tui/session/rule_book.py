"""The rules that the person's answers have made, in `rules.toml` of their own configuration.

A rule of one project holds the project's folder; a project's own files are never written. The file
may be edited by hand: what was not added here stays as it is.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from agent_tui.config import Rule, RuleVerdict, pattern_words
from agent_tui.config.keeping import write_private

KeptScope = Literal["project", "everywhere"]

_HEAD = "# Rules from your answers. /rules shows them and takes them back.\n"
_BLOCK = re.compile(r"^(?=\[\[\s*(?:allow|deny)\s*\]\])", re.MULTILINE)


class RuleBook:
    """The kept rules that count in one project."""

    def __init__(self, file: Path, project: Path) -> None:
        self._file = file
        self._project = str(project.resolve())
        self.problem: str | None = None
        """Why the file is not used, as a sentence."""

    def rules(self) -> list[Rule]:
        """Those of this project and those for everywhere; none if the file cannot be read."""
        found = (self._rule(verdict, entry) for verdict, entry in _entries(self._data()))
        return [rule for rule in found if rule is not None]

    def add(self, rule: Rule, scope: KeptScope) -> Rule:
        """Keep a rule; returns it with its origin.

        Raises:
            OSError: It cannot be kept; the file is as it was.
        """
        kept = replace(rule, origin=scope)
        if kept not in self.rules():
            if self.problem:
                raise OSError(self.problem)
            text = self._text()
            gap = "\n" if text.endswith("\n") else "\n\n"
            self._write(f"{text}{gap}{self._block(kept)}" if text else _HEAD + self._block(kept))
        return kept

    def remove(self, rule: Rule) -> bool:
        """Forget a kept rule; False if it is not in the file.

        Raises:
            OSError: It cannot be forgotten; the file is as it was.
        """
        pieces = _BLOCK.split(self._text())
        rest = [piece for piece in pieces if not self._is_of(piece, rule)]
        if len(rest) == len(pieces):
            return False
        self._write("".join(rest))
        return True

    def _is_of(self, piece: str, rule: Rule) -> bool:
        try:
            entries = list(_entries(tomllib.loads(piece)))
        except tomllib.TOMLDecodeError:
            return False
        return [self._rule(verdict, entry) for verdict, entry in entries] == [rule]

    def _rule(self, verdict: RuleVerdict, entry: dict[str, Any]) -> Rule | None:
        fields = {key: entry.get(key) for key in ("tool", "command", "path", "project")}
        if any(value is not None and not isinstance(value, str) for value in fields.values()):
            return None
        project, tool = fields["project"], fields["tool"] or ("bash" if fields["command"] else None)
        if tool is None or (project is not None and project != self._project):
            return None
        if fields["command"] is not None and pattern_words(fields["command"]) is None:
            return None
        origin: KeptScope = "everywhere" if project is None else "project"
        return Rule(tool, fields["command"], fields["path"], verdict, origin)

    def _block(self, rule: Rule) -> str:
        said: dict[str, str | None] = {
            "tool": rule.tool,
            "command": rule.command,
            "path": rule.path,
            "project": self._project if rule.origin == "project" else None,
        }
        lines = [f"{key} = {_quoted(value)}" for key, value in said.items() if value is not None]
        return "\n".join([f"[[{rule.verdict}]]", *lines]) + "\n"

    def _data(self) -> dict[str, Any]:
        self.problem = None
        try:
            return tomllib.loads(self._text())
        except tomllib.TOMLDecodeError as error:
            self.problem = f"{self._file} is no valid TOML and is not used: {error}"
        except (OSError, UnicodeDecodeError) as error:
            self.problem = f"{self._file} cannot be read and is not used: {error}"
        return {}

    def _text(self) -> str:
        try:
            return self._file.read_text("utf-8")
        except FileNotFoundError:
            return ""

    def _write(self, text: str) -> None:
        write_private(self._file, text)


def _entries(data: dict[str, Any]) -> Iterator[tuple[RuleVerdict, dict[str, Any]]]:
    verdicts: tuple[RuleVerdict, ...] = ("allow", "deny")
    for verdict in verdicts:
        entries = data.get(verdict)
        for entry in entries if isinstance(entries, list) else ():
            if isinstance(entry, dict):
                yield verdict, entry


def _quoted(text: str) -> str:
    """A TOML string; JSON's is one, but for one character."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
