"""G6: steps, turns, session, models and tools add up; unknown is never zero."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from agent_tui.core.events import MessageEndEvent, MessageUpdateEvent
from agent_tui.core.messages import AssistantMessage, ToolResultMessage, UserMessage
from agent_tui.core.model import Model, ModelCost, PriceTier
from agent_tui.core.pricing import cost_of
from agent_tui.core.spending import Spent, UsageReport, add_spent
from agent_tui.core.tool import Tool, ToolContext, ToolResult
from agent_tui.core.usage import Usage, add_usage, units_of
from agent_tui.session.events import AgentSettledEvent
from agent_tui.testing import Part, call, calls, end, fail, hang, pause, text
from tests.session.rig import Rig, plain_tool, reporting

PRICES = ModelCost(3.0, 15.0, 0.3, 3.75, tiers=(PriceTier(200_000, 6.0, 22.5, 0.6, 7.5),))
FREE = ModelCost(0.0, 0.0)
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


def costly(name: str, size: int, spent: Usage | None) -> Tool:
    async def execute(call_id: str, args: dict[str, Any], ctx: ToolContext) -> ToolResult:
        return ToolResult("x" * size, usage=spent)

    return Tool(name, "Looks.", {"type": "object"}, execute)


def spent_by(message: object) -> list[Usage]:
    if isinstance(message, AssistantMessage):
        return [message.usage]
    if isinstance(message, ToolResultMessage) and message.usage is not None:
        return [message.usage]
    return []


def known_units(spent: Spent) -> int:
    return units_of(spent.usage.cost_usd or 0.0)


# -- everything adds up ----------------------------------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(
    reported=st.lists(usages(), min_size=24, max_size=24),
    sizes=st.lists(st.integers(0, 4000), min_size=2, max_size=2),
    tool_usage=st.none() | usages(),
    prices=st.sampled_from([PRICES, FREE, None]),
    kinds=st.lists(
        st.sampled_from(["look", "grep", "both", "text", "retry", "other"]), min_size=3, max_size=10
    ),
)
def test_steps_turns_session_models_and_tools_agree_exactly(
    reported: list[Usage],
    sizes: list[int],
    tool_usage: Usage | None,
    prices: ModelCost | None,
    kinds: list[str],
) -> None:
    async def play() -> None:
        parts: dict[str, Part] = {
            "look": calls(call("look")),
            "grep": calls(call("grep")),
            "both": calls(call("look"), call("grep"), call("look")),
            "text": text("ok"),
            "other": text("ok"),
            "retry": fail("overloaded"),
        }
        script = [parts[kind] for kind in kinds] + [text("end")]
        tools = [costly("look", sizes[0], tool_usage), costly("grep", sizes[1], None)]
        rig = Rig(*script, tools=tools, prices=prices)
        rig.agent.stream_fn = reporting(rig.model, reported)
        turns: list[Spent] = []
        while len(rig.model.requests) < len(script):
            before = len(rig.events)
            if kinds[len(rig.model.requests) : len(rig.model.requests) + 1] == ["other"]:
                rig.session.set_model(Model("other", "n", cost=PRICES))
            await rig.session.prompt("go")
            steps = [
                usage
                for event in rig.events[before:]
                if isinstance(event, MessageEndEvent)
                for usage in spent_by(event.message)
            ]
            assert rig.session.turn_totals == add_usage(steps)
            turns.append(rig.session.turn_spent)
        assert rig.session.spent == add_spent(turns)
        check_report(rig.session.usage_report())

    asyncio.run(play())


def check_report(report: UsageReport) -> None:
    """Every way to group the rows of a report gives its total."""
    total = report.session
    assert add_spent(charge.spent for charge in report.charges) == total
    assert add_spent(spent for _, spent in report.models) == total
    assert sum(share.units for share in report.tools) + report.other_units == known_units(total)
    assert report.other_units >= 0
    assert all(share.first_units >= 0 and share.again_units >= 0 for share in report.tools)
    sent = total.usage.prompt_tokens
    assert sum(share.again for share in report.tools) <= sent
    own = [charge.spent for charge in report.charges if charge.outcome == "inside_tool"]
    assert add_spent(share.own for share in report.tools) == add_spent(own)
    last = max((charge.turn for charge in report.charges), default=0)
    assert add_spent(c.spent for c in report.charges if c.turn == last) == report.turn


async def test_every_request_is_a_row_with_its_turn_step_model_and_outcome() -> None:
    rig = Rig(
        fail("overloaded"),
        calls(call("look")),
        text("one"),
        text("two"),
        tools=[costly("look", 4, Usage(input=1, total=1, cost_usd=0.25))],
    )

    await rig.session.prompt("go")
    rig.session.set_model(Model("other", "n"))
    await rig.session.prompt("again")

    rows = [
        (row.turn, row.step, row.model or row.tool, row.outcome)
        for row in rig.session.usage_report().charges
    ]
    assert rows == [
        (1, 1, "test/m", "failed"),
        (1, 1, "test/m", "answered"),
        (1, 1, "look", "inside_tool"),
        (1, 2, "test/m", "answered"),
        (2, 1, "other/n", "answered"),
    ]


async def test_a_row_says_how_long_the_call_took() -> None:
    rig = Rig(text("one"))

    def wait(event: object, signal: object) -> None:
        if isinstance(event, MessageUpdateEvent):
            rig.clock.now += 1.5

    rig.session.subscribe(wait)

    await rig.session.prompt("go")

    took = rig.session.usage_report().charges[0].seconds
    assert took is not None
    assert took >= 1.5


async def test_models_stand_dearest_first() -> None:
    rig = Rig(text("one"), text("two"))
    rig.agent.stream_fn = reporting(
        rig.model, [Usage(input=1, total=1, cost_usd=0.1), Usage(input=1, total=1, cost_usd=0.9)]
    )

    await rig.session.prompt("go")
    rig.session.set_model(Model("other", "n"))
    await rig.session.prompt("go")

    assert [name for name, _ in rig.session.usage_report().models] == ["other/n", "test/m"]


# -- what is unknown stays unknown -----------------------------------------------------------------


async def test_an_unknown_price_stays_unknown() -> None:
    rig = Rig(text("one"))
    rig.agent.stream_fn = reporting(rig.model, [Usage(input=5, output=5, total=10)])

    await rig.session.prompt("go")

    assert rig.session.totals.cost_usd is None
    assert rig.session.totals.total == 10
    assert rig.session.spent.cost_is_partial
    assert not rig.session.spent.tokens_are_partial


async def test_a_price_that_is_partly_unknown_makes_the_sum_a_lower_bound() -> None:
    rig = Rig(text("one"), text("two"))
    known = Usage(input=5, total=5, cost_usd=0.5)
    rig.agent.stream_fn = reporting(rig.model, [known, Usage(input=5, total=5)])

    await rig.session.prompt("go")
    await rig.session.prompt("go")

    assert rig.session.totals.cost_usd == 0.5
    assert rig.session.totals.incomplete
    assert not rig.session.spent.tokens_are_partial


async def test_an_answer_that_nobody_counted_is_unknown_and_not_free() -> None:
    rig = Rig(text("one"), prices=PRICES)

    await rig.session.prompt("go")

    spent = rig.session.spent
    assert (spent.requests, spent.answers) == (1, 1)
    assert spent.usage.cost_usd is None
    assert spent.tokens_are_partial
    assert spent.cost_is_partial


async def test_the_providers_own_figure_wins_over_the_prices() -> None:
    rig = Rig([text("one"), end(usage=Usage(input=10**6, cost_usd=0.125))], prices=PRICES)

    await rig.session.prompt("go")

    assert rig.session.totals.cost_usd == 0.125


async def test_a_price_of_ones_own_is_known_as_such() -> None:
    rig = Rig([text("one"), end(usage=Usage(input=10))], prices=ModelCost(1.0, 1.0, is_own=True))

    await rig.session.prompt("go")

    assert rig.session.spent.has_own_price


# -- what failed or was stopped --------------------------------------------------------------------


async def test_failed_and_repeated_attempts_count() -> None:
    rig = Rig(fail("overloaded"), fail("network"), text("ok"), prices=PRICES)
    reported = [Usage(input=100, total=100), Usage(), Usage(input=100, output=10, total=110)]
    rig.agent.stream_fn = reporting(rig.model, reported)

    await rig.session.prompt("go")

    spent = rig.session.turn_spent
    assert (spent.requests, spent.answers) == (3, 1)
    assert spent.usage.input == 200
    assert spent.usage.cost_usd == cost_of(Usage(input=200, output=10), PRICES)
    assert spent.cost_is_partial


async def stopped_early(prices: ModelCost | None) -> Rig:
    """A session whose only answer was stopped before anything was counted."""
    rig = Rig([text("on"), hang()], prices=prices)
    rig.when(MessageUpdateEvent, rig.session.abort)
    await rig.session.prompt("go")
    return rig


async def test_a_stopped_answer_is_a_lower_bound() -> None:
    rig = await stopped_early(PRICES)

    assert rig.session.spent.usage.cost_usd is None
    assert rig.session.spent.cost_is_partial
    assert rig.session.usage_report().charges[0].outcome == "aborted"


async def test_a_stopped_answer_of_a_free_model_costs_nothing_for_certain() -> None:
    rig = await stopped_early(FREE)

    assert rig.session.spent.usage.cost_usd == 0.0
    assert not rig.session.spent.cost_is_partial
    assert rig.session.spent.tokens_are_partial


async def test_a_turn_that_made_no_request_cost_nothing() -> None:
    def refuse(messages: object, signal: object) -> Any:
        raise ValueError("no")

    rig = Rig(transform_context=refuse)

    await rig.session.prompt("go")

    assert rig.session.spent == Spent()
    assert rig.session.usage_report().charges == ()


async def test_a_message_that_was_taken_back_in_time_made_no_request() -> None:
    rig = Rig([pause(0), text("one")])
    item = rig.session.follow_up("later")

    def take_back(items: object) -> None:
        if len(rig.agent.queued()) == 1 and rig.model.requests:
            rig.agent.cancel_queued(item)

    rig.when(MessageEndEvent, lambda: take_back(None), nth=2)

    await rig.session.prompt("go")

    assert rig.session.spent.requests == len(rig.model.requests)


# -- turns and earlier times -----------------------------------------------------------------------


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


async def test_totals_go_on_from_those_of_an_earlier_time() -> None:
    """The case resume-keeps-totals."""

    def turn() -> list[Part]:
        return [text("ok"), end(usage=Usage(input=1000, output=100))]

    earlier = Rig(turn(), turn(), prices=PRICES)
    await earlier.session.prompt("one")
    await earlier.session.prompt("two")
    rig = Rig(turn(), prices=PRICES, messages=earlier.agent.state.messages)

    before = rig.session.spent
    await rig.session.prompt("three")

    assert before == earlier.session.spent
    assert rig.session.spent.requests == 3
    assert rig.session.totals.prompt_tokens == 3000
    assert rig.session.totals.output == 300
    assert rig.session.turn_totals.output == 100
    check_report(rig.session.usage_report())


async def test_totals_do_not_shrink_with_the_transcript() -> None:
    rig = Rig([text("one"), end(usage=Usage(input=7))], [text("two"), end(usage=Usage(input=5))])
    await rig.session.prompt("go")
    rig.agent.state.messages = [UserMessage(content="a summary")]

    await rig.session.prompt("on")

    assert rig.session.totals.input == 12


async def test_a_session_without_any_call_has_an_empty_report() -> None:
    report = Rig().session.usage_report()

    assert report == UsageReport(Spent(), Spent(), (), (), (), 0)


# -- what results of tools cost --------------------------------------------------------------------


def asking(usage: Usage, *names: str) -> list[Part]:
    return [calls(*(call(name) for name in names)), end(usage=usage)]


async def share_of(name: str, rig: Rig) -> Any:
    await rig.session.prompt("go")
    report = rig.session.usage_report()
    check_report(report)
    return next(share for share in report.tools if share.tool == name)


async def test_a_result_is_read_once_and_then_again_in_every_later_step() -> None:
    rig = Rig(
        asking(Usage(input=1000), "look"),
        asking(Usage(input=11_000), "other"),
        asking(Usage(input=11_000), "other"),
        [text("done"), end(usage=Usage(input=11_000))],
        tools=[plain_tool("look", "x" * 40_000), plain_tool("other", "")],
        prices=ModelCost(1.0, 1.0),
    )

    share = await share_of("look", rig)

    assert share.calls == 1
    assert 9_500 < share.added < 11_000
    assert 2 * share.added * 0.97 < share.again < 2 * share.added
    assert share.again_units == share.again * 10_000
    assert share.first_units == share.added * 10_000


async def test_cached_tokens_are_the_front_of_a_request() -> None:
    rig = Rig(
        asking(Usage(input=1000), "look"),
        asking(Usage(input=11_000), "other"),
        [text("done"), end(usage=Usage(input=100, cache_read=10_900))],
        tools=[plain_tool("look", "x" * 40_000), plain_tool("other", "")],
        prices=ModelCost(1.0, 1.0, cache_read=0.1),
    )

    share = await share_of("look", rig)

    assert share.again_units < share.again * 1_500


async def test_a_result_that_no_request_has_held_yet_is_an_estimate() -> None:
    rig = Rig(
        asking(Usage(input=1000), "look"),
        tools=[plain_tool("look", "x" * 4000)],
        max_iterations=1,
        prices=PRICES,
    )

    share = await share_of("look", rig)

    assert (share.added, share.again, share.units) == (1000, 0, 0)


async def test_without_prices_the_cost_of_reading_is_unknown() -> None:
    rig = Rig(
        asking(Usage(input=1000), "look"),
        [text("done"), end(usage=Usage(input=2000, cost_usd=0.5))],
        tools=[plain_tool("look", "x" * 4000)],
    )

    share = await share_of("look", rig)

    assert share.is_partial
    assert share.units == 0
    assert rig.session.usage_report().other_units == units_of(0.5)


async def test_results_that_a_summary_replaced_are_not_read_any_more() -> None:
    rig = Rig(
        asking(Usage(input=1000), "look"),
        [text("done"), end(usage=Usage(input=2000))],
        [text("on"), end(usage=Usage(input=500))],
        tools=[plain_tool("look", "x" * 4000)],
        prices=PRICES,
    )
    before = await share_of("look", rig)
    rig.agent.state.messages = [UserMessage(content="a summary")]

    after = await share_of("look", rig)

    assert after == before


async def test_a_result_that_stays_behind_a_summary_is_read_again() -> None:
    rig = Rig(
        asking(Usage(input=1000), "look"),
        [text("done"), end(usage=Usage(input=2000))],
        [text("on"), end(usage=Usage(input=2000))],
        tools=[plain_tool("look", "x" * 4000)],
        prices=PRICES,
    )
    before = await share_of("look", rig)
    kept = rig.agent.state.messages[1:]
    rig.agent.state.messages = [UserMessage(content="a summary"), *kept]

    after = await share_of("look", rig)

    assert (before.again, after.added) == (0, before.added)
    assert after.again > 0


async def test_the_dearest_tool_stands_first() -> None:
    rig = Rig(
        asking(Usage(input=1000), "small", "large"),
        [text("done"), end(usage=Usage(input=9000))],
        tools=[plain_tool("small", "x" * 40), plain_tool("large", "x" * 4000)],
        prices=PRICES,
    )

    await rig.session.prompt("go")

    assert [share.tool for share in rig.session.usage_report().tools] == ["large", "small"]


def test_booking_a_long_transcript_costs_what_is_new_in_it() -> None:
    def steps(count: int) -> int:
        return _measured(lambda: _booked(count))

    assert steps(800) < 8 * steps(200)


def _booked(count: int) -> None:
    messages: list[Any] = []
    for place in range(count):
        answer = AssistantMessage(provider="test", model="m", usage=Usage(input=10, cost_usd=0.1))
        result = ToolResultMessage(tool_call_id=str(place), tool_name="look")
        messages += [answer, result]
    Rig(messages=messages, prices=PRICES)


def _measured(act: Callable[[], None]) -> int:
    """How many lines of the ledger and the shares run."""
    import sys

    lines = 0

    def trace(frame: Any, event: str, arg: object) -> Any:
        nonlocal lines
        if not frame.f_code.co_filename.endswith(("ledger.py", "shares.py")):
            return None
        lines += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        act()
    finally:
        sys.settrace(before)
    return lines
