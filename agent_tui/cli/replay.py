"""Recorded sessions, played again."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from agent_tui.cli.options import CwdOption, ThemeOption
from agent_tui.cli.program import app
from agent_tui.launch import exit_with


@app.command()
def replay(
    session: Annotated[
        str, typer.Argument(metavar="FILE|ID", help="A session file, or how a session's id begins.")
    ],
    speed: Annotated[float, typer.Option(metavar="N", help="So many times as fast.  [1]")] = 1.0,
    until: Annotated[
        int | None, typer.Option(metavar="STEP", help="Stand behind this answer of the model.")
    ] = None,
    theme: ThemeOption = None,
    cwd: CwdOption = None,
) -> None:
    """Play a recorded session in the chat's screen. Needs no network and changes nothing."""
    if not speed > 0:
        exit_with("--speed takes a number above 0")
    if until is not None and until < 1:
        exit_with("--until takes the number of a step, from 1")
    from agent_tui.config import find_folders
    from agent_tui.launch import open_replay
    from agent_tui.session.journal.store import SessionStore

    folder = (Path.cwd() if cwd is None else cwd.expanduser()).resolve()
    path = Path(session).expanduser()
    if not path.is_file():
        path = SessionStore(find_folders(os.environ).sessions, folder).find(session)
    raise typer.Exit(open_replay(path, folder, speed=speed, until=until, theme=theme))
