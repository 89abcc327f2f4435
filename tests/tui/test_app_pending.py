"""The pending strip on the screen: select, edit in place, move, delete, send now."""

from __future__ import annotations

from agent_tui.testing import call, calls, text
from tests.tui.chat import Chat, Gate, as_text, chat

RUN = calls(call("bash", {"command": "pytest -q"}))


async def with_pending(c: Chat, gate: Gate, *texts: str, lane: str = "enter") -> None:
    await c.say("start")
    await c.until(lambda: gate.running)
    for item in texts:
        await c.say(item, lane)


def strip(c: Chat) -> str:
    assert c.app.strip.display
    return as_text(c.app.strip.rows)


async def test_the_strip_shows_lane_sentence_and_text() -> None:
    gate = Gate()
    async with chat(RUN, text("ok"), tools=[gate.tool]) as c:
        await with_pending(c, gate, "use the fixtures")
        await c.say("then update CHANGELOG", "alt+enter")

        rows = strip(c).splitlines()

        assert rows[0].startswith(" Pending ──")
        assert rows[1] == "  1 steer  after `pytest -q` (running 0 s), before step 2"
        assert rows[2].strip() == "use the fixtures"
        assert rows[3] == "  2 next   when this turn ends"


async def test_the_strip_takes_at_most_a_third_and_counts_the_rest() -> None:
    gate = Gate()
    async with chat(RUN, tools=[gate.tool]) as c:
        await with_pending(c, gate, *(f"message {n}" for n in range(20)))

        rows = strip(c).splitlines()

        assert len(rows) <= 8
        assert any("more" in row for row in rows)


async def test_the_strip_is_gone_when_nothing_waits() -> None:
    gate = Gate()
    async with chat(RUN, text("ok"), tools=[gate.tool]) as c:
        await with_pending(c, gate, "one")

        gate.open.set()
        await c.idle()

        assert not c.app.strip.display


async def test_selecting_leaves_the_draft_alone_and_unknown_keys_are_typed() -> None:
    gate = Gate()
    async with chat(RUN, tools=[gate.tool]) as c:
        await with_pending(c, gate, "one", "two")
        c.app.prompt.set_text("draft")

        await c.press("alt+up")
        selected = strip(c)
        await c.press("w")

        assert "▸2 steer" in selected
        assert c.draft == "draftw"
        assert "▸" not in strip(c)


async def test_escape_leaves_the_selection_and_does_not_stop_the_turn() -> None:
    gate = Gate()
    async with chat(RUN, tools=[gate.tool]) as c:
        await with_pending(c, gate, "one")

        await c.press("alt+up", "escape")

        assert c.app.modes.mode == "none"
        assert not c.app.presenter.course.is_stopping


async def test_delete_and_undo() -> None:
    gate = Gate()
    async with chat(RUN, tools=[gate.tool]) as c:
        await with_pending(c, gate, "one", "two", "three")

        await c.press("alt+up", "alt+up", "d")
        deleted = c.queued
        await c.press("ctrl+z")

        assert deleted == ["one", "three"]
        assert c.queued == ["one", "two", "three"]


async def test_the_last_deleted_item_can_be_brought_back() -> None:
    gate = Gate()
    async with chat(RUN, tools=[gate.tool]) as c:
        await with_pending(c, gate, "one")

        await c.press("alt+up", "d")
        deleted = c.queued
        await c.press("ctrl+z")

        assert [deleted, c.queued] == [[], ["one"]]


async def test_items_move_and_change_lanes() -> None:
    gate = Gate()
    async with chat(RUN, tools=[gate.tool]) as c:
        await with_pending(c, gate, "one", "two", "three")

        await c.press("alt+up", "alt+shift+up")
        moved = c.queued
        await c.press("s")

        assert moved == ["one", "three", "two"]
        assert [item.kind for item in c.session.agent.queued()] == ["steer", "steer", "follow_up"]
        assert c.queued == ["one", "two", "three"]


async def test_an_item_is_edited_in_place_while_the_draft_rests() -> None:
    gate = Gate()
    async with chat(RUN, text("ok"), tools=[gate.tool]) as c:
        await with_pending(c, gate, "one", "two")
        c.app.prompt.set_text("draft")

        await c.press("alt+down", "e")
        await c.until(lambda: c.app.focused is c.app.strip.editor)
        held = [item.held for item in c.session.agent.queued()]
        await c.press("!", "enter")
        await c.until(lambda: c.app.focused is c.app.prompt)

        assert held == [True, False]
        assert c.queued == ["one!", "two"]
        assert c.draft == "draft"


async def test_an_edited_item_is_not_delivered_before_it_is_stored() -> None:
    gate = Gate()
    script = (RUN, calls(call("bash", {"command": "more"})), text("ok"))
    async with chat(*script, tools=[gate.tool]) as c:
        await with_pending(c, gate, "one")
        await c.press("alt+up", "e")
        await c.until(lambda: c.app.strip.editor)

        gate.open.set()
        await c.idle()
        passed = strip(c)
        await c.press("!", "enter")
        await c.until(lambda: "one!" in c.said)

        assert c.request(1) == ["start"]
        assert "held while you edit it" in passed


async def test_escape_in_the_editor_keeps_the_old_text_and_the_turn() -> None:
    gate = Gate()
    async with chat(RUN, tools=[gate.tool]) as c:
        await with_pending(c, gate, "one")

        await c.press("alt+up", "e")
        await c.until(lambda: c.app.strip.editor)
        await c.press("x", "y", "escape")
        await c.until(lambda: c.app.focused is c.app.prompt)

        assert c.queued == ["one"]
        assert [item.held for item in c.session.agent.queued()] == [False]
        assert not c.app.presenter.course.is_stopping


async def test_ctrl_s_on_an_item_stops_and_sends_it_first() -> None:
    gate = Gate()
    async with chat(RUN, text("a"), text("b"), tools=[gate.tool]) as c:
        await with_pending(c, gate, "one", "two", lane="alt+enter")

        await c.press("alt+up", "ctrl+s")
        await c.idle()

        assert c.said == ["start", "two", "one"]


async def test_on_hold_e_takes_all_as_one_draft_before_the_present_one() -> None:
    gate = Gate()
    async with chat(RUN, tools=[gate.tool]) as c:
        await with_pending(c, gate, "one")
        await c.say("two", "alt+enter")
        await c.press("escape")
        await c.idle()
        c.app.prompt.set_text("draft")

        await c.press("alt+up", "e")

        assert c.draft == "one\n\ntwo\ndraft"
        assert c.queued == []


async def test_on_hold_x_discards_all_and_undo_brings_them_back() -> None:
    gate = Gate()
    async with chat(RUN, tools=[gate.tool]) as c:
        await with_pending(c, gate, "one", "two")
        await c.press("escape")
        await c.idle()

        await c.press("alt+up", "x")
        discarded = c.queued
        await c.press("ctrl+z", "ctrl+z")

        assert [discarded, c.queued] == [[], ["one", "two"]]


async def test_a_queued_command_runs_when_its_turn_comes_and_holds_back_what_follows() -> None:
    gate = Gate()
    async with chat(RUN, text("a"), text("b"), text("c"), tools=[gate.tool]) as c:
        await c.say("start")
        await c.until(lambda: gate.running)
        await c.say("before", "alt+enter")
        await c.say("/mode read-only", "alt+enter")
        await c.say("after", "alt+enter")
        mode_while_running = c.session.approvals.mode
        rows = strip(c)

        gate.open.set()
        await c.until(lambda: "after" in c.said)
        await c.idle()

        assert mode_while_running == "full-auto"
        assert c.session.approvals.mode == "read-only"
        assert c.said == ["start", "before", "after"]
        assert "runs after the one above" in rows
        assert "after /mode read-only" in rows


async def test_alt_up_without_pending_messages_recalls_what_was_sent() -> None:
    async with chat(text("ok")) as c:
        await c.say("hello")
        await c.idle()

        await c.press("alt+up")

        assert c.draft == "hello"
