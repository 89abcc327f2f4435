"""A skill's call and the message that it becomes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_tui.core.invocation import as_typed, skill_message


@given(body=st.text(), arguments=st.text().map(str.strip))
def test_the_line_that_was_typed_comes_back_whatever_the_skill_says(
    body: str, arguments: str
) -> None:
    message = skill_message("haiku", "/s/haiku/SKILL.md", "/s/haiku", body, arguments)

    assert as_typed(message) == f"/skill:haiku {arguments}".rstrip()


@pytest.mark.parametrize("text", ["", "hello", '<skill name="x">', "/skill:haiku", "<skill>\n"])
def test_other_texts_stay_what_they_are(text: str) -> None:
    assert as_typed(text) is text
