"""Messages and their blocks: made, grown, saved, read again."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from agent_tui import (
    AgentMessage,
    AssistantMessage,
    BashExecutionMessage,
    BranchSummaryMessage,
    CompactionSummaryMessage,
    CustomMessage,
    ErrorInfo,
    ImageBlock,
    TextBlock,
    ThinkingBlock,
    ToolCall,
    ToolResultMessage,
    Usage,
    UserMessage,
)
from agent_tui.core.messages import parse_message, text_of

WORDS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
MAYBE = st.one_of(st.none(), WORDS)
JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-(2**53), 2**53), WORDS),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(WORDS, inner, max_size=3)),
    max_leaves=5,
)
TEXTS = st.builds(TextBlock, text=WORDS, signature=MAYBE)
IMAGES = st.builds(ImageBlock, data=WORDS, mime_type=st.just("image/png"))
BLOCKS = st.lists(st.one_of(TEXTS, IMAGES), max_size=3)
CONTENT = st.one_of(WORDS, BLOCKS)
CALLS = st.builds(
    ToolCall,
    id=WORDS,
    name=WORDS,
    arguments=st.dictionaries(WORDS, JSON, max_size=3),
    raw_arguments=MAYBE,
    arguments_error=MAYBE,
    thought_signature=MAYBE,
)
THOUGHTS = st.builds(ThinkingBlock, thinking=WORDS, signature=MAYBE, redacted=st.booleans())
USAGES = st.builds(
    Usage,
    input=st.integers(0, 10**9),
    cost_usd=st.one_of(st.none(), st.floats(0, 100)),
    incomplete=st.booleans(),
)
ERRORS = st.builds(ErrorInfo, code=WORDS, message=WORDS, retry_after=st.none() | st.floats(0, 60))
MESSAGES: st.SearchStrategy[AgentMessage] = st.one_of(
    st.builds(UserMessage, content=CONTENT),
    st.builds(
        AssistantMessage,
        content=st.lists(st.one_of(TEXTS, THOUGHTS, CALLS), max_size=4),
        usage=USAGES,
        stop_reason=st.sampled_from(["stop", "length", "tool_use", "error", "aborted"]),
        raw_stop_reason=MAYBE,
        response_id=MAYBE,
        error=st.none() | ERRORS,
    ),
    st.builds(
        ToolResultMessage,
        tool_call_id=WORDS,
        tool_name=WORDS,
        content=BLOCKS,
        details=JSON,
        is_error=st.booleans(),
        usage=st.none() | USAGES,
    ),
    st.builds(CompactionSummaryMessage, summary=WORDS, tokens_before=st.integers(0, 10**6)),
    st.builds(BranchSummaryMessage, summary=WORDS, from_id=WORDS),
    st.builds(CustomMessage, custom_type=WORDS, content=CONTENT, details=JSON),
    st.builds(
        BashExecutionMessage, command=WORDS, output=WORDS, exit_code=st.none() | st.integers(0, 255)
    ),
)


@settings(deadline=None)
@given(MESSAGES)
def test_a_saved_message_is_read_again_as_it_was(message: AgentMessage) -> None:
    line = json.dumps(message.model_dump(mode="json"), ensure_ascii=False)

    assert parse_message(json.loads(line)) == message


@settings(deadline=None)
@given(MESSAGES)
def test_a_message_without_its_empty_fields_is_read_as_it_was(message: AgentMessage) -> None:
    line = message.model_dump_json(exclude_none=True)

    back = parse_message(json.loads(line))

    assert back.id == message.id
    assert back.role == message.role


@pytest.mark.parametrize("data", [{}, {"role": "stranger"}, {"role": "user"}, {"content": "x"}])
def test_what_is_no_message_is_refused(data: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        parse_message(data)


def test_ids_and_times_are_made() -> None:
    before = time.time_ns() // 1_000_000
    first, second = UserMessage(content="a"), UserMessage(content="a")

    assert first.id != second.id
    assert before <= first.timestamp <= before + 10_000


def test_an_empty_answer_needs_nothing() -> None:
    answer = AssistantMessage()

    assert (answer.content, answer.usage, answer.stop_reason) == ([], Usage(), "stop")
    assert (answer.api, answer.provider, answer.model) == ("", "", "")
    assert (answer.error, answer.response_id, answer.raw_stop_reason) == (None, None, None)
    assert answer.text == ""
    assert answer.tool_calls == []


def test_answers_do_not_share_their_lists() -> None:
    first, second = AssistantMessage(), AssistantMessage()

    first.content.append(TextBlock(text="x"))

    assert second.content == []


def test_blocks_grow_in_place() -> None:
    text, thought, call = TextBlock(), ThinkingBlock(), ToolCall()

    for piece in ("a", "", "bc"):
        text.append(piece)
        thought.append(piece)
        call.append(piece)

    assert text.text == thought.thinking == call.raw_arguments == "abc"


def test_a_grown_text_leaves_what_was_read_before() -> None:
    block = TextBlock(text="a")
    before = block.text

    block.append("b")

    assert (before, block.text) == ("a", "ab")


def test_a_call_without_argument_text_has_none() -> None:
    assert ToolCall().raw_arguments is None
    assert ToolCall().arguments == {}


def test_the_text_of_an_answer_is_all_its_text() -> None:
    answer = AssistantMessage(
        content=[
            ThinkingBlock(thinking="hm"),
            TextBlock(text="a"),
            ToolCall(id="c"),
            TextBlock(text="b"),
        ]
    )

    assert answer.text == "ab"
    assert [call.id for call in answer.tool_calls] == ["c"]


def test_the_text_of_blocks_leaves_pictures_out() -> None:
    picture = ImageBlock(data="aGk=", mime_type="image/png")

    assert text_of([TextBlock(text="a"), picture, TextBlock(text="b")]) == "a\nb"
    assert UserMessage(content=[TextBlock(text="a"), picture]).text == "a"
    assert UserMessage(content="plain").text == "plain"
    assert text_of([]) == ""


def test_a_hundred_thousand_deltas_are_one_text() -> None:
    block = TextBlock()

    for _ in range(100_000):
        block.append("x" * 20)

    assert block.text == "x" * 2_000_000
