"""Going on with a session: its context, its queue and its settings, and what a crash left open."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from agent_tui.agent.agent import Agent
from agent_tui.core.errors import AgentError
from agent_tui.core.messages import (
    AgentMessage,
    AssistantMessage,
    TextBlock,
    ToolCall,
    ToolResultMessage,
    parse_message,
)
from agent_tui.core.model import THINKING_LEVELS, Model
from agent_tui.session.journal.journal import Journal
from agent_tui.session.journal.recorder import PENDING

INTERRUPTED = "Interrupted: the program ended before this call did. It may have run in part."


@dataclass(frozen=True, slots=True)
class Resumed:
    """What was found when a session was opened again."""

    notices: tuple[str, ...] = ()
    """Sentences for the person."""
    can_continue: bool = False
    """The model has not answered the last message yet."""
    pending: int = 0
    """Messages that wait, on hold."""


def resume(
    agent: Agent,
    journal: Journal,
    find_model: Callable[[str], Model],
    *,
    keeps_model: bool = False,
    keeps_thinking: bool = False,
) -> Resumed:
    """Bring an idle agent to where the session is; what is missing there is made up for on disk.

    With `keeps_model` and `keeps_thinking` the agent's own win over those of the session.
    """
    notices = [*journal.notices]
    messages = journal.tree.context()
    _close_runs(journal)
    for missing in _without_result(messages):
        journal.add_message(missing)
        messages = journal.tree.context()
    agent.state.messages = messages
    if not keeps_model and (notice := _restore_model(agent, journal, find_model)):
        notices.append(notice)
    if not keeps_thinking and (change := journal.tree.last("thinking_change")):
        level = change.data.get("thinking_level")
        agent.state.thinking_level = next(
            (known for known in THINKING_LEVELS if known == level), agent.state.thinking_level
        )
    tail = messages[-1] if messages else None
    return Resumed(
        notices=tuple(notices),
        can_continue=tail is not None and _waits_for_an_answer(tail),
        pending=_restore_queue(agent, journal),
    )


def _close_runs(journal: Journal) -> None:
    """A run that never ended was cut by the end of the program."""
    last = next((entry for entry in reversed([*journal.tree]) if entry.type == "run"), None)
    if last is not None and last.data.get("phase") == "start":
        run_id = last.data.get("run_id")
        journal.add("run", {"phase": "end", "run_id": run_id, "outcome": "crashed"})


def _without_result(messages: Sequence[AgentMessage]) -> Iterator[ToolResultMessage]:
    """An error result for each call that has none; calls are never run again."""
    calls: list[ToolCall] = []
    for message in reversed(messages):
        if isinstance(message, AssistantMessage):
            if message.stop_reason not in ("error", "aborted"):
                calls = message.tool_calls
            break
    answered = {m.tool_call_id for m in messages if isinstance(m, ToolResultMessage)}
    for call in calls:
        if call.id not in answered:
            yield ToolResultMessage(
                tool_call_id=call.id,
                tool_name=call.name,
                content=[TextBlock(text=INTERRUPTED)],
                is_error=True,
            )


def _restore_model(
    agent: Agent, journal: Journal, find_model: Callable[[str], Model]
) -> str | None:
    change = journal.tree.last("model_change")
    key = None if change is None else change.data.get("model")
    if not isinstance(key, str) or key == agent.state.model.key:
        return None
    try:
        agent.state.model = find_model(key)
    except AgentError:
        return f"{key} answered here before, but is not available now: {agent.state.model.key} does"
    return None


def _restore_queue(agent: Agent, journal: Journal) -> int:
    """Queue again what was pending and has not been delivered."""
    data = journal.tree.newest(PENDING)
    items = data.get("items") if isinstance(data, dict) else None
    count = 0
    for item in items if isinstance(items, list) else []:
        try:
            message = parse_message(item["message"])
            kind = item["kind"]
        except (ValueError, KeyError, TypeError):
            continue
        if journal.tree.get(message.id) is not None:
            continue
        if kind == "steer":
            agent.steer(message)
        else:
            agent.follow_up(message)
        count += 1
    return count


def _waits_for_an_answer(message: AgentMessage) -> bool:
    if isinstance(message, AssistantMessage):
        return message.error is not None
    return message.role in ("user", "tool_result", "custom")
