"""What a start here comes to: settings, looks, what was found; and a way back for terminals."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from agent_tui.cli.options import (
    load,
)
from agent_tui.cli.program import app
from agent_tui.core.text import printable
from agent_tui.launch import exit_with, settings_for

if TYPE_CHECKING:
    from agent_tui.config import Settings

config_app = typer.Typer(
    help="Where the settings are, and what they come to.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
app.add_typer(config_app, name="config")


@app.command()
def themes() -> None:
    """List the looks that --theme can name."""
    from agent_tui.config import find_folders
    from agent_tui.tui.themes import theme_files

    own = find_folders(os.environ).themes
    for name, file in theme_files([own]).items():
        typer.echo(f"{name:<16} {file}" if file.parent == own else name)


@config_app.command()
def path() -> None:
    """Print where the settings file is, whether or not it exists."""
    from agent_tui.config import find_folders

    typer.echo(find_folders(os.environ).config_file)


@config_app.command()
def trust(
    answer: Annotated[
        bool | None, typer.Option("--yes/--no", help="Use it from now on, or do not.")
    ] = None,
) -> None:
    """Show what .agent-tui/ of this folder brings along, and say whether it may be used."""
    from pathlib import Path

    from agent_tui.config import Trust, find_folders, what_it_brings

    cwd = Path.cwd()
    trust = Trust(find_folders(os.environ))
    if answer is not None:
        try:
            kept = trust.trust(cwd) if answer else trust.refuse(cwd)
        except OSError as error:
            exit_with(f"the answer cannot be kept: {error}")
        if not kept:
            exit_with(".agent-tui/ here is more than can be looked through")
    for line in what_it_brings(cwd) or ["nothing"]:
        typer.echo(printable(line))
    said = {True: "trusted", False: "refused", None: "not answered: --yes or --no"}
    typer.echo(f"→ {said[trust.is_trusted(cwd)]}", err=True)


@config_app.command()
def show() -> None:
    """Print what the settings of a start here come to."""
    from agent_tui.config import DEFAULT_THEME, Flags

    settings = settings_for(Flags())
    rows = {
        "model": f"{settings.model} ({settings.model_reason})",
        "thinking": settings.thinking or "off",
        "fallback": ", then ".join(settings.fallback) or "nobody",
        "mode": settings.mode,
        "max_iterations": settings.max_iterations or 100,
        "budget": _budget(settings),
        "theme": settings.theme or DEFAULT_THEME,
        "after_abort": settings.after_abort,
        "steering_mode": settings.steering_mode,
        "follow_up_mode": settings.follow_up_mode,
        "providers": ", ".join(settings.providers) or "none of your own",
        "rules": len(settings.rules.rules),
        "settings": settings.folders.config_file,
        "project": _project(settings),
        "data": settings.folders.state,
    }
    for name, value in rows.items():
        typer.echo(f"{name:<15} {value}")
    for problem in settings.problems:
        typer.echo(f"agent-tui: {problem}", err=True)


def _project(settings: Settings) -> str:
    from agent_tui.config import brings_something

    if settings.is_trusted:
        return f"{settings.cwd}/.agent-tui, which you trust"
    brings = brings_something(settings.cwd)
    return f"{settings.cwd}/.agent-tui is not used: agent-tui config trust" if brings else "nothing"


def _budget(settings: Settings) -> str:
    from agent_tui.config import LIMITS
    from agent_tui.core.limits import amount

    limits = {"turn": settings.turn_limits, "session": settings.session_limits}
    set_ones = [
        f"{key} {amount(kind, limit)}"
        for key, (scope, kind) in LIMITS.items()
        if (limit := limits[scope].get(kind)) is not None
    ]
    return ", ".join(set_ones) or "none"


@app.command()
def doctor(
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Say what a start here finds: keys, servers, the terminal, the settings, versions.

    No key is shown. Only servers on this machine are asked.
    """
    import asyncio
    import dataclasses
    import json

    from agent_tui.config import Flags
    from agent_tui.session.doctor import examine
    from agent_tui.tui.abilities import terminal_abilities

    abilities = terminal_abilities(sys.stdin, sys.stderr, os.environ)
    report = asyncio.run(examine(load(Flags())))
    if as_json:
        found = {**report.to_json(), "terminal": dataclasses.asdict(abilities)}
        typer.echo(json.dumps(found, ensure_ascii=False, indent=2))
        return
    from agent_tui.core.text import printable

    for name, sentence in [*abilities.rows(), *report.rows()]:
        typer.echo(f"{name:<10} {printable(sentence)}")


@app.command()
def reset() -> None:
    """Put a terminal right that a crashed program left in a strange state."""
    from agent_tui.tui.terminal import reset as reset_terminal

    reset_terminal()
