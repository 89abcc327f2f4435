"""The sessions on disk: list, show, export, delete."""

from __future__ import annotations

import os
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from agent_tui.cli.options import CwdOption, JsonOption
from agent_tui.cli.program import app
from agent_tui.launch import exit_with

if TYPE_CHECKING:
    from agent_tui.session.catalogue import SessionCatalogue, SessionItem
    from agent_tui.session.journal.store import SessionStore

sessions_app = typer.Typer(
    help="The sessions on disk: list, show, export, delete.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
app.add_typer(sessions_app, name="sessions")

AllOption = Annotated[bool, typer.Option("--all", "-a", help="Those of every folder.")]
SessionArgument = Annotated[str, typer.Argument(metavar="ID", help="How its id begins.")]


@sessions_app.command("list")
def list_sessions(
    words: Annotated[
        list[str] | None, typer.Argument(help="Only those in which all of this was said.")
    ] = None,
    everywhere: AllOption = False,
    as_json: JsonOption = False,
    cwd: CwdOption = None,
) -> None:
    """List the sessions of this folder, last used first."""
    found = _catalogue(cwd).items(" ".join(words or ()), everywhere=everywhere)
    for item in found:
        typer.echo(_as_json(item) if as_json else _as_row(item, with_folder=everywhere))
    if not found and not as_json:
        typer.echo("agent-tui: there are none" + ("" if everywhere else "; --all looks everywhere"))


@sessions_app.command()
def show(session: SessionArgument, cwd: CwdOption = None) -> None:
    """Print a session as Markdown."""
    from agent_tui.core.text import printable
    from agent_tui.session.exporting import exported

    typer.echo(printable(exported(_store(cwd).find(session), "md")))


@sessions_app.command()
def export(
    session: SessionArgument,
    file: Annotated[
        Path | None, typer.Argument(help="Where to; left out: standard output.")
    ] = None,
    form: Annotated[
        str | None,
        typer.Option("--format", metavar="md|html|jsonl", help="By default what FILE ends in."),
    ] = None,
    cwd: CwdOption = None,
) -> None:
    """Write a session as Markdown, HTML (one file, searchable) or JSON lines."""
    from agent_tui.session.exporting import FORMATS, exported, write_export

    chosen = form or (file.suffix.lstrip(".").lower() if file is not None else "md")
    known = next((known for known in FORMATS if known == chosen), None)
    if known is None:
        exit_with(f"--format {chosen}: there are {', '.join(FORMATS)}")
    path = _store(cwd).find(session)
    if file is None:
        typer.echo(exported(path, known), nl=False)
    else:
        write_export(path, file, known)
        typer.echo(f"written to {file}")


@sessions_app.command()
def delete(
    sessions: Annotated[list[str], typer.Argument(metavar="ID...", help="How their ids begin.")],
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    cwd: CwdOption = None,
) -> None:
    """Delete sessions, with everything beside them. This cannot be undone."""
    catalogue, store = _catalogue(cwd), _store(cwd)
    by_path = {item.path: item for item in catalogue.items(everywhere=True)}
    for session in sessions:
        item = by_path[store.find(session)]
        if yes or typer.confirm(f"Delete {item.id}, {item.label[:60]!r}?"):
            catalogue.forget(item)
            typer.echo(f"deleted {item.id}")


def _store(cwd: Path | None) -> SessionStore:
    from agent_tui.config import find_folders
    from agent_tui.session.journal.store import SessionStore

    folder = (Path.cwd() if cwd is None else cwd.expanduser()).resolve()
    return SessionStore(find_folders(os.environ).sessions, folder)


def _catalogue(cwd: Path | None) -> SessionCatalogue:
    from agent_tui.session.catalogue import SessionCatalogue

    return SessionCatalogue(_store(cwd))


def _as_row(item: SessionItem, *, with_folder: bool) -> str:
    from agent_tui.core.text import printable

    when = datetime.fromtimestamp(item.changed / 1000).strftime("%Y-%m-%d %H:%M")
    what = f"damaged: {item.problem}" if item.problem else item.label
    where = f"  {item.cwd}" if with_folder else ""
    return printable(f"{item.id:<16}  {when}  {item.messages:>4}  {what[:100]}{where}")


def _as_json(item: SessionItem) -> str:
    import dataclasses
    import json

    return json.dumps({**dataclasses.asdict(item), "path": str(item.path)}, ensure_ascii=False)
