"""Enter, Alt+Enter, Ctrl+S: where a sent text goes."""

from __future__ import annotations

import pytest

from agent_tui import InvalidInputError
from agent_tui.testing import call, calls, fail, hang, pause, text
from tests.tui.chat import Gate, chat


async def test_enter_sends_and_the_answer_is_shown() -> None:
    async with chat(text("Hello **there**.")) as c:
        await c.say("hi")
        await c.idle()

        assert c.draft == ""
        assert c.shown[:2] == ["user: hi", "assistant: Hello **there**."]
        assert c.request(0) == ["hi"]


async def test_enter_while_a_tool_runs_steers_before_the_next_step() -> None:
    gate = Gate()
    async with chat(calls(call("bash", {"command": "x"})), text("ok"), tools=[gate.tool]) as c:
        await c.say("start")
        await c.until(lambda: gate.running)

        await c.say("be brief")

        assert c.queued == ["be brief"]
        gate.open.set()
        await c.idle()
        assert c.request(1) == ["start", "be brief"]
        assert c.queued == []


async def test_alt_enter_waits_until_the_turn_is_over() -> None:
    gate = Gate()
    script = (calls(call("bash", {"command": "x"})), text("ok"), text("docs written"))
    async with chat(*script, tools=[gate.tool]) as c:
        await c.say("start")
        await c.until(lambda: gate.running)
        await c.say("LATER write docs", "alt+enter")
        await c.say("NOW use tabs")

        gate.open.set()
        await c.idle()

        assert c.request(1) == ["start", "NOW use tabs"]
        assert c.request(2)[-1] == "LATER write docs"


async def test_ctrl_s_stops_and_sends_at_once_and_the_rest_follows_in_order() -> None:
    script = ([text("long "), hang()], text("ok"), text("ok"), text("ok"))
    async with chat(*script) as c:
        await c.say("start")
        await c.until(lambda: c.session.agent.state.streaming_message)
        await c.say("one", "alt+enter")

        await c.say("at once", "ctrl+s")
        await c.idle()

        assert c.request(1)[-1] == "at once"
        assert c.said == ["start", "at once", "one"]
        assert c.queued == []


async def test_two_messages_in_one_breath_are_one_turn_and_a_steer() -> None:
    async with chat(text("a"), text("b")) as c:
        c.app.prompt.set_text("first")
        c.app.prompt.action_enter()
        c.app.prompt.set_text("second")
        c.app.prompt.action_enter()
        await c.until(lambda: len(c.said) == 2)
        await c.idle()

        assert c.said == ["first", "second"]


async def test_a_refused_prompt_comes_back_to_the_composer_with_the_reason() -> None:
    async with chat(text("never")) as c:

        async def refuse(message: object) -> None:
            raise InvalidInputError("the model is gone")

        c.session.prompt = refuse  # type: ignore[method-assign,assignment]
        await c.say("hello")
        await c.idle()

        assert c.draft == "hello"
        assert c.shown == []
        assert "the model is gone" in c.line("hint")


@pytest.mark.parametrize(
    ("line", "left"),
    [
        ("/copy", ""),
        ("/copy this", "/copy this"),
        ("/now", "/now"),
        ("/mode quickly", "/mode quickly"),
        ("/coppy", "/coppy"),
    ],
)
async def test_a_command_that_cannot_act_gives_back_what_somebody_wrote(
    line: str, left: str
) -> None:
    async with chat() as c:
        await c.say(line)

        assert c.draft == left
        assert c.line("hint").strip()


async def test_what_is_typed_before_the_session_is_open_is_sent_when_it_is() -> None:
    async with chat(text("ok")) as c:
        c.app.is_ready = False
        await c.say("early")
        c.app.is_ready = True
        c.app.submitting.take_early()
        await c.idle()

        assert c.said == ["early"]


async def test_enter_on_the_empty_composer_tries_again_after_a_failure() -> None:
    async with chat(fail("auth", "The key was refused"), text("works now")) as c:
        await c.say("hello")
        await c.idle()
        failed = c.shown[-1]

        await c.press("enter")
        await c.idle()

        assert "The key was refused" in failed
        assert "assistant: works now" in c.shown
        assert c.said == ["hello"]


async def test_the_step_limit_pauses_and_enter_goes_on() -> None:
    gate = Gate()
    gate.open.set()
    script = (calls(call("bash", {"command": "x"})), text("finished"))
    async with chat(*script, tools=[gate.tool], max_iterations=1) as c:
        await c.say("start")
        await c.idle()
        paused = c.shown[-1]

        await c.press("enter")
        await c.idle()

        assert "Paused after 1 step" in paused
        assert "assistant: finished" in c.shown


async def test_a_steer_while_the_last_text_streams_still_reaches_the_model() -> None:
    async with chat([text("All done, "), pause(0.8), text("bye.")], text("One more")) as c:
        await c.say("start")
        await c.until(lambda: c.session.agent.state.streaming_message)

        await c.say("STEER one more thing")
        await c.idle()

        assert c.request(1) == ["start", "STEER one more thing"]
