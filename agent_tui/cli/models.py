"""Which models there are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from agent_tui.cli.options import (
    JsonOption,
    load,
)
from agent_tui.cli.program import app
from agent_tui.launch import exit_with

if TYPE_CHECKING:
    from agent_tui.session.shelf import ModelShelf, ShelfItem


@app.command()
def models(
    provider: Annotated[
        str | None, typer.Option("--provider", metavar="NAME", help="Only those of one provider.")
    ] = None,
    live: Annotated[
        bool, typer.Option("--live", help="Ask the servers too: local ones, and where a key is.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """List the models that --model can name, those that can be used as things are first."""
    from agent_tui.config import Flags
    from agent_tui.session.shelf import ModelShelf

    shelf = ModelShelf(load(Flags()))
    problems = _ask_servers(shelf, provider) if live else []
    found = shelf.items(provider)
    for item in found:
        typer.echo(_as_json(item) if as_json else _as_row(item))
    if not as_json and (days := shelf.days(found)):
        typer.echo(f"Windows and prices as read on {' to '.join(days)}.", err=True)
    for problem in problems:
        typer.echo(f"agent-tui: {problem}", err=True)
    if not found and not problems:
        hint = "" if live else "; with --live its server is asked"
        exit_with(f"no model of {provider!r} is known; agent-tui models lists all{hint}")
    if provider is not None and problems:
        raise typer.Exit(1)


def _ask_servers(shelf: ModelShelf, provider: str | None) -> list[str]:
    """Ask one provider's server, or all that may be asked; what went wrong, as sentences."""
    import asyncio

    if provider is None:
        return asyncio.run(shelf.renew(hosted=True))
    problem = asyncio.run(shelf.ask(provider))
    return [problem] if problem else []


def _as_row(item: ShelfItem) -> str:
    model = item.model
    window = f"{model.context_window // 1000}k" if model.context_window else "?"
    cost = "?" if model.cost is None else f"${model.cost.input:g} / ${model.cost.output:g}"
    mark = "★" if item.is_favourite else ""
    needs = f"needs {item.lacks}" if item.lacks else ""
    return f"{model.key:<52} {window:>7}  {cost:<18} {mark}{needs}".rstrip()


def _as_json(item: ShelfItem) -> str:
    import dataclasses
    import json

    model = item.model
    shown = ("provider", "id", "api", "base_url", "name", "context_window", "max_output_tokens")
    data = {name: getattr(model, name) for name in (*shown, "reasoning", "images")}
    data["cost"] = None if model.cost is None else dataclasses.asdict(model.cost)
    data |= {"thinking": list(item.levels), "needs": item.lacks or None}
    return json.dumps(
        {"key": model.key, **data, "favourite": item.is_favourite}, ensure_ascii=False
    )
