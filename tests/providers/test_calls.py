"""Tool calls in all the pieces in which servers send them."""

from __future__ import annotations

from typing import Any

import pytest

from agent_tui.agent.response import parse_arguments
from agent_tui.core.model import Model
from agent_tui.core.stream import ToolCallDelta
from agent_tui.providers.calls import CallAssembler, add_whole_call, fresh_short_id
from agent_tui.providers.stream import MessageBuilder


def piece(
    arguments: Any = None, *, index: int | None = None, id: Any = None, name: str | None = None
) -> dict[str, Any]:
    fields = {"index": index, "id": id, "function": {"name": name, "arguments": arguments}}
    return {key: value for key, value in fields.items() if value is not None}


def assembled(*pieces: dict[str, Any]) -> list[tuple[str, str, Any]]:
    """(id, name, arguments as the engine reads them; the text if it is no object)."""
    builder = MessageBuilder(Model("lab", "m"))
    assembler = CallAssembler(builder, iter(["fresh1", "fresh2", "fresh3"]).__next__)
    for each in pieces:
        assembler.add(each)
    assembler.finish()
    texts: dict[int, str] = {}
    for event in builder.take():
        if isinstance(event, ToolCallDelta):
            texts[event.content_index] = texts.get(event.content_index, "") + event.delta
    found = []
    for place, call in enumerate(builder.message.tool_calls):
        text = texts.get(place)
        arguments, problem = (call.arguments, None) if text is None else parse_arguments(text)
        found.append((call.id, call.name, text if problem else arguments))
    return found


PATH = {"path": "a"}
CASES: dict[str, tuple[list[dict[str, Any]], list[tuple[str, str, Any]]]] = {
    "whole_call_in_one_piece": (
        [piece('{"path": "a"}', index=0, id="1", name="read")],
        [("1", "read", PATH)],
    ),
    "arguments_in_pieces": (
        [
            piece("", index=0, id="1", name="read"),
            piece('{"path"', index=0),
            piece(': "a"}', index=0),
        ],
        [("1", "read", PATH)],
    ),
    "no_index_and_a_new_id": (
        [piece("{}", id="1", name="x"), piece('{"path":', id="2", name="y"), piece('"a"}', id="2")],
        [("1", "x", {}), ("2", "y", PATH)],
    ),
    "no_index_no_id": (
        [piece('{"path": ', name="x"), piece('"a"}'), piece(name="y")],
        [("fresh1", "x", PATH), ("fresh2", "y", {})],
    ),
    "index_0_for_all_with_ids": (
        [piece('{"path": "a"}', index=0, id="1", name="x"), piece("{}", index=0, id="2", name="x")],
        [("1", "x", PATH), ("2", "x", {})],
    ),
    "index_0_for_all_without_ids": (
        [
            piece('{"path": "a"}', index=0, id="", name="x"),
            piece('{"path": "a"}', index=0, id="", name="x"),
        ],
        [("fresh1", "x", PATH), ("fresh2", "x", PATH)],
    ),
    "index_0_for_all_and_the_first_without_arguments": (
        [piece("{}", index=0, name="now"), piece('{"path": "a"}', index=0, name="read")],
        [("fresh1", "now", {}), ("fresh2", "read", PATH)],
    ),
    "fresh_id_and_name_on_every_piece": (
        [
            piece('{"path"', index=0, id="1", name="read"),
            piece(': "a"}', index=0, id="2", name="read"),
        ],
        [("1", "read", PATH)],
    ),
    "id_only_in_the_second_piece": (
        [piece("", index=0, name="read"), piece('{"path": "a"}', index=0, id="1")],
        [("1", "read", PATH)],
    ),
    "id_on_every_piece": (
        [piece('{"path": ', id="1", name="read"), piece('"a"}', id="1")],
        [("1", "read", PATH)],
    ),
    "duplicate_and_null_ids": (
        [
            piece("{}", index=0, id="1", name="x"),
            piece("{}", index=1, id="1", name="y"),
            piece("{}", index=2, id="null", name="z"),
        ],
        [("1", "x", {}), ("fresh1", "y", {}), ("fresh2", "z", {})],
    ),
    "number_as_id": ([piece("{}", index=0, id=7, name="x")], [("7", "x", {})]),
    "name_in_pieces": (
        [piece("", index=0, id="1", name="re"), piece("{}", index=0, name="ad ")],
        [("1", "read", {})],
    ),
    "name_repeated": (
        [piece("", index=0, id="1", name="read"), piece('{"path": "a"}', index=0, name="read")],
        [("1", "read", PATH)],
    ),
    "arguments_null": ([piece(None, index=0, id="1", name="x")], [("1", "x", {})]),
    "arguments_empty": ([piece("", index=0, id="1", name="x")], [("1", "x", {})]),
    "arguments_as_an_object": (
        [piece({"path": "a"}, index=0, id="1", name="read")],
        [("1", "read", PATH)],
    ),
    "arguments_as_a_list": ([piece(["a"], index=0, id="1", name="x")], [("1", "x", '["a"]')]),
    "empty_braces_before_the_real_arguments": (
        [piece("{}", index=0, id="1", name="read"), piece('{"path": "a"}', index=0)],
        [("1", "read", PATH)],
    ),
    "function_is_missing": ([{"index": 0, "id": "1"}], [("1", "", {})]),
}


@pytest.mark.parametrize("name", CASES)
def test_pieces_become_the_calls_that_were_meant(name: str) -> None:
    pieces, calls = CASES[name]

    assert assembled(*pieces) == calls


def test_a_short_id_has_nine_letters_and_digits() -> None:
    assert len(fresh_short_id()) == 9
    assert fresh_short_id().isalnum()
    assert fresh_short_id() != fresh_short_id()


@pytest.mark.parametrize(
    ("given", "made"),
    [
        ({"a": 1}, ({"a": 1}, None)),
        (None, ({}, None)),
        ("{}", ({}, "{}")),
        ([1], ({}, "[1]")),
    ],
    ids=str,
)
def test_a_whole_call_has_its_arguments_at_once(given: Any, made: tuple[Any, str | None]) -> None:
    builder = MessageBuilder(Model("lab", "m"))

    call = add_whole_call(builder, "c1", " ls ", given)

    text = [event.delta for event in builder.take() if isinstance(event, ToolCallDelta)]
    assert (call.id, call.name, call.arguments) == ("c1", "ls", made[0])
    assert text == ([] if made[1] is None else [made[1]])


@pytest.mark.parametrize("given", ["taken", "", None, 7])
def test_a_whole_call_without_an_id_of_its_own_gets_one(given: Any) -> None:
    builder = MessageBuilder(Model("lab", "m"))
    make_id = iter(["taken", "fresh"]).__next__
    add_whole_call(builder, "taken", "ls", {})

    assert add_whole_call(builder, given, "ls", {}, make_id).id == "fresh"
