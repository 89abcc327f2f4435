"""The buffered view of the events."""

from __future__ import annotations

import asyncio
from typing import Any

from agent_tui import AgentEvent, AssistantMessage, Tool, ToolCall, ToolContext
from agent_tui.core.events import AgentEndEvent, MessageUpdateEvent, ToolExecutionUpdateEvent
from agent_tui.core.stream import StreamDone, StreamStart, ToolCallDelta
from agent_tui.testing import call, calls, text, think
from tests.agent.stage import Make, breathe, said, stream_of, turns
from tests.agent.toolbox import ANYTHING, acting
from tests.agent.tracing import shorthand


async def read_to_the_end(view: Any) -> list[AgentEvent]:
    """The events of one run."""
    events: list[AgentEvent] = []
    async for event in view:
        events.append(event)
        if isinstance(event, AgentEndEvent):
            break
    return events


def without_updates(events: list[AgentEvent]) -> str:
    return shorthand(
        event
        for event in events
        if not isinstance(event, MessageUpdateEvent | ToolExecutionUpdateEvent)
    )


def reporting(name: str, times: int) -> Tool:
    """A tool that reports progress several times."""

    async def execute(call_id: str, args: dict[str, Any], ctx: ToolContext) -> str:
        for n in range(times):
            ctx.on_update(f"{call_id} {n}")
        await breathe()
        return "ok"

    return Tool(name, "Reports.", ANYTHING, execute)


async def test_a_quick_reader_sees_every_event(stage: Make) -> None:
    it = stage(calls(call("work", id="c1")), text("done", chunk=1), tools=[reporting("work", 2)])
    view = it.agent.events()

    reader = asyncio.create_task(read_to_the_end(view))
    await it.prompt()
    seen = await reader

    assert without_updates(seen) == without_updates(it.events)
    await view.aclose()


async def test_a_slow_reader_loses_nothing_but_steps_in_between(stage: Make) -> None:
    it = stage(
        [
            think("let me see"),
            text("first I look", chunk=1),
            calls(call("work", {"a": 1}, id="c1")),
        ],
        text("done", chunk=1),
        tools=[reporting("work", 50)],
    )
    view = it.agent.events()

    await it.prompt()
    seen = await read_to_the_end(view)

    deltas = [
        getattr(e.assistant_message_event, "delta", "")
        for e in seen
        if isinstance(e, MessageUpdateEvent)
    ]
    reports = [e for e in seen if isinstance(e, ToolExecutionUpdateEvent)]
    assert without_updates(seen) == without_updates(it.events)
    assert "".join(deltas) == 'let me seefirst I look{"a": 1}done'
    assert reports[-1].partial_result.text == "c1 49"
    assert len(seen) < len(it.events)
    await view.aclose()


async def test_deltas_of_interleaved_blocks_are_not_joined(stage: Make) -> None:
    message = AssistantMessage(content=[ToolCall(id="a"), ToolCall(id="b")], stop_reason="length")
    deltas = [(0, '{"x":'), (1, '{"y":'), (1, "1"), (0, " 1}"), (1, "}")]
    it = stage(
        stream_fn=turns(
            stream_of(
                StreamStart(message),
                *(ToolCallDelta(index, delta, message) for index, delta in deltas),
                StreamDone("length", message),
            ),
            stream_of(StreamDone("stop", said("ok"))),
        )
    )
    view = it.agent.events()

    await it.prompt()
    seen = await read_to_the_end(view)

    joined: dict[int, str] = {0: "", 1: ""}
    for event in seen:
        if isinstance(event, MessageUpdateEvent):
            part = event.assistant_message_event
            joined[part.content_index] += getattr(part, "delta", "")
    assert joined == {0: '{"x": 1}', 1: '{"y":1}'}
    await view.aclose()


async def test_updates_of_two_calls_are_not_joined(stage: Make) -> None:
    it = stage(
        calls(call("work", id="c1"), call("work", id="c2")),
        text("done"),
        tools=[reporting("work", 3)],
    )
    view = it.agent.events()

    await it.prompt()
    seen = await read_to_the_end(view)

    newest = {
        e.tool_call_id: e.partial_result.text
        for e in seen
        if isinstance(e, ToolExecutionUpdateEvent)
    }
    assert newest == {"c1": "c1 2", "c2": "c2 2"}
    await view.aclose()


async def test_a_slow_reader_does_not_slow_the_run(stage: Make) -> None:
    it = stage(text("a long answer", chunk=1))
    view = it.agent.events()

    await it.prompt()

    assert it.end.reason == "completed"
    await view.aclose()


async def test_the_view_subscribes_when_it_is_made(stage: Make) -> None:
    it = stage(text("1"), text("2"))
    await it.prompt("before")
    view = it.agent.events()

    await it.prompt("after")
    seen = await read_to_the_end(view)

    assert without_updates(seen) == (
        'AS TS MS:u"after" ME:u"after" MS:a ME:a/stop TE[] AE:completed'
    )
    await view.aclose()


async def test_the_view_outlives_the_run(stage: Make) -> None:
    it = stage(text("1"), text("2"))
    view = it.agent.events()

    await it.prompt("one")
    first = await read_to_the_end(view)
    await it.prompt("two")
    second = await read_to_the_end(view)

    assert 'ME:u"one"' in without_updates(first)
    assert 'ME:u"two"' in without_updates(second)
    await view.aclose()


async def test_closing_the_view_ends_the_reading(stage: Make) -> None:
    it = stage(text("1"))
    view = it.agent.events()
    reader = asyncio.create_task(read_to_the_end(view))
    await breathe()

    await view.aclose()
    await view.aclose()
    seen = await asyncio.wait_for(reader, 5)
    await it.prompt()

    assert seen == []
    assert [event async for event in view] == []


async def test_views_do_not_disturb_each_other(stage: Make) -> None:
    it = stage(text("1"))
    first, second = it.agent.events(), it.agent.events()

    await it.prompt()
    seen = [await read_to_the_end(first), await read_to_the_end(second)]

    assert without_updates(seen[0]) == without_updates(seen[1])
    await first.aclose()
    await second.aclose()


async def test_a_closed_view_leaves_the_run_alone(stage: Make) -> None:
    it = stage(calls(call("act", id="c1")), text("ok"), tools=[acting("act", lambda: None)])
    view = it.agent.events()
    closing: list[asyncio.Task[None]] = []
    it.when("XS(c1)", lambda: closing.append(asyncio.ensure_future(view.aclose())))

    await it.prompt()
    await closing[0]

    assert it.end.reason == "completed"


async def test_a_view_closes_with_its_block(stage: Make) -> None:
    it = stage(text("1"), text("2"))

    async with it.agent.events() as view:
        await it.prompt("seen")
        seen = await read_to_the_end(view)
    await it.prompt("not seen")

    assert 'ME:u"seen"' in without_updates(seen)
    assert [event async for event in view] == []
