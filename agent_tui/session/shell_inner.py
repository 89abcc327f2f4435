"""Programs that run another program: which one, as far as their own words say."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from agent_tui.session.shell_words import Word

_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
_SHELLS = frozenset({"sh", "bash", "dash", "zsh", "ksh", "ash", "fish", "busybox"})
_PLAIN = frozenset({"command", "builtin", "exec", "nohup", "setsid", "time", "coproc"}) | {
    *("!", "{", "if", "elif", "then", "else", "while", "until", "do"),
}
"""Run what follows; the grammar takes some words of the language for programs."""
_VALUED: dict[str, str] = {
    # program: its short options that take a value
    "nice": "n",
    "ionice": "cnp",
    "timeout": "ks",
    "stdbuf": "ioe",
    "env": "u",
    "sudo": "ugpCRhTUrt",
    "doas": "uC",
    "xargs": "aEdIiLlnPs",
    "chroot": "",
    "unshare": "",
    "strace": "eopsE",
    "watch": "nd",
    "flock": "wEc",
    "chrt": "",
    "taskset": "",
    "runuser": "ugG",
    "parallel": "jaN",
    "unbuffer": "",
    "ltrace": "eo",
}
_FLAGS = {"env": "i", "time": "p", "command": "p", "xargs": "0rtx", "sudo": "EHnSk"}
"""Short options without a value that change nothing about what is run."""
_OPERANDS = {"timeout": 1, "chroot": 1, "flock": 1, "chrt": 1, "taskset": 1}
"""What stands between the options and the command."""
_REMOTE = frozenset(
    {"ssh", "docker", "podman", "kubectl", "su", "script", "at", "batch", "crontab"}
)

_TRANSPARENT = frozenset(
    {"time", "timeout", "nice", "env", "command", "stdbuf", "sh", "bash", "dash", "eval"}
)
"""Do nothing themselves but run the command."""


@dataclass(frozen=True, slots=True)
class Inner:
    """What a command runs beside itself."""

    words: tuple[Word, ...] = ()
    """Another command, word by word."""
    assignments: tuple[Word, ...] = ()
    texts: tuple[str, ...] = ()
    """Command lines for a shell."""
    doubt: str = ""
    """Why this may not be all, as a clause."""
    is_all: bool = False
    """The outer program does nothing else."""


def inner_command(words: Sequence[Word]) -> Inner:
    """What the command in `words` runs."""
    found = _inner(words)
    return replace(found, is_all=bool(words) and words[0].literal in _TRANSPARENT)


def _inner(words: Sequence[Word]) -> Inner:
    if not words:
        return Inner()
    name = (words[0].literal or "").rpartition("/")[2]
    rest = list(words[1:])
    if words[0].literal is None:
        return Inner(doubt="the name of a command in it is only known when it runs")
    if name in _SHELLS:
        return _shell(rest)
    if name == "eval":
        return _evaluated(rest)
    if name in ("find", "fd", "fdfind"):
        return _found(rest)
    if name in _PLAIN or name in _VALUED:
        return _wrapped(rest, name)
    if name in _REMOTE:
        return Inner(doubt=f"{name} runs commands that are not looked into")
    return Inner()


def _shell(words: list[Word]) -> Inner:
    for place, word in enumerate(words):
        option = word.literal
        if option is None:
            return Inner(doubt="it starts a shell with what is only known when it runs")
        if option.startswith("-") and not option.startswith("--") and option.endswith("c"):
            if len(words) <= place + 1 or words[place + 1].literal is None:
                return Inner(doubt="it gives a shell text that is only known when it runs")
            doubt = "it gives a shell text and arguments" if len(words) > place + 2 else ""
            if option != "-c" or place:
                doubt = doubt or "it starts a shell with options"
            return Inner(texts=(words[place + 1].literal or "",), doubt=doubt)
        if not option.startswith(("-", "+")):
            return Inner(doubt="it runs a script")
    return Inner(doubt="it starts a shell")


def _evaluated(words: list[Word]) -> Inner:
    values = [word.literal for word in words if word.literal is not None]
    if len(values) < len(words) or not values:
        return Inner(doubt="it evaluates text that is only known when it runs")
    return Inner(texts=(" ".join(values),))


def _found(words: list[Word]) -> Inner:
    """`find -exec`; several of them are one too many to be sure."""
    starts = [
        place
        for place, word in enumerate(words)
        if word.known in ("-exec", "-execdir", "-ok", "-okdir", "-x", "-X", "--exec")
    ]
    if not starts:
        return Inner()
    command: list[Word] = []
    for word in words[starts[0] + 1 :]:
        if word.known in (";", "+"):
            break
        command.append(Word(word.text, None) if "{}" in word.known else word)
    doubt = "it runs several commands on what it finds" if len(starts) > 1 else ""
    return Inner(tuple(command), doubt=doubt)


def _wrapped(words: list[Word], name: str) -> Inner:
    """The command behind options, `NAME=value` and operands."""
    valued, plain = _VALUED.get(name, ""), _FLAGS.get(name, "")
    assignments: list[Word] = []
    rest = list(words)
    doubt = ""
    while rest:
        text = rest[0].literal
        if text is None:
            return Inner(doubt="the name of a command in it is only known when it runs")
        if text == "--":
            rest.pop(0)
            break
        if _ASSIGNMENT.match(text):
            assignments.append(rest.pop(0))
        elif text.startswith("-") and len(text) > 1:
            rest.pop(0)
            if text[1] in valued and len(text) == 2 and rest:
                rest.pop(0)
            if text[1] not in valued and not (text[1] in plain and len(text) == 2):
                doubt = f"{name} has an option that is not known"
        else:
            break
    operands = _OPERANDS.get(name, 0)
    return Inner(tuple(rest[operands:]), tuple(assignments), doubt=doubt)
