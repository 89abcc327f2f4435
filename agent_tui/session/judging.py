"""What a call would do, and whether that runs, asks or is refused: modes, rules, places.

What lies outside the project asks in every mode unless a rule names it; version control internals,
credentials, shell start-up files and the program's own configuration always ask.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from agent_tui.config import Mode, ReadingCommands, Rule
from agent_tui.session.rules import names_path, names_tool
from agent_tui.session.shell_judge import ShellJudge
from agent_tui.tools import ACCESS, Places, Reach, Refused, path_argument


@dataclass(frozen=True, slots=True)
class Question:
    """A call that needs a word from the person."""

    reason: str
    """Why, as a clause."""
    offer: tuple[Rule, ...] = ()
    """What "always" would store; empty if nothing would help for sure."""
    way_out: str = "full-auto"
    """The modes in which this call would not ask, as flags name them; "" if there is none."""


@dataclass(frozen=True, slots=True)
class RemoteUse:
    """A tool of an MCP server."""

    server: str
    tool: str
    """Its name there."""
    says_reading: bool = False
    """The server claims that it changes nothing; nobody has to believe that."""


@dataclass(frozen=True, slots=True)
class Judge:
    """Judges calls in a project."""

    places: Places
    access: Mapping[str, str]
    """What a tool does, by its name; tools that are not named are not built in."""
    reading: ReadingCommands = "ask"
    readable: Sequence[Path] = ()
    """Folders that may be read like the project, wherever they are; asked at each call."""
    remote: Mapping[str, RemoteUse] = field(default_factory=dict)
    """Tools of MCP servers by their names; asked at each call."""

    def judge(
        self, mode: Mode, rules: Sequence[Rule], tool_name: str, args: Mapping[str, Any]
    ) -> Question | str | None:
        """A question, a refusal as a sentence, or None for a call that may run."""
        access = self.access.get(tool_name)
        try:
            reach = self._reach(tool_name, access, args) if access else None
        except Refused:
            reach = None
            if access in ("read", "write") and mode != "read-only":
                return None  # the tool itself answers with what is wrong with the path
        forbidding = self._denial(rules, tool_name, access, args, reach)
        if forbidding is not None:
            return f"{tool_name} is refused: a rule forbids it ({forbidding})."
        if mode == "read-only" and access in ("write", "shell"):
            return f"{tool_name} is refused: the mode is read-only, so nothing may be changed."
        remote = self.remote.get(tool_name)
        if mode == "read-only" and remote is not None and not remote.says_reading:
            return f"{tool_name} is refused: the mode is read-only, and it may change something."
        if reach is not None and (reach.guarded or not reach.inside):
            return self._about_place(rules, tool_name, reach)
        if access == "shell":
            return self._about_command(mode, rules, tool_name, command_of(args))
        if mode == "full-auto" or access == "read" or self._allowed(rules, tool_name, reach):
            return None
        if access == "write":
            if mode == "auto-edit":
                return None
            offer = (Rule(tool_name, path="**"),)
            return Question("it changes a file", offer, "auto-edit or full-auto")
        reason = "it is not a built-in tool"
        if remote is not None:
            reason = f"it is the tool {remote.tool!r} of the MCP server {remote.server}"
        return Question(reason, (Rule(tool_name),))

    def _about_place(self, rules: Sequence[Rule], tool_name: str, reach: Reach) -> Question | None:
        if reach.guarded:
            return Question(f"{reach.path} is {_what(reach.guarded)}", way_out="")
        if self._allowed(rules, tool_name, reach):
            return None
        offer = () if _is_pattern(reach.path) else (Rule(tool_name, path=str(reach.path)),)
        return Question(f"{reach.path} is outside the project", offer, "")

    def _about_command(
        self, mode: Mode, rules: Sequence[Rule], tool_name: str, command: str
    ) -> Question | None:
        judge = ShellJudge(tool_name, self.places, rules, self.reading)
        verdict = judge.judge(command, mode)
        if not verdict.reasons:
            return None
        is_free = mode != "full-auto" and not judge.judge(command, "full-auto").reasons
        reason = "; ".join(verdict.reasons)
        return Question(reason, verdict.offer, "full-auto" if is_free else "")

    def _allowed(self, rules: Sequence[Rule], tool_name: str, reach: Reach | None) -> bool:
        for rule in rules:
            if rule.verdict == "deny" or rule.command is not None:
                continue
            if not names_tool(rule, tool_name):
                continue
            if rule.path is None and (reach is None or reach.inside):
                return True
            if reach is not None and names_path(rule, reach, self.places.project):
                return True
        return False

    def _denial(
        self,
        rules: Sequence[Rule],
        tool_name: str,
        access: str | None,
        args: Mapping[str, Any],
        reach: Reach | None,
    ) -> Rule | None:
        forbidding = [rule for rule in rules if rule.verdict == "deny"]
        if not forbidding:
            return None
        if access == "shell":
            command = command_of(args)
            return ShellJudge(tool_name, self.places, forbidding).denial(command)
        for rule in forbidding:
            if rule.command is not None or not names_tool(rule, tool_name):
                continue
            if rule.path is None:
                return rule
            if reach is not None and names_path(rule, reach, self.places.project):
                return rule
        return None

    def _reach(self, tool_name: str, access: str, args: Mapping[str, Any]) -> Reach | None:
        path = path_argument(tool_name, args)
        if path is None:
            return None
        places = self.places
        if access == "read" and self.readable:
            places = replace(places, free=(*places.free, *self.readable))
        return places.reach(path)


def judge_for(
    cwd: Path,
    access: Mapping[str, str] = ACCESS,
    *,
    free: Sequence[Path] = (),
    own: Sequence[Path] = (),
    readable: Sequence[Path] = (),
    reading: ReadingCommands = "ask",
    remote: Mapping[str, RemoteUse] | None = None,
) -> Judge:
    """A judge for the project in `cwd`; `free` folders are like it, `own` files always ask.

    `access`, `readable` (folders that may be read) and `remote` (tools of MCP servers) may change
    later, and count at once.
    """
    places = Places(cwd, tuple(free), tuple(own))
    return Judge(places, access, reading, readable, {} if remote is None else remote)


def command_of(args: Mapping[str, Any]) -> str:
    """The command of a shell call's arguments."""
    return str(args.get("command") or "")


def _what(guarded: str) -> str:
    return guarded if guarded.startswith(("the ", "version", "cred")) else f"a {guarded}"


def _is_pattern(path: Path) -> bool:
    return any(sign in str(path) for sign in "*?[{")
