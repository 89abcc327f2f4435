"""The commands. Each one imports its own world when it runs, so that `--help` costs nothing.

Nobody below prints: errors come up to `main` and become one sentence and an exit code.
"""

from __future__ import annotations

import gc
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from agent_tui.launch import exit_with, settings_for
from agent_tui.version import __version__

if TYPE_CHECKING:
    from agent_tui.config import Flags, Settings
    from agent_tui.session.shelf import ModelShelf, ShelfItem

_OWN_OPTIONS = ("--help", "-h", "--version", "--install-completion", "--show-completion")

app = typer.Typer(
    name="agent-tui",
    help="A terminal chat for working with LLM agents: steer, queue and stop while they work.",
    epilog="Without a command the chat starts: agent-tui [OPTIONS] is agent-tui chat [OPTIONS].",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
config_app = typer.Typer(
    help="Where the settings are, and what they come to.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
app.add_typer(config_app, name="config")

ModelOption = Annotated[
    str | None,
    typer.Option("--model", "-m", metavar="PROVIDER/ID", help="Which model answers."),
]
BaseUrlOption = Annotated[
    str | None,
    typer.Option(
        metavar="URL",
        help="Any OpenAI-compatible server, for this start. Needs --model ID (or NAME/ID).",
    ),
]
ApiOption = Annotated[
    str | None,
    typer.Option(metavar="API", help="What the server of --base-url speaks.  [openai-chat]"),
]
ApiKeyEnvOption = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="The environment variable that holds the key."),
]
ThinkingOption = Annotated[
    str | None,
    typer.Option(metavar="LEVEL", help="off, minimal, low, medium, high or xhigh."),
]
ModeOption = Annotated[
    str | None,
    typer.Option(metavar="MODE", help="ask, auto-edit, full-auto or read-only.  [ask]"),
]
MaxIterationsOption = Annotated[
    int | None,
    typer.Option(metavar="N", help="At most N model calls a turn.  [100]"),
]
MaxCostOption = Annotated[
    float | None,
    typer.Option(metavar="USD", help="Ask before a model call once this much is spent."),
]
MaxTokensOption = Annotated[
    int | None,
    typer.Option(metavar="N", help="The same for tokens, sent and received."),
]
MaxTimeOption = Annotated[
    float | None,
    typer.Option(metavar="SECONDS", help="The same for the time that turns take."),
]
MaxSessionIterationsOption = Annotated[
    int | None,
    typer.Option(metavar="N", help="The same for model calls of all turns."),
]
MaxTurnCostOption = Annotated[
    float | None,
    typer.Option(metavar="USD", help="Like --max-cost, for each turn."),
]
MaxTurnTokensOption = Annotated[
    int | None,
    typer.Option(metavar="N", help="Like --max-tokens, for each turn."),
]
MaxTurnTimeOption = Annotated[
    float | None,
    typer.Option(metavar="SECONDS", help="Like --max-time, for each turn."),
]
SystemPromptOption = Annotated[
    str | None,
    typer.Option(metavar="TEXT|@FILE", help="Instead of the built-in system prompt."),
]
AppendPromptOption = Annotated[
    str | None,
    typer.Option(metavar="TEXT|@FILE", help="At the end of the system prompt."),
]
ToolsOption = Annotated[
    Path | None,
    typer.Option(metavar="FILE.py", help="More tools: functions decorated with @tool."),
]
AgentOption = Annotated[
    str | None,
    typer.Option(metavar="MODULE:NAME", help="Your own Agent object, with its model and tools."),
]
CwdOption = Annotated[
    Path | None,
    typer.Option(metavar="DIR", help="The project's folder.  [where you are]"),
]
ThemeOption = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="How the chat looks; agent-tui themes lists them."),
]
JsonOption = Annotated[bool, typer.Option("--json", help="One JSON object a line.")]


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


@app.command()
def chat(
    context: typer.Context,
    model: ModelOption = None,
    base_url: BaseUrlOption = None,
    api: ApiOption = None,
    api_key_env: ApiKeyEnvOption = None,
    thinking: ThinkingOption = None,
    mode: ModeOption = None,
    max_iterations: MaxIterationsOption = None,
    max_cost: MaxCostOption = None,
    max_tokens: MaxTokensOption = None,
    max_time: MaxTimeOption = None,
    max_session_iterations: MaxSessionIterationsOption = None,
    max_turn_cost: MaxTurnCostOption = None,
    max_turn_tokens: MaxTurnTokensOption = None,
    max_turn_time: MaxTurnTimeOption = None,
    system_prompt: SystemPromptOption = None,
    append_system_prompt: AppendPromptOption = None,
    tools: ToolsOption = None,
    agent: AgentOption = None,
    cwd: CwdOption = None,
    theme: ThemeOption = None,
) -> None:
    """Open the chat (what agent-tui does without a command)."""
    from agent_tui.launch import open_chat

    raise typer.Exit(open_chat(_flags(context)))


@app.command()
def run(
    context: typer.Context,
    prompt: Annotated[
        str | None, typer.Argument(help="What to do; left out or -: read from standard input.")
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the events, one JSON object a line.")
    ] = False,
    model: ModelOption = None,
    base_url: BaseUrlOption = None,
    api: ApiOption = None,
    api_key_env: ApiKeyEnvOption = None,
    thinking: ThinkingOption = None,
    mode: ModeOption = None,
    max_iterations: MaxIterationsOption = None,
    max_cost: MaxCostOption = None,
    max_tokens: MaxTokensOption = None,
    max_time: MaxTimeOption = None,
    max_session_iterations: MaxSessionIterationsOption = None,
    max_turn_cost: MaxTurnCostOption = None,
    max_turn_tokens: MaxTurnTokensOption = None,
    max_turn_time: MaxTurnTimeOption = None,
    system_prompt: SystemPromptOption = None,
    append_system_prompt: AppendPromptOption = None,
    tools: ToolsOption = None,
    agent: AgentOption = None,
    cwd: CwdOption = None,
) -> None:
    """Run one prompt without a screen and print the answer.

    Nobody is there to approve anything: in mode ask a call that needs approval is refused, and the
    model is told so. Exit codes: 0 done, 1 error, 2 wrong use, 3 a budget or the step
    limit is used up, 130 aborted.
    """
    settings = settings_for(_flags(context))
    from agent_tui.headless import run_prompt
    from agent_tui.session.build import build_session

    for problem in settings.problems:
        typer.echo(f"agent-tui: {problem}", err=True)
    session = build_session(settings, unattended=True)
    text = _prompt_text(prompt)
    raise typer.Exit(run_prompt(session, text, as_json=as_json, out=sys.stdout, err=sys.stderr))


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

    shelf = ModelShelf(_load(Flags()))
    problems = _ask_servers(shelf, provider) if live else []
    found = shelf.items(provider)
    for item in found:
        typer.echo(_as_json(item) if as_json else _as_row(item))
    for problem in problems:
        typer.echo(f"agent-tui: {problem}", err=True)
    if not found and not problems:
        hint = "" if live else "; with --live its server is asked"
        exit_with(f"no model of {provider!r} is known; agent-tui models lists all{hint}")
    if provider is not None and problems:
        raise typer.Exit(1)


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
def show() -> None:
    """Print what the settings of a start here come to."""
    from agent_tui.config import Flags

    settings = settings_for(Flags())
    rows = {
        "model": f"{settings.model} ({settings.model_reason})",
        "thinking": settings.thinking or "off",
        "mode": settings.mode,
        "max_iterations": settings.max_iterations or 100,
        "budget": _budget(settings),
        "theme": settings.theme or "default",
        "after_abort": settings.after_abort,
        "steering_mode": settings.steering_mode,
        "follow_up_mode": settings.follow_up_mode,
        "providers": ", ".join(settings.providers) or "none of your own",
        "settings": settings.folders.config_file,
        "data": settings.folders.state,
    }
    for name, value in rows.items():
        typer.echo(f"{name:<15} {value}")
    for problem in settings.problems:
        typer.echo(f"agent-tui: {problem}", err=True)


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
    report = asyncio.run(examine(_load(Flags())))
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
        return ["chat", *arguments]
    return arguments


def _load(flags: Flags) -> Settings:
    from agent_tui.config import load_settings

    return load_settings(flags, os.environ, Path.cwd())


def _flags(context: typer.Context) -> Flags:
    """What the options of a command say, by their names."""
    from dataclasses import fields

    from agent_tui.config import LIMITS, Flags

    given = context.params
    flags = {each.name: given[each.name] for each in fields(Flags) if each.name in given}
    for name in ("tools", "cwd"):
        flags[name] = None if flags[name] is None else Path(flags[name])
    return Flags(**flags, limits={key: given[key] for key in LIMITS})


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


def _prompt_text(prompt: str | None) -> str:
    if prompt is not None and prompt != "-":
        return prompt
    if sys.stdin is None or sys.stdin.isatty():
        exit_with('there is no prompt: agent-tui run "…", or give it on standard input')
    return sys.stdin.buffer.read().decode("utf-8", "replace")


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
