"""Recordings played again, without a screen."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from agent_tui.agent.agent import Agent
from agent_tui.core.errors import SessionError
from agent_tui.core.events import ToolExecutionEndEvent
from agent_tui.core.messages import AgentMessage, AssistantMessage, UserMessage
from agent_tui.session.replay import AT_ONCE, Pace, Player, load_recording
from agent_tui.session.session import Session
from agent_tui.testing import ScriptedModel, call, calls, end, fail, text, think
from tests.session.journal.kept import SCRIPT, TOOLS, USED, opened


def said(messages: list[AgentMessage]) -> list[tuple[str, str]]:
    return [(m.role, getattr(m, "text", "")) for m in messages]


async def played(path: Path) -> Session:
    """The session of a player that has played all of this."""
    player = Player(load_recording(path), path.parent, Pace(AT_ONCE))
    await player.play()
    return player.session


async def recorded(path: Path, script: Any, *prompts: str) -> Session:
    session, _ = opened(path, *script)
    for prompt in prompts:
        await session.prompt(prompt)
    session.close()
    return session


async def test_what_is_played_is_what_was_recorded(tmp_path: Path) -> None:
    script = [*SCRIPT, [think("hm"), text("and that"), end(usage=USED)]]
    live = await recorded(tmp_path / "s.jsonl", script, "go", "more")
    before = (tmp_path / "s.jsonl").read_bytes()

    again = await played(tmp_path / "s.jsonl")
    again.close()

    assert said(again.agent.state.messages) == said(live.agent.state.messages)
    assert again.totals == live.totals
    assert (tmp_path / "s.jsonl").read_bytes() == before


async def test_a_steered_message_enters_where_it_did(tmp_path: Path) -> None:
    session, _ = opened(tmp_path / "s.jsonl", *SCRIPT, text("steered"))
    session.subscribe(
        lambda event, signal: (
            (session.steer("look at b") if isinstance(event, ToolExecutionEndEvent) else None)
            if len(session.agent.queued()) == 0 and len(session.agent.state.messages) < 4
            else None
        )
    )
    await session.prompt("go")
    session.close()

    again = await played(tmp_path / "s.jsonl")
    again.close()

    words = said(again.agent.state.messages)
    assert words == said(session.agent.state.messages)
    assert ("user", "look at b") in words[2:]


async def test_a_failure_is_played_as_one_and_not_tried_again(tmp_path: Path) -> None:
    live = await recorded(tmp_path / "s.jsonl", [fail("auth", "wrong key"), text("ok")], "a", "b")

    again = await played(tmp_path / "s.jsonl")
    again.close()

    assert said(again.agent.state.messages) == said(live.agent.state.messages)
    failed = again.agent.state.messages[1]
    assert isinstance(failed, AssistantMessage)
    assert failed.error is not None
    assert failed.error.message == "wrong key"


async def test_a_stop_is_played_as_one(tmp_path: Path) -> None:
    model = ScriptedModel([[text("half of ")], text("done")])
    agent = Agent("test/m", tools=TOOLS, stream_fn=model)
    session = Session.open(agent, tmp_path / "s.jsonl")
    session.subscribe(
        lambda event, signal: (
            session.abort()
            if event.type == "message_update"
            and event.assistant_message_event.type == "text_delta"
            and len(model.requests) == 1
            else None
        )
    )
    await session.prompt("stop me")
    await session.prompt("go on")
    session.close()

    again = await played(tmp_path / "s.jsonl")
    again.close()

    stops = [m.stop_reason for m in again.agent.state.messages if isinstance(m, AssistantMessage)]
    assert stops == ["aborted", "stop"]
    assert said(again.agent.state.messages) == said(session.agent.state.messages)


async def test_a_call_whose_result_is_missing_says_so(tmp_path: Path) -> None:
    await recorded(tmp_path / "s.jsonl", [calls(call("shell", {"command": "ls"})), text("x")], "go")
    lines = (tmp_path / "s.jsonl").read_text().splitlines(keepends=True)
    kept = [line for line in lines if '"role":"tool_result"' not in line]
    (tmp_path / "s.jsonl").write_text("".join(kept))

    again = await played(tmp_path / "s.jsonl")
    again.close()

    assert "no result" in said(again.agent.state.messages)[2][1]


async def test_only_the_branch_at_the_end_is_played(tmp_path: Path) -> None:
    session, _ = opened(tmp_path / "s.jsonl", text("one"), text("two"), text("three"))
    await session.prompt("a")
    await session.prompt("left")
    session.branches.rewind(session.branches.prompts()[0].entry_id)
    await session.prompt("b")
    session.close()

    again = await played(tmp_path / "s.jsonl")
    again.close()

    users = [m.text for m in again.agent.state.messages if isinstance(m, UserMessage)]
    assert users == ["a", "b"]


async def test_playing_stands_where_it_shall_and_goes_on_step_by_step(tmp_path: Path) -> None:
    await recorded(tmp_path / "s.jsonl", SCRIPT, "go")
    pace = Pace(AT_ONCE, until=1)
    player = Player(load_recording(tmp_path / "s.jsonl"), tmp_path, pace)
    playing = asyncio.create_task(player.play())

    async def stands_at(step: int) -> None:
        async with asyncio.timeout(10):
            while not (pace.is_standing and pace.step == step):
                await asyncio.sleep(0)

    await stands_at(1)
    pace.one_step()
    await stands_at(2)
    pace.toggle()
    await playing
    player.session.close()

    assert pace.step == 3


async def test_a_summary_is_mentioned_where_it_was_made(tmp_path: Path) -> None:
    script = [text("one " * 40), text("two"), text("## Goal\nto talk"), text("three")]
    session, _ = opened(tmp_path / "s.jsonl", *script)
    for words in ("a " * 40, "b"):
        await session.prompt(words)
    await session.compact("")
    await session.prompt("c")
    session.close()

    again = await played(tmp_path / "s.jsonl")
    again.close()

    roles = [message.role for message in again.agent.state.messages]
    assert roles == ["user", "assistant", "user", "assistant", "custom", "user", "assistant"]


async def test_nothing_to_play_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "empty.jsonl").touch()

    with pytest.raises(SessionError, match="nothing was said"):
        load_recording(tmp_path / "empty.jsonl")
