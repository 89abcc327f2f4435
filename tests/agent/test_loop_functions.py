"""The loop without an agent around it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from agent_tui import (
    AbortSignal,
    AgentContext,
    AgentEvent,
    AgentLoopConfig,
    AgentMessage,
    InvalidStateError,
    Model,
    Tool,
    ToolContext,
    agent_loop,
    agent_loop_continue,
)
from agent_tui.testing import ScriptedModel, call, calls, hang, text
from tests.agent.stage import answered, asked, said, user
from tests.agent.toolbox import ANYTHING, echo
from tests.agent.tracing import problems_of_run, shorthand, token

MODEL = Model("test", "m")


def configured(*script: Any, **options: Any) -> AgentLoopConfig:
    return AgentLoopConfig(MODEL, stream_fn=ScriptedModel(list(script)), **options)


async def test_the_loop_returns_the_messages_of_its_run() -> None:
    events: list[AgentEvent] = []
    old, prompt = user("old"), user("p")
    context = AgentContext("be brief", [old, said("hi")], [echo()])

    messages = await agent_loop(
        [prompt], context, configured(calls(call("echo", id="c1")), text("ok")), events.append
    )

    assert [message.role for message in messages] == [
        "user",
        "assistant",
        "tool_result",
        "assistant",
    ]
    assert messages[0] is prompt
    assert problems_of_run(events) == []


async def test_the_callers_context_is_never_touched() -> None:
    context = AgentContext(None, [user("old")], [echo()])

    await agent_loop([user("p")], context, configured(text("ok")), lambda event: None)

    assert len(context.messages) == 1


async def test_emitting_may_be_a_coroutine() -> None:
    events: list[AgentEvent] = []

    async def emit(event: AgentEvent) -> None:
        await asyncio.sleep(0)
        events.append(event)

    await agent_loop([user("p")], AgentContext(), configured(text("ok")), emit)

    assert shorthand(events[-2:]) == "TE[] AE:completed"


async def test_emitting_may_return_anything_else() -> None:
    kinds: list[str] = []

    def emit(event: AgentEvent) -> int:
        kinds.append(event.type)
        return len(kinds)

    await agent_loop([user("p")], AgentContext(), configured(text("ok")), emit)

    assert kinds[-1] == "agent_end"


async def test_a_signal_that_is_already_set_still_records_the_prompts() -> None:
    events: list[AgentEvent] = []
    polled: list[str] = []
    signal = AbortSignal()
    signal.set("no")

    def steering() -> list[AgentMessage]:
        polled.append("steering")
        return [user("S")]

    model = ScriptedModel([text("never")])
    config = AgentLoopConfig(MODEL, stream_fn=model, get_steering_messages=steering)
    messages = await agent_loop(
        [user("x"), user("y")], AgentContext(), config, events.append, signal
    )

    assert [message.role for message in messages] == ["user", "user", "assistant"]
    assert shorthand(events[-2:]) == "TE[] AE:aborted"
    assert model.requests == []
    assert polled == []


async def test_the_signal_can_be_set_from_outside() -> None:
    events: list[AgentEvent] = []
    signal = AbortSignal()
    run = asyncio.create_task(
        agent_loop([user("p")], AgentContext(), configured(hang()), events.append, signal)
    )
    await asyncio.sleep(0.01)

    signal.set()
    messages = await run

    assert messages[-1].role == "assistant"
    assert shorthand(events[-1:]) == "AE:aborted"


async def test_queues_are_polled_through_the_configuration() -> None:
    events: list[AgentEvent] = []
    steering = [[], [user("S")], []]
    follow_ups = [[user("F")], []]

    async def get_steering() -> list[AgentMessage]:
        return [*steering.pop(0)] if steering else []

    await agent_loop(
        [user("p")],
        AgentContext(tools=[echo()]),
        configured(
            calls(call("echo", id="c1")),
            text("1"),
            text("2"),
            get_steering_messages=get_steering,
            get_follow_up_messages=lambda: follow_ups.pop(0),
        ),
        events.append,
    )

    assert [shorthand([e]) for e in events if shorthand([e]).startswith("ME:u")] == [
        'ME:u"p"',
        'ME:u"S"',
        'ME:u"F"',
    ]
    assert problems_of_run(events) == []


@pytest.mark.parametrize("lane", ["steering", "follow_up"])
async def test_an_abort_during_a_poll_opens_no_turn(lane: str) -> None:
    events: list[AgentEvent] = []
    signal = AbortSignal()
    polls: list[str] = []

    async def get() -> list[AgentMessage]:
        polls.append(lane)
        if lane == "follow_up" or len(polls) == 2:
            signal.set()
            return [user("Q")]
        return []

    script = [calls(call("echo", id="c1"))] if lane == "steering" else [text("1")]
    await agent_loop(
        [user("p")],
        AgentContext(tools=[echo()]),
        configured(*script, text("never"), **{f"get_{lane}_messages": get}),
        events.append,
        signal,
    )

    assert shorthand(events).count("TS") == 1
    assert shorthand(events[-1:]) == "AE:aborted"


async def test_continuing_answers_what_is_there() -> None:
    events: list[AgentEvent] = []
    context = AgentContext(messages=[user("old"), asked("c1"), answered("c1")])

    messages = await agent_loop_continue(context, configured(text("new")), events.append)

    assert [message.role for message in messages] == ["assistant"]
    assert problems_of_run(events) == []


async def test_continuing_after_an_answer_is_refused() -> None:
    events: list[AgentEvent] = []
    context = AgentContext(messages=[user("old"), said("answer")])

    with pytest.raises(InvalidStateError):
        await agent_loop_continue(context, configured(text("never")), events.append)

    assert events == []


async def test_a_configuration_needs_only_a_model() -> None:
    config = AgentLoopConfig(MODEL)

    assert (config.thinking_level, config.tool_execution) == ("off", "parallel")
    assert config.max_iterations is None
    assert config.get_steering_messages is None
    assert config.get_follow_up_messages is None
    assert config.before_tool_call is None
    assert config.after_tool_call is None
    assert config.prepare_next_turn is None
    assert config.should_stop_after_turn is None
    assert config.session_id is None
    assert config.stream_fn is None


async def test_tools_run_in_the_configured_mode() -> None:
    log: list[str] = []

    async def execute(call_id: str, args: dict[str, Any], ctx: ToolContext) -> str:
        log.append(f"{call_id} in")
        await asyncio.sleep(0)
        log.append(f"{call_id} out")
        return "ok"

    await agent_loop(
        [user("p")],
        AgentContext(tools=[Tool("work", "Works.", ANYTHING, execute)]),
        configured(
            calls(call("work", id="c1"), call("work", id="c2")),
            text("ok"),
            tool_execution="sequential",
        ),
        lambda event: None,
    )

    assert log == ["c1 in", "c1 out", "c2 in", "c2 out"]


@pytest.mark.parametrize(
    "moment",
    [
        "AS",
        "TS",
        'MS:u"p"',
        'ME:u"p"',
        "MS:a",
        "MU",
        "ME:a/tool_use",
        "XS(c1)",
        "XU(c1)",
        "XE(c1)",
        "XE(c2)✗",
        "MS:r(c1)",
        "ME:r(c1)",
        "ME:r(c2)",
        "TE[c1,c2]",
    ],
)
@pytest.mark.parametrize("mode", ["parallel", "sequential"])
async def test_a_sink_that_fails_once_leaves_the_events_balanced(moment: str, mode: Any) -> None:
    events: list[AgentEvent] = []
    failures = [OSError("disk full")]

    def emit(event: AgentEvent) -> None:
        events.append(event)
        if token(event) == moment and failures:
            raise failures.pop()

    async def execute(call_id: str, args: dict[str, Any], ctx: ToolContext) -> str:
        ctx.on_update("half")
        return "ok"

    await agent_loop(
        [user("p")],
        AgentContext(tools=[Tool("work", "Works.", ANYTHING, execute)]),
        configured(
            calls(call("work", id="c1"), call("ghost", id="c2")), text("ok"), tool_execution=mode
        ),
        emit,
    )

    assert failures == []
    assert problems_of_run(events) == []


@pytest.mark.parametrize("poll", [1, 2])
@pytest.mark.parametrize("lane", ["steering", "follow_up"])
async def test_a_queue_that_cannot_be_polled_ends_the_run_balanced(lane: str, poll: int) -> None:
    events: list[AgentEvent] = []
    polls: list[int] = []

    def get() -> list[AgentMessage]:
        polls.append(1)
        if len(polls) == poll:
            raise OSError("no queue")
        return [user(f"Q{len(polls)}")]

    await agent_loop(
        [user("p")],
        AgentContext(),
        configured(*[text(str(n)) for n in range(5)], **{f"get_{lane}_messages": get}),
        events.append,
    )

    assert len(polls) == poll
    assert shorthand(events[-1:]) == "AE:error"
    assert problems_of_run(events) == []
