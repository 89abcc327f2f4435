"""Esc and Ctrl+C: stop at once, keep everything, never leave by accident."""

from __future__ import annotations

import pytest

from agent_tui.testing import call, calls, hang, pause, text, think
from tests.tui.chat import Chat, Gate, chat

RUN = calls(call("bash", {"command": "sleep 60"}))


async def begin(c: Chat, gate: Gate) -> None:
    await c.say("start")
    await c.until(lambda: gate.running)


@pytest.mark.parametrize("key", ["escape", "ctrl+c"])
async def test_a_stop_is_seen_at_once_and_ends_the_turn(key: str) -> None:
    gate = Gate()
    async with chat(RUN, text("still here"), tools=[gate.tool]) as c:
        await begin(c, gate)

        c.app.action_press("interrupt" if key == "ctrl+c" else "escape")
        seen = c.line("status")
        await c.idle()

        assert "stopping… 0 s (ctrl+c: kill)" in seen
        assert gate.running == 0
        assert any(block.startswith("notice: Stopped at step 1") for block in c.shown)
        await c.say("still there?")
        await c.idle()
        assert c.shown[-2] == "assistant: still here"


async def test_a_stop_touches_neither_the_draft_nor_the_program() -> None:
    gate = Gate()
    async with chat(RUN, tools=[gate.tool]) as c:
        await begin(c, gate)
        c.app.prompt.set_text("my draft")

        await c.press("ctrl+c", "ctrl+c", "ctrl+c")
        await c.idle()
        await c.press("ctrl+c", "ctrl+c")

        assert c.draft == "my draft"
        assert c.app.is_running
        assert "ctrl+d leaves" in c.line("hint")


async def test_a_second_press_says_that_it_kills() -> None:
    gate = Gate()
    async with chat(RUN, tools=[gate.tool]) as c:
        await begin(c, gate)

        c.app.action_press("interrupt")
        c.app.action_press("interrupt")

        assert "killing…" in c.line("status")


async def test_an_interrupted_answer_stays_and_is_marked() -> None:
    async with chat([text("Plan: 1. push"), hang()], text("ok")) as c:
        await c.say("push and open a request")
        await c.until(lambda: "assistant: Plan: 1. push" in c.shown)

        await c.press("ctrl+c")
        await c.idle()
        await c.say("only tell me the date")
        await c.idle()

        assert c.said == ["push and open a request", "only tell me the date"]
        assert "assistant: Plan: 1. push" in c.shown
        assert any("interrupt" in m.text.lower() for m in c.requests[1].messages)


async def test_a_prompt_stopped_before_any_output_goes_back_to_the_composer() -> None:
    async with chat(hang(), text("ok")) as c:
        await c.say("a long thought-out question")
        await c.until(lambda: c.requests)

        await c.press("escape")
        await c.idle()

        assert c.draft == "a long thought-out question"
        assert c.said == []
        assert "user: a long thought-out question" not in c.shown
        await c.press("enter")
        await c.idle()
        assert c.request(1) == ["a long thought-out question"]


async def test_thinking_is_output_too() -> None:
    async with chat([think("hm"), hang()]) as c:
        await c.say("question")
        await c.until(lambda: any(block.startswith("thought") for block in c.shown))

        await c.press("escape")
        await c.idle()

        assert c.draft == ""
        assert c.said == ["question"]


async def test_pending_messages_are_on_hold_after_a_stop_and_enter_sends_them_in_order() -> None:
    gate = Gate()
    async with chat(RUN, text("a"), text("b"), tools=[gate.tool]) as c:
        await begin(c, gate)
        await c.say("follow-up ONE", "alt+enter")
        await c.say("follow-up TWO", "alt+enter")

        await c.press("ctrl+c")
        await c.idle()
        held = c.queued
        banner = c.shown
        await c.press("enter")
        await c.idle()

        assert held == ["follow-up ONE", "follow-up TWO"]
        assert any("2 pending, on hold" in block for block in banner)
        assert c.said == ["start", "follow-up ONE", "follow-up TWO"]
        assert not any("enter (empty composer)" in block for block in c.shown)


async def test_something_new_goes_first_and_the_pending_follow() -> None:
    gate = Gate()
    async with chat(RUN, text("a"), text("b"), tools=[gate.tool]) as c:
        await begin(c, gate)
        await c.say("later", "alt+enter")
        await c.press("ctrl+c")
        await c.idle()

        await c.say("first this")
        await c.idle()

        assert c.said == ["start", "first this", "later"]


async def test_what_is_sent_while_stopping_goes_out_once_stopped() -> None:
    gate = Gate()
    async with chat(RUN, text("ok"), tools=[gate.tool]) as c:
        await begin(c, gate)
        c.app.action_press("interrupt")

        await c.say("use make instead")
        await c.idle()

        assert c.said == ["start", "use make instead"]
        assert c.queued == []


async def test_ctrl_x_s_lets_the_tool_finish_and_asks_the_model_nothing_more() -> None:
    gate = Gate()
    async with chat(RUN, text("never"), tools=[gate.tool]) as c:
        await begin(c, gate)

        await c.press("ctrl+x", "s")
        said = c.line("status")
        gate.open.set()
        await c.idle()

        assert "stopping after this step" in said
        assert len(c.requests) == 1
        assert "Stopped after step 1, as asked" in c.shown[-1]
        assert c.draft == ""


async def test_another_key_after_ctrl_x_is_typed() -> None:
    async with chat() as c:
        await c.press("ctrl+x", "q")

        assert c.draft == "q"


async def test_when_idle_ctrl_c_stashes_the_draft_then_arms_then_quits() -> None:
    async with chat() as c:
        c.app.prompt.set_text("draft")

        await c.press("ctrl+c")
        stashed = list(c.app.prompt.stashed)
        await c.press("ctrl+c")
        armed = c.line("hint")
        alive = c.app.is_running
        await c.press("ctrl+c")

        assert stashed == ["draft"]
        assert armed == "ctrl+c again quits"
        assert alive
        await c.until(lambda: not c.app.is_running)


async def test_a_draft_that_was_put_aside_is_in_the_history_after_quitting() -> None:
    async with chat() as c:
        c.app.prompt.set_text("precious words")
        await c.press("ctrl+c")

        await c.press("ctrl+d")
        await c.until(lambda: not c.app.is_running)

    assert "precious words" in c.app._history.entries


async def test_ctrl_d_quits_only_when_nothing_runs() -> None:
    async with chat([text("x"), pause(0.8), text("y")]) as c:
        await c.say("start")
        await c.until(lambda: c.app.is_busy)
        await c.press("ctrl+d")
        refused = c.line("hint")
        await c.idle()

        await c.press("ctrl+d")

        assert "A turn is running" in refused
        await c.until(lambda: not c.app.is_running)


async def test_leaving_warns_once_when_messages_are_pending() -> None:
    gate = Gate()
    async with chat(RUN, tools=[gate.tool]) as c:
        await begin(c, gate)
        await c.say("later", "alt+enter")
        await c.press("escape")
        await c.idle()

        await c.press("ctrl+d")
        warned = c.line("hint")
        alive = c.app.is_running
        await c.press("ctrl+d")

        assert "1 pending would be lost" in warned
        assert alive
        await c.until(lambda: not c.app.is_running)


async def test_quit_in_words_leaves_when_it_is_said_again() -> None:
    gate = Gate()
    async with chat(RUN, tools=[gate.tool]) as c:
        await begin(c, gate)
        await c.say("later", "alt+enter")
        await c.press("escape")
        await c.idle()

        await c.say("/quit")
        warned = c.line("hint")
        await c.say("/why")
        await c.say("/quit")
        alive = c.app.is_running
        await c.say("/quit")

        assert "The same again leaves" in warned
        assert alive
        await c.until(lambda: not c.app.is_running)


async def test_one_tool_is_killed_without_stopping_the_turn() -> None:
    gate = Gate()
    async with chat(RUN, text("I see"), tools=[gate.tool]) as c:
        await begin(c, gate)

        await c.press("f6", "k")
        await c.idle()

        assert "assistant: I see" in c.shown
        assert c.draft == ""


async def test_with_that_setting_a_stop_brings_the_pending_back_before_the_draft() -> None:
    gate = Gate()
    async with chat(RUN, tools=[gate.tool]) as c:
        c.session.after_abort = "restore"
        await begin(c, gate)
        await c.say("steer this")
        await c.say("then that", "alt+enter")
        c.app.prompt.set_text("draft")

        await c.press("escape")
        await c.idle()

        assert c.draft == "steer this\n\nthen that\ndraft"
        assert c.queued == []
