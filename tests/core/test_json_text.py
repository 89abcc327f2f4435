"""JSON is read as the standard library reads it, only faster."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_tui.core.json_text import read_json

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


@given(VALUES, st.booleans())
def test_every_value_is_read_as_by_the_standard_library(value: object, ascii_only: bool) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only)

    assert read_json(text) == json.loads(text)


def test_half_a_surrogate_pair_is_read_too() -> None:
    assert read_json('{"a": "\\ud83d"}') == {"a": "\ud83d"}


@pytest.mark.parametrize("text", ["", "{oops", '{"a": 1} x', "nul"])
def test_what_is_no_json_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        read_json(text)
