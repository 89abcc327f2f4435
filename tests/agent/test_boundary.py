"""From the transcript to a request: conversion, and the normaliser (S91 to S96)."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_tui import (
    Agent,
    AgentMessage,
    AssistantMessage,
    BashExecutionMessage,
    BranchSummaryMessage,
    CompactionSummaryMessage,
    CustomMessage,
    ImageBlock,
    Model,
    TextBlock,
    ThinkingBlock,
    ToolCall,
    ToolResultMessage,
    UserMessage,
)
from agent_tui.agent.boundary import INTERRUPTED, Boundary, convert_to_llm, normalise
from agent_tui.core.messages import LlmMessage, text_of
from agent_tui.testing import ScriptedModel, call, calls, hang, text, think
from tests.agent.stage import Make, answered, asked, said, user
from tests.agent.toolbox import echo
from tests.agent.tracing import adjacency_problems

MODEL = Model("test", "m", api="openai-chat")
SEEING = Model("test", "m", api="openai-chat", images=True)
PICTURE = ImageBlock(data="aGk=", mime_type="image/png")
OWN: dict[str, Any] = {"provider": "test", "model": "m", "api": "openai-chat"}
FOREIGN: dict[str, Any] = {"provider": "other", "model": "n", "api": "anthropic"}


def texts(messages: list[LlmMessage]) -> list[str]:
    return [m.text if isinstance(m, AssistantMessage) else text_of(m.content) for m in messages]


def order(messages: list[LlmMessage]) -> list[str]:
    """What stands where: `user:text`, `call:id`, `result:id`."""
    found = []
    for message in messages:
        match message:
            case UserMessage():
                found.append(f"user:{message.text}")
            case AssistantMessage():
                found.extend(f"call:{block.id}" for block in message.tool_calls)
            case ToolResultMessage():
                found.append(f"result:{message.tool_call_id}")
    return found


# -- conversion ------------------------------------------------------------------------------------


def test_messages_of_the_conversation_pass_as_they_are() -> None:
    messages: list[AgentMessage] = [user("a"), asked("c1"), answered("c1")]

    converted = convert_to_llm(messages)

    assert all(a is b for a, b in zip(converted, messages, strict=True))


@pytest.mark.parametrize(
    "message",
    [CompactionSummaryMessage(summary="built it"), BranchSummaryMessage(summary="built it")],
    ids=["compaction", "branch"],
)
def test_summaries_become_user_messages_that_say_what_they_are(message: AgentMessage) -> None:
    converted = convert_to_llm([message])

    words = texts(converted)[0]
    assert isinstance(converted[0], UserMessage)
    assert "built it" in words
    assert "summary" in words.lower()
    assert words != "built it"


@pytest.mark.parametrize("content", ["note", [TextBlock(text="note"), PICTURE]])
def test_custom_messages_become_user_messages(content: Any) -> None:
    converted = convert_to_llm([CustomMessage(custom_type="x", content=content, details={"k": 1})])

    assert isinstance(converted[0], UserMessage)
    assert converted[0].content == content


def test_a_shell_command_is_told_with_output_and_status() -> None:
    converted = convert_to_llm(
        [
            BashExecutionMessage(
                command="make all",
                output="```\nno rule",
                exit_code=2,
                truncated=True,
                full_output_path="out/all.txt",
            )
        ]
    )

    words = texts(converted)[0]
    assert isinstance(converted[0], UserMessage)
    assert "make all" in words
    assert "no rule" in words
    assert "2" in words
    assert "out/all.txt" in words
    assert "````" in words


def test_a_cancelled_shell_command_says_so() -> None:
    converted = convert_to_llm([BashExecutionMessage(command="make", cancelled=True)])

    assert "cancel" in texts(converted)[0].lower()


def test_an_excluded_shell_command_is_not_told() -> None:
    assert convert_to_llm([BashExecutionMessage(command="x", exclude_from_context=True)]) == []


def test_unknown_roles_are_dropped() -> None:
    stranger: Any = SimpleNamespace(role="telemetry", id="t1", content="cpu 40 %")

    assert [message.role for message in convert_to_llm([stranger, user("a")])] == ["user"]


# -- nothing to do ---------------------------------------------------------------------------------


def test_a_well_formed_history_is_returned_as_the_same_list() -> None:
    """S95."""
    history: list[LlmMessage] = [
        user("a"),
        asked("c1", "c2", **OWN),
        answered("c1"),
        answered("c2"),
        said("done", **OWN),
        user("b"),
    ]

    assert normalise(history, MODEL) is history


def test_the_input_is_never_changed() -> None:
    history: list[LlmMessage] = [
        user("a"),
        AssistantMessage(
            content=[
                ThinkingBlock(thinking="hm"),
                TextBlock(text="x", signature="s"),
                ToolCall(id="bad id!", name="echo", thought_signature="t"),
            ],
            **FOREIGN,
        ),
        UserMessage(content=[PICTURE]),
    ]
    before = [message.model_dump() for message in history]

    normalise(history, MODEL)

    assert [message.model_dump() for message in history] == before


# -- images ----------------------------------------------------------------------------------------


def test_a_group_of_images_becomes_one_placeholder_for_a_blind_model() -> None:
    message = UserMessage(content=[PICTURE, PICTURE, TextBlock(text="and"), PICTURE])

    [shown] = normalise([message], MODEL)

    blocks = shown.content
    assert all(isinstance(block, TextBlock) for block in blocks)
    assert len(blocks) == 3
    assert blocks[1] == TextBlock(text="and")


def test_images_of_results_are_replaced_too() -> None:
    result = ToolResultMessage(tool_call_id="c1", content=[TextBlock(text="see"), PICTURE])

    shown = normalise([user("a"), asked("c1", **OWN), result], MODEL)

    assert PICTURE not in shown[2].content
    assert len(shown[2].content) == 2


def test_a_seeing_model_gets_the_images() -> None:
    history: list[LlmMessage] = [UserMessage(content=[TextBlock(text="look"), PICTURE])]

    assert normalise(history, SEEING) is history


# -- failed and aborted answers --------------------------------------------------------------------


def test_a_failed_answer_is_not_sent() -> None:
    shown = normalise([user("a"), said("par", stop_reason="error"), user("b")], MODEL)

    assert texts(shown) == ["a", "b"]


def test_an_aborted_answer_keeps_its_text_and_says_that_it_was_interrupted() -> None:
    """S96."""
    aborted = AssistantMessage(
        content=[
            ThinkingBlock(thinking="hm", signature="s"),
            TextBlock(text="half"),
            TextBlock(text="  "),
            ToolCall(id="c1", name="echo"),
        ],
        stop_reason="aborted",
        **OWN,
    )

    shown = normalise([user("a"), aborted, user("b")], MODEL)

    answer = shown[1]
    assert isinstance(answer, AssistantMessage)
    assert [type(block) for block in answer.content] == [TextBlock, TextBlock]
    assert answer.content[0] == TextBlock(text="half")
    assert "interrupt" in answer.text.lower()


def test_an_aborted_answer_can_be_left_out() -> None:
    """S96."""
    shown = normalise([user("a"), said("half", stop_reason="aborted"), user("b")], MODEL, "drop")

    assert texts(shown) == ["a", "b"]


def test_an_aborted_answer_without_text_is_left_out() -> None:
    aborted = AssistantMessage(
        content=[ThinkingBlock(thinking="hm"), ToolCall(id="c1", name="echo")],
        stop_reason="aborted",
    )

    assert texts(normalise([user("a"), aborted, user("b")], MODEL)) == ["a", "b"]


def test_a_model_that_speaks_like_the_marker_gets_no_calls_through() -> None:
    marker = normalise([said("x", stop_reason="aborted")], MODEL)[0].content[-1]
    aborted = AssistantMessage(
        content=[TextBlock(text=text_of([marker])), ToolCall(id="c1", name="echo")],
        stop_reason="aborted",
        **OWN,
    )

    shown = normalise([user("a"), aborted, user("b")], MODEL)

    assert [call_ for m in shown if isinstance(m, AssistantMessage) for call_ in m.tool_calls] == []


async def test_the_next_request_has_the_aborted_text(stage: Make) -> None:
    """S96."""
    it = stage(
        [think("hm"), text("half an answer"), calls(call("echo", {}, id="c1")), hang()],
        text("ok"),
        tools=[echo()],
    )
    it.when("toolcall_end", lambda: it.agent.abort())
    await it.prompt("start")

    await it.prompt("go on")

    sent = it.requests[1].messages[1]
    assert it.requests[1].roles == ["user", "assistant", "user"]
    assert sent.content[0] == TextBlock(text="half an answer")
    assert [block.type for block in sent.content] == ["text", "text"]
    assert [block.type for block in it.answers[0].content] == ["thinking", "text", "tool_call"]


async def test_the_next_request_can_do_without_the_aborted_text(stage: Make) -> None:
    """S96."""
    it = stage([text("half an answer"), hang()], text("ok"), aborted_messages="drop")
    it.when("text_end", lambda: it.agent.abort())
    await it.prompt("start")

    await it.prompt("go on")

    assert it.requests[1].texts == ["start", "go on"]


# -- thinking and signatures -----------------------------------------------------------------------


def test_thoughts_of_another_model_become_plain_text() -> None:
    """S93."""
    message = AssistantMessage(
        content=[
            ThinkingBlock(thinking="let me see", signature="sig"),
            ThinkingBlock(thinking="", redacted=True, signature="blob"),
            ThinkingBlock(thinking=" "),
            TextBlock(text="done", signature="sig"),
        ],
        **FOREIGN,
    )

    shown = normalise([user("a"), message], MODEL)[1]

    assert shown.content == [TextBlock(text="let me see"), TextBlock(text="done")]


def test_calls_lose_the_signature_of_another_model() -> None:
    """S93."""
    message = AssistantMessage(
        content=[ToolCall(id="c1", name="echo", thought_signature="sig")], **FOREIGN
    )

    shown = normalise([user("a"), message, answered("c1")], MODEL)[1]

    assert isinstance(shown, AssistantMessage)
    assert shown.tool_calls[0].thought_signature is None


@pytest.mark.parametrize("field", ["provider", "model", "api"])
def test_the_same_model_means_provider_api_and_id(field: str) -> None:
    message = AssistantMessage(
        content=[ThinkingBlock(thinking="hm", signature="sig"), TextBlock(text="x")],
        **(OWN | {field: "other"}),
    )

    shown = normalise([user("a"), message], MODEL)[1]

    assert [block.type for block in shown.content if not isinstance(block, str)] == ["text", "text"]


def test_the_same_model_gets_its_thoughts_and_signatures_back() -> None:
    content: list[Any] = [
        ThinkingBlock(thinking="hm", signature="sig"),
        ThinkingBlock(thinking="", signature="sig"),
        ThinkingBlock(thinking="", redacted=True, signature="blob"),
        TextBlock(text="x", signature="sig"),
        TextBlock(text="", signature="sig"),
        ToolCall(id="c1", name="echo", thought_signature="sig"),
    ]
    history: list[LlmMessage] = [
        user("a"),
        AssistantMessage(content=content, **OWN),
        answered("c1"),
    ]

    assert normalise(history, MODEL) is history


def test_an_empty_text_whose_signature_is_foreign_is_left_out() -> None:
    content: list[Any] = [TextBlock(text="x"), TextBlock(text="", signature="sig")]

    shown = normalise([user("a"), AssistantMessage(content=content, **FOREIGN)], MODEL)[1]

    assert shown.content == [TextBlock(text="x")]


def test_unsigned_empty_thoughts_are_left_out() -> None:
    message = AssistantMessage(content=[ThinkingBlock(thinking=" "), TextBlock(text="x")], **OWN)

    shown = normalise([user("a"), message], MODEL)[1]

    assert shown.content == [TextBlock(text="x")]


# -- call ids --------------------------------------------------------------------------------------


def test_call_ids_are_made_legal_in_calls_and_results_alike() -> None:
    ids = ["call|fc_123", "x" * 200, "ünïcode", "fine-id_1"]
    history: list[LlmMessage] = [user("a"), asked(*ids, **OWN), *map(answered, ids)]

    shown = normalise(history, MODEL)

    made = [name.removeprefix("call:") for name in order(shown) if name.startswith("call:")]
    assert adjacency_problems(shown) == []
    assert len(set(made)) == 4
    assert made[3] == "fine-id_1"
    assert all(len(each) <= 64 and each.isascii() for each in made)
    assert all(each.replace("-", "").replace("_", "").isalnum() for each in made)


def test_a_call_id_is_made_legal_the_same_way_each_time() -> None:
    history: list[LlmMessage] = [user("a"), asked("a|b", **OWN), answered("a|b")]
    longer = [*history, user("more")]

    assert order(normalise(history, MODEL)) == order(normalise(longer, MODEL))[:3]


# -- adjacency -------------------------------------------------------------------------------------


def test_missing_results_of_the_last_answer_are_made_up_as_errors() -> None:
    """S91."""
    shown = normalise([user("a"), asked("c1", "c2", **OWN), answered("c1")], MODEL)

    made = shown[-1]
    assert order(shown) == ["user:a", "call:c1", "call:c2", "result:c1", "result:c2"]
    assert isinstance(made, ToolResultMessage)
    assert made.is_error
    assert made.text


@pytest.mark.parametrize("stop_reason", ["error", "aborted"])
def test_results_of_a_dropped_answer_are_dropped(stop_reason: Any) -> None:
    """S92."""
    shown = normalise(
        [user("a"), asked("c1", stop_reason=stop_reason), answered("c1"), user("b")], MODEL
    )

    assert order(shown) == ["user:a", "user:b"]


def test_results_of_a_complete_answer_stay_beside_a_dropped_one() -> None:
    """S92."""
    shown = normalise(
        [
            user("a"),
            asked("c1", **OWN),
            answered("c1"),
            asked("c2", stop_reason="aborted", **OWN),
            answered("c2"),
            user("b"),
        ],
        MODEL,
    )

    assert order(shown) == ["user:a", "call:c1", "result:c1", "user:b"]


@pytest.mark.parametrize(
    "hidden", [user(""), user("  "), UserMessage(content=[])], ids=["empty", "blank", "no-blocks"]
)
def test_empty_user_messages_do_not_make_results_up(hidden: UserMessage) -> None:
    """S94."""
    shown = normalise([user("a"), asked("c1", **OWN), hidden, answered("c1", "real")], MODEL)

    assert order(shown) == ["user:a", "call:c1", "result:c1"]
    assert texts(shown)[-1] == "real"


def test_a_displaced_result_is_pulled_back_to_its_call() -> None:
    """S95."""
    shown = normalise(
        [user("a"), asked("c1", **OWN), user("typed meanwhile"), answered("c1", "real")], MODEL
    )

    assert order(shown) == ["user:a", "call:c1", "result:c1", "user:typed meanwhile"]
    assert texts(shown)[2] == "real"


def test_results_are_put_in_the_order_of_their_calls() -> None:
    shown = normalise([user("a"), asked("c1", "c2", **OWN), answered("c2"), answered("c1")], MODEL)

    assert order(shown)[-2:] == ["result:c1", "result:c2"]


def test_a_duplicate_result_is_dropped() -> None:
    """S95."""
    shown = normalise(
        [user("a"), asked("c1", **OWN), answered("c1", "first"), answered("c1", "second")], MODEL
    )

    assert order(shown) == ["user:a", "call:c1", "result:c1"]
    assert texts(shown)[-1] == "first"


def test_a_result_without_a_call_is_dropped() -> None:
    shown = normalise([user("a"), answered("nobody"), said("x", **OWN)], MODEL)

    assert order(shown) == ["user:a"]


def test_a_result_behind_the_next_answer_is_too_late() -> None:
    shown = normalise(
        [user("a"), asked("c1", **OWN), said("next", **OWN), answered("c1", "late")], MODEL
    )

    assert order(shown) == ["user:a", "call:c1", "result:c1"]
    assert "late" not in texts(shown)


def test_one_id_in_two_answers_belongs_to_each() -> None:
    history: list[LlmMessage] = [
        user("a"),
        asked("c1", **OWN),
        answered("c1", "first"),
        asked("c1", **OWN),
        answered("c1", "second"),
    ]

    assert normalise(history, MODEL) is history


def test_empty_answers_are_left_out() -> None:
    shown = normalise([user("a"), AssistantMessage(**OWN), said("", **OWN), user("b")], MODEL)

    assert texts(shown) == ["a", "b"]


@pytest.mark.parametrize("role", ["user", "assistant", "tool_result"])
@pytest.mark.parametrize("stop_reason", ["stop", "aborted"])
def test_missing_content_is_empty_content(role: str, stop_reason: Any) -> None:
    nothing: Any = None
    broken: dict[str, Any] = {
        "user": UserMessage.model_construct(content=nothing),
        "assistant": AssistantMessage.model_construct(
            content=nothing, stop_reason=stop_reason, **OWN
        ),
        "tool_result": ToolResultMessage.model_construct(tool_call_id="c1", content=nothing),
    }

    shown = normalise([user("a"), asked("c1", **OWN), broken[role], user("b")], MODEL)

    assert order(shown) == ["user:a", "call:c1", "result:c1", "user:b"]


def test_consecutive_user_messages_stay_apart() -> None:
    history: list[LlmMessage] = [user("a"), user("b")]

    assert normalise(history, MODEL) is history


# -- any history -----------------------------------------------------------------------------------

WORDS = st.sampled_from(["", " ", "a", "b"])
IDS = st.sampled_from(["c1", "c2", "c3", "bad id", ""])
CONTENT = st.lists(
    st.one_of(
        st.builds(TextBlock, text=WORDS), st.just(ImageBlock(data="aGk=", mime_type="image/png"))
    ),
    max_size=3,
)
USERS = st.builds(UserMessage, content=st.one_of(WORDS, CONTENT))
RESULTS = st.builds(
    ToolResultMessage,
    tool_call_id=IDS,
    content=st.lists(st.builds(TextBlock, text=WORDS), max_size=2),
)
ANSWERS = st.builds(
    AssistantMessage,
    content=st.lists(
        st.one_of(
            st.builds(TextBlock, text=WORDS, signature=st.sampled_from([None, "s"])),
            st.builds(
                ThinkingBlock,
                thinking=WORDS,
                signature=st.sampled_from([None, "s"]),
                redacted=st.booleans(),
            ),
            st.builds(ToolCall, id=IDS, name=st.just("echo")),
        ),
        max_size=4,
        unique_by=lambda block: block.id if isinstance(block, ToolCall) else id(block),
    ),
    stop_reason=st.sampled_from(["stop", "tool_use", "length", "error", "aborted"]),
    provider=st.sampled_from(["test", "other"]),
    model=st.just("m"),
    api=st.just("openai-chat"),
)
HISTORIES = st.lists(st.one_of(USERS, RESULTS, ANSWERS), max_size=10)
MODELS = st.builds(
    Model,
    st.just("test"),
    st.just("m"),
    api=st.just("openai-chat"),
    images=st.booleans(),
    compat=st.sampled_from(
        [{}, {"merge_user_messages": True}, {"unsigned_thinking": False}],
    ),
)
POLICIES = st.sampled_from(["keep_text", "drop"])


@settings(max_examples=300, deadline=None)
@given(HISTORIES, MODELS, POLICIES)
def test_normalising_twice_is_normalising_once(
    history: list[LlmMessage], model: Model, policy: Any
) -> None:
    once = normalise(history, model, policy)

    assert normalise(once, model, policy) is once


@settings(max_examples=300, deadline=None)
@given(HISTORIES, MODELS, POLICIES)
def test_every_history_becomes_one_that_a_provider_takes(
    history: list[LlmMessage], model: Model, policy: Any
) -> None:
    shown = normalise(history, model, policy)

    answers = [message for message in shown if isinstance(message, AssistantMessage)]
    blocks: list[Any] = [b for m in shown if isinstance(m.content, list) for b in m.content]
    assert adjacency_problems(shown) == []
    assert all(answer.content for answer in answers)
    assert not any(answer.stop_reason == "error" for answer in answers)
    assert not any(answer.tool_calls for answer in answers if answer.stop_reason == "aborted")
    assert not any(m.content == "" for m in shown)
    assert model.images or not any(isinstance(block, ImageBlock) for block in blocks)


@settings(max_examples=200, deadline=None)
@given(HISTORIES, MODELS, POLICIES)
def test_words_of_the_user_are_never_lost_or_reordered(
    history: list[LlmMessage], model: Model, policy: Any
) -> None:
    shown = normalise(history, model, policy)

    said_before = [
        word for m in history if isinstance(m, UserMessage) for word in m.text.split() if word
    ]
    said_after = [
        word
        for m in shown
        if isinstance(m, UserMessage)
        for word in m.text.split()
        if word in ("a", "b")
    ]
    assert sorted(said_before) == sorted(said_after)
    assert said_before == said_after


@st.composite
def growing_histories(draw: st.DrawFn) -> list[list[LlmMessage]]:
    """What the requests of one run may look like: mostly the one before and more."""
    history: list[LlmMessage] = []
    requests = []
    for _ in range(draw(st.integers(1, 5))):
        change = draw(st.sampled_from(["grow", "grow", "grow", "cut", "swap"]))
        if change == "cut":
            history = history[draw(st.integers(0, 3)) :]
        if change == "swap" and history:
            place = draw(st.integers(0, len(history) - 1))
            history = [*history[:place], draw(USERS), *history[place + 1 :]]
        history = [*history, *draw(st.lists(st.one_of(USERS, RESULTS, ANSWERS), max_size=5))]
        requests.append(history)
    return requests


@settings(max_examples=200, deadline=None)
@given(growing_histories(), st.lists(MODELS, min_size=5, max_size=5), POLICIES)
def test_remembering_the_request_before_changes_nothing(
    requests: list[list[LlmMessage]], models: list[Model], policy: Any
) -> None:
    boundary = Boundary(policy)

    for place, request in enumerate(requests):
        model = models[place // 3]
        shown = boundary.normalise(request, model)
        plain = normalise(request, model, policy)

        assert [m.model_dump() for m in shown] == [m.model_dump() for m in plain]
        assert (shown is request) == (plain is request)


async def test_later_runs_see_what_became_of_the_transcript_and_the_policy() -> None:
    script = ScriptedModel([text(f"answer {number}") for number in range(5)])
    agent = Agent("test/m", stream_fn=script)
    await agent.prompt("one")
    await agent.prompt("two")
    cut_off = AssistantMessage(content=[TextBlock(text="half an")], stop_reason="aborted")
    agent.state.messages = [*agent.state.messages[:2], cut_off]
    await agent.prompt("three")
    agent.aborted_messages = "drop"
    await agent.prompt("four")
    agent.state.messages = agent.state.messages[3:]
    await agent.prompt("five")

    sent = [[text_of(m.content) for m in request.messages] for request in script.requests]
    assert sent == [
        ["one"],
        ["one", "answer 0", "two"],
        ["one", "answer 0", f"half an\n{INTERRUPTED}", "three"],
        ["one", "answer 0", "three", "answer 2", "four"],
        ["three", "answer 2", "four", "answer 3", "five"],
    ]
