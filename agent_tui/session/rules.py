"""Which calls a rule is about, and the rule that an answer "always" would make.

A rule of a command is about one simple command, word by word. With a `*` in it, every further word
must stay inside the project: a rule allows what it says, not where else that may be done.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from agent_tui.config import Rule, pattern_words
from agent_tui.session.shell_parts import Part
from agent_tui.tools import Reach
from agent_tui.tools.globs import matcher

_WITH_ANY_WORDS: dict[str, frozenset[str] | None] = {
    # program: its subcommands for which any further words mean no other program; None: no matter
    "pytest": None,
    "mypy": None,
    "ruff": None,
    "ls": None,
    "cat": None,
    "head": None,
    "tail": None,
    "wc": None,
    "grep": None,
    "echo": None,
    "pwd": None,
    "stat": None,
    "git": frozenset({"status", "log", "diff", "show", "blame", "add", "commit", "ls-files"}),
    "cargo": frozenset({"build", "test", "check", "clippy", "fmt"}),
    "go": frozenset({"build", "test", "vet", "fmt"}),
    "npm": frozenset({"test", "ls"}),
    "uv": frozenset({"sync", "lock", "tree"}),
}


def names_tool(rule: Rule, tool_name: str) -> bool:
    """Whether the rule is about this tool."""
    return bool(_pattern(rule.tool).fullmatch(tool_name))


def names_path(rule: Rule, reach: Reach, project: Path) -> bool:
    """Whether the rule is about the place that a path leads to."""
    if rule.path is None:
        return False
    real, root = reach.path, project.resolve()
    pattern = rule.path
    if pattern.startswith(("/", "~")):
        return matcher(str(Path(pattern).expanduser()))(str(real).lstrip("/"))
    if not real.is_relative_to(root):
        return False
    return matcher(pattern)(real.relative_to(root).as_posix())


def is_exact(rule: Rule) -> bool:
    """Whether the rule is about one command only, with all its words."""
    return rule.command is not None and "*" not in rule.command


def names_command(rule: Rule, words: Sequence[str]) -> bool:
    """Whether the rule's words are those of this simple command."""
    wanted = _words(rule.command or "")
    if not wanted:
        return False
    if not wanted[-1].endswith("*"):
        return len(words) == len(wanted) and _all_match(wanted, words)
    last = len(wanted) - 1
    if wanted[-1] == "*":
        return len(words) >= last and _all_match(wanted[:-1], words[:last])
    return len(words) > last and _all_match(wanted, words[: last + 1])


def may_name_command(rule: Rule, part: Part) -> bool:
    """Whether a rule that forbids may be about this command.

    Words that are only known when it runs count as named, a program's name does not.
    """
    wanted = _words(rule.command or "")
    if not wanted or not part.words:
        return False
    open_end = wanted[-1].endswith("*")
    if wanted[-1] == "*":
        wanted = wanted[:-1]
    if len(part.words) < len(wanted) or (len(part.words) > len(wanted) and not open_end):
        return False
    for place, (pattern, word) in enumerate(zip(wanted, part.words, strict=False)):
        value = word.literal
        if value is None:
            if place == 0:
                return False
            continue
        spellings = (value, value.rpartition("/")[2]) if place == 0 else (value,)
        if not any(_pattern(pattern).fullmatch(spelling) for spelling in spellings):
            return False
    return True


def rule_for(tool_name: str, part: Part) -> Rule | None:
    """The rule that "always" would make of a simple command; None if nothing may be made of it."""
    words = part.literals
    if words is None or part.assignments:
        return None
    known = _WITH_ANY_WORDS.get(words[0], frozenset())
    if known is None:
        return Rule(tool_name, f"{words[0]} *")
    if len(words) > 1 and words[1] in known:
        return Rule(tool_name, f"{words[0]} {words[1]} *")
    if any("*" in word for word in words):
        return None  # in a rule the sign would mean something else
    return Rule(tool_name, shlex.join(words))


def what_it_matches(rule: Rule) -> str:
    """The calls that the rule is about, for a person."""
    if rule.command is not None:
        words = rule.command.split(" ")
        if words[-1] == "*" and len(words) > 1:
            return f"`{' '.join(words[:-1])}` with any further words that stay in the project"
        return "this very command" if is_exact(rule) else f"commands like `{rule.command}`"
    if rule.path == "**":
        return "every file in the project but version control, credentials and the like"
    if rule.path is not None:
        return f"{rule.tool} at {rule.path}"
    return f"every call of {rule.tool}"


def _all_match(wanted: Sequence[str], words: Sequence[str]) -> bool:
    pairs = zip(wanted, words, strict=True)
    return all(_pattern(pattern).fullmatch(word) for pattern, word in pairs)


@lru_cache(maxsize=512)
def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(".*".join(map(re.escape, text.split("*"))), re.DOTALL)


@lru_cache(maxsize=512)
def _words(command: str) -> tuple[str, ...]:
    return tuple(pattern_words(command) or ())
