"""The builder of one assistant message and its events."""

from __future__ import annotations

from agent_tui.core.errors import OverloadedError
from agent_tui.core.messages import TextBlock, ThinkingBlock
from agent_tui.core.model import Model
from agent_tui.core.stream import StreamDone, StreamError, StreamEvent
from agent_tui.providers.stream import MessageBuilder

MODEL = Model("lab", "m", api="openai-chat")


def told(events: list[StreamEvent]) -> list[str]:
    """Events in short: type, block and delta."""
    return [
        " ".join(
            str(part)
            for part in (
                event.type,
                getattr(event, "content_index", ""),
                getattr(event, "delta", ""),
            )
            if part != ""
        )
        for event in events
    ]


def test_deltas_between_two_takes_become_one_event_for_each_block() -> None:
    builder = MessageBuilder(MODEL)
    builder.start()
    for word in ("Let ", "me ", "see"):
        builder.thinking(word)
    for word in ("It ", "is"):
        builder.text(word)

    assert told(builder.take()) == [
        "start",
        "thinking_start 0",
        "thinking_delta 0 Let me see",
        "thinking_end 0",
        "text_start 1",
        "text_delta 1 It is",
    ]
    assert builder.take() == []


def test_every_event_carries_the_one_message_that_grows() -> None:
    builder = MessageBuilder(MODEL)
    builder.start()
    builder.text("Hel")
    first = builder.take()
    builder.text("lo")
    builder.done("stop")

    events = first + builder.take()

    assert builder.message.text == "Hello"
    assert {id(getattr(e, "partial", None) or getattr(e, "message", None)) for e in events} == {
        id(builder.message)
    }


def test_white_space_alone_opens_no_block_but_is_not_lost() -> None:
    builder = MessageBuilder(MODEL)

    builder.text("\n\n")
    assert builder.take() == []
    builder.text("  code")

    assert told(builder.take()) == ["text_start 0", "text_delta 0 \n\n  code"]


def test_white_space_before_a_call_is_dropped() -> None:
    builder = MessageBuilder(MODEL)

    builder.text("\n")
    builder.open_call("c1", "ls")
    builder.done("stop")

    assert [block.type for block in builder.message.content] == ["tool_call"]


def test_calls_stay_open_side_by_side() -> None:
    builder = MessageBuilder(MODEL)
    first, second = builder.open_call("a", "x"), builder.open_call("b", "y")
    builder.arguments(first, '{"p"')
    builder.arguments(second, "{}")
    builder.arguments(first, ": 1}")
    builder.take()
    builder.done("stop")

    assert told(builder.take()) == ["toolcall_end 0", "toolcall_end 1", "done"]
    assert builder.message.stop_reason == "tool_use"


def test_a_stop_reason_of_tools_without_calls_is_a_plain_stop() -> None:
    builder = MessageBuilder(MODEL)
    builder.text("done")
    builder.done("tool_use")

    done = builder.take()[-1]

    assert isinstance(done, StreamDone)
    assert done.reason == "stop"


def test_a_failure_keeps_what_arrived_and_ends_no_open_call() -> None:
    builder = MessageBuilder(MODEL)
    builder.text("Half an ans")
    place = builder.open_call("a", "write")
    builder.arguments(place, '{"path": "/')
    builder.fail(OverloadedError("busy"))

    events = builder.take()

    assert told(events)[-2:] == ['toolcall_delta 1 {"path": "/', "error"]
    assert isinstance(events[-1], StreamError)
    message = events[-1].message
    assert (message.text, message.stop_reason) == ("Half an ans", "error")
    assert message.error is not None
    assert (message.error.code, message.error.retryable) == ("overloaded", True)
    assert message.usage.incomplete


def test_opaque_data_goes_to_the_newest_thoughts_or_to_a_block_of_its_own() -> None:
    builder = MessageBuilder(MODEL)
    builder.thinking("hm", "reasoning")
    builder.sign_thinking("[1]")
    other = MessageBuilder(MODEL)
    other.text("answer")
    other.sign_thinking("[2]")
    other.done("stop")

    assert builder.message.content == [ThinkingBlock(thinking="", signature="[1]")]
    assert other.message.content == [TextBlock(text="answer"), ThinkingBlock(signature="[2]")]
    assert told(other.take())[-3:] == ["thinking_start 1", "thinking_end 1", "done"]


def test_a_piece_that_must_be_found_again_has_a_block_even_when_it_is_empty() -> None:
    builder = MessageBuilder(MODEL)
    builder.text("\n")

    block, start = builder.piece("text", "Hello")
    again, behind = builder.piece("text", "")
    thought, first = builder.piece("thinking", "")
    builder.close_block()

    assert block is again
    assert (start, behind, first) == (1, 6, 0)
    assert builder.message.content == [TextBlock(text="\nHello"), ThinkingBlock()]
    assert thought is builder.message.content[1]
    assert told(builder.take()) == [
        "text_start 0",
        "text_delta 0 \nHello",
        "text_end 0",
        "thinking_start 1",
        "thinking_end 1",
    ]


def test_a_seal_ends_the_open_thoughts_or_makes_a_block_of_its_own() -> None:
    builder = MessageBuilder(MODEL)
    builder.thinking("hm")
    assert builder.open_block == 0
    builder.seal_thinking("S1")
    builder.thinking(" ")
    builder.seal_thinking("S2")
    builder.seal_thinking("S3", redacted=True)
    assert builder.open_block is None

    assert builder.message.content == [
        ThinkingBlock(thinking="hm", signature="S1"),
        ThinkingBlock(thinking=" ", signature="S2"),
        ThinkingBlock(signature="S3", redacted=True),
    ]
    assert told(builder.take()) == [
        *("thinking_start 0", "thinking_delta 0 hm", "thinking_end 0"),
        *("thinking_start 1", "thinking_delta 1  ", "thinking_end 1"),
        *("thinking_start 2", "thinking_end 2"),
    ]
