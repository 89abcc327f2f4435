"""Every verb of the chat, once: slash commands, the palette and the help screen read this table."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

When = Literal["any", "running", "idle"]


@dataclass(frozen=True, slots=True)
class Command:
    """One verb. `name` is typed after a slash; `action` names what the app does."""

    name: str
    summary: str
    action: str
    argument: str = ""
    """What may follow, for the help: `[comment]`, `TEXT`; empty if nothing may."""
    key: str = ""
    """The key that does the same, as a person reads it."""
    when: When = "any"
    """`any`: acts at once, also while a turn runs; `idle`: only between turns."""
    in_palette: bool = True

    @property
    def needs_argument(self) -> bool:
        """Whether the command means nothing without what follows."""
        return self.argument.isupper() and not self.argument.startswith("[")

    def summary_with_key(self, shown: Callable[[str], str]) -> str:
        """What it does, and the key that does the same, as `shown` names it."""
        return f"{self.summary} ({shown(self.key)})" if self.key else self.summary

    @property
    def usage(self) -> str:
        """`/no [comment]`."""
        return f"/{self.name} {self.argument}".rstrip()


COMMANDS: tuple[Command, ...] = (
    Command("help", "keys and commands", "help", key="f1"),
    Command("keys", "what the terminal sends for a key, and what that does", "keys"),
    Command("vim", "Vim's keys in the composer, or no more", "vim"),
    Command("model", "pick a model, or name one", "model", "[PROVIDER/ID]", "ctrl+l"),
    Command(
        "fallback",
        "who goes on for a turn when the model is overloaded; off: nobody",
        "fallback",
        "[PROVIDER/ID … | off]",
    ),
    Command(
        "thinking",
        "set the thinking level, or show and hide thinking",
        "thinking",
        "[LEVEL]",
        "ctrl+t",
    ),
    Command("mode", "cycle the approval mode, or name one", "mode", "[MODE]", "shift+tab"),
    Command("queue", "select a pending message", "queue", key="alt+↑"),
    Command(
        "now", "stop the turn and send this at once", "now", "TEXT", "ctrl+s", in_palette=False
    ),
    Command(
        "follow-up",
        "send this when the turn is over",
        "follow_up",
        "TEXT",
        "alt+enter",
        in_palette=False,
    ),
    Command(
        "stop",
        "stop the turn after this step; /stop now stops at once",
        "stop",
        "[now]",
        "ctrl+x s",
    ),
    Command("retry", "go on with a turn that failed or broke off", "retry"),
    Command("extend", "allow more of the budget that is used up", "extend", "[amount]", "alt+x"),
    Command("finish", "let one last answer follow, without tools", "finish", key="alt+l"),
    Command("usage", "what was spent; export writes a table", "usage", "[export FILE.csv]"),
    Command("context", "what the window is filled with, and the largest items", "context"),
    Command(
        "compact",
        "summarise older messages; /compact undo takes that back",
        "compact",
        "[FOCUS | undo]",
    ),
    Command("pin", "keep the last message out of summaries, or no longer", "pin"),
    Command("diff", "what the agent changed in this turn, or in the session", "diff", "[session]"),
    Command("loop", "the loop, step by step: sent, answered, run, spent", "loop", key="f2"),
    Command(
        "break",
        "hold before the next model call, each one, or the calls of a tool",
        "break_",
        "[each|TOOL|off]",
    ),
    Command("step", "go on, and hold before the next model call", "step", key="alt+t"),
    Command("why", "say what the turn is waiting for", "why", key="f3"),
    Command("yes", "allow what is asked, once", "yes", key="alt+y"),
    Command(
        "always",
        "allow what is asked, and its like, from now on",
        "always",
        "[SCOPE]",
        "alt+a",
    ),
    Command("no", "decline what is asked; a comment goes to the model", "no", "[COMMENT]", "alt+n"),
    Command("rules", "what needs no question, and what is refused; take one back", "rules"),
    Command("trust", "use what this folder brings along, or do not", "trust", "[no]"),
    Command("new", "begin a new session; this one is kept", "new"),
    Command("resume", "go on with another session", "resume", "[ID]"),
    Command("rewind", "go back to before a message; redo undoes it", "rewind", "[redo]", "esc esc"),
    Command("tree", "look at all branches, and go to any place", "tree"),
    Command("fork", "go on with a copy of this session", "fork"),
    Command("name", "give this session a name", "name", "NAME", in_palette=False),
    Command("export", "write this session as .md, .html or .jsonl", "export", "[FILE]"),
    Command("background", "let the running command go on in the background", "background"),
    Command("jobs", "look at commands in the background; end NUMBER ends one", "jobs", "[end N]"),
    Command("expand", "expand or collapse all panels", "expand", key="ctrl+o"),
    Command("blocks", "move over the transcript block by block", "blocks", key="f6"),
    Command("raw", "show messages as they were written, or rendered", "raw"),
    Command("find", "search the whole transcript", "find", "[TEXT]"),
    Command("copy", "copy the last answer", "copy"),
    Command("paste", "attach the picture that is on the clipboard", "paste_picture", key="ctrl+v"),
    Command("edit", "edit the draft in $EDITOR", "edit", key="ctrl+g"),
    Command("theme", "list the themes, or switch to one", "theme", "[NAME]"),
    Command("tools", "the tools that the model may call, and where they come from", "tools"),
    Command("reload", "read instructions, skills, templates, tools and hooks again", "reload"),
    Command("mcp", "MCP servers: how they are, start anew, log in", "mcp", "[restart|login NAME]"),
    Command("doctor", "what was found: keys, servers, settings, versions", "doctor"),
    Command("quit", "leave", "quit", key="ctrl+d"),
)

_HEAD = re.compile(r"/([A-Za-z][A-Za-z-]*)(?:\s+|$)")


@dataclass(frozen=True, slots=True)
class Parsed:
    """A line that begins like a command. `command` is None if there is no such command."""

    name: str
    argument: str
    command: Command | None

    @property
    def is_bare(self) -> bool:
        """A whole command without anything of the person's own in it."""
        command = self.command
        return command is not None and not (self.argument or command.needs_argument)


def find(name: str) -> Command | None:
    """The command of that name."""
    return next((command for command in COMMANDS if command.name == name.lower()), None)


def parse(text: str) -> Parsed | None:
    """The command in `text`; None if it is a message.

    A message that begins with a path (`/usr/bin is missing`) is a message, and so is anything
    whose first word is more than letters and dashes.
    """
    match = _HEAD.match(text)
    if match is None:
        return None
    return Parsed(match[1], text[match.end() :].strip(), find(match[1]))


def suggest(name: str, own: Iterable[str] = ()) -> list[str]:
    """Names of commands, `own` ones included, that look like `name`, best first."""
    names = [*(command.name for command in COMMANDS), *own]
    begun = [known for known in names if known.startswith(name.lower())]
    return begun or difflib.get_close_matches(name.lower(), names, n=2, cutoff=0.5)


def unknown_sentence(name: str, own: Iterable[str] = ()) -> str:
    """What to say to somebody who typed a command that does not exist; `own` are further names."""
    names = suggest(name, own)
    hint = f"did you mean {' or '.join('/' + known for known in names)}?" if names else ""
    return f"Unknown command /{name}: {hint or '/help lists them'} The text is still here."


def completions(prefix: str) -> Iterable[Command]:
    """The commands whose name begins with `prefix` (without its slash), in the table's order."""
    return (command for command in COMMANDS if command.name.startswith(prefix.lower()))
