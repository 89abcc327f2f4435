"""The head of a Markdown file."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_tui.session.front_matter import split_front_matter


def test_names_and_texts_stand_before_the_body() -> None:
    text = (
        "---\nname: review\nDescription: \"Look: closely\"\nargument-hint: '<file>'\n---\n\nBody\n"
    )

    assert split_front_matter(text) == (
        {"name": "review", "description": "Look: closely", "argument-hint": "<file>"},
        "Body",
    )


def test_a_folded_text_is_one_line() -> None:
    entries, _ = split_front_matter("---\ndescription: >\n  one\n  two\nname: x\n---\n")

    assert entries == {"description": "one two", "name": "x"}


def test_what_is_no_entry_is_left_alone() -> None:
    entries, body = split_front_matter("---\n# a comment\nlist:\n  - a\nname: x # why\n---\nB")

    assert entries == {"list": "- a", "name": "x"}
    assert body == "B"


@pytest.mark.parametrize("text", ["", "Body", "---\nname: x\nno end", "----\nname: x\n---\n"])
def test_without_a_head_all_is_body(text: str) -> None:
    assert split_front_matter(text) == ({}, text)


@settings(max_examples=60, deadline=None)
@given(st.text(alphabet="-: \nab\"'>|#\t", max_size=60))
def test_any_text_can_be_split(text: str) -> None:
    entries, _ = split_front_matter(text)

    assert all(name == name.lower() for name in entries)
