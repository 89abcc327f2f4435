"""The chat, and one prompt without it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from agent_tui.cli.options import (
    AgentOption,
    ApiKeyEnvOption,
    ApiOption,
    AppendPromptOption,
    BaseUrlOption,
    ContinueOption,
    CwdOption,
    FallbackOption,
    ForkOption,
    LinearOption,
    MaxCostOption,
    MaxIterationsOption,
    MaxSessionIterationsOption,
    MaxTimeOption,
    MaxTokensOption,
    MaxTurnCostOption,
    MaxTurnTimeOption,
    MaxTurnTokensOption,
    ModelOption,
    ModeOption,
    NoSessionOption,
    RecoverOption,
    ResumeOption,
    SandboxOption,
    SystemPromptOption,
    ThemeOption,
    ThinkingOption,
    ToolsOption,
    TrustOption,
    flags_of,
)
from agent_tui.cli.program import app
from agent_tui.cli.standard_input import prompt_text
from agent_tui.cli.standard_output import reserved_output
from agent_tui.core.text import printable
from agent_tui.launch import exit_with, settings_for

if TYPE_CHECKING:
    from agent_tui.core.messages import UserMessage
    from agent_tui.session.session import Session


@app.command()
def chat(
    context: typer.Context,
    model: ModelOption = None,
    base_url: BaseUrlOption = None,
    api: ApiOption = None,
    api_key_env: ApiKeyEnvOption = None,
    thinking: ThinkingOption = None,
    fallback: FallbackOption = None,
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
    continue_: ContinueOption = False,
    resume: ResumeOption = None,
    fork: ForkOption = False,
    recover: RecoverOption = False,
    no_session: NoSessionOption = False,
    sandbox: SandboxOption = False,
    theme: ThemeOption = None,
    linear: LinearOption = False,
) -> None:
    """Open the chat (what agent-tui does without a command)."""
    from agent_tui.launch import open_chat

    raise typer.Exit(open_chat(flags_of(context)))


@app.command()
def run(
    context: typer.Context,
    prompt: Annotated[
        str | None,
        typer.Argument(help="What to do; what is piped in follows it. Left out or -: only that."),
    ] = None,
    image: Annotated[
        list[Path] | None,
        typer.Option("--image", metavar="FILE", help="A picture to send along; may be repeated."),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the events, one JSON object a line.")
    ] = False,
    model: ModelOption = None,
    base_url: BaseUrlOption = None,
    api: ApiOption = None,
    api_key_env: ApiKeyEnvOption = None,
    thinking: ThinkingOption = None,
    fallback: FallbackOption = None,
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
    continue_: ContinueOption = False,
    resume: ResumeOption = None,
    fork: ForkOption = False,
    recover: RecoverOption = False,
    no_session: NoSessionOption = False,
    sandbox: SandboxOption = False,
    trust: TrustOption = False,
) -> None:
    """Run one prompt without a screen and print the answer.

    Nobody is there to approve anything: in mode ask a call that needs approval is refused, and the
    model is told so. Exit codes: 0 done, 1 error, 2 wrong use, 3 a budget or the step
    limit is used up, 130 aborted.
    """
    settings = settings_for(flags_of(context))
    from agent_tui.config import NOT_TRUSTED
    from agent_tui.headless import run_prompt
    from agent_tui.session.build import build_session

    _say(NOT_TRUSTED if settings.asks_for_trust else None, *settings.problems)
    session = build_session(settings, unattended=True)
    _say(session.approvals.problem, *session.kit.notices)
    message = _message(session, prompt_text(prompt), image or [])
    with reserved_output() as out:
        code = run_prompt(session, message, as_json=as_json, out=out, err=sys.stderr)
    raise typer.Exit(code)


def _message(session: Session, text: str, files: list[Path]) -> UserMessage:
    """The prompt with its pictures: those that options name, and those that it names itself."""
    from agent_tui.core.errors import InvalidInputError

    try:
        message, notice = session.compose(session.kit.expanded(text) or text, files)
    except InvalidInputError as error:
        exit_with(error.message)
    _say(notice or None)
    return message


def _say(*sentences: str | None) -> None:
    for sentence in sentences:
        if sentence is not None:
            typer.echo(f"agent-tui: {printable(sentence)}", err=True)
