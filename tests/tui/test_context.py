"""Summaries, pins and `/context` on the screen."""

from __future__ import annotations

import pytest
from rich.cells import cell_len

from agent_tui.core.messages import AgentMessage, AssistantMessage, TextBlock, UserMessage
from agent_tui.core.model import Model
from agent_tui.core.occupancy import ContextItem, ContextPart, ContextReport
from agent_tui.testing import fail, hang, text
from agent_tui.tui.context import context_text
from tests.tui.chat import chat


def earlier() -> list[AgentMessage]:
    """Ten turns, of 2000 tokens together."""
    return [
        message
        for n in range(10)
        for message in (
            UserMessage(content=f"question {n} ".ljust(760, "u")),
            AssistantMessage(content=[TextBlock(text="a" * 40)]),
        )
    ]


async def test_a_summary_is_told_with_the_sizes_and_can_be_taken_back() -> None:
    async with chat(text("SUMMARY"), messages=earlier()) as c:
        await c.say("/compact the parser")
        await c.until(lambda: any("messages summarised" in line for line in c.shown))
        assert any("context 2k → " in line and "/compact undo" in line for line in c.shown)
        assert "the parser" in c.request(0)[0]
        await c.idle()

        await c.say("/compact undo")

        assert len(c.session.agent.state.messages) == 20
        await c.say("/compact undo")
        assert c.draft == "/compact undo"


async def test_esc_while_a_summary_is_made_leaves_everything_as_it_was() -> None:
    async with chat(hang(), messages=earlier()) as c:
        await c.say("/compact")
        await c.until(lambda: c.requests)
        await c.until(lambda: "summarising" in c.app.presenter.status.notice)

        await c.press("escape")
        await c.idle()

        assert len(c.session.agent.state.messages) == 20
        assert any("as it was" in line for line in c.shown)
        assert not c.app.presenter.status.notice


async def test_a_prompt_that_is_stopped_while_room_is_made_for_it_is_in_the_composer_again() -> (
    None
):
    async with chat(hang(), text("answer"), messages=earlier()) as c:
        c.session.agent.state.model = Model("test", "m", context_window=2400)
        await c.say("the next question")
        await c.until(lambda: c.requests)
        await c.until(lambda: "summarising" in c.app.presenter.status.notice)

        await c.press("escape")
        await c.idle()

        assert c.draft == "the next question"
        assert len(c.session.agent.state.messages) == 20
        assert c.queued == []
        assert not any(line.endswith(": the next question") for line in c.shown)


async def test_a_summary_that_fails_says_why() -> None:
    async with chat(fail("auth", "no such key"), messages=earlier()) as c:
        await c.say("/compact")

        await c.until(lambda: any("no such key" in line for line in c.shown))


async def test_what_is_written_meanwhile_is_on_hold_after_a_stop() -> None:
    async with chat(hang(), text("ok"), messages=earlier()) as c:
        await c.say("/compact")
        await c.until(lambda: c.requests)

        await c.say("hello there")

        assert c.queued == ["hello there"]
        c.session.abort()
        await c.idle()
        assert c.queued == ["hello there"]
        assert c.app.presenter.is_on_hold


async def test_the_last_message_or_that_of_a_block_is_pinned_and_let_go() -> None:
    async with chat(text("answer"), text("S")) as c:
        await c.say("hi")
        await c.idle()
        user, answer = c.session.agent.state.messages

        await c.say("/pin")
        assert c.session.pins == [answer.id]
        await c.say("/pin")
        assert c.session.pins == []

        await c.press("f6")
        while getattr(c.app.transcript.cursor, "message_id", "") != user.id:
            await c.press("ctrl+up")
        await c.press("p")
        assert c.session.pins == [user.id]


async def test_the_context_is_shown_on_a_screen_of_its_own() -> None:
    async with chat(messages=earlier(), system_prompt="p" * 400) as c:
        await c.say("/context")
        await c.until(lambda: len(c.app.screen_stack) > 1)


@pytest.mark.parametrize("width", [30, 78, 158])
@pytest.mark.parametrize("window", [None, 8192, 10])
def test_the_report_fits_any_width_and_tells_parts_apart_without_colour(
    width: int, window: int | None
) -> None:
    names = ("system", "instructions", "tools", "history", "tool results", "summaries")
    parts = tuple(ContextPart(name, 100 * n) for n, name in enumerate(names))
    items = (ContextItem("history", "\x1b[31m" + "字" * 200, 900, is_pinned=True),)
    report = ContextReport(1500, window, None, parts, items)

    lines = context_text(report, width).split("\n")

    assert all(cell_len(line) <= width for line in lines[2:])
    assert len(lines[2]) == width
    assert len({glyph for glyph in lines[2] if glyph != "·"}) == 5
    assert any(line.endswith("pinned") for line in lines)
    assert "\x1b" not in "".join(lines)
