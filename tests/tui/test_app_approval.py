"""Questions on the screen: answered on purpose only, oldest first, never in the way."""

from __future__ import annotations

import pytest

from agent_tui.testing import call, calls, text
from tests.tui.chat import Chat, Gate, chat

ASK = calls(call("bash", {"command": "touch ran.txt"}))


async def asked(c: Chat) -> None:
    await c.say("go")
    await c.until(lambda: c.app.card.display)
    await c.pilot.pause()


@pytest.mark.parametrize(("key", "ran"), [("alt+y", True), ("alt+n", False)])
async def test_a_key_answers_half_a_second_after_the_card_appeared(key: str, ran: bool) -> None:
    gate = Gate()
    gate.open.set()
    async with chat(ASK, text("ok"), tools=[gate.tool], mode="ask") as c:
        await asked(c)

        await c.press(key)
        too_early = bool(c.session.approvals.pending)
        c.clock.time += 0.6
        await c.press(key)
        await c.idle()

        assert too_early
        assert bool(gate.calls) is ran
        assert not c.app.card.display


async def test_letters_and_spaces_are_typed_and_enter_steers() -> None:
    gate = Gate()
    async with chat(ASK, text("ok"), tools=[gate.tool], mode="ask") as c:
        await asked(c)
        c.clock.time += 5

        await c.press(*"yes ok", "enter")

        assert c.session.approvals.pending
        assert c.queued == ["yes ok"]
        assert not gate.calls


async def test_the_composer_keeps_the_focus() -> None:
    gate = Gate()
    async with chat(ASK, tools=[gate.tool], mode="ask") as c:
        await asked(c)

        assert c.app.focused is c.app.prompt


async def test_slash_yes_answers_at_once() -> None:
    gate = Gate()
    gate.open.set()
    async with chat(ASK, text("ok"), tools=[gate.tool], mode="ask") as c:
        await asked(c)

        await c.say("/yes")
        await c.idle()

        assert gate.calls == [{"command": "touch ran.txt"}]
        assert c.said == ["go"]


async def test_always_allows_its_like_without_asking_again() -> None:
    gate = Gate()
    gate.open.set()
    again = calls(call("bash", {"command": "touch ran.txt"}))
    async with chat(ASK, again, text("ok"), tools=[gate.tool], mode="ask") as c:
        await asked(c)

        await c.say("/always")
        await c.idle()

        assert len(gate.calls) == 2


async def test_declining_with_a_comment_tells_the_model() -> None:
    gate = Gate()
    async with chat(ASK, text("understood"), tools=[gate.tool], mode="ask") as c:
        await asked(c)
        c.clock.time += 1
        c.app.prompt.set_text("use make clean")

        await c.press("alt+e")
        offered = c.draft
        await c.press("enter")
        await c.idle()

        assert offered == "/no use make clean"
        assert "assistant: understood" in c.shown
        assert any("use make clean" in getattr(m, "text", "") for m in c.requests[1].messages)
        assert any('declined: "use make clean"' in block for block in c.panels)


async def test_a_stop_answers_the_question_and_ends_the_turn() -> None:
    gate = Gate()
    async with chat(ASK, tools=[gate.tool], mode="ask") as c:
        await asked(c)

        await c.press("escape")
        await c.idle()

        assert not c.app.card.display
        assert not gate.calls


async def test_without_a_question_the_answer_keys_and_commands_do_nothing() -> None:
    async with chat() as c:
        await c.press("alt+y")
        await c.say("/yes")

        assert c.draft == ""
        assert "Nothing asks for an answer." in c.line("hint")


async def test_shift_tab_cycles_the_mode_and_the_header_shows_it() -> None:
    async with chat(mode="ask") as c:
        await c.press("shift+tab")

        assert c.session.approvals.mode == "auto-edit"
        assert c.line("header").endswith("auto-edit")


async def test_the_window_title_and_the_status_ask_for_the_person() -> None:
    gate = Gate()
    async with chat(ASK, tools=[gate.tool], mode="ask") as c:
        await asked(c)

        assert "needs your answer" in c.line("status")
        assert c.app.chrome.window_title() == ("go", "needs you")
