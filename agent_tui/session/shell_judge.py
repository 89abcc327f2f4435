"""Whether a shell command may run without a question, judged part by part.

It may if rules cover every simple command in it, and every file that the shell opens for writing
may be written. Whatever is not sure asks.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from agent_tui.config import Mode, ReadingCommands, Rule
from agent_tui.session.reading import is_the_systems, only_reads, risky_option, takes_files
from agent_tui.session.rules import (
    is_exact,
    may_name_command,
    names_command,
    names_path,
    names_tool,
    rule_for,
)
from agent_tui.session.shell_parts import MISREAD, Part, Redirect, ShellParts, shell_parts
from agent_tui.session.shell_reach import (
    NO_FILES,
    folders_of,
    is_change_of_folder,
    reaches,
    strays,
)
from agent_tui.tools import Places, Reach, Refused

_HARMLESS_VARIABLE = re.compile(
    r"(LANG|LC_\w+|TZ|NO_COLOR|FORCE_COLOR|CI|COLUMNS|LINES|PYTHONUNBUFFERED|"
    r"PYTHONDONTWRITEBYTECODE|RUST_BACKTRACE)=[\w.:@+-]*"
)
_WRITERS = frozenset(
    {
        *("chgrp", "chmod", "chown", "cp", "dd", "install", "ln", "mkdir", "mkfifo", "mknod", "mv"),
        *("patch", "rm", "rmdir", "rsync", "scp", "shred", "split", "tar", "tee", "touch"),
        *("truncate", "unlink", "unzip"),
    }
)
"""Programs whose words name what they change."""


_ENVIRONMENT = re.compile(r"/proc\b.*environ")
"""This program's own holds the keys that it was started with."""


@dataclass(frozen=True, slots=True)
class ShellVerdict:
    """Why a command asks, and what "always" would store."""

    reasons: tuple[str, ...] = ()
    """Clauses; none if it may run."""
    offer: tuple[Rule, ...] = ()
    """Rules that would let this very command run; none if nothing sure can be offered."""


class ShellJudge:
    """Judges commands of one shell tool by `rules`, which may change in between."""

    def __init__(
        self,
        tool_name: str,
        places: Places,
        rules: Sequence[Rule],
        reading: ReadingCommands = "ask",
    ) -> None:
        self._tool = tool_name
        self._places = places
        self._rules = [rule for rule in rules if names_tool(rule, tool_name)]
        self._writing = [rule for rule in rules if names_tool(rule, "write")]
        self._reading = reading

    def denial(self, command: str) -> Rule | None:
        """The rule that forbids a part of the command, or a place that it names, if one does."""
        found = shell_parts(command)
        for rule in self._rules:
            if rule.verdict == "allow":
                continue
            if rule.command is None and rule.path is None:
                return rule
            if any(may_name_command(rule, part) for part in found.parts):
                return rule
            if rule.path is not None and self._goes_to(rule, found):
                return rule
        return None

    def _goes_to(self, rule: Rule, found: ShellParts) -> bool:
        folders, _ = folders_of(found, self._places)
        words = [word.known for part in found.parts for word in part.words[1:]]
        words += [redirect.target.known for redirect in found.redirects]
        return any(
            names_path(rule, reach, self._places.project)
            for word in words
            for reach in reaches(word, folders, self._places)
        )

    def judge(self, command: str, mode: Mode) -> ShellVerdict:
        """What is to be asked about `command` in this mode."""
        found = shell_parts(command)
        if mode == "full-auto":
            return ShellVerdict(tuple(self._alarms(found)))
        reasons = self._reasons(found, mode, self._rules)
        if not reasons:
            return ShellVerdict()
        return ShellVerdict(tuple(reasons), self._offer(found, mode))

    # -- where commands are free -----------------------------------------------------------------

    def _alarms(self, found: ShellParts) -> list[str]:
        """What asks although commands are free."""
        if found.unreadable is not None:
            return [found.unreadable]
        folders, _ = folders_of(found, self._places)
        reasons = []
        words = [word.text for part in found.parts for word in part.words[1:]]
        if any(map(_ENVIRONMENT.search, [*words, *(each.target.text for each in found.redirects)])):
            reasons.append("it reads the environment of a process, which may hold keys")
        if any(rule.verdict == "deny" and rule.command for rule in self._rules):
            # What a rule forbids could stand where it is not seen.
            if any(part.name is None for part in found.parts):
                reasons.append("the name of a command in it is only known when it runs")
            reasons += [MISREAD] if MISREAD in found.doubts else []
        for part in found.parts:
            is_writer = (part.name or "").rpartition("/")[2] in _WRITERS
            for word in part.words[1:]:
                reach = self._stray(word.known, folders, also_outside=is_writer)
                reasons += [] if reach is None else [_reaches(reach)]
        for redirect in found.redirects:
            reach = self._stray(redirect.target.known, folders, also_outside=redirect.writes)
            reasons += [] if reach is None else [_reaches(reach)]
        return list(dict.fromkeys(reasons))[:4]

    def _stray(self, word: str, folders: list[Path], *, also_outside: bool) -> Reach | None:
        for reach in strays(word, folders, self._places):
            if reach.guarded or (also_outside and not self._may_reach(reach)):
                return reach
        return None

    # -- where they ask --------------------------------------------------------------------------

    def _reasons(self, found: ShellParts, mode: Mode, rules: Sequence[Rule]) -> list[str]:
        folders, doubt = folders_of(found, self._places)
        told: list[str] = []
        open_parts = self._uncovered(found, folders, rules, told)
        reasons = [] if found.parts and not open_parts else ["it runs a command"]
        if reasons and any(self._covering(part, rules) for part in found.parts) and open_parts:
            reasons.append(f"no rule covers `{open_parts[0].text}`")
        reasons += told
        for redirect in found.redirects:
            reasons += self._about(redirect, folders, mode)
        doubts = [doubt] if doubt else []
        doubts += found.doubts
        if doubts and not reasons:
            reasons = ["it runs a command", doubts[0]]
        return list(dict.fromkeys(reasons))[:4]

    def _uncovered(
        self, found: ShellParts, folders: list[Path], rules: Sequence[Rule], told: list[str]
    ) -> list[Part]:
        """The parts that ask; `told` gets why those ask that a rule is about."""
        rest: list[Part] = []
        some = False
        acting = [part for part in found.parts if self._acts(part)]
        if not acting and self._reading == "ask":
            return found.parts
        for part in acting:
            problems = [self._problem(part, rule, folders) for rule in self._covering(part, rules)]
            if problems and not all(problems):
                some = True
                continue
            rest.append(part)
            told += [problem for problem in problems[:1] if problem]
        if some or self._reading == "free":
            rest = [part for part in rest if not self._is_harmless(part, folders)]
        if any(not _is_plain(text) for part in found.parts for text in part.assignments):
            told.append("it sets a variable that a program may obey")
        return rest

    def _acts(self, part: Part) -> bool:
        """Whether the part does anything of its own."""
        if is_change_of_folder(part):
            return False
        return not (part.is_wrapper and is_the_systems(part.name or "", self._places.project))

    def _covering(self, part: Part, rules: Sequence[Rule]) -> list[Rule]:
        """The rules that are about this part."""
        words = part.literals
        if not words:
            return []
        return [
            rule
            for rule in rules
            if rule.verdict == "allow"
            and rule.path is None
            and (rule.command is None or names_command(rule, words))
        ]

    def _problem(self, part: Part, rule: Rule, folders: list[Path]) -> str | None:
        """Why the part asks although the rule is about it."""
        words = part.literals or []
        exact = is_exact(rule)
        for word in words[1:] if takes_files(words[0]) else []:
            reach = self._stray(word, folders, also_outside=not exact)
            if reach is not None:
                return _reaches(reach)
        risky = None if exact else risky_option(words[0], words[1:])
        return f"{risky} is more than reading" if risky else None

    def _is_harmless(self, part: Part, folders: list[Path]) -> bool:
        if not only_reads(part.words, self._places.project):
            return False
        if part.name == "git" and len(folders) > 1:
            return False
        if not takes_files(part.name):
            return True
        words = [word.literal or "" for word in part.words[1:]]
        return not any(self._stray(word, folders, also_outside=True) for word in words)

    def _about(self, redirect: Redirect, folders: list[Path], mode: Mode) -> list[str]:
        target = redirect.target.literal
        if target is None:
            return ["it opens a file whose name is only known when it runs"]
        if target in NO_FILES:
            return []
        reach = self._stray(target, folders, also_outside=True)
        if reach is not None:
            return [_reaches(reach)]
        if not redirect.writes or mode == "auto-edit":
            return []
        if all(self._may_write(target, folder) for folder in folders):
            return []
        return [f"it writes to {target}"]

    # -- places ----------------------------------------------------------------------------------

    def _may_reach(self, reach: Reach) -> bool:
        """Whether a rule lets commands go to a place outside the project."""
        return any(
            rule.verdict == "allow" and names_path(rule, reach, self._places.project)
            for rule in self._rules
        )

    def _may_write(self, target: str, folder: Path) -> bool:
        try:
            reach = self._places.reach(target, folder)
        except Refused:
            return False
        project = self._places.project
        return any(
            rule.verdict == "allow" and rule.command is None and names_path(rule, reach, project)
            for rule in self._writing
        )

    # -- offers ----------------------------------------------------------------------------------

    def _offer(self, found: ShellParts, mode: Mode) -> tuple[Rule, ...]:
        folders, _ = folders_of(found, self._places)
        parts = self._uncovered(found, folders, self._rules, [])
        doing = [part for part in parts if not self._is_harmless(part, folders)]
        # Beside a command with a rule, one that only reads needs none.
        for chosen in (doing, parts[:1], parts):
            if rules := self._rules_for(found, mode, chosen):
                return rules
        return ()

    def _rules_for(self, found: ShellParts, mode: Mode, parts: list[Part]) -> tuple[Rule, ...]:
        """Rules for these parts, if they let the whole command run."""
        rules: list[Rule] = []
        for part in parts:
            rule = rule_for(self._tool, part)
            if rule is None:
                return ()
            rules += [] if rule in rules else [rule]
        if not rules or self._reasons(found, mode, [*self._rules, *rules]):
            return ()
        return tuple(rules)


def _reaches(reach: Reach) -> str:
    return f"it reaches {reach.path}, {reach.guarded or 'outside the project'}"


def _is_plain(assignment: str) -> bool:
    return bool(_HARMLESS_VARIABLE.fullmatch(assignment))
