"""G6: the steps add up to the turn, the turns to the session; unknown is never zero."""

from __future__ import annotations

import asyncio
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from agent_tui.core.events import MessageEndEvent
from agent_tui.core.messages import AssistantMessage, ToolResultMessage
from agent_tui.core.tool import Tool, ToolContext, ToolResult
from agent_tui.core.usage import Usage, add_usage
from agent_tui.session.events import AgentSettledEvent
from agent_tui.testing import call, calls, fail, text
from tests.session.rig import Rig, reporting

TOKENS = st.integers(0, 10**6)
COSTS = st.none() | st.floats(0, 50).map(lambda usd: round(usd, 6))


@st.composite
def usages(draw: st.DrawFn) -> Usage:
    counts = [draw(TOKENS) for _ in range(4)]
    return Usage(
        input=counts[0],
        output=counts[1],
        cache_read=counts[2],
        cache_write=counts[3],
        total=sum(counts),
        cost_usd=draw(COSTS),
    )


def costly(spent: Usage) -> Tool:
    async def execute(call_id: str, args: dict[str, Any], ctx: ToolContext) -> ToolResult:
        return ToolResult("ok", usage=spent)

    return Tool("look", "Looks.", {"type": "object"}, execute)


def spent_by(message: object) -> list[Usage]:
    if isinstance(message, AssistantMessage):
        return [message.usage]
    if isinstance(message, ToolResultMessage) and message.usage is not None:
        return [message.usage]
    return []


@settings(max_examples=60, deadline=None)
@given(
    reported=st.lists(usages(), min_size=12, max_size=12),
    tool_usage=usages(),
    kinds=st.lists(st.sampled_from(["tool", "text", "retry"]), min_size=3, max_size=10),
)
def test_steps_turns_and_session_agree_exactly(
    reported: list[Usage], tool_usage: Usage, kinds: list[str]
) -> None:
    async def play() -> None:
        parts = {"tool": calls(call("look")), "text": text("ok"), "retry": fail("overloaded")}
        script = [parts[kind] for kind in kinds] + [text("end")]
        rig = Rig(*script, tools=[costly(tool_usage)])
        rig.agent.stream_fn = reporting(rig.model, [*reported, *reported])
        turns: list[Usage] = []
        while len(rig.model.requests) < len(script):
            before = len(rig.events)
            await rig.session.prompt("go")
            steps = [
                usage
                for event in rig.events[before:]
                if isinstance(event, MessageEndEvent)
                for usage in spent_by(event.message)
            ]
            assert rig.session.turn_totals == add_usage(steps)
            turns.append(rig.session.turn_totals)
        assert rig.session.totals == add_usage(turns)

    asyncio.run(play())


async def test_an_unknown_price_stays_unknown() -> None:
    rig = Rig(text("one"))
    rig.agent.stream_fn = reporting(rig.model, [Usage(input=5, output=5, total=10)])

    await rig.session.prompt("go")

    assert rig.session.totals.cost_usd is None
    assert rig.session.totals.total == 10


async def test_a_price_that_is_partly_unknown_makes_the_sum_a_lower_bound() -> None:
    rig = Rig(text("one"), text("two"))
    known = Usage(input=5, total=5, cost_usd=0.5)
    rig.agent.stream_fn = reporting(rig.model, [known, Usage(input=5, total=5)])

    await rig.session.prompt("go")
    await rig.session.prompt("go")

    assert rig.session.totals.cost_usd == 0.5
    assert rig.session.totals.incomplete


async def test_a_new_turn_starts_from_zero_and_a_follow_up_belongs_to_its_turn() -> None:
    rig = Rig(text("one"), text("two"), text("three"))
    rig.agent.stream_fn = reporting(rig.model, [Usage(input=1, total=1)] * 3)
    rig.session.follow_up("q1")

    await rig.session.prompt("go")
    first = (rig.session.turn_totals.input, rig.session.turn_steps)
    await rig.session.prompt("again")

    assert first == (2, 2)
    assert (rig.session.turn_totals.input, rig.session.turn_steps) == (1, 1)
    assert rig.session.totals.input == 3
    assert len(rig.told(AgentSettledEvent)) == 2
