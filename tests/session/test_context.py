"""The estimate of what the next request holds."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from agent_tui.core.messages import (
    AgentMessage,
    AssistantMessage,
    BashExecutionMessage,
    CompactionSummaryMessage,
    ImageBlock,
    TextBlock,
    ThinkingBlock,
    ToolCall,
    ToolResultMessage,
    UserMessage,
)
from agent_tui.core.usage import Usage
from agent_tui.session.context import ContextMeter, estimate_context
from tests.session.rig import plain_tool


def user(characters: int) -> UserMessage:
    return UserMessage(content="x" * characters)


def answer(total: int, characters: int = 4) -> AssistantMessage:
    return AssistantMessage(
        content=[TextBlock(text="y" * characters)], usage=Usage(input=total, total=total)
    )


def test_without_a_report_four_characters_are_a_token() -> None:
    assert estimate_context([user(401)], "p" * 40, []) == 101 + 10


def test_whether_a_count_of_the_provider_stands_behind_the_figure_is_known() -> None:
    meter = ContextMeter()
    summary = CompactionSummaryMessage(summary="s", timestamp=answer(1).timestamp + 1000)

    meter.tokens([user(401)], None, [])
    assert meter.is_guess
    meter.tokens([user(401), answer(100)], None, [])
    assert not meter.is_guess
    meter.tokens([summary, answer(100)], None, [])
    assert meter.is_guess


def test_tools_and_every_kind_of_block_count() -> None:
    messages: list[AgentMessage] = [
        UserMessage(content=[TextBlock(text="x" * 8), ImageBlock(data="", mime_type="image/png")]),
        AssistantMessage(
            content=[
                ThinkingBlock(thinking="t" * 12),
                ToolCall(id="1", name="look", arguments={"a": 1}),
            ]
        ),
        ToolResultMessage(tool_call_id="1", content=[TextBlock(text="z" * 16)]),
        BashExecutionMessage(command="ls", output="aa"),
        BashExecutionMessage(command="ls", output="aa", exclude_from_context=True),
        CompactionSummaryMessage(summary="s" * 20),
    ]

    tokens = estimate_context(messages, None, [])

    assert tokens == (1200 + 2) + 6 + 4 + 1 + 0 + 5
    assert estimate_context(messages, None, [plain_tool("look")]) > tokens


def test_the_newest_report_is_the_anchor_and_the_rest_is_guessed() -> None:
    messages: list[AgentMessage] = [user(4), answer(100), user(4), answer(2000), user(400)]

    assert estimate_context(messages, None, []) == 2000 + 100


def test_failed_and_aborted_answers_are_no_anchor() -> None:
    failed, stopped = answer(9000), answer(9000)
    failed.stop_reason, stopped.stop_reason = "error", "aborted"

    assert estimate_context([user(4), answer(1000), failed, stopped], None, []) == 1002


def test_a_report_from_before_a_compaction_is_no_anchor() -> None:
    summary = CompactionSummaryMessage(summary="s" * 40)
    messages: list[AgentMessage] = [user(4), answer(4000), summary]

    assert estimate_context(messages, None, []) == 1 + 1 + 10


def test_a_report_far_above_a_recount_is_not_believed() -> None:
    assert estimate_context([user(400), answer(80_000)], None, []) == 101
    assert estimate_context([user(400), answer(4_000)], None, []) == 4_000


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(0, 9), st.lists(st.integers(0, 60_000), max_size=4), st.booleans()),
        max_size=12,
    )
)
def test_a_meter_says_the_same_however_the_transcript_has_changed(
    changes: list[tuple[int, list[int], bool]],
) -> None:
    meter, transcript = ContextMeter(), list[AgentMessage]()
    tools = [plain_tool("look")]

    for kept, new, has_tools in changes:
        del transcript[kept:]
        transcript += [user(size % 97) if size % 2 else answer(size, size % 89) for size in new]
        used = tools if has_tools else []

        assert meter.tokens(transcript, "p", used) == estimate_context(transcript, "p", used)
