"""The demonstration behind a real agent, with real tools where they need no time."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agent_tui.agent.agent import Agent
from agent_tui.agent.hooks import BeforeToolCall
from agent_tui.core.abort import AbortSignal
from agent_tui.core.events import AgentEvent, MessageUpdateEvent, ToolExecutionStartEvent
from agent_tui.core.messages import AssistantMessage
from agent_tui.core.tool import Tool
from agent_tui.session.approvals import Approvals
from agent_tui.session.events import ApprovalRequestEvent, SessionEvent
from agent_tui.tools import builtin_tools
from tests.providers.talking import AT_ONCE

COMMAND = {"type": "object", "properties": {"command": {"type": "string"}}}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "README.md").write_text("# Bread\n\nFlour is the beginning, water the rest.\n")
    (tmp_path / "recipes").mkdir()
    return tmp_path


def agent_in(folder: Path, **options: Any) -> Agent:
    """An agent on the demonstration with the built-in tools, without waiting."""
    return Agent(AT_ONCE, tools=builtin_tools(folder), **options)


def answers_of(agent: Agent) -> list[str]:
    """The texts of all answers, oldest first."""
    return [m.text for m in agent.state.messages if isinstance(m, AssistantMessage)]


def once(
    kind: type[AgentEvent], act: Callable[[], object], *, when: str = ""
) -> Callable[[AgentEvent, AbortSignal], None]:
    """A listener that acts at the first event of a kind in which `when` has been said."""
    waiting = [act]

    def listen(event: AgentEvent, signal: AbortSignal) -> None:
        said = event.message.text if isinstance(event, MessageUpdateEvent) else ""
        if waiting and isinstance(event, kind) and when in said:
            waiting.pop()()

    return listen


async def test_the_first_lesson_tells_the_truth_about_the_folder(folder: Path) -> None:
    agent = agent_in(folder)

    await agent.prompt("hello?")

    texts = answers_of(agent)
    assert "1 folder and 1 file" in texts[1]
    assert "a file that begins `# Bread`" in texts[2]
    assert "1 line with `the`" in texts[2]


async def test_text_typed_while_it_works_changes_what_it_does(folder: Path) -> None:
    agent = agent_in(folder)
    agent.subscribe(once(ToolExecutionStartEvent, lambda: agent.steer("only 2")))

    await agent.prompt("steer")

    texts = answers_of(agent)
    assert len(texts) == 3
    assert "> only 2" in texts[1]
    assert "You steered me with** `only 2`" in texts[2]


async def test_follow_ups_are_answered_one_after_the_other(folder: Path) -> None:
    agent = agent_in(folder)
    agent.follow_up("table")
    agent.follow_up("help")

    await agent.prompt("follow-up")

    texts = answers_of(agent)
    assert len(texts) == 3
    assert "| 10 | 100 | 1000 |" in texts[1]
    assert "I play a script" in texts[2]


async def test_it_knows_that_it_was_stopped_and_counts_on(folder: Path) -> None:
    agent = agent_in(folder)
    agent.subscribe(once(MessageUpdateEvent, agent.abort, when="\n13. "))

    await agent.prompt("stop")
    await agent.prompt("go on")

    texts = answers_of(agent)
    assert "\n14. " not in texts[0]
    assert texts[1].partition("\n\n")[2].startswith(("13. ", "14. "))


async def test_a_comment_on_a_declined_command_is_obeyed(folder: Path) -> None:
    asked: list[str] = []

    def decline_once(ctx: Any, signal: AbortSignal) -> BeforeToolCall | None:
        asked.append(ctx.args["command"])
        reason = "The user declined this call: only 3"
        return BeforeToolCall(block=True, reason=reason) if len(asked) == 1 else None

    bash = Tool("bash", "Run", COMMAND, lambda call_id, args, ctx: "step 3 of 3")
    agent = Agent(AT_ONCE, tools=[bash], before_tool_call=decline_once)

    await agent.prompt("approval")

    assert [command.count("1 2 3 4") for command in asked] == [1, 0]
    assert "ended normally: 1 line of output" in answers_of(agent)[-1]


async def test_without_a_person_the_refusal_is_reported(folder: Path) -> None:
    gate = Approvals("ask", folder, unattended=True)
    agent = agent_in(folder, before_tool_call=gate.before_tool_call)

    result = await agent.run("approval")

    assert "nobody was asked" in result.final_message
    assert "--mode full-auto" in result.final_message


async def test_a_plain_no_ends_the_turn_and_is_noticed_afterwards(folder: Path) -> None:
    gate = Approvals("ask", folder)

    def decline(event: SessionEvent) -> None:
        if isinstance(event, ApprovalRequestEvent):
            gate.answer(event.request.id, "decline")

    gate.announce = decline
    agent = agent_in(folder, before_tool_call=gate.before_tool_call)

    await agent.prompt("approval")
    await agent.prompt("next")

    assert "you declined. **Nothing ran.**" in answers_of(agent)[-1]


async def test_the_file_is_made_edited_and_removed_again(folder: Path) -> None:
    agent = agent_in(folder)
    file = folder / "agent-tui-tour.txt"

    await agent.prompt("write")
    before = file.exists()
    await agent.prompt("yes")
    made = file.read_text()
    await agent.prompt("remove")

    assert not before
    assert made.endswith("It may be deleted, and it was edited once.\n")
    assert sorted(path.name for path in folder.iterdir()) == ["README.md", "recipes"]


async def test_the_tour_leaves_the_folder_as_it_was(folder: Path) -> None:
    before = sorted(folder.rglob("*"))
    agent = agent_in(folder)
    bash = Tool("bash", "Run", COMMAND, lambda call_id, args, ctx: "done")
    agent.state.tools = [*(tool for tool in agent.state.tools if tool.name != "bash"), bash]

    for said in ["hi", *["next"] * 6]:
        await agent.prompt(said)

    assert sorted(folder.rglob("*")) == before
    assert "### Lesson 7 of 7" in answers_of(agent)[-1]
    assert agent.state.error is None
