"""Opening a session again: context, queue, settings, figures, drafts."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from agent_tui.agent.agent import Agent
from agent_tui.core.messages import AssistantMessage, UserMessage
from agent_tui.core.model import Model
from agent_tui.session.approvals import Approvals
from agent_tui.session.journal.journal import Drafts, Journal
from agent_tui.session.session import Session
from agent_tui.testing import ScriptedModel, end, fail, hang, text
from tests.session.journal.kept import USED, healthy, opened, records

MODELS = {"test/m": Model("test", "m"), "test/other": Model("test", "other")}


def again(path: Path, *script: Any, keeps: bool = False) -> tuple[Session, ScriptedModel]:
    """The session in that file, in a program that knows the models of the test."""
    model = ScriptedModel([*script])
    agent = Agent("test/m", stream_fn=model)
    journal = Journal.open(path, path.parent)
    approvals = Approvals("full-auto", path.parent)
    session = Session(
        agent,
        approvals,
        journal=journal,
        find_model=lambda key: MODELS[key],
        keeps_model=keeps,
        keeps_thinking=keeps,
    )
    return session, model


async def test_the_next_request_holds_what_was_said_before(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    earlier = await healthy(path)
    session, model = opened(path, text("ok"))

    await session.prompt("go on")
    session.close()

    assert [message.id for message in model.requests[0].messages][:-1] == [m.id for m in earlier]
    assert session.resumed is not None
    assert not session.resumed.can_continue


async def test_totals_are_those_of_before(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    await healthy(path)

    session, _ = opened(path)
    session.close()

    assert session.totals.input == 3 * USED.input
    assert session.totals.cost_usd == pytest.approx(3 * 0.0012)
    assert session.turn_totals.total == 0


async def test_failed_attempts_count_but_are_not_in_the_context(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"

    async def at_once(seconds: float) -> None:
        """Nobody waits in a test."""

    model = ScriptedModel([[text("half"), end(usage=USED), fail("network")], [text("whole")]])
    first = Session.open(Agent("test/m", stream_fn=model), path, sleep=at_once)
    await first.prompt("go")
    first.close()

    session, _ = opened(path)
    session.close()

    assert "half" in path.read_text()
    assert session.agent.state.messages == first.agent.state.messages
    assert [message.role for message in session.agent.state.messages] == ["user", "assistant"]
    assert session.totals == first.totals


async def test_model_and_thinking_are_those_of_the_session_unless_somebody_asked(
    tmp_path: Path,
) -> None:
    path = tmp_path / "s.jsonl"
    first, _ = again(path, text("one"), text("two"))
    await first.prompt("one")
    first.set_model("test/other")
    first.set_thinking("high")
    await first.prompt("two")
    first.close()

    session, _ = again(path)
    session.close()
    asked, _ = again(path, keeps=True)
    asked.close()

    state = session.agent.state
    assert (state.model.key, state.thinking_level) == ("test/other", "high")
    assert (asked.agent.state.model.key, asked.agent.state.thinking_level) == ("test/m", "off")


async def test_a_model_that_is_gone_is_said_and_another_answers(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    first, _ = opened(path, text("one"))
    await first.prompt("one")
    first.close()

    model = ScriptedModel([text("two")])
    session = Session.open(Agent("elsewhere/n", stream_fn=model), path)
    session.close()

    assert session.resumed is not None
    (notice,) = session.resumed.notices
    assert "test/m answered here before" in notice


async def test_what_was_pending_is_on_hold_again_each_once(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    first, _ = opened(path, hang())
    turn = asyncio.create_task(first.prompt("go"))
    while not first.agent.state.messages:
        await asyncio.sleep(0)
    steered = first.steer("use make")
    followed = first.follow_up("then commit")
    _crash(first)
    turn.cancel()
    await asyncio.gather(turn, return_exceptions=True)

    session, model = opened(path, text("made"), text("committed"))
    queue = [(item.id, item.kind) for item in session.agent.queued()]
    state = session.queue_state
    await session.resume_queue()
    session.close()

    assert queue == [(steered, "steer"), (followed, "follow_up")]
    assert state == "paused"
    said = [m.text for m in session.agent.state.messages if isinstance(m, UserMessage)]
    assert said == ["go", "use make", "then commit"]
    assert len(model.requests) == 2


async def test_a_delivered_message_is_not_pending_too(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    first, _ = opened(path, text("one"), hang())
    seen: list[tuple[bool, bool]] = []

    def listen(event: Any, signal: object) -> None:
        if event.type in ("queue_update", "message_start", "message_end"):
            copy = tmp_path / "copy.jsonl"
            copy.write_bytes(path.read_bytes() if path.exists() else b"")
            look, _ = opened(copy)
            look.close()
            pending = [item.message.id for item in look.agent.queued()]
            present = [message.id for message in look.agent.state.messages]
            if item_id:
                seen.append((item_id[0] in pending, item_id[0] in present))

    item_id: list[str] = []
    turn = asyncio.create_task(first.prompt("go"))
    while not first.is_running:
        await asyncio.sleep(0)
    first.subscribe(listen)
    item_id.append(first.follow_up("next"))
    while len(first.agent.state.messages) < 3:
        await asyncio.sleep(0)
    first.abort()
    await turn
    first.close()

    assert seen
    assert [places for places in seen if places[0] == places[1]] == []


async def test_a_prompt_that_was_taken_back_is_gone_after_opening_again(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    first, _ = opened(path, text("one"), hang())
    await first.prompt("one")
    turn = asyncio.create_task(first.prompt("two"))
    while len(first.agent.state.messages) < 3:
        await asyncio.sleep(0)
    first.abort()
    await turn
    prompt = first.agent.state.messages[2]

    assert first.take_back(prompt.id)
    first.close()
    session, _ = opened(path)
    session.close()

    assert len(session.agent.state.messages) == 2
    assert session.agent.state.messages == first.agent.state.messages
    assert "two" in path.read_text()


async def test_an_unanswered_prompt_can_be_gone_on_with(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    first, _ = opened(path, hang())
    turn = asyncio.create_task(first.prompt("go"))
    while not first.agent.state.messages:
        await asyncio.sleep(0)
    _crash(first)
    turn.cancel()
    await asyncio.gather(turn, return_exceptions=True)

    session, _ = opened(path, text("here"))
    assert session.resumed is not None
    assert session.resumed.can_continue
    await session.continue_()
    session.close()

    assert [message.role for message in session.agent.state.messages] == ["user", "assistant"]
    runs = [record for record in records(path) if record["type"] == "run"]
    assert [run.get("outcome") for run in runs] == [None, "crashed", None, "completed"]


async def test_drafts_come_back_and_an_empty_one_leaves_no_file(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    first, _ = opened(path, text("one"))
    first.keep_drafts("half a thought 🙂", ["put aside"])
    first.close()

    session, _ = opened(path)
    drafts = session.drafts
    session.keep_drafts("", ())
    session.close()

    assert drafts == Drafts("half a thought 🙂", ("put aside",))
    assert [*tmp_path.iterdir()] == []


async def test_the_branch_that_was_left_stays_in_the_tree(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    first, _ = opened(path, text("one"), text("two"), text("other"))
    await first.prompt("one")
    place = first.tree.leaf
    await first.prompt("two")
    first.journal.move(place, "rewind")
    first.agent.state.messages = first.tree.context()
    await first.prompt("another way")
    first.close()

    session, _ = opened(path)
    session.close()

    said = [m.text for m in session.agent.state.messages if isinstance(m, UserMessage)]
    assert said == ["one", "another way"]
    assert len(session.tree.children(place)) == 2
    answers = [e.message for e in session.tree if isinstance(e.message, AssistantMessage)]
    assert len(answers) == 3


def _crash(session: Session) -> None:
    """The program ends without a word: nothing more is written."""
    session.journal.close()
