"""Going back, going another way, copying."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from agent_tui.core.errors import AgentBusyError, InvalidInputError, SessionError
from agent_tui.core.messages import UserMessage
from agent_tui.session.checkpoints import RestoreReport
from agent_tui.session.journal.journal import Drafts
from agent_tui.session.session import Session
from agent_tui.testing import Part, ScriptedModel, fail, hang, text
from tests.session.journal.kept import opened
from tests.session.rig import until


async def talked(path: Path | None, *said: str) -> tuple[Session, ScriptedModel]:
    """A session in which this was said, each answered with its own words in capitals."""
    answers: list[Part | list[Part]] = [text(words.upper()) for words in (*said, "more", "again")]
    session, model = opened(path, *answers)
    for words in said:
        await session.prompt(words)
    return session, model


def said(session: Session) -> list[str]:
    return [m.text for m in session.agent.state.messages if isinstance(m, UserMessage)]


async def test_going_back_gives_the_text_and_the_context_of_before(tmp_path: Path) -> None:
    session, model = await talked(tmp_path / "s.jsonl", "one", "two", "three")
    points = session.branches.prompts()

    returned = session.branches.rewind(points[1].entry_id)
    await session.prompt("another")
    session.close()

    assert [point.text for point in points] == ["three", "two", "one"]
    assert returned == "two"
    assert said(session) == ["one", "another"]
    assert len(model.requests[-1].messages) == 3


async def test_where_one_went_is_where_the_session_opens_again(tmp_path: Path) -> None:
    session, _ = await talked(tmp_path / "s.jsonl", "one", "two", "three")
    session.branches.rewind(session.branches.prompts()[1].entry_id)
    session.close()

    again, _ = opened(tmp_path / "s.jsonl", text("yes"))
    assert said(again) == ["one"]
    assert again.totals == session.totals
    await again.prompt("another")
    again.close()

    assert said(again) == ["one", "another"]
    everything = [m for e in again.tree if isinstance(m := e.message, UserMessage)]
    assert [m.text for m in everything] == ["one", "two", "three", "another"]


async def test_going_back_can_be_taken_back_until_something_is_said(tmp_path: Path) -> None:
    session, _ = await talked(tmp_path / "s.jsonl", "one", "two")
    branches = session.branches
    assert not branches.can_redo
    assert not branches.redo()

    branches.rewind(branches.prompts()[0].entry_id)
    assert branches.redo()
    assert said(session) == ["one", "two"]
    assert not branches.can_redo

    branches.rewind(branches.prompts()[1].entry_id)
    await session.prompt("else")
    assert not branches.can_redo
    session.close()


async def test_what_became_of_the_files_is_known_after_opening_again(tmp_path: Path) -> None:
    session, _ = await talked(tmp_path / "s.jsonl", "one", "two")
    report = RestoreReport((tmp_path / "a.py",), (), 7)
    session.branches.rewind(session.branches.prompts()[0].entry_id, report)
    session.close()

    again, _ = opened(tmp_path / "s.jsonl")
    found = again.branches.restored
    again.branches.redo()
    after = again.branches.restored
    again.close()

    assert found == report
    assert after is None


async def test_the_tree_shows_every_branch_and_which_one_is_here() -> None:
    session, _ = await talked(None, "one", "two")
    session.branches.rewind(session.branches.prompts()[0].entry_id)
    await session.prompt("other")
    session.close()

    points = [(p.text, p.depth, p.is_on_the_way) for p in session.branches.points()]

    assert points == [
        ("one", 0, True),
        ("ONE", 0, True),
        ("two", 1, False),
        ("TWO", 1, False),
        ("other", 1, True),
        ("MORE", 1, True),
    ]


async def test_going_to_an_answer_of_another_branch_makes_it_the_end() -> None:
    session, _ = await talked(None, "one", "two")
    left = session.agent.state.messages[-1].id
    session.branches.rewind(session.branches.prompts()[0].entry_id)
    await session.prompt("other")

    text_of_it = session.branches.rewind(left)
    session.close()

    assert text_of_it == ""
    assert said(session) == ["one", "two"]


async def test_the_first_message_that_is_left_says_which_files_are_meant() -> None:
    session, _ = await talked(None, "one", "two", "three")
    three, two, one = session.branches.prompts()
    answer_to_one = session.agent.state.messages[1].id
    session.close()

    assert session.branches.first_left(two.entry_id) == two.entry_id
    assert session.branches.first_left(answer_to_one) == two.entry_id
    assert session.branches.first_left(one.entry_id) == one.entry_id
    assert session.branches.first_left(session.agent.state.messages[-1].id) is None
    assert three.entry_id != two.entry_id


async def test_a_fork_ends_before_the_message_which_is_its_draft(tmp_path: Path) -> None:
    session, _ = await talked(tmp_path / "s.jsonl", "one", "two", "three")

    whole = session.branches.fork()
    part = session.branches.fork(session.branches.prompts()[1].entry_id)
    before = (tmp_path / "s.jsonl").read_bytes()
    session.close()

    copies = [opened(path)[0] for path in (whole, part)]
    for copy in copies:
        copy.close()
    assert [said(copy) for copy in copies] == [["one", "two", "three"], ["one"]]
    assert [copy.drafts for copy in copies] == [Drafts(), Drafts("two")]
    assert all(copy.journal.header.parent_session == "s" for copy in copies)
    assert (tmp_path / "s.jsonl").read_bytes() == before


async def test_nothing_moves_while_a_turn_runs(tmp_path: Path) -> None:
    session, _ = opened(tmp_path / "s.jsonl", text("one"), hang())
    await session.prompt("one")
    turn = asyncio.create_task(session.prompt("two"))
    while len(session.agent.state.messages) < 3:
        await asyncio.sleep(0)
    leaf = session.tree.leaf

    with pytest.raises(AgentBusyError):
        session.branches.rewind(session.branches.prompts()[0].entry_id)
    with pytest.raises(AgentBusyError):
        session.branches.redo()
    assert session.tree.leaf == leaf

    session.abort()
    await turn
    session.close()


async def test_what_is_not_there_is_refused(tmp_path: Path) -> None:
    session, _ = await talked(None, "one")

    with pytest.raises(InvalidInputError):
        session.branches.rewind("nowhere")
    with pytest.raises(SessionError, match="not on disk"):
        session.branches.fork()
    session.close()


async def test_a_summary_of_what_is_left_is_told_to_the_model_at_the_new_place(
    tmp_path: Path,
) -> None:
    path = tmp_path / "s.jsonl"
    session, model = opened(path, text("ONE"), text("TWO"), text("IT FAILED"), text("ok"))
    for words in ("one", "two"):
        await session.prompt(words)
    point = session.branches.prompts()[0].entry_id
    end = session.tree.leaf
    left = session.branches.left(point)

    summary = await session.summarise_branch(left)
    assert said(session) == ["one", "two"]
    assert session.branches.rewind(point, summary=summary) == "two"
    await session.prompt("three")
    session.close()

    assert [message.role for message in left] == ["user", "assistant"]
    asked = model.requests[2].messages[0].text
    assert "TWO" in asked
    assert "ONE" not in asked
    last = [m.text for m in model.requests[3].messages if isinstance(m, UserMessage)]
    assert [words for words in last if "IT FAILED" in words]
    assert not [words for words in last if words == "two"]
    again, _ = opened(path)
    assert [m.role for m in again.agent.state.messages] == [
        *("user", "assistant", "branch_summary", "user", "assistant")
    ]
    assert [m.id for m in again.agent.state.messages] == [
        m.id for m in session.agent.state.messages
    ]
    entry = next(entry for entry in again.tree if entry.type == "branch_summary")
    assert entry.data["summary"] == "IT FAILED"
    assert end in [known.id for known in again.tree.path(entry.data["from_id"])]
    again.close()


async def test_going_back_with_a_summary_can_be_taken_back(tmp_path: Path) -> None:
    session, _ = await talked(tmp_path / "s.jsonl", "one", "two")
    session.branches.rewind(session.branches.prompts()[0].entry_id, summary="what was left")

    assert session.branches.can_redo
    assert session.branches.redo()
    assert said(session) == ["one", "two"]
    session.close()


async def test_a_summary_that_is_stopped_or_fails_moves_nothing(tmp_path: Path) -> None:
    session, model = opened(tmp_path / "s.jsonl", text("ONE"), hang(), fail("auth", "no key"))
    await session.prompt("one")
    place, left = session.tree.leaf, session.branches.left(session.branches.prompts()[0].entry_id)

    asking = asyncio.ensure_future(session.summarise_branch(left))
    await until(lambda: len(model.requests) == 2)
    session.abort()

    assert await asking is None
    assert await session.summarise_branch(left) is None
    assert session.tree.path()[-1].type in ("run", "usage")
    assert place in {entry.id for entry in session.tree.path()}
    assert said(session) == ["one"]
    session.close()
