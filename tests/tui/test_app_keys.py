"""The other keys and commands of the chat, and how small it can get."""

from __future__ import annotations

import pytest

from agent_tui.testing import call, calls, text, think
from agent_tui.tui.pages import Pages
from agent_tui.tui.screens.help import HelpScreen
from agent_tui.tui.screens.models import ModelScreen
from agent_tui.tui.screens.output import OutputScreen
from tests.tui.chat import Gate, chat


async def test_an_unknown_command_keeps_its_text_and_suggests() -> None:
    async with chat() as c:
        await c.say("/modle gpt please")

        assert c.draft == "/modle gpt please"
        assert "Unknown command /modle: did you mean /mode" in c.line("hint")
        assert not c.requests


async def test_a_message_that_begins_with_a_path_is_sent() -> None:
    async with chat(text("ok")) as c:
        await c.say("/usr/lib/python3/dist-packages is missing, why?")
        await c.idle()

        assert c.request(0) == ["/usr/lib/python3/dist-packages is missing, why?"]


async def test_a_command_with_an_argument_it_does_not_take_keeps_its_text() -> None:
    async with chat() as c:
        await c.say("/help me please")

        assert c.draft == "/help me please"


@pytest.mark.parametrize("way", ["f1", "/help"])
async def test_help_opens_and_esc_closes_it(way: str) -> None:
    async with chat() as c:
        await (c.press(way) if way == "f1" else c.say(way))
        opened = isinstance(c.app.screen, HelpScreen)
        await c.press("escape")

        assert opened
        assert len(c.app.screen_stack) == 1


async def test_f3_says_what_is_waited_for() -> None:
    gate = Gate()
    async with chat(calls(call("bash", {"command": "pytest"})), tools=[gate.tool]) as c:
        await c.say("go")
        await c.until(lambda: gate.running)

        await c.press("f3")

        assert "pytest" in c.line("hint")


async def test_models_are_picked_from_a_list_or_named() -> None:
    async with chat() as c:
        await c.press("ctrl+l")
        opened = isinstance(c.app.screen, ModelScreen)
        await c.press(*"demo/tour", "enter")

        assert opened
        assert c.session.agent.state.model.key == "demo/tour"
        assert "demo/tour from now on" in c.line("hint")


async def test_an_unknown_model_is_refused_with_what_is_known() -> None:
    async with chat() as c:
        await c.say("/model nowhere/nothing")

        assert c.draft == "/model nowhere/nothing"
        assert "nowhere" in c.line("hint")
        assert c.session.agent.state.model.key == "test/m"


async def test_the_palette_runs_the_same_verbs() -> None:
    async with chat() as c:
        await c.press("ctrl+p")
        await c.until(lambda: len(c.app.screen_stack) == 2)
        await c.press(*"/help")
        await c.pilot.pause(0.3)
        await c.press("enter")
        await c.until(lambda: isinstance(c.app.screen, HelpScreen))


async def test_the_block_cursor_copies_and_opens_the_viewer() -> None:
    async with chat(text("one\n\ntwo needle\n\nthree")) as c:
        await c.say("hi")
        await c.idle()

        await c.press("f6", "f6", "y")
        await c.until(lambda: c.app.copier.text)
        copied = c.app.copier.text
        await c.press("enter")
        await c.until(lambda: isinstance(c.app.screen, OutputScreen))
        await c.press("slash", *"needle", "enter")
        pages = c.app.screen.query_one(Pages)
        await c.until(lambda: not pages.is_searching)
        found = pages.found
        await c.press("escape")

        assert copied == "one\n\ntwo needle\n\nthree"
        assert found == [2]
        assert len(c.app.screen_stack) == 1


async def test_a_letter_in_the_block_mode_that_means_nothing_is_typed() -> None:
    async with chat(text("ok")) as c:
        await c.say("hi")
        await c.idle()

        await c.press("f6", "w")

        assert c.draft == "w"
        assert c.app.transcript.cursor is None


async def test_ctrl_t_unfolds_thinking_also_for_what_comes() -> None:
    async with chat([think("a\nb\nc\nd"), text("x")], [think("e\nf"), text("y")]) as c:
        await c.say("one")
        await c.idle()

        await c.press("ctrl+t")
        await c.say("two")
        await c.idle()

        thoughts = [block for block in c.app.transcript.blocks if "Thought" in type(block).__name__]
        assert [block.expanded for block in thoughts] == [True, True]


async def test_the_empty_composer_lends_its_end_key_to_the_transcript() -> None:
    async with chat(text("\n\n".join(f"line {n}" for n in range(100)))) as c:
        await c.say("go")
        await c.idle()
        await c.press("pageup", "pageup")
        left = c.app.transcript.following

        await c.press("end")

        assert not left
        assert c.app.transcript.following


@pytest.mark.parametrize("size", [(120, 40), (80, 24), (40, 12), (20, 6), (12, 4), (1, 1)])
async def test_every_size_works_and_the_draft_survives(size: tuple[int, int]) -> None:
    gate = Gate()
    async with chat(calls(call("bash", {"command": "x"})), tools=[gate.tool], mode="ask") as c:
        await c.say("go")
        await c.until(lambda: c.app.card.display)
        await c.say("pending")

        await c.pilot.resize_terminal(*size)
        await c.press(*"hello")
        await c.pilot.resize_terminal(80, 24)
        await c.pilot.pause()

        assert c.draft == "hello"
        assert c.queued == ["pending"]


async def test_the_screen_has_few_widgets_however_long_the_chat() -> None:
    async with chat(*(text(f"answer {n}") for n in range(30))) as c:
        for n in range(30):
            await c.say(f"message {n}")
            await c.idle()

        assert len(list(c.app.screen.walk_children())) <= 12


async def test_a_theme_is_shown_as_the_list_moves_and_esc_leaves_it_as_it_was() -> None:
    async with chat() as c:
        before = c.app.theme
        await c.say("/theme")
        await c.press("down")
        shown = c.app.theme
        await c.press("escape")
        after = c.app.theme
        await c.say("/theme")
        await c.press("down", "enter")

        assert shown != before
        assert after == before
        assert c.app.theme == shown


async def test_an_unknown_theme_is_said_and_the_known_ones_too() -> None:
    async with chat() as c:
        await c.say("/theme nope")

        assert "Themes:" in c.line("hint")
        assert c.draft == "/theme nope"


async def test_history_messages_of_the_agent_are_shown_at_the_start() -> None:
    from agent_tui import AssistantMessage, TextBlock, ToolCall, ToolResultMessage, UserMessage

    earlier = [
        UserMessage(content="before"),
        AssistantMessage(content=[ToolCall(id="c1", name="read", arguments={"path": "a.py"})]),
        ToolResultMessage(tool_call_id="c1", tool_name="read", content=[TextBlock(text="1\n2\n")]),
        AssistantMessage(content=[TextBlock(text="after")]),
    ]
    async with chat(messages=earlier) as c:
        kinds = [shown.partition(":")[0] for shown in c.shown]

        assert kinds == ["user", "tool", "assistant"]
