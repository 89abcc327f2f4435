"""The commands. Each one imports its own world when it runs, so that `--help` costs nothing.

Nobody below prints: errors come up to `main` and become one sentence and an exit code.
"""

from __future__ import annotations

import os
import sys

from agent_tui.cli import chat, mcp, models, replay, sessions, settings
from agent_tui.cli.program import app
from agent_tui.config import PICK
from agent_tui.launch import exit_with

__all__ = ["app", "chat", "main", "mcp", "models", "replay", "sessions", "settings"]

_OWN_OPTIONS = ("--help", "-h", "--version", "--install-completion", "--show-completion")


def main() -> None:
    """Run the program with the arguments it was started with, and exit."""
    from agent_tui.core.errors import AgentError

    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(encoding="utf-8", errors="replace")
    try:
        app(_with_command(sys.argv[1:]), prog_name="agent-tui")
    except AgentError as error:
        exit_with(error.message)
    except BrokenPipeError:
        # The reader has gone; what is still buffered must not complain at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)


def _with_command(arguments: list[str]) -> list[str]:
    """The arguments with `chat` put in where no command is named."""
    if not arguments or (arguments[0].startswith("-") and arguments[0] not in _OWN_OPTIONS):
        arguments = ["chat", *arguments]
    return _with_session(arguments)


def _with_session(arguments: list[str]) -> list[str]:
    """The arguments with a value for a `--resume` that has none: the person picks."""
    given: list[str] = []
    for place, argument in enumerate(arguments):
        given.append(argument)
        following = arguments[place + 1 : place + 2]
        if argument in ("--resume", "-r") and (not following or following[0].startswith("-")):
            given.append(PICK)
    return given
