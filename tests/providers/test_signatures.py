"""Opaque data on parts of a block."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_tui.providers.signatures import signed_parts, with_signature


def test_signed_parts_stay_apart_from_what_stands_around_them() -> None:
    text = "Hello, you."
    signature = with_signature(with_signature(None, 5, 7, "one"), 10, 11, "two")

    assert list(signed_parts(text, signature)) == [
        ("Hello", None),
        (", ", "one"),
        ("you", None),
        (".", "two"),
    ]


def test_an_empty_part_keeps_its_place() -> None:
    assert list(signed_parts("Hi", with_signature(None, 2, 2, "s"))) == [("Hi", None), ("", "s")]
    assert list(signed_parts("", with_signature(None, 0, 0, "s"))) == [("", "s")]


@pytest.mark.parametrize("foreign", [None, "", "reasoning_content", "[1]", '{"a": 1}', "7"])
def test_what_others_wrote_is_no_signature(foreign: str | None) -> None:
    assert list(signed_parts("Hi", foreign)) == [("Hi", None)]


@given(st.lists(st.tuples(st.text(max_size=3), st.none() | st.text(max_size=3)), max_size=6))
def test_joining_parts_loses_neither_text_nor_data(parts: list[tuple[str, str | None]]) -> None:
    text, signature = "", None
    for part, data in parts:
        if data is not None:
            signature = with_signature(signature, len(text), len(text) + len(part), data)
        text += part

    found = list(signed_parts(text, signature))

    assert [part for part in found if part[1] is not None] == [p for p in parts if p[1] is not None]
    assert "".join(part for part, _ in found) == text
