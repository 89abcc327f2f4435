"""`<think>` at the start of an answer."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_tui.providers.thinktags import ThinkTagSplitter


def split(pieces: Iterable[str], *, implied: bool = False) -> tuple[str, str]:
    """(thinking, text)."""
    splitter = ThinkTagSplitter(implied=implied)
    found = {"thinking": "", "text": ""}
    for piece in pieces:
        for kind, text in splitter.feed(piece):
            found[kind] += text
    for kind, text in splitter.flush():
        found[kind] += text
    return found["thinking"], found["text"]


@pytest.mark.parametrize(
    ("answer", "thinking", "text"),
    [
        ("<think>a</think>\n\nb", "a", "b"),
        ("\n<think>a</think>b <think>c</think>", "a", "b <think>c</think>"),
        ("about <think> tags", "", "about <think> tags"),
        ("<thin air", "", "<thin air"),
        ("<think>never closed", "never closed", ""),
        ("<think>a</thin</think>b", "a</thin", "b"),
        ("<think></think>b", "", "b"),
        ("<th", "", "<th"),
        ("  indented", "", "  indented"),
        ("", "", ""),
    ],
)
def test_only_a_tag_at_the_very_start_is_thinking(answer: str, thinking: str, text: str) -> None:
    assert split([answer]) == (thinking, text)
    assert split(answer) == (thinking, text)


@given(data=st.data(), answer=st.sampled_from(["<think>a<b</think>\n c</think>", "<thinking>x"]))
def test_the_cut_makes_no_difference(data: st.DataObject, answer: str) -> None:
    cut = data.draw(st.integers(0, len(answer)))
    other = data.draw(st.integers(cut, len(answer)))

    assert split([answer[:cut], answer[cut:other], answer[other:]]) == split([answer])


def test_an_answer_may_begin_inside_the_tag() -> None:
    assert split(["I think", "</think>", "\nYes"], implied=True) == ("I think", "Yes")
    assert split(["<think>I think</think>Yes"], implied=True) == ("I think", "Yes")


def test_after_the_tag_everything_is_text() -> None:
    splitter = ThinkTagSplitter()
    list(splitter.feed("<think>a</think>\n"))
    assert not splitter.is_settled

    list(splitter.feed("b"))

    assert splitter.is_settled
