"""What "always" means: a rule allows calls of one tool, and never more than it says.

A shell command is only ever matched when it is one plain command: with a chain, a substitution, a
redirection, a pattern or a second line in it nothing is sure about it, and it asks.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from agent_tui.tools import Reach, Refused, judge

_NOT_PLAIN = re.compile(r"[;&|<>()$`{}*?!#\\\[\]\x00-\x1f\x7f]")
_SUBCOMMAND = re.compile(r"[a-z][a-z-]*")
_WITH_SUBCOMMANDS = frozenset({"git", "npm", "pnpm", "yarn", "cargo", "go", "uv", "docker"})
_ANY_ARGUMENTS = frozenset(
    {"pytest", "mypy", "ruff", "ls", "cat", "head", "tail", "wc", "grep", "echo", "pwd", "stat"}
)

Scope = Literal["command", "path", "project", "anything"]


@dataclass(frozen=True, slots=True)
class Rule:
    """Calls of `tool_name` that need no question."""

    tool_name: str
    scope: Scope
    pattern: str = ""
    """`command`: the command, where a final `*` stands for anything; `path`: the resolved path."""

    def __str__(self) -> str:
        match self.scope:
            case "project":
                return f"{self.tool_name}: any file in the project"
            case "anything":
                return f"{self.tool_name}: any arguments"
        return f"{self.tool_name}: {self.pattern}"


def allows(rule: Rule, tool_name: str, reach: Reach | None, command: str, cwd: Path) -> bool:
    """Whether `rule` covers this call; `reach` is where its path leads, if it has one."""
    if rule.tool_name != tool_name:
        return False
    match rule.scope:
        case "anything":
            return True
        case "project":
            return reach is not None and reach.inside and reach.guarded is None
        case "path":
            return reach is not None and str(reach.path) == rule.pattern
        case "command":
            return _matches(rule.pattern, command, cwd)


def rule_for_command(tool_name: str, command: str) -> Rule | None:
    """The rule that "always" would make of a shell command; None if nothing may be made of it."""
    words = _plain_words(command)
    if words is None:
        return None
    match words:
        case [program, subcommand, *_] if program in _WITH_SUBCOMMANDS:
            if _SUBCOMMAND.fullmatch(subcommand):
                return Rule(tool_name, "command", f"{program} {subcommand} *")
        case [program, *_] if program in _ANY_ARGUMENTS:
            return Rule(tool_name, "command", f"{program} *")
    return Rule(tool_name, "command", shlex.join(words))


def command_of(args: Mapping[str, Any]) -> str:
    """The command of a shell call's arguments."""
    return str(args.get("command") or "")


def _matches(pattern: str, command: str, cwd: Path) -> bool:
    words = _plain_words(command)
    if words is None:
        return False
    text = shlex.join(words)
    if not pattern.endswith("*"):
        return text == pattern
    start = pattern[:-1]
    if text != start.rstrip() and not text.startswith(start):
        return False
    return all(_stays_inside(word, cwd) for word in words[1:])


def _plain_words(command: str) -> list[str] | None:
    """The words of one plain command, None for everything else."""
    stripped = command.strip()
    if not stripped or _NOT_PLAIN.search(stripped):
        return None
    try:
        words = shlex.split(stripped)
    except ValueError:  # an open quote
        return None
    return None if not words or "=" in words[0] else words


def _stays_inside(word: str, cwd: Path) -> bool:
    option, _, value = word.partition("=")
    if option.startswith("-") and "/" in option:  # a path glued to a short option
        return False
    try:
        reaches = [judge(part, cwd) for part in (word, value) if part]
    except Refused:
        return False
    return all(reach.inside and reach.guarded is None for reach in reaches)
