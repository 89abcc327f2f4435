"""The file while it is written: who may read it, who has it, and what happens on a full disk."""

from __future__ import annotations

import os
import resource
import signal
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from agent_tui.agent.agent import Agent
from agent_tui.core.errors import SessionError
from agent_tui.core.events import MessageEndEvent, ToolExecutionStartEvent
from agent_tui.session.journal.journal import Journal, fork_session
from agent_tui.session.session import Session
from agent_tui.testing import ScriptedModel, call, calls, text
from tests.session.journal.kept import SCRIPT, TOOLS, healthy, opened, records


def kinds(path: Path) -> list[str]:
    return [
        record["message"]["role"] if record["type"] == "message" else record["type"]
        for record in records(path)
    ]


async def test_the_first_message_of_the_person_makes_the_file(tmp_path: Path) -> None:
    path = tmp_path / "new" / "folder" / "s.jsonl"
    session, _ = opened(path, text("hi"))
    session.set_thinking("low")
    session.name = "a name"

    assert not path.parent.exists()
    await session.prompt("hello")
    session.close()

    assert kinds(path)[:6] == [
        "session",
        "model_change",
        "thinking_change",
        "session_info",
        "run",
        "user",
    ]


async def test_nobody_else_may_read_the_session(tmp_path: Path) -> None:
    path = tmp_path / "sessions" / "hash" / "s.jsonl"
    old = os.umask(0)
    try:
        session, _ = opened(path, text("hi"))
        await session.prompt("hello")
        session.keep_drafts("draft", ())
        session.close()
    finally:
        os.umask(old)

    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.with_suffix(".draft").stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert stat.S_IMODE(path.parent.parent.stat().st_mode) == 0o700


async def test_every_message_is_in_the_file_before_anybody_hears_of_it(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    session, _ = opened(path, *SCRIPT)
    seen: list[bool] = []

    def listen(event: object, signal: object) -> None:
        if isinstance(event, MessageEndEvent):
            seen.append(event.message.id in path.read_text())
        if isinstance(event, ToolExecutionStartEvent):
            seen.append(f'"id":"{event.tool_call_id}"' in path.read_text())

    session.subscribe(listen)
    await session.prompt("go")
    session.close()

    assert seen == [True] * 10


async def test_a_second_program_is_refused_with_a_way_out(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    await healthy(path)
    first, _ = opened(path, text("one"), text("three"))

    with pytest.raises(SessionError) as refused:
        opened(path)
    await first.prompt("still mine")
    first.close()
    second, _ = opened(path)
    second.close()

    assert refused.value.code == "locked"
    assert "another program" in refused.value.message


async def test_a_copy_of_a_session_that_is_open_elsewhere_has_all_of_it(tmp_path: Path) -> None:
    path, copy = tmp_path / "s.jsonl", tmp_path / "copy.jsonl"
    first, _ = opened(path, *SCRIPT)
    await first.prompt("go")

    fork_session(path, copy).close()
    second, _ = opened(copy, text("mine"))
    await second.prompt("here I go on alone")
    first.close()
    second.close()

    assert records(copy)[0]["parent_session"] == "s"
    assert len(second.agent.state.messages) == len(first.agent.state.messages) + 2
    assert "alone" not in path.read_text()


@contextmanager
def files_of_at_most(size: int) -> Iterator[None]:
    """A disk that is full: a file cannot grow beyond `size` bytes."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    old = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, old)


async def test_a_full_disk_does_not_stop_the_work_and_nothing_is_lost(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    session, _ = opened(path, text("one"), text("two"), text("three"))
    await session.prompt("first")
    assert session.unsaved is None

    with files_of_at_most(path.stat().st_size + 150):
        await session.prompt("second")
        assert session.unsaved is not None
        assert all(isinstance(record, dict) for record in records(path))
        partial = path.read_bytes()
    await session.prompt("third")
    session.close()

    assert session.unsaved is None
    assert path.read_bytes().startswith(partial)
    again, _ = opened(path)
    again.close()
    assert again.agent.state.messages == session.agent.state.messages


async def test_what_could_not_be_written_is_written_at_the_end(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    session, _ = opened(path, text("one"), text("two"))
    await session.prompt("first")
    with files_of_at_most(path.stat().st_size):
        await session.prompt("second")

    session.close()

    assert "second" in path.read_text()


async def test_a_folder_that_cannot_be_written_does_not_stop_the_work(tmp_path: Path) -> None:
    (tmp_path / "sessions").write_text("a file where the folder should be")
    session, _ = opened(tmp_path / "sessions" / "s.jsonl", text("one"))

    await session.prompt("first")

    assert session.unsaved is not None
    assert session.agent.state.messages[-1].role == "assistant"
    session.close()


async def test_without_a_path_nothing_is_written(tmp_path: Path) -> None:
    session, _ = opened(None, text("one"))

    await session.prompt("hello")
    session.close()

    assert (session.path, session.unsaved, session.is_saved) == (None, None, False)
    assert len([entry for entry in session.tree if entry.message is not None]) == 2
    assert [*tmp_path.iterdir()] == []


async def test_lone_surrogates_and_separators_make_no_second_line(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    session, _ = opened(path, text("a\u2028b\x85c\ud800d"))

    await session.prompt("line\u2028separator \udcff")
    session.close()

    again, _ = opened(path)
    again.close()
    assert [m.role for m in again.agent.state.messages] == ["user", "assistant"]


async def test_messages_that_an_agent_brings_along_are_kept_too(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    earlier = await healthy(tmp_path / "other.jsonl")
    model = ScriptedModel([text("ok")])
    agent = Agent("test/m", tools=TOOLS, messages=earlier, stream_fn=model)
    session = Session.open(agent, path)

    await session.prompt("go on")
    session.close()

    again, _ = opened(path)
    again.close()
    assert again.agent.state.messages == session.agent.state.messages


def test_a_journal_has_the_name_that_was_given_last(tmp_path: Path) -> None:
    journal = Journal.new(tmp_path / "s.jsonl", tmp_path)

    journal.name = "one"
    journal.name = "two"

    assert journal.name == "two"
    journal.close()


async def test_no_key_is_in_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_API_KEY", "sk-very-secret-canary")
    path = tmp_path / "s.jsonl"
    model = ScriptedModel([calls(call("shell", {"command": "ls"})), text("done")])
    agent = Agent(
        "test/m", tools=TOOLS, stream_fn=model, get_api_key=lambda _: "sk-very-secret-canary"
    )
    session = Session.open(agent, path, mode="full-auto")

    await session.prompt("go")
    session.close()

    assert "canary" not in path.read_text()
