"""Another model for the rest of a turn, when the one in use is overloaded."""

from __future__ import annotations

import asyncio

import pytest

from agent_tui.core.errors import InvalidInputError
from agent_tui.core.events import AgentEndEvent
from agent_tui.core.messages import AssistantMessage
from agent_tui.core.model import Model, ModelCost
from agent_tui.core.usage import Usage
from agent_tui.session.events import AutoRetryEndEvent, FallbackEvent
from agent_tui.testing import Part, call, calls, end, fail, text
from tests.session.rig import Rig, plain_tool, start, until

SPARE = Model("lab", "spare", cost=ModelCost(1.0, 1.0))
OTHER = Model("lab", "other")
SMALL = Model("lab", "small", context_window=3)
LONG = fail("rate_limit", "Slow down.", retry_after=300)
"""A wait that is not worth it."""


def rig_with(
    *script: Part | list[Part], names: tuple[str, ...] = ("lab/spare",), **own: object
) -> Rig:
    """A session whose fallbacks are these."""
    rig = Rig(*script, **own)  # type: ignore[arg-type]
    known = {model.key: model for model in (SPARE, OTHER, SMALL)}

    def find(name: str) -> Model:
        if name not in known:
            raise InvalidInputError(f"unknown model {name}")
        return known[name]

    rig.session.fallback.find = find
    rig.session.fallback.names = names
    return rig


def answers_of(rig: Rig) -> list[str]:
    """Who gave which answer, in the transcript."""
    found = [m for m in rig.agent.state.messages if isinstance(m, AssistantMessage)]
    return [f"{m.provider}/{m.model}: {m.text}" for m in found]


async def test_after_the_last_retry_another_model_goes_on_for_the_turn() -> None:
    rig = rig_with(*[fail("overloaded", "busy")] * 4, text("here"), text("again"))

    await rig.session.prompt("go")
    await rig.session.prompt("next")

    assert rig.clock.slept == [2.0, 4.0, 8.0]
    assert answers_of(rig) == ["lab/spare: here", "test/m: again"]
    (event,) = rig.told(FallbackEvent)
    assert event.sentence == "test/m: overloaded; going on with lab/spare for this turn"
    assert rig.told(AutoRetryEndEvent) == [AutoRetryEndEvent(False, 3, "busy")]
    assert rig.agent.state.model.key == "test/m"


async def test_a_wait_that_is_too_long_brings_it_at_once() -> None:
    rig = rig_with(LONG, text("here"))

    await rig.session.prompt("go")

    assert rig.clock.slept == []
    assert answers_of(rig) == ["lab/spare: here"]
    assert [event.will_retry for event in rig.told(AgentEndEvent)] == [True, False]


async def test_it_goes_on_in_the_middle_of_a_turn_and_no_tool_runs_twice() -> None:
    rig = rig_with(
        calls(call("look")),
        LONG,
        calls(call("look", {"again": 1})),
        text("here"),
        tools=[plain_tool("look")],
    )
    rig.session.follow_up("and then")

    await rig.session.prompt("go")

    roles = [message.role for message in rig.agent.state.messages]
    assert roles[:6] == [
        "user",
        "assistant",
        "tool_result",
        "assistant",
        "tool_result",
        "assistant",
    ]
    assert [line.partition(":")[0] for line in answers_of(rig)][:3] == [
        "test/m",
        "lab/spare",
        "lab/spare",
    ]
    assert len(rig.told(FallbackEvent)) == 1


async def test_what_each_model_used_is_counted_as_its_own() -> None:
    usage = Usage(input=1000, output=1000, total=2000)
    rig = rig_with([LONG], [text("here"), end(usage=usage)], prices=ModelCost(5.0, 5.0))

    await rig.session.prompt("go")

    by_model = dict(rig.session.usage_report().models)
    assert by_model["lab/spare"].usage.cost_usd == pytest.approx(0.002)
    assert rig.session.turn_steps == 1


async def test_a_fallback_that_is_of_no_use_is_followed_by_the_next() -> None:
    rig = rig_with(LONG, fail("auth", "no key"), text("here"), names=("lab/spare", "lab/other"))

    await rig.session.prompt("go")

    assert answers_of(rig) == ["lab/other: here"]
    assert [event.model for event in rig.told(FallbackEvent)] == ["lab/spare", "lab/other"]


async def test_one_that_cannot_be_used_is_passed_over_and_named() -> None:
    rig = rig_with(LONG, names=("lab/gone", "lab/small"))

    await rig.session.prompt("a prompt that is longer than that")

    error = rig.told(AgentEndEvent)[-1].error
    assert error is not None
    assert error.message.endswith(
        "No fallback: unknown model lab/gone; lab/small reads no more than 3 tokens at once"
    )


@pytest.mark.parametrize("code", ["auth", "quota", "network", "context_overflow", "content_policy"])
async def test_only_an_overload_brings_another_model(code: str) -> None:
    rig = rig_with(*[fail(code, "no")] * 4)

    await rig.session.prompt("go")

    assert rig.told(FallbackEvent) == []
    assert rig.reasons[-1] == "error"


async def test_a_model_that_is_picked_meanwhile_stays() -> None:
    rig = rig_with(LONG, text("here"), text("again"))
    rig.when(FallbackEvent, lambda: rig.session.set_model(SPARE))

    await rig.session.prompt("go")
    await rig.session.prompt("next")

    assert answers_of(rig) == ["lab/spare: here", "lab/spare: again"]


async def test_a_stop_while_nobody_has_answered_gives_the_main_model_back() -> None:
    rig = rig_with(LONG, fail("overloaded"))
    rig.clock.sleeps_for_ever = True
    turn = start(rig.session.prompt("go"))
    await until(lambda: bool(rig.clock.slept))

    assert rig.agent.state.model.key == "lab/spare"
    rig.session.abort()
    await asyncio.wait_for(turn, 1)

    assert rig.agent.state.model.key == "test/m"


async def test_without_fallbacks_nothing_changes() -> None:
    rig = rig_with(LONG, names=())

    await rig.session.prompt("go")

    assert rig.reasons == ["error"]
