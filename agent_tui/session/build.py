"""From settings to a session that can be prompted: model, tools, prompt, agent, approvals."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

from agent_tui.agent.agent import Agent
from agent_tui.config import PICK, Settings
from agent_tui.session.approvals import Approvals
from agent_tui.session.checkpoints import Checkpoints
from agent_tui.session.child_environ import child_environ
from agent_tui.session.first_model import settle_model
from agent_tui.session.journal.choice import journal_for
from agent_tui.session.journal.journal import Journal
from agent_tui.session.judging import Judge, judge_for
from agent_tui.session.kit import Kit, has_own_code, load_kit
from agent_tui.session.models import ModelBook
from agent_tui.session.outfit import Outfit
from agent_tui.session.rule_book import RuleBook
from agent_tui.session.servers import Servers
from agent_tui.session.session import Session
from agent_tui.session.usercode import load_agent
from agent_tui.tools import FileMemory, Jobs, Sandbox, builtin_tools, find_sandbox

MAX_ITERATIONS = 100
"""Steps of a turn when nobody says otherwise."""


async def open_session(settings: Settings) -> Session:
    """The same as `build_session` without holding up the loop while files load."""
    kit = await asyncio.to_thread(load_kit, settings) if has_own_code(settings) else None
    is_new = settings.session.resume in (None, PICK)
    journal = None if is_new else await asyncio.to_thread(journal_for, settings)
    try:
        return build_session(settings, kit=kit, journal=journal)
    except BaseException:
        if journal is not None:
            journal.close()
        raise


def build_session(
    settings: Settings,
    *,
    unattended: bool = False,
    kit: Kit | None = None,
    journal: Journal | None = None,
) -> Session:
    """A session by these settings; makes no model call.

    `kit` is what the person brought along, `journal` the session to go on with, if loaded already.
    With `unattended`, a call that needs approval is refused with a sentence instead of waiting.

    Raises:
        ConfigError, InvalidInputError: What cannot be built, in one sentence with a way out.
    """
    settings = settle_model(settings)
    book = ModelBook(settings)
    checkpoints = Checkpoints()
    memory, jobs = FileMemory(checkpoints), Jobs()
    checkpoints.on_restored = memory.forget
    if settings.agent is not None:
        agent, outfit = _own_agent(settings, book, kit)
    else:
        agent, outfit = _agent(settings, book, memory, jobs, kit)
    steps = settings.max_iterations or agent.max_iterations or MAX_ITERATIONS
    # Where somebody can be asked, the limit is a question between two steps, not the run's end.
    agent.max_iterations = steps if unattended else None
    servers = Servers(settings)
    approvals = Approvals(
        settings.mode,
        settings.cwd,
        rules=settings.rules.rules,
        judge=_judge(settings, outfit, servers),
        book=RuleBook(settings.folders.rules_file, settings.cwd),
        unattended=unattended,
    )
    if settings.agent is None:
        approvals.on_diff = memory.was_shown
    journal = journal or journal_for(settings)
    _open_checkpoints(checkpoints, journal, settings.folders.checkpoints)
    session = Session(
        agent,
        approvals,
        journal=journal,
        keeps_model="model" in settings.asked,
        keeps_thinking="thinking" in settings.asked,
        checkpoints=checkpoints,
        find_model=book.find,
        turn_limits=replace(settings.turn_limits, iterations=None if unattended else steps),
        session_limits=settings.session_limits,
    )
    session.fallback.names = settings.fallback
    session.after_abort = settings.after_abort
    session.compacts_by_itself = settings.compaction == "auto"
    session.wear(outfit)
    session.connect(servers)
    session.employ(jobs)
    session.own_output_dir = settings.folders.output
    session.own_environ = child_environ(settings)
    return session


def _open_checkpoints(checkpoints: Checkpoints, journal: Journal, folder: Path) -> None:
    if journal.path is not None:
        parent = journal.header.parent_session
        checkpoints.open(folder / journal.path.stem, folder / parent if parent else None)


def _sandbox(settings: Settings) -> Sandbox | None:
    if not settings.sandbox:
        return None
    return find_sandbox(settings.cwd, has_network=settings.sandbox_network)


def _judge(settings: Settings, outfit: Outfit, servers: Servers) -> Judge:
    return judge_for(
        settings.cwd,
        outfit.access,
        free=[settings.folders.output],
        own=settings.folders.own,
        readable=outfit.readable,
        reading=settings.rules.reading_commands,
        remote=servers.remote,
    )


def _agent(
    settings: Settings, book: ModelBook, memory: FileMemory, jobs: Jobs, kit: Kit | None
) -> tuple[Agent, Outfit]:
    builtin = builtin_tools(
        settings.cwd,
        output_dir=settings.folders.output,
        environ=child_environ(settings),
        memory=memory,
        jobs=jobs,
        sandbox=_sandbox(settings),
    )
    outfit = Outfit(settings, builtin, kit)
    agent = Agent(
        book.find(settings.model or ""),
        system_prompt=outfit.prompt,
        tools=outfit.tools,
        thinking_level=settings.thinking or "off",
        steering_mode=settings.steering_mode,
        follow_up_mode=settings.follow_up_mode,
    )
    return agent, outfit


def _own_agent(settings: Settings, book: ModelBook, kit: Kit | None) -> tuple[Agent, Outfit]:
    """The agent that `--agent` names, changed only in what other flags say."""
    agent = load_agent(settings.agent or "", settings.cwd)
    if settings.model is not None:
        agent.state.model = book.find(settings.model)
    if settings.thinking is not None:
        agent.state.thinking_level = settings.thinking
    if settings.system_prompt is not None:
        agent.state.system_prompt = settings.system_prompt
    if settings.append_system_prompt is not None:
        parts = (agent.state.system_prompt, settings.append_system_prompt)
        agent.state.system_prompt = "\n\n".join(part for part in parts if part)
    outfit = Outfit(settings, agent.state.tools, kit)
    if len(outfit.tools) != len(agent.state.tools):
        agent.state.tools = outfit.tools
    return agent, outfit
