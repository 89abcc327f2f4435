"""The prompt of a command: an argument, what is piped in, or both."""

from __future__ import annotations

import os
import sys

import typer

from agent_tui.launch import exit_with

PIPE_SECONDS = 3.0
"""How long a prompt waits for the first word of a pipe."""


def prompt_text(prompt: str | None) -> str:
    """The prompt, and behind it what is piped in."""
    has_pipe = sys.stdin is not None and not sys.stdin.isatty()
    if prompt is not None and prompt != "-":
        piped = _piped_text() if has_pipe else ""
        return f"{prompt}\n\n{piped}" if piped.strip() else prompt
    if not has_pipe:
        exit_with('there is no prompt: agent-tui run "…", or give it on standard input')
    return sys.stdin.buffer.read().decode("utf-8", "replace")


def _piped_text() -> str:
    """What stands on standard input, if it is a file or something comes through it.

    A program that starts this one may leave an open pipe there and never write to it.
    """
    import select
    import stat

    try:
        mode = os.fstat(sys.stdin.fileno()).st_mode
    except (OSError, ValueError):  # closed, or no file at all
        return ""
    if stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode):
        if not select.select([sys.stdin], [], [], PIPE_SECONDS)[0]:
            typer.echo("agent-tui: nothing came through the pipe; going on without it", err=True)
            return ""
    elif not stat.S_ISREG(mode):
        return ""
    return sys.stdin.buffer.read().decode("utf-8", "replace")
