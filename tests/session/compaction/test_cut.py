"""Which messages a summary takes the place of."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from agent_tui.agent.boundary import convert_to_llm, normalise
from agent_tui.core.messages import (
    AgentMessage,
    CompactionSummaryMessage,
    ToolResultMessage,
)
from agent_tui.core.model import Model
from agent_tui.session.compaction.cut import Cut, find_cut
from tests.session.compaction.transcripts import answered, result, said


def cut_of(messages: list[AgentMessage], keep: int, *pins: str) -> Cut:
    found = find_cut(messages, keep, pins)
    assert found is not None
    return found


def test_the_newest_messages_of_about_the_wanted_size_stay() -> None:
    messages: list[AgentMessage] = []
    for _ in range(5):
        messages += [said(100), answered(100)]

    cut = cut_of(messages, 300)

    assert cut.kept == messages[7:] or cut.kept == messages[6:]
    assert [*cut.history, *cut.prefix, *cut.kept] == messages


def test_a_cut_at_an_answer_splits_its_turn() -> None:
    messages: list[AgentMessage] = [said(10), answered(10), said(10), answered(500), said(1)]

    cut = cut_of(messages, 200)

    assert cut.history == messages[:2]
    assert cut.prefix == messages[2:3]
    assert cut.kept == messages[3:]


def test_nothing_is_cut_where_everything_is_recent() -> None:
    assert find_cut([said(10), answered(10)], 1000) is None
    assert find_cut([], 1000) is None


def test_a_large_result_at_the_end_stays_with_its_call() -> None:
    messages: list[AgentMessage] = [
        said(10),
        answered(5),
        said(5),
        answered(5, "c"),
        result("c", 900),
    ]

    cut = cut_of(messages, 100)

    assert cut.kept == messages[3:]


def test_what_an_earlier_compaction_kept_is_folded_in_the_second_time() -> None:
    summary = CompactionSummaryMessage(summary="old")
    messages: list[AgentMessage] = [summary, said(50), answered(50), said(50), answered(200)]

    cut = cut_of(messages, 100)

    assert cut.previous is summary
    assert cut.history == messages[1:3]


def test_repeated_compactions_are_skipped_while_what_was_kept_still_fits() -> None:
    messages: list[AgentMessage] = [CompactionSummaryMessage(summary="s" * 9000), said(50)]

    assert find_cut(messages, 100) is None


def test_a_pinned_result_stays_with_its_call_and_the_other_results() -> None:
    pinned = result("c1", 10)
    messages: list[AgentMessage] = [
        said(10),
        answered(5, "c1", "c2"),
        pinned,
        result("c2", 10),
        said(10),
        answered(300),
    ]

    cut = cut_of(messages, 100, pinned.id)

    assert cut.pinned == messages[1:4]


@st.composite
def transcripts(draw: st.DrawFn) -> list[AgentMessage]:
    messages: list[AgentMessage] = []
    if draw(st.booleans()):
        messages.append(CompactionSummaryMessage(summary="earlier"))
    sizes = st.integers(1, 60)
    for turn in range(draw(st.integers(1, 6))):
        messages.append(said(draw(sizes)))
        for step in range(draw(st.integers(0, 3))):
            ids = [f"t{turn}s{step}c{n}" for n in range(draw(st.integers(1, 3)))]
            messages.append(answered(draw(sizes), *ids))
            messages.extend(result(name, draw(sizes)) for name in ids)
        messages.append(answered(draw(sizes)))
    return messages


@settings(max_examples=150, deadline=None)
@given(transcripts(), st.integers(1, 400), st.data())
def test_whatever_is_cut_the_rest_is_a_whole_conversation(
    messages: list[AgentMessage], keep: int, data: st.DataObject
) -> None:
    pins = data.draw(st.sets(st.sampled_from([m.id for m in messages[1:]] or [""])))

    cut = find_cut(messages, keep, pins)

    if cut is None:
        return
    assert not isinstance(cut.kept[0], ToolResultMessage)
    parts = [*cut.history, *cut.prefix, *cut.pinned, *cut.kept]
    assert sorted(m.id for m in parts) == sorted(m.id for m in messages if m is not cut.previous)
    kept = {m.id for m in (*cut.pinned, *cut.kept)}
    previous = cut.previous.id if cut.previous else ""
    assert pins - {previous} <= kept
    context = convert_to_llm([CompactionSummaryMessage(summary="s"), *cut.pinned, *cut.kept])
    model = Model("test", "m")
    assert normalise(context, model) is context
    again = find_cut([CompactionSummaryMessage(summary="s"), *cut.pinned, *cut.kept], 1, pins)
    assert again is None or (again.previous is not None and again.previous.summary == "s")
