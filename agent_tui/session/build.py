"""From settings to a session that can be prompted: model, tools, prompt, agent, approvals."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from pathlib import Path

from agent_tui.agent.agent import Agent
from agent_tui.config import Settings
from agent_tui.core.tool import Tool
from agent_tui.session.approvals import Approvals
from agent_tui.session.checkpoints import Checkpoints
from agent_tui.session.first_model import settle_model
from agent_tui.session.judging import judge_for
from agent_tui.session.models import ModelBook
from agent_tui.session.prompts import system_prompt
from agent_tui.session.rule_book import RuleBook
from agent_tui.session.session import Session
from agent_tui.session.usercode import load_agent, load_tools
from agent_tui.tools import ACCESS, FileMemory, builtin_tools

MAX_ITERATIONS = 100
"""Steps of a turn when nobody says otherwise."""


def build_session(settings: Settings, *, unattended: bool = False) -> Session:
    """A session by these settings; makes no model call.

    With `unattended`, a call that needs approval is refused with a sentence instead of waiting.

    Raises:
        ConfigError, InvalidInputError: What cannot be built, in one sentence with a way out.
    """
    settings = settle_model(settings)
    book = ModelBook(settings)
    own_tools = load_tools(settings.tools_file) if settings.tools_file else []
    checkpoints = Checkpoints()
    memory = FileMemory(checkpoints)
    checkpoints.on_restored = memory.forget
    agent = _own_agent(settings, book, own_tools) or _agent(settings, book, own_tools, memory)
    steps = settings.max_iterations or agent.max_iterations or MAX_ITERATIONS
    # Where somebody can be asked, the limit is a question between two steps, not the run's end.
    agent.max_iterations = steps if unattended else None
    own_names = {tool.name for tool in own_tools}
    access = {name: what for name, what in ACCESS.items() if name not in own_names}
    approvals = Approvals(
        settings.mode,
        settings.cwd,
        rules=settings.rules.rules,
        judge=judge_for(
            settings.cwd,
            access,
            free=[settings.folders.output],
            own=settings.folders.own,
            reading=settings.rules.reading_commands,
        ),
        book=RuleBook(settings.folders.rules_file, settings.cwd),
        unattended=unattended,
    )
    approvals.on_diff = memory.was_shown
    session = Session(
        agent,
        approvals,
        checkpoints=checkpoints,
        find_model=book.find,
        turn_limits=replace(settings.turn_limits, iterations=None if unattended else steps),
        session_limits=settings.session_limits,
    )
    session.after_abort = settings.after_abort
    return session


def _agent(settings: Settings, book: ModelBook, own_tools: list[Tool], memory: FileMemory) -> Agent:
    own_names = {tool.name for tool in own_tools}
    builtin = builtin_tools(
        settings.cwd,
        output_dir=settings.folders.output,
        environ=settings.environ,
        memory=memory,
    )
    tools = [tool for tool in builtin if tool.name not in own_names] + own_tools
    return Agent(
        book.find(settings.model or ""),
        system_prompt=_prompt(settings, tools),
        tools=tools,
        thinking_level=settings.thinking or "off",
        steering_mode=settings.steering_mode,
        follow_up_mode=settings.follow_up_mode,
    )


def _prompt(settings: Settings, tools: list[Tool]) -> str:
    extra = settings.append_system_prompt
    if settings.system_prompt is not None:
        return "\n\n".join(part for part in (settings.system_prompt, extra) if part)
    return system_prompt(
        settings.cwd,
        tools,
        today=date.today(),
        is_repository=_is_repository(settings.cwd),
        extra=extra,
    )


def _own_agent(settings: Settings, book: ModelBook, own_tools: list[Tool]) -> Agent | None:
    """The agent that `--agent` names, changed only in what other flags say."""
    if settings.agent is None:
        return None
    agent = load_agent(settings.agent, settings.cwd)
    if settings.model is not None:
        agent.state.model = book.find(settings.model)
    if settings.thinking is not None:
        agent.state.thinking_level = settings.thinking
    if settings.system_prompt is not None:
        agent.state.system_prompt = settings.system_prompt
    if settings.append_system_prompt is not None:
        parts = (agent.state.system_prompt, settings.append_system_prompt)
        agent.state.system_prompt = "\n\n".join(part for part in parts if part)
    if own_tools:
        agent.state.tools = [*agent.state.tools, *own_tools]
    return agent


def _is_repository(folder: Path) -> bool:
    return any((place / ".git").exists() for place in (folder, *folder.parents))
