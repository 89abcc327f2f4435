"""The text of a growing argument, read while the model writes it."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_tui.tui.partial_json import GrowingText

ARGUMENTS = st.dictionaries(
    st.text(max_size=6), st.one_of(st.text(max_size=60), st.integers(), st.booleans()), min_size=1
)


def fed(raw: str, *places: int) -> GrowingText:
    growing = GrowingText()
    for place in (*sorted(places), len(raw)):
        growing.feed(raw[:place])
    return growing


@given(st.text(max_size=80), st.booleans(), st.lists(st.integers(0, 300), max_size=12))
def test_the_last_text_is_read_however_it_arrives(
    content: str, ascii_only: bool, places: list[int]
) -> None:
    raw = json.dumps({"path": 'a "b" \\', "content": content}, ensure_ascii=ascii_only)

    growing = fed(raw, *places)

    assert growing.key == "content"
    assert growing.tail(1_000) == content


@given(ARGUMENTS, st.integers(0, 400))
def test_half_an_object_never_raises(arguments: dict[str, object], place: int) -> None:
    growing = fed(json.dumps(arguments)[:place])

    assert isinstance(growing.tail(20), str)


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        pytest.param('{"content": "a\\nb', "a\nb", id="open"),
        pytest.param('{"content": "a\\', "a", id="half an escape"),
        pytest.param('{"content": "a\\u00', "a", id="half a code point"),
        pytest.param('{"content": "a\\\\', "a\\", id="a whole backslash"),
        pytest.param('{"content', "", id="half a key"),
        pytest.param("", "", id="nothing"),
        pytest.param("[1, 2", "", id="no object"),
    ],
)
def test_what_is_not_there_yet_is_not_shown(raw: str, text: str) -> None:
    assert fed(raw).tail(100) == text


def test_the_end_of_a_long_text_begins_at_a_line() -> None:
    raw = json.dumps({"content": "\n".join(f"line {n}" for n in range(1_000))})

    growing = fed(raw)

    assert growing.line_count == 1_000
    assert growing.tail(40).splitlines()[-1] == "line 999"
    assert growing.tail(40).startswith("line ")


@pytest.mark.parametrize(
    ("value", "lines"), [("one\n", 1), ("one\ntwo", 2), ("one\n\n", 2), ("", 1)]
)
def test_a_last_line_break_begins_no_line_of_its_own(value: str, lines: int) -> None:
    assert fed(json.dumps({"content": value})).line_count == lines
