"""The record of the loop: what each step sent, got, ran and cost."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from agent_tui.agent.agent import Agent
from agent_tui.agent.hooks import BeforeToolCall
from agent_tui.core.messages import AgentMessage, ToolResultMessage, UserMessage
from agent_tui.core.model import Model, ModelCost
from agent_tui.core.steps import Step
from agent_tui.core.tool import Tool, ToolContext
from agent_tui.core.usage import Usage, add_usage
from agent_tui.session import loop_record
from agent_tui.session.session import Session
from agent_tui.testing import Part, ScriptedModel, call, calls, end, fail, hang, text, think
from tests.session.rig import Rig, plain_tool, start, until

DOLLAR_A_TOKEN = ModelCost(1_000_000.0, 1_000_000.0)


def steps(rig: Rig) -> list[Step]:
    return [*rig.session.loop_record.steps]


def roles(messages: Any) -> list[str]:
    return [message.role for message in messages]


def slow_tool(rig_clock: list[Any], seconds: float) -> Tool:
    """A tool during which the clock moves."""

    async def execute(call_id: str, args: dict[str, Any], ctx: ToolContext) -> str:
        rig_clock[0].now += seconds
        return "x" * 40

    return Tool("slow", "Takes time.", {"type": "object"}, execute)


async def test_a_step_says_what_was_new_in_its_request_and_what_came_back() -> None:
    rig = Rig(
        [think("hm"), text("I look."), calls(call("look", {"at": 1}))],
        text("Done."),
        tools=[plain_tool("look")],
        system_prompt="Be brief.",
    )
    await rig.session.prompt("go")

    first, second = steps(rig)

    assert (first.number, first.turn, first.step) == (1, 1, 1)
    assert (second.number, second.turn, second.step) == (2, 1, 2)
    assert first.sent is not None
    assert second.sent is not None
    assert roles(first.sent.new) == ["user"]
    assert first.sent.system_prompt == "Be brief."
    assert [tool.name for tool in first.sent.tools] == ["look"]
    assert (first.text, first.thinking, first.calls) == (7, 2, 1)
    assert first.message is not None
    assert first.message.stop_reason == "tool_use"
    assert second.sent.kept == 1
    assert roles(second.sent.new) == ["assistant", "tool_result"]
    assert second.sent.changes == frozenset()
    assert [first.state, second.state] == ["done", "done"]
    assert (first.end, second.end) == (None, "completed")


async def test_the_whole_request_of_each_step_can_be_put_together_again() -> None:
    rig = Rig(
        calls(call("look")), calls(call("look")), text("a"), text("b"), tools=[plain_tool("look")]
    )
    await rig.session.prompt("go")
    await rig.session.prompt("and on")

    found = [rig.session.loop_record.messages_of(step) for step in steps(rig)]

    assert found == [request.messages for request in rig.model.requests]


async def test_steps_that_are_forgotten_do_not_take_the_later_requests_with_them(
    monkeypatch: Any,
) -> None:
    monkeypatch.setattr(loop_record, "MOST_STEPS", 2)
    rig = Rig(*[text(str(n)) for n in range(5)])
    for n in range(5):
        await rig.session.prompt(f"say {n}")

    known = steps(rig)

    assert [step.number for step in known] == [4, 5]
    assert [rig.session.loop_record.messages_of(step) for step in known] == [
        request.messages for request in rig.model.requests[3:]
    ]


async def test_messages_are_held_and_not_copied() -> None:
    rig = Rig(calls(call("look")), text("a"), tools=[plain_tool("look")])
    await rig.session.prompt("go")

    held = {id(m) for step in steps(rig) if step.sent for m in step.sent.new}

    assert held <= {id(message) for message in rig.agent.state.messages}


async def test_what_changed_beside_the_messages_is_named() -> None:
    rig = Rig(text("a"), text("b"), text("c"), system_prompt="One.")
    await rig.session.prompt("1")
    rig.session.set_model(Model("test", "other"))
    rig.session.set_thinking("high")
    rig.agent.state.system_prompt = "Two."
    rig.agent.state.tools = [plain_tool("look")]
    await rig.session.prompt("2")
    await rig.session.prompt("3")

    changes = [step.sent.changes for step in steps(rig) if step.sent]

    assert changes == [frozenset(), {"model", "thinking", "system", "tools"}, frozenset()]


async def test_messages_that_are_gone_from_the_request_are_counted() -> None:
    rig = Rig(text("a"), text("b"))
    await rig.session.prompt("1")
    rig.agent.state.messages = []
    await rig.session.prompt("2")

    second = steps(rig)[1].sent

    assert second is not None
    assert (second.kept, second.dropped, roles(second.new)) == (0, 1, ["user"])


async def test_tools_have_their_times_and_errors() -> None:
    clock: list[Any] = []
    rig = Rig(
        calls(call("slow", {"a": 1}), call("missing")), text("ok"), tools=[slow_tool(clock, 2.5)]
    )
    clock.append(rig.clock)
    await rig.session.prompt("go")

    slow, missing = steps(rig)[0].tools

    assert (slow.name, dict(slow.args), slow.is_error) == ("slow", {"a": 1}, False)
    assert (slow.seconds, slow.characters) == (2.5, 40)
    assert missing.is_error
    assert missing.is_over


async def test_the_time_for_an_answer_is_not_the_tools_time() -> None:
    clock: list[Any] = []
    rig = Rig(calls(call("slow")), text("ok"), tools=[slow_tool(clock, 1.0)], mode="ask")
    clock.append(rig.clock)
    turn = start(rig.session.prompt("go"))
    await until(lambda: bool(rig.session.approvals.pending))
    rig.clock.now += 60

    rig.session.approvals.answer(rig.session.approvals.pending[0].id, "once")
    await turn

    assert steps(rig)[0].tools[0].seconds == 1.0


async def test_times_and_speed_are_measured_by_the_sessions_clock() -> None:
    rig = Rig([text("one "), text("two"), end(usage=Usage(input=5, output=30))])
    pieces = iter((2.0, 1.0, 0.0, 0.0, 0.0, 0.0))

    def pass_time(event: Any, signal: Any) -> None:
        if event.type in ("message_start", "message_update"):
            rig.clock.now += 0 if event.message.role == "user" else next(pieces, 0.0)

    rig.session.subscribe(pass_time)
    await rig.session.prompt("go")

    step = steps(rig)[0]

    assert step.to_first_token == 2.0
    assert step.answer_seconds(rig.clock.now) == 3.0
    assert step.rate(rig.clock.now) == (30.0, False)


async def test_while_an_answer_arrives_its_speed_is_an_estimate() -> None:
    rig = Rig([text("x" * 80), hang()])
    turn = start(rig.session.prompt("go"))
    await until(lambda: bool(steps(rig)) and steps(rig)[0].text == 80)
    rig.clock.now += 2.0

    [step] = steps(rig)
    running = step.state, step.rate(rig.clock.now)
    rig.session.abort()
    await turn

    assert running == ("answering", (10.0, True))
    assert (step.state, step.end) == ("aborted", "aborted")


async def test_attempts_that_failed_belong_to_their_step() -> None:
    rig = Rig(fail("overloaded", "busy"), fail("overloaded", "still busy"), text("ok"))
    await rig.session.prompt("go")

    [step] = steps(rig)

    assert [failure.error.message for failure in step.failures] == ["busy", "still busy"]
    assert all(failure.delay for failure in step.failures)
    assert (step.state, step.text, step.end) == ("done", 2, "completed")
    assert step.sent is not None
    assert step.sent.count == 1


async def test_a_step_whose_request_failed_for_good_says_why() -> None:
    rig = Rig(fail("auth", "the key is wrong"))
    await rig.session.prompt("go")

    [step] = steps(rig)

    assert (step.state, step.end) == ("failed", "error")
    assert step.failures[0].error.code == "auth"
    assert step.failures[0].delay is None


async def test_the_steps_add_up_to_the_session() -> None:
    script: list[Part | list[Part]] = [
        [calls(call("look")), end(usage=Usage(input=6, output=1))],
        [text("a"), end(usage=Usage(input=9, output=2))],
        [text("b"), end(usage=Usage(input=11, output=3))],
    ]
    rig = Rig(*script, tools=[plain_tool("look")], prices=DOLLAR_A_TOKEN)
    await rig.session.prompt("1")
    await rig.session.prompt("2")

    spent = [step.spent.usage for step in steps(rig)]

    assert [usage.input for usage in spent] == [6, 9, 11]
    assert add_usage(spent) == rig.session.totals


async def test_arguments_that_a_hook_changed_are_the_ones_that_ran(tmp_path: Path) -> None:
    from agent_tui.session.events import ArgumentsChangedEvent

    rig = Rig(calls(call("look", {"at": 1}, id="c1")), text("ok"), tools=[plain_tool("look")])

    def change(ctx: Any, signal: Any) -> BeforeToolCall:
        rig.session.loop_record.observe(ArgumentsChangedEvent("c1", "look", {"at": 2}))
        return BeforeToolCall(args={"at": 2})

    rig.agent.before_tool_call = change
    await rig.session.prompt("go")

    run = steps(rig)[0].tools[0]

    assert (dict(run.args), run.is_changed) == ({"at": 2}, True)


async def test_the_steps_of_an_earlier_day_are_made_from_what_was_kept(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    script = [
        [calls(call("look", {"at": 1})), end(usage=Usage(input=6, output=1))],
        text("found"),
    ]
    first = Agent("test/m", stream_fn=ScriptedModel(script), tools=[plain_tool("look")])
    session = Session.open(first, path, cwd=tmp_path, mode="full-auto")
    await session.prompt("go")
    session.close()
    again = Agent("test/m", stream_fn=ScriptedModel([text("more")]), tools=[plain_tool("look")])
    session = Session.open(again, path, cwd=tmp_path, mode="full-auto")
    await session.prompt("on")

    past_call, past_answer, live = session.loop_record.steps
    session.close()

    assert [past_call.number, past_answer.number, live.number] == [1, 2, 3]
    assert past_call.is_past
    assert past_answer.is_past
    assert not live.is_past
    assert (past_call.asked, past_call.to_first_token, past_call.tools[0].seconds) == (None,) * 3
    assert past_call.tools[0].is_over
    assert roles(past_call.new) == ["user"]
    assert roles(past_answer.new) == ["tool_result"]
    assert past_call.spent.usage.input == 6
    assert live.sent is not None
    assert live.sent.count == 5


async def test_a_request_of_an_application_is_shown_as_it_was_given() -> None:
    rig = Rig(text("a"), tools=[plain_tool("look")], system_prompt="Be brief.")
    await rig.session.prompt("go")

    data = json.loads(await rig.session.request_json(steps(rig)[0]))

    assert data["model"] == "test/m"
    assert data["system"] == "Be brief."
    assert data["messages"] == [{"role": "user", "content": "go"}]
    assert data["tools"][0]["name"] == "look"


async def test_the_request_of_an_earlier_day_says_what_is_not_known(tmp_path: Path) -> None:
    history: list[AgentMessage] = [UserMessage(content="hello")]
    rig = Rig(text("a"), messages=history)
    await rig.session.prompt("go")
    agent = Agent("test/m", stream_fn=rig.model, messages=rig.agent.state.messages)
    session = Session.open(agent, cwd=tmp_path)

    data = json.loads(await session.request_json(session.loop_record.steps[0]))

    assert "not kept" in data["note"]
    assert [m["content"] for m in data["messages_since_the_answer_before"]] == ["hello", "go"]


async def test_the_record_ends_with_the_session() -> None:
    rig = Rig(text("a"))
    mine: list[Any] = []
    rig.session.close()
    rig.agent.on_request = lambda model, context, options: mine.append(context)
    session = Session.open(rig.agent, mode="full-auto")
    await session.prompt("go")
    session.close()

    assert len(mine) == 1
    assert len(session.loop_record.steps) == 1


def test_a_result_without_its_call_is_passed_over() -> None:
    stray = ToolResultMessage(tool_call_id="x", content=[])

    assert loop_record.past_steps([stray], lambda message: Step(1, 0, 0).spent) == []
