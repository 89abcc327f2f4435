"""Files as crashes, bad disks and later versions leave them: the cases of the collection."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from agent_tui.core.errors import SessionError
from agent_tui.core.messages import ToolResultMessage
from agent_tui.session.journal.journal import recover_session
from agent_tui.session.journal.resume import INTERRUPTED
from agent_tui.testing import text
from tests.session.journal.kept import healthy, opened, place_of, problems_of, records

Lines = list[bytes]


def cut_tail(lines: Lines) -> Lines:
    last = place_of(lines, 7)
    return [*lines[:last], lines[last][:-37]]


def cut_inside_a_character(lines: Lines) -> Lines:
    first = place_of(lines, 1)
    line = lines[first]
    return [*lines[:first], line[: line.index("🙂".encode()) + 2]]


def half_then_whole(lines: Lines) -> Lines:
    last = place_of(lines, 7)
    return [*lines[:last], lines[last][:60] + lines[last], *lines[last + 1 :]]


def newline_missing(lines: Lines) -> Lines:
    place = place_of(lines, 4)
    return [*lines[:place], lines[place].rstrip(b"\n") + lines[place + 1], *lines[place + 2 :]]


def last_newline_missing(lines: Lines) -> Lines:
    return [*lines[:-1], lines[-1].rstrip(b"\n")]


def call_without_result(lines: Lines) -> Lines:
    return lines[: place_of(lines, 6)]


def result_without_call(lines: Lines) -> Lines:
    place = place_of(lines, 2)
    return [*lines[:place], *lines[place + 1 :]]


def unknown_records(lines: Lines) -> Lines:
    record = json.dumps({"type": "from_the_future", "x": {"y": [1]}}).encode() + b"\n"
    place = place_of(lines, 3)
    return [*lines[:place], record, *lines[place:]]


def arguments_not_json(lines: Lines) -> Lines:
    place = place_of(lines, 2)
    record = json.loads(lines[place])
    (call,) = (b for b in record["message"]["content"] if b["type"] == "tool_call")
    call["arguments"] = '{"command": "git commit -m \\"a\nb'
    return [*lines[:place], json.dumps(record).encode() + b"\n", *lines[place + 1 :]]


def empty_text(lines: Lines) -> Lines:
    place = place_of(lines, 7)
    record = json.loads(lines[place])
    record["message"]["content"][0]["text"] = ""
    return [*lines[:place], json.dumps(record).encode() + b"\n", *lines[place + 1 :]]


@pytest.mark.parametrize(
    ("damage", "kept", "warns", "beside"),
    [
        pytest.param(cut_tail, 6, True, ".torn", id="tail cut"),
        pytest.param(cut_inside_a_character, 0, True, ".torn", id="cut inside a character"),
        pytest.param(half_then_whole, 7, True, ".bak", id="half record, then the whole one"),
        pytest.param(newline_missing, 7, True, ".bak", id="newline between two records lost"),
        pytest.param(last_newline_missing, 7, False, "", id="last newline lost"),
        pytest.param(call_without_result, 5, False, "", id="killed while a tool ran"),
        pytest.param(result_without_call, 6, True, "", id="a result whose call is gone"),
        pytest.param(unknown_records, 7, False, "", id="records of a later version"),
        pytest.param(arguments_not_json, 7, False, "", id="arguments that are no JSON"),
        pytest.param(empty_text, 7, False, "", id="an empty text"),
    ],
)
async def test_a_damaged_session_is_gone_on_with(
    damage: Callable[[Lines], Lines], kept: int, warns: bool, beside: str, tmp_path: Path
) -> None:
    path = tmp_path / "s.jsonl"
    messages = await healthy(path)
    path.write_bytes(b"".join(damage(path.read_bytes().splitlines(keepends=True))))
    damaged = path.read_bytes()

    session, model = opened(path, text("ok"))
    resumed = session.resumed
    await session.prompt("go on")
    session.close()

    assert resumed is not None
    assert bool(resumed.notices) is warns
    ids = [message.id for message in session.agent.state.messages]
    assert len([message for message in messages if message.id in ids]) == kept
    assert problems_of(model.requests[0]) == []
    if beside == ".bak":
        assert path.with_name("s.jsonl.bak").read_bytes() == damaged
    elif beside == ".torn":
        torn = path.with_name("s.jsonl.torn").read_bytes().rstrip(b"\n")
        assert damaged.endswith(torn)
    assert [record["type"] for record in records(path)].count("session") == 1


async def test_unknown_records_are_not_destroyed(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    await healthy(path)
    path.write_bytes(b"".join(unknown_records(path.read_bytes().splitlines(keepends=True))))

    session, _ = opened(path, text("ok"))
    await session.prompt("go on")
    session.close()

    assert {"type": "from_the_future", "x": {"y": [1]}} in records(path)


async def test_every_cut_of_the_end_can_be_gone_on_with(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    await healthy(path)
    whole = path.read_bytes()
    lines = whole.splitlines(keepends=True)
    begin = len(b"".join(lines[: place_of(lines, 6)]))

    for end in range(begin, len(whole) + 1):
        path.write_bytes(whole[:end])
        session, _ = opened(path)
        session.close()

        assert all(isinstance(record, dict) for record in records(path)), end
        again, _ = opened(path)
        again.close()
        assert again.agent.state.messages == session.agent.state.messages, end
        assert again.resumed is not None
        assert not again.resumed.notices, end


async def test_a_call_without_result_gets_one_error_result_however_often_it_is_opened(
    tmp_path: Path,
) -> None:
    path = tmp_path / "s.jsonl"
    await healthy(path)
    path.write_bytes(b"".join(call_without_result(path.read_bytes().splitlines(keepends=True))))

    for _ in range(3):
        session, _ = opened(path)
        session.close()

    last = session.agent.state.messages[-1]
    assert isinstance(last, ToolResultMessage)
    assert (last.tool_call_id, last.is_error, last.text) == ("c3", True, INTERRUPTED)
    assert sum(INTERRUPTED in json.dumps(record) for record in records(path)) == 1


def _overwritten(lines: Lines) -> Lines:
    place = place_of(lines, 3)
    return [*lines[:place], b"\x00" * 80 + b"\n", *lines[place + 1 :]]


def _doubled(lines: Lines) -> Lines:
    place = place_of(lines, 3)
    return [*lines[: place + 1], lines[place], *lines[place + 1 :]]


@pytest.mark.parametrize("damage", [_overwritten, _doubled], ids=["overwritten", "doubled"])
async def test_other_damage_is_refused_with_its_line_and_the_file_left_alone(
    damage: Callable[[Lines], Lines], tmp_path: Path
) -> None:
    path = tmp_path / "s.jsonl"
    await healthy(path)
    path.write_bytes(b"".join(damage(path.read_bytes().splitlines(keepends=True))))
    damaged = path.read_bytes()

    with pytest.raises(SessionError) as refused:
        opened(path)

    assert refused.value.code == "corrupt"
    assert f"line {refused.value.line}" in refused.value.message
    assert "--recover" in refused.value.message
    assert path.read_bytes() == damaged


@pytest.mark.parametrize("field", ["id", "parent_id"])
async def test_ids_that_are_none_are_refused_or_passed_over_and_never_crash(
    field: str, tmp_path: Path
) -> None:
    path = tmp_path / "s.jsonl"
    await healthy(path)
    lines = path.read_bytes().splitlines(keepends=True)
    place = place_of(lines, 4)
    record = json.loads(lines[place])
    lines[place] = json.dumps({**record, field: [1]}).encode() + b"\n"
    path.write_bytes(b"".join(lines))

    if field == "parent_id":
        with pytest.raises(SessionError) as refused:
            opened(path)
        assert refused.value.line == place + 1
    recover_session(path, tmp_path / "new.jsonl").close()
    session, model = opened(tmp_path / "new.jsonl", text("ok"))
    await session.prompt("go on")
    session.close()

    assert problems_of(model.requests[0]) == []


async def test_what_can_be_read_of_a_damaged_session_becomes_a_new_one(tmp_path: Path) -> None:
    path, new = tmp_path / "s.jsonl", tmp_path / "new.jsonl"
    messages = await healthy(path)
    path.write_bytes(b"".join(_overwritten(path.read_bytes().splitlines(keepends=True))))
    damaged = path.read_bytes()

    recover_session(path, new).close()
    session, model = opened(new, text("ok"))
    await session.prompt("go on")
    session.close()

    ids = [message.id for message in session.agent.state.messages]
    assert [message.id in ids for message in messages].count(True) == 6
    assert problems_of(model.requests[0]) == []
    assert path.read_bytes() == damaged


@pytest.mark.parametrize("content", [b"hello\n", b'{"a":1}\n', b"[]\n", b"\xff\xfe\n"])
def test_a_file_that_is_no_session_is_refused_and_left_alone(
    content: bytes, tmp_path: Path
) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(content)

    with pytest.raises(SessionError, match="no session"):
        opened(path)

    assert path.read_bytes() == content


async def test_an_empty_file_is_a_new_session(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.touch()

    session, _ = opened(path, text("hi"))
    await session.prompt("hello")
    session.close()

    assert records(path)[0]["type"] == "session"
