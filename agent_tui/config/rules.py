"""The `[rules]` table of a settings file: what needs no question, and what is never done."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from agent_tui.core.tables import Table

RuleVerdict = Literal["allow", "deny"]
RuleOrigin = Literal["session", "project", "everywhere", "settings", "project settings"]
ReadingCommands = Literal["ask", "free"]


@dataclass(frozen=True, slots=True)
class Rule:
    """Calls that are let through, or refused. What it leaves out (None) may be anything."""

    tool: str
    """The tool's name; `*` stands for any characters."""
    command: str | None = None
    """For a shell: the words of one simple command; a `*` stands for any characters of a word, at
    the end for any further words."""
    path: str | None = None
    """For a tool that takes a path: the path, from the project's folder on; `*`, `?`, `**`."""
    verdict: RuleVerdict = "allow"
    origin: RuleOrigin = "session"
    """Where it was said: `project` and `everywhere` are answers that were kept."""

    def __str__(self) -> str:
        if self.command is not None:
            return f"{self.tool}: {self.command}"
        if self.path is not None:
            where = "any file in the project" if self.path == "**" else self.path
            return f"{self.tool}: {where}"
        return f"{self.tool}: any arguments"


@dataclass(frozen=True, slots=True)
class RuleSettings:
    """What the `[rules]` tables of all files say."""

    rules: tuple[Rule, ...] = ()
    reading_commands: ReadingCommands = "ask"
    """Whether commands that only read, such as `git status`, need a question."""

    def joined(self, other: RuleSettings) -> RuleSettings:
        """These and, after them, those of a file that counts more."""
        chosen = (
            other.reading_commands if other.reading_commands != "ask" else self.reading_commands
        )
        return RuleSettings(self.rules + other.rules, chosen)


def read_rules(table: Table, origin: RuleOrigin) -> RuleSettings:
    """All rules of one file; one that makes no sense is a problem of the table's."""
    verdicts: tuple[RuleVerdict, ...] = ("allow", "deny")
    found = [
        rule
        for verdict in verdicts
        for entry in table.entries(verdict)
        if (rule := _rule(entry, verdict, origin)) is not None and _is_readable(rule, table)
    ]
    reading = table.choice("reading_commands", ("ask", "free"))
    table.finish()
    return RuleSettings(tuple(found), reading or "ask")


def _rule(entry: str | Table, verdict: RuleVerdict, origin: RuleOrigin) -> Rule | None:
    if isinstance(entry, str):
        return Rule("bash", command=entry, verdict=verdict, origin=origin)
    command, path, tool = entry.text("command"), entry.text("path"), entry.text("tool")
    entry.finish()
    if command is not None:
        tool = tool or "bash"
    if tool is None:
        entry.missing("tool")
        return None
    return Rule(tool, command, path, verdict, origin)


def _is_readable(rule: Rule, table: Table) -> bool:
    if rule.command is None or pattern_words(rule.command) is not None:
        return True
    table.wrong(rule.verdict, f"the quotes of {rule.command!r} do not match")
    return False


def pattern_words(pattern: str) -> list[str] | None:
    """The words of a rule's command; None if its quotes do not match or there is none."""
    import shlex

    try:
        return shlex.split(pattern) or None
    except ValueError:
        return None
