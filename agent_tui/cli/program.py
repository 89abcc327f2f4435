"""The command line as one object; the modules beside it add their commands."""

from __future__ import annotations

import gc
from typing import Annotated

import typer

from agent_tui.version import __version__

app = typer.Typer(
    name="agent-tui",
    help="A terminal chat for working with LLM agents: steer, queue and stop while they work.",
    epilog="Without a command the chat starts: agent-tui [OPTIONS] is agent-tui chat [OPTIONS]; "
    "agent-tui chat --help lists them.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"agent-tui {__version__}")
        raise typer.Exit


@app.callback()
def _program(
    context: typer.Context,
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="Show the version and exit.", is_eager=True, callback=_show_version
        ),
    ] = False,
) -> None:
    if context.invoked_subcommand != "chat":
        gc.enable()
