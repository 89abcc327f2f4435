"""What an agent may be asked, and when: construction, prompts, state, listeners, providers."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from agent_tui import (
    AbortSignal,
    Agent,
    AgentBusyError,
    AssistantMessage,
    CustomMessage,
    ImageBlock,
    InvalidInputError,
    Model,
    TextBlock,
    Tool,
    ToolCall,
    UserMessage,
)
from agent_tui.core.events import AgentEvent, MessageEndEvent, TurnStartEvent
from agent_tui.core.registry import register_provider
from agent_tui.core.stream import LlmContext, StreamDone, StreamEvent, StreamOptions
from agent_tui.testing import ScriptedModel, call, calls, hang, text
from tests.agent.stage import Make, answered, asked, said, stream_of, until, user
from tests.agent.toolbox import ANYTHING, echo


def an_agent(**options: Any) -> Agent:
    return Agent("test/m", stream_fn=ScriptedModel([]), **options)


# -- construction ----------------------------------------------------------------------------------


def test_a_text_model_with_a_stream_function_is_not_looked_up() -> None:
    agent = Agent("someone/some-model/v2", stream_fn=ScriptedModel([]))

    assert agent.state.model == Model("someone", "some-model/v2")


def test_an_unknown_model_is_refused_at_once() -> None:
    with pytest.raises(InvalidInputError):
        Agent("nobody/nothing")


def test_the_defaults_are_those_of_the_specification() -> None:
    agent = an_agent()

    assert agent.steering_mode == agent.follow_up_mode == "one-at-a-time"
    assert agent.tool_execution == "parallel"
    assert agent.max_iterations is None
    assert agent.state.thinking_level == "off"
    assert agent.state.system_prompt is None
    assert agent.state.messages == []
    assert agent.state.tools == []
    assert agent.state.streaming_message is None
    assert agent.state.pending_tool_calls == frozenset()
    assert agent.state.error is None
    assert not agent.state.is_running


def test_two_tools_of_one_name_are_refused() -> None:
    with pytest.raises(InvalidInputError, match="echo"):
        an_agent(tools=[echo(), echo()])


def test_a_tool_nobody_executes_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="save"):
        an_agent(tools=[Tool("save", "Saves.", ANYTHING)])


def test_given_lists_are_copied() -> None:
    messages, tools = [user("old")], [echo()]
    agent = an_agent(messages=messages, tools=tools)

    messages.clear()
    tools.clear()

    assert len(agent.state.messages) == 1
    assert len(agent.state.tools) == 1


# -- prompting -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "nothing",
    ["", " \n\t ", [], UserMessage(content=" "), UserMessage(content=[TextBlock(text="")])],
    ids=["no-text", "blanks", "no-messages", "blank-message", "empty-block"],
)
@pytest.mark.parametrize("entry", ["prompt", "run"])
async def test_a_prompt_of_nothing_is_refused(stage: Make, entry: str, nothing: Any) -> None:
    it = stage(text("never"))

    with pytest.raises(InvalidInputError):
        await getattr(it.agent, entry)(nothing)

    assert (it.events, it.messages) == ([], [])
    assert not it.agent.state.is_running


async def test_a_message_can_be_prompted(stage: Make) -> None:
    it = stage(text("ok"))
    message = user("x")

    await it.agent.prompt(message)

    assert it.messages[0] is message


async def test_several_messages_can_be_prompted(stage: Make) -> None:
    it = stage(text("ok"))

    await it.agent.prompt([CustomMessage(custom_type="note", content="n"), user("x")])

    it.expect('AS TS M:custom"n" M:u"x" A:a/stop TE[] AE:completed')


async def test_several_prompts_are_all_recorded_after_an_abort(stage: Make) -> None:
    it = stage(text("never"))
    it.when("AS", lambda: it.agent.abort())

    await it.agent.prompt([user("x"), user("y")])

    it.expect('AS TS M:u"x" M:u"y" M:a/aborted TE[] AE:aborted')


async def test_queued_messages_stay_when_the_prompt_is_aborted(stage: Make) -> None:
    it = stage(text("never"))
    it.agent.steer("S")
    it.when('ME:u"p"', lambda: it.agent.abort())

    await it.prompt()

    it.expect('AS TS M:u"p" M:a/aborted TE[] AE:aborted')
    assert it.queue == ["S"]


@pytest.mark.parametrize("prompt", ["look", ""], ids=["with-text", "alone"])
async def test_images_come_with_a_prompt(stage: Make, prompt: str) -> None:
    picture = ImageBlock(data="aGk=", mime_type="image/png")
    it = stage(text("ok"), model=Model("test", "m", images=True))

    await it.agent.prompt(prompt, images=[picture])

    message = it.messages[0]
    assert isinstance(message, UserMessage)
    assert picture in message.content
    assert message.text == prompt
    assert it.requests[0].messages[0].content == message.content


async def test_a_message_that_is_already_there_is_refused(stage: Make) -> None:
    it = stage(text("1"), text("never"))
    message = user("x")
    await it.agent.prompt(message)
    before = it.trace

    with pytest.raises(InvalidInputError):
        await it.agent.prompt(message)

    assert it.trace == before


async def test_one_message_cannot_be_prompted_twice_at_once(stage: Make) -> None:
    it = stage(text("never"))
    message = user("x")

    with pytest.raises(InvalidInputError):
        await it.agent.prompt([message, message])

    assert it.events == []


async def test_a_conversation_grows(stage: Make) -> None:
    it = stage(text("1"), text("2"), system_prompt="be brief")

    await it.prompt("a")
    await it.prompt("b")

    assert [request.texts for request in it.requests] == [["a"], ["a", "1", "b"]]
    assert [request.system_prompt for request in it.requests] == ["be brief", "be brief"]


# -- continuing ------------------------------------------------------------------------------------


async def test_continuing_answers_open_calls_before_the_run_starts(stage: Make) -> None:
    it = stage(text("ok"), messages=[user("old"), asked("c1", "c2"), answered("c1")])
    roles: list[list[str]] = []
    it.when("AS", lambda: roles.append([message.role for message in it.messages]))

    await it.agent.continue_()

    it.expect("AS TS A:a/stop TE[] AE:completed")
    assert roles == [["user", "assistant", "tool_result", "tool_result"]]
    assert it.results[1].tool_call_id == "c2"
    assert it.results[1].is_error
    assert "interrupt" in it.results[1].text.lower()
    assert it.executed == []


async def test_continuing_takes_nothing_from_the_queue_for_open_calls(stage: Make) -> None:
    it = stage(text("ok"), text("f"), messages=[user("old"), asked("c1")])
    it.agent.follow_up("F")

    await it.agent.continue_()

    it.expect('AS TS A:a/stop TE[] TS M:u"F" A:a/stop TE[] AE:completed')


# -- state -----------------------------------------------------------------------------------------


async def test_setters_emit_nothing_and_hold_from_the_next_run(stage: Make) -> None:
    it = stage(text("1"), text("2"), tools=[echo()])
    it.when("MS:a", lambda: change())

    def change() -> None:
        state = it.agent.state
        state.model = Model("test", "m2")
        state.thinking_level = "high"
        state.system_prompt = "new"
        state.tools = [echo("other")]

    await it.prompt()
    await it.prompt("q")

    it.expect('AS TS M:u"p" A:a/stop TE[] AE:completed AS TS M:u"q" A:a/stop TE[] AE:completed')
    assert [request.model.id for request in it.requests] == ["m", "m2"]
    assert [request.options.thinking_level for request in it.requests] == ["off", "high"]
    assert [request.system_prompt for request in it.requests] == [None, "new"]
    assert [request.tools for request in it.requests] == [["echo"], ["other"]]


async def test_tools_set_during_a_run_do_not_change_its_batch(stage: Make) -> None:
    it = stage(calls(call("echo", {"a": "x"}, id="c1")), text("ok"), tools=[echo()])
    it.when("ME:a/tool_use", lambda: setattr(it.agent.state, "tools", []))

    await it.prompt()

    assert it.results[0].text == "x"


def test_assigned_lists_are_copied() -> None:
    agent = an_agent()
    messages, tools = [user("x")], [echo()]

    agent.state.messages = messages
    agent.state.tools = tools
    messages.clear()
    tools.clear()

    assert len(agent.state.messages) == 1
    assert len(agent.state.tools) == 1


@pytest.mark.parametrize("name", ["is_running", "streaming_message", "pending_tool_calls", "error"])
def test_what_the_engine_owns_cannot_be_set(name: str) -> None:
    with pytest.raises(AttributeError):
        setattr(an_agent().state, name, None)


def test_assigned_tools_are_checked() -> None:
    with pytest.raises(InvalidInputError):
        an_agent().state.tools = [echo(), echo()]


def test_a_function_may_be_assigned_as_a_tool() -> None:
    def look(path: str) -> str:
        """Look there."""
        return path

    agent = an_agent()
    agent.state.tools = [look]

    assert agent.state.tools[0].name == "look"


async def test_hooks_set_later_apply_to_the_next_run(stage: Make) -> None:
    it = stage(calls(call("echo", id="c1")), calls(call("echo", id="c2")), tools=[echo()])
    it.agent.should_stop_after_turn = lambda ctx, signal: True

    await it.prompt()

    assert it.end.reason == "stopped"


async def test_a_run_is_running_from_its_first_to_its_last_event(stage: Make) -> None:
    seen: list[bool] = []
    it = stage(text("ok"))
    it.agent.subscribe(lambda event, signal: seen.append(it.agent.state.is_running))

    await it.prompt()

    assert set(seen) == {True}
    assert not it.agent.state.is_running


async def test_the_streaming_message_shows_what_has_arrived(stage: Make) -> None:
    seen: list[str] = []

    def look() -> None:
        message = it.agent.state.streaming_message
        assert message is not None
        seen.append(message.text)

    it = stage(text("abc", chunk=1))
    it.when("text_delta", look, times=3)

    await it.prompt()

    assert seen == ["a", "ab", "abc"]


# -- listening -------------------------------------------------------------------------------------


async def test_listeners_are_called_in_the_order_of_their_subscription(stage: Make) -> None:
    log: list[str] = []

    async def first(event: AgentEvent, signal: AbortSignal) -> None:
        log.append(f"first {event.type}")

    it = stage(text("ok"))
    it.agent.subscribe(first)
    it.agent.subscribe(lambda event, signal: log.append(f"second {event.type}"))

    await it.prompt()

    assert log[0::2] == [entry.replace("second", "first") for entry in log[1::2]]
    assert log[:2] == ["first agent_start", "second agent_start"]


async def test_a_new_listener_hears_nothing_of_the_past(stage: Make) -> None:
    seen: list[str] = []
    it = stage(text("1"), text("2"))
    await it.prompt()

    it.agent.subscribe(lambda event, signal: seen.append(event.type))
    before = list(seen)
    await it.prompt()

    assert before == []
    assert seen[0] == "agent_start"


async def test_unsubscribing_takes_effect_with_the_next_event(stage: Make) -> None:
    seen: list[str] = []

    def once(event: AgentEvent, signal: AbortSignal) -> None:
        seen.append(event.type)
        unsubscribe()

    it = stage(text("ok"))
    unsubscribe = it.agent.subscribe(once)

    await it.prompt()

    assert seen == ["agent_start"]


async def test_unsubscribing_twice_leaves_others_alone(stage: Make) -> None:
    seen: list[str] = []

    def listener(event: AgentEvent, signal: AbortSignal) -> None:
        seen.append(event.type)

    it = stage(text("ok"))
    unsubscribe = it.agent.subscribe(listener)
    it.agent.subscribe(listener)

    unsubscribe()
    unsubscribe()
    await it.prompt()

    assert seen.count("agent_start") == 1


async def test_a_listener_that_is_slow_slows_the_stream(stage: Make) -> None:
    log: list[str] = []

    async def slow(event: AgentEvent, signal: AbortSignal) -> None:
        log.append(f"{event.type} in")
        await until(lambda: True)
        log.append(f"{event.type} out")

    it = stage(text("ab", chunk=1))
    it.agent.subscribe(slow)

    await it.prompt()

    assert log[0::2] == [entry.replace("out", "in") for entry in log[1::2]]


async def test_turns_are_numbered_within_their_run(stage: Make) -> None:
    it = stage(calls(call("echo", id="c1")), text("ok"), text("again"), tools=[echo()])

    await it.prompt()
    await it.prompt()

    turns = [event.turn_index for event in it.events if isinstance(event, TurnStartEvent)]
    assert turns == [0, 1, 0]


async def test_a_message_is_in_the_transcript_when_its_end_is_told(stage: Make) -> None:
    found: list[bool] = []

    def look(event: AgentEvent, signal: AbortSignal) -> None:
        if isinstance(event, MessageEndEvent):
            found.append(it.agent.state.messages[-1] is event.message)

    it = stage(calls(call("echo", id="c1")), text("ok"), tools=[echo()])
    it.agent.subscribe(look)

    await it.prompt()

    assert found == [True] * 4


async def test_a_plain_listener_may_return_anything(
    stage: Make, caplog: pytest.LogCaptureFixture
) -> None:
    it = stage(text("ok"))
    it.agent.subscribe(lambda event, signal: len(event.type))

    await it.prompt()

    assert caplog.text == ""


# -- providers -------------------------------------------------------------------------------------


async def test_a_registered_provider_serves_its_models() -> None:
    register_provider("engine-test-a", stream_of(StreamDone("stop", said("from a"))))
    agent = Agent("engine-test-a/x")

    result = await agent.run("p")

    assert result.final_message == "from a"


async def test_the_provider_is_looked_up_at_each_request() -> None:
    asked_for = AssistantMessage(content=[ToolCall(id="c1", name="echo")])
    register_provider("engine-test-b", stream_of(StreamDone("tool_use", asked_for)))
    agent = Agent(Model("engine-test-b", "x"), tools=[echo()])
    agent.prepare_next_turn = lambda ctx, signal: register_provider(
        "engine-test-b", stream_of(StreamDone("stop", said("from the second")))
    )

    result = await agent.run("p")

    assert result.final_message == "from the second"


async def test_a_model_that_nothing_serves_ends_the_run_with_an_error() -> None:
    agent = Agent(Model("nobody", "x", api="no-such-wire"))

    with pytest.raises(InvalidInputError, match="no-such-wire"):
        await agent.run("p")

    assert [message.role for message in agent.state.messages] == ["user", "assistant"]


async def test_the_stream_function_is_given_the_tools_as_schemas() -> None:
    seen: list[LlmContext] = []

    async def play(
        model: Model, context: LlmContext, options: StreamOptions
    ) -> AsyncIterator[StreamEvent]:
        seen.append(context)
        yield StreamDone("stop", said("ok"))

    agent = Agent("test/m", stream_fn=play, tools=[echo()])

    await agent.run("p")

    assert (seen[0].tools[0].name, seen[0].tools[0].parameters) == ("echo", ANYTHING)
    assert seen[0].tools[0].description == "Says it again."


async def test_a_refused_call_leaves_a_running_agent_as_it_was(stage: Make) -> None:
    it = stage([text("par"), hang()])
    it.when("text_delta", lambda: it.agent.abort())
    refused: list[Exception] = []

    async def intrude(event: AgentEvent, signal: AbortSignal) -> None:
        if event.type == "turn_start":
            try:
                await it.agent.prompt("x")
            except AgentBusyError as error:
                refused.append(error)

    it.agent.subscribe(intrude)

    await it.prompt()

    assert len(refused) == 1
    it.expect('AS TS M:u"p" A:a/aborted TE[] AE:aborted')
