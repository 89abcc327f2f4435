"""Whatever the model, the tools and the person do: I1 to I12 hold.

Scripts, tools and interventions are random; interventions come from listeners and from a task of
their own, so that they land between any two steps of the engine.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from hypothesis import given, settings
from hypothesis import strategies as st

from agent_tui import (
    AbortSignal,
    AgentEvent,
    BeforeToolCall,
    Tool,
    ToolContext,
    ToolError,
    ToolResult,
)
from agent_tui.testing import call, calls, end, fail, hang, text, think
from tests.agent.stage import Stage, user
from tests.agent.toolbox import ANYTHING, schema
from tests.agent.tracing import problems_of_run, runs_of

# -- what the model says ---------------------------------------------------------------------------

CALLS = st.one_of(
    st.builds(
        call,
        st.sampled_from(["good", "slow", "waits", "fails", "ghost", "strict", "last"]),
        st.sampled_from([{"a": "x"}, {"n": 1}, '{"broken', "", "[1]"]),
        st.sampled_from(["c1", "c2", "", "bad id|1", None]),
    ),
    st.builds(call, st.sampled_from(["fatal", "cancels"]), st.just({}), st.none()),
)
PARTS = st.one_of(
    st.builds(text, st.sampled_from(["ok", "two words", ""]), st.sampled_from([None, 1])),
    st.builds(think, st.sampled_from(["hm", ""])),
    st.builds(lambda items: calls(*items), st.lists(CALLS, min_size=1, max_size=4)),
)
ENDINGS = st.sampled_from(
    [[], [], [], [], [end("length")], [end("stop")], [fail("network")], [hang()]]
)
RESPONSES = st.builds(lambda parts, ending: [*parts, *ending], st.lists(PARTS, max_size=3), ENDINGS)

# -- what the person does --------------------------------------------------------------------------

Verb = Literal[
    "steer", "follow_up", "cancel", "clear", "pop", "move", "replace", "hold", "let_go", "abort",
    "abort_tool", "mode", "all",
]  # fmt: skip
VERBS: st.SearchStrategy[Verb] = st.sampled_from(
    [
        "steer", "steer", "steer", "follow_up", "follow_up", "cancel", "clear", "pop", "move",
        "replace", "hold", "let_go", "abort", "abort_tool", "mode", "all",
    ]
)  # fmt: skip


@dataclass(frozen=True)
class Act:
    """Something the person does, at the n-th event or after n turns of the event loop."""

    verb: Verb
    when: int
    from_listener: bool


ACTS = st.builds(Act, VERBS, st.integers(0, 60), st.booleans())


@dataclass(frozen=True)
class Play:
    """One random performance."""

    script: list[list[Any]]
    acts: list[Act]
    prompts: int
    options: dict[str, Any]
    refuses: bool
    stops_at: int | None


PLAYS = st.builds(
    Play,
    script=st.lists(RESPONSES, max_size=6),
    acts=st.lists(ACTS, max_size=8),
    prompts=st.integers(1, 3),
    options=st.fixed_dictionaries(
        {
            "tool_execution": st.sampled_from(["parallel", "sequential"]),
            "max_parallel_tools": st.sampled_from([None, 1, 2]),
            "max_iterations": st.sampled_from([None, 1, 3]),
            "tool_error_policy": st.sampled_from(["abort", "feed_back"]),
            "final_answer_on_limit": st.booleans(),
            "steering_mode": st.sampled_from(["one-at-a-time", "all"]),
            "follow_up_mode": st.sampled_from(["one-at-a-time", "all"]),
        }
    ),
    refuses=st.booleans(),
    stops_at=st.sampled_from([None, None, 1, 2]),
)


# -- the tools -------------------------------------------------------------------------------------


def tool_of(
    name: str,
    act: Callable[[ToolContext], Any],
    parameters: Any = ANYTHING,
    *,
    terminate: bool = False,
) -> Tool:
    async def execute(call_id: str, args: dict[str, Any], ctx: ToolContext) -> ToolResult:
        ctx.on_update("begun")
        await act(ctx)
        ctx.on_update("nearly")
        return ToolResult("done", terminate=terminate)

    return Tool(name, "", parameters, execute)


async def at_once(ctx: ToolContext) -> None:
    return


async def slowly(ctx: ToolContext) -> None:
    for _ in range(7):
        await asyncio.sleep(0)


async def until_stopped(ctx: ToolContext) -> None:
    await ctx.signal.wait()


def raises(error: BaseException) -> Callable[[ToolContext], Any]:
    async def act(ctx: ToolContext) -> None:
        await asyncio.sleep(0)
        raise error

    return act


def tools() -> list[Tool]:
    return [
        tool_of("good", at_once),
        tool_of("slow", slowly),
        tool_of("waits", until_stopped),
        tool_of("fails", raises(ValueError("no"))),
        tool_of("strict", at_once, schema(n={"type": "integer"})),
        tool_of("fatal", raises(ToolError("fatal"))),
        tool_of("cancels", raises(asyncio.CancelledError())),
        tool_of("last", at_once, terminate=True),
    ]


# -- the performance -------------------------------------------------------------------------------


class Performance:
    """Plays a `Play` and remembers what left the queue by the person's hand."""

    def __init__(self, play: Play) -> None:
        self.play = play
        self.stage = Stage(
            *play.script,
            tools=tools(),
            before_tool_call=self._before if play.refuses else None,
            should_stop_after_turn=self._should_stop if play.stops_at else None,
            prepare_next_turn=self._prepare,
            **play.options,
        )
        self.stage.watcher.may_lose = False
        self.stage.agent.subscribe(self._at_event)
        self._events = 0
        self._number = 0

    async def run(self) -> None:
        """All prompts, one after another, with the person at work."""
        for n in range(self.play.prompts):
            run = asyncio.create_task(self.stage.agent.prompt(f"prompt {n}"))
            person = asyncio.create_task(self._between_events())
            await self._watch(run)
            await run
            await person
        self.stage.watcher.count(
            self.stage.agent, [message.id for message in self.stage.agent.state.messages]
        )

    async def _watch(self, run: asyncio.Task[None]) -> None:
        """Stop what would wait for ever: nobody else is going to."""
        quiet = 0
        seen = -1
        while not run.done():
            quiet = quiet + 1 if len(self.stage.events) == seen else 0
            seen = len(self.stage.events)
            if quiet > 40:
                self.stage.agent.abort("nothing happens any more")
                await asyncio.wait({run}, timeout=10)
                assert run.done(), self.stage.trace
            await asyncio.sleep(0)

    async def _between_events(self) -> None:
        acts = sorted(
            (act for act in self.play.acts if not act.from_listener), key=lambda act: act.when
        )
        turns = 0
        for act in acts:
            while turns < act.when:
                turns += 1
                await asyncio.sleep(0)
            self._do(act.verb)

    def _at_event(self, event: AgentEvent, signal: AbortSignal) -> None:
        self._events += 1
        for act in self.play.acts:
            if act.from_listener and act.when == self._events:
                self._do(act.verb)

    def _before(self, ctx: Any, signal: AbortSignal) -> BeforeToolCall | None:
        refused = ctx.tool_call.name == "slow"
        return BeforeToolCall(block=True, reason="no", end_turn=True) if refused else None

    async def _prepare(self, ctx: Any, signal: AbortSignal) -> None:
        await asyncio.sleep(0)

    async def _should_stop(self, ctx: Any, signal: AbortSignal) -> bool:
        await asyncio.sleep(0)
        return len(self.stage.requests) == self.play.stops_at

    def _do(self, verb: Verb) -> None:
        agent = self.stage.agent
        removed = self.stage.watcher.removed
        items = agent.queued()
        self._number += 1
        picked = items[self._number % len(items)].id if items else "nobody"
        match verb:
            case "steer":
                agent.steer(user(f"steer {self._number}"))
            case "follow_up":
                agent.follow_up(f"follow {self._number}")
            case "cancel":
                if agent.cancel_queued(picked) == "cancelled":
                    removed.add(picked)
            case "clear":
                removed.update(item.id for item in agent.clear_queue())
            case "pop":
                if (last := agent.pop_last_queued()) is not None:
                    removed.add(last.id)
            case "move":
                agent.move_queued(picked, index=0, kind="steer" if self._number % 2 else None)
            case "replace":
                agent.replace_queued(picked, f"replaced {self._number}")
            case "hold":
                agent.hold_queued(picked)
            case "let_go":
                agent.hold_queued(picked, False)
            case "abort":
                agent.abort()
            case "abort_tool":
                for call_id in sorted(agent.state.pending_tool_calls)[:1]:
                    agent.abort_tool(call_id)
            case "mode":
                agent.tool_execution = "sequential"
            case "all":
                agent.steering_mode = "all"


@settings(max_examples=400, deadline=None)
@given(PLAYS)
def test_the_invariants_hold_whatever_happens(play: Play) -> None:
    performance = Performance(play)

    asyncio.run(performance.run())

    it = performance.stage
    assert it.problems() == [], it.trace
    assert len(runs_of(it.events)) == play.prompts


@settings(max_examples=60, deadline=None)
@given(PLAYS, st.integers(0, 40))
def test_the_invariants_hold_when_the_caller_is_cancelled(play: Play, when: int) -> None:
    performance = Performance(play)

    async def cancel_in_between() -> None:
        caller = asyncio.create_task(performance.stage.agent.prompt("p"))
        for _ in range(when):
            await asyncio.sleep(0)
        caller.cancel()
        await asyncio.wait({caller}, timeout=10)
        assert caller.done()
        await performance.run()

    asyncio.run(cancel_in_between())

    assert performance.stage.problems() == [], performance.stage.trace


class TestTheCheckers:
    """The checkers find what they are there for."""

    def test_a_trace_without_an_end_is_noticed(self) -> None:
        events = asyncio.run(_events_of(text("x")))[:-1]

        assert any(problem.startswith("I1") for problem in problems_of_run(events))

    def test_an_unbalanced_turn_is_noticed(self) -> None:
        events = asyncio.run(_events_of(text("x")))

        found = problems_of_run([event for event in events if event.type != "turn_end"])

        assert any(problem.startswith("I2") for problem in found)

    def test_overlapping_messages_are_noticed(self) -> None:
        events = asyncio.run(_events_of(text("x")))

        found = problems_of_run([event for event in events if event.type != "message_end"])

        assert any(problem.startswith("I3") for problem in found)

    def test_a_call_without_an_end_is_noticed(self) -> None:
        events = asyncio.run(_events_of(calls(call("good", id="c1"))))

        found = problems_of_run([event for event in events if event.type != "tool_execution_end"])

        assert any(problem.startswith("I5") for problem in found)

    def test_a_late_update_is_noticed(self) -> None:
        events = asyncio.run(_events_of(calls(call("good", id="c1"))))
        late = next(event for event in events if event.type == "tool_execution_update")
        place = next(n for n, event in enumerate(events) if event.type == "turn_end")

        found = problems_of_run([*events[:place], late, *events[place:]])

        assert any(problem.startswith("I6") for problem in found)

    def test_a_missing_result_is_noticed(self) -> None:
        events = asyncio.run(_events_of(calls(call("good", id="c1"))))

        found = problems_of_run(
            [e for e in events if getattr(getattr(e, "message", None), "role", "") != "tool_result"]
        )

        assert any(problem.startswith("I7") for problem in found)


async def _events_of(*script: Any) -> list[AgentEvent]:
    it = Stage(*script, tools=tools())
    await it.prompt()
    return it.events
