"""The options that several commands share, and what they come to."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from agent_tui.config import Flags, Settings

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
FallbackOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="PROVIDER/ID",
        help="Goes on for a turn when the model is overloaded; may be repeated. off: nobody.",
    ),
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
    list[Path] | None,
    typer.Option(metavar="FILE.py", help="More tools: functions with @tool; may be repeated."),
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
LinearOption = Annotated[
    bool,
    typer.Option("--linear", help="Plain lines instead of a screen, e.g. for a screen reader."),
]
TrustOption = Annotated[
    bool,
    typer.Option("--trust", help="Use what .agent-tui/ of the folder brings along, this once."),
]
ContinueOption = Annotated[
    bool, typer.Option("--continue", "-c", help="Go on with the last session of this folder.")
]
ResumeOption = Annotated[
    str | None,
    typer.Option("--resume", "-r", metavar="[ID]", help="Go on with a session; without ID: pick."),
]
ForkOption = Annotated[
    bool, typer.Option("--fork", help="With --continue or --resume: go on with a copy.")
]
RecoverOption = Annotated[
    bool,
    typer.Option("--recover", help="With --resume: open what can be read of a damaged session."),
]
NoSessionOption = Annotated[bool, typer.Option("--no-session", help="Keep nothing on disk.")]
SandboxOption = Annotated[
    bool,
    typer.Option("--sandbox", help="Commands may write only in the project, without network."),
]
JsonOption = Annotated[bool, typer.Option("--json", help="One JSON object a line.")]


def flags_of(context: typer.Context) -> Flags:
    """What the options of a command say, by their names."""
    from dataclasses import fields

    from agent_tui.config import LATEST, LIMITS, Flags, SessionChoice

    given = context.params
    flags = {each.name: given[each.name] for each in fields(Flags) if each.name in given}
    flags["tools"] = tuple(map(Path, flags["tools"] or ()))
    flags["fallback"] = tuple(flags["fallback"] or ())
    flags["cwd"] = None if flags["cwd"] is None else Path(flags["cwd"])
    session = SessionChoice(
        resume=LATEST if given["continue_"] else given["resume"],
        is_kept=not given["no_session"],
        recover=given["recover"],
        fork=given["fork"],
    )
    return Flags(**flags, limits={key: given[key] for key in LIMITS}, session=session)


def load(flags: Flags) -> Settings:
    """The settings by these flags and where the program was started; no model is chosen yet."""
    from agent_tui.config import load_settings

    return load_settings(flags, os.environ, Path.cwd())
