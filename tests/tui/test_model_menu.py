"""The list of models over the chat: search, favourites, thinking, and what servers say."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from textual.pilot import Pilot
from textual.widgets import OptionList, Static

from agent_tui import Agent
from agent_tui.config import Flags, load_settings
from agent_tui.session.session import Session
from agent_tui.testing import ScriptedModel
from agent_tui.tui.app import ChatApp
from agent_tui.tui.pages import Pages
from agent_tui.tui.screens.models import (
    ModelChoice,
    ModelScreen,
    Picked,
    Renewed,
    found_in,
)
from agent_tui.tui.screens.output import OutputScreen
from agent_tui.tui.screens.pick import MOST_SHOWN
from tests.providers.loopback import JSON, plays, serving

THREE = [
    ModelChoice("a/small", "Small · 32k window", ("off",)),
    ModelChoice("b/deep", "Deep · 1m window", ("low", "high")),
    ModelChoice("c/paid", "Paid", ("off", "high"), lacks="C_API_KEY"),
]


class Menu:
    """The screen, alone over an empty chat."""

    def __init__(self, app: ChatApp, pilot: Pilot[None], screen: ModelScreen) -> None:
        self.app = app
        self.pilot = pilot
        self.screen = screen
        self.marked: list[str] = []
        self.result: Picked | None = Picked("nothing yet")

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)
        await self.pilot.pause()

    @property
    def rows(self) -> list[str]:
        options = self.screen.query_one(OptionList)
        return [str(option.prompt)[2:].rstrip() for option in options.options]

    @property
    def foot(self) -> str:
        return str(self.screen.query_one(".foot", Static).visual)


@asynccontextmanager
async def menu(
    choices: Sequence[ModelChoice] = THREE,
    current: str = "b/deep",
    level: str = "off",
    renew: Callable[[bool], Awaitable[Renewed]] | None = None,
) -> AsyncIterator[Menu]:
    app = ChatApp(Agent("test/m", stream_fn=ScriptedModel([])), environ={})
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()

        def mark(key: str) -> bool:
            made.marked.append(key)
            return len(made.marked) % 2 == 1

        def take(picked: Picked | None) -> None:
            made.result = picked

        screen = ModelScreen(choices, current, level, mark=mark, renew=renew)
        made = Menu(app, pilot, screen)
        app.push_screen(screen, take)
        await pilot.pause()
        yield made


def test_the_list_is_narrowed_by_words_in_any_order() -> None:
    assert [choice.key for choice in found_in(THREE, "window DEEP")] == ["b/deep"]
    assert found_in(THREE, "") == THREE
    assert found_in(THREE, "nothing") == []


async def test_the_model_in_use_is_marked_and_highlighted() -> None:
    async with menu() as m:
        rows = m.rows
        await m.press("enter")

    assert rows[1].startswith("• b/deep")
    assert m.result == Picked("b/deep")


async def test_what_is_missing_is_said() -> None:
    async with menu() as m:
        await m.press("down")

        assert "needs C_API_KEY" in m.foot
        assert m.rows[2] == "  c/paid  needs C_API_KEY · Paid"


async def test_typing_narrows_and_enter_takes_the_first() -> None:
    async with menu() as m:
        await m.press(*"small", "enter")

    assert m.result == Picked("a/small")


async def test_a_name_that_is_not_listed_may_be_typed() -> None:
    async with menu() as m:
        await m.press(*"z/new", "enter")

    assert m.result == Picked("z/new")


async def test_esc_picks_nothing() -> None:
    async with menu() as m:
        await m.press("escape")

    assert m.result is None


async def test_ctrl_f_makes_a_favourite_and_unmakes_it() -> None:
    async with menu() as m:
        await m.press("ctrl+f")
        once = m.rows[1]
        await m.press("ctrl+f")

        assert m.marked == ["b/deep", "b/deep"]
        assert once.startswith("★ b/deep")
        assert m.rows[1].startswith("• b/deep")


async def test_ctrl_t_goes_through_the_levels_of_the_model() -> None:
    async with menu() as m:
        before = m.foot
        await m.press("ctrl+t")
        once = m.foot
        await m.press("ctrl+t", "enter")

    assert "off, not one of its levels" in before
    assert "thinking: low" in once
    assert m.result == Picked("b/deep", "high")


async def test_a_model_that_does_not_think_has_no_levels() -> None:
    async with menu(current="a/small") as m:
        await m.press("ctrl+t")

        assert "no thinking levels" in m.foot


async def test_a_long_list_is_cut_and_says_so() -> None:
    many = [ModelChoice(f"a/{number:03}") for number in range(MOST_SHOWN + 5)]

    async with menu(many) as m:
        assert m.rows[-1] == "… and 5 more: type to narrow the list"
        await m.press(*"a/504", "enter")

    assert m.result == Picked("a/504")


async def test_what_servers_say_joins_without_moving_the_highlight() -> None:
    answered = asyncio.Event()

    async def renew(hosted: bool) -> Renewed:
        await answered.wait()
        return [ModelChoice("ollama/qwen"), *THREE], []

    async with menu(renew=renew) as m:
        waiting = m.foot
        answered.set()
        await m.app.workers.wait_for_complete()
        await m.pilot.pause()

        assert "asking the servers…" in waiting
        assert "asking" not in m.foot
        assert m.rows[0].strip() == "ollama/qwen"
        await m.press("enter")

    assert m.result == Picked("b/deep")


async def test_ctrl_r_asks_the_hosted_servers_too_and_says_who_refused() -> None:
    asked: list[bool] = []

    async def renew(hosted: bool) -> Renewed:
        asked.append(hosted)
        return THREE, ["groq: the key is refused"] if hosted else []

    async with menu(renew=renew) as m:
        await m.press("ctrl+r")
        await m.app.workers.wait_for_complete()
        await m.pilot.pause()

        assert asked == [False, True]
        assert "groq: the key is refused" in m.foot


async def test_what_was_picked_answers_from_now_on(tmp_path: Path) -> None:
    settings = load_settings(Flags(), {"AGENT_TUI_HOME": str(tmp_path)}, tmp_path)
    session = Session.open(Agent("test/m", stream_fn=ScriptedModel([])), cwd=tmp_path)
    app = ChatApp(session, settings=settings, environ={})
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        await pilot.press("ctrl+l")
        await pilot.press(*"demo/tour", "ctrl+f", "ctrl+t", "ctrl+t", "enter")
        await app.workers.wait_for_complete()
        await pilot.pause()

    state = session.agent.state
    assert (state.model.key, state.thinking_level) == ("demo/tour", "medium")
    assert (tmp_path / "favourites.json").exists()


async def test_a_local_server_says_how_much_its_model_reads(tmp_path: Path) -> None:
    settings = load_settings(Flags(), {"AGENT_TUI_HOME": str(tmp_path)}, tmp_path)
    answer = plays(b'{"data": [{"id": "m", "max_model_len": 4096}]}', headers=JSON)
    async with serving(answer) as lab:
        session = Session.open(Agent(lab.model()), cwd=tmp_path)
        app = ChatApp(session, settings=settings, environ={})
        async with app.run_test(size=(80, 24)) as pilot:
            async with asyncio.timeout(10):
                while not session.agent.state.model.context_window:
                    await pilot.pause(0.01)

            assert app.presenter.status.context_window == 4096


async def test_the_doctor_shows_what_was_found_over_the_chat(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text('local_servers = "ignore"\nmod = "ask"')
    settings = load_settings(Flags(), {"AGENT_TUI_HOME": str(tmp_path)}, tmp_path)
    session = Session.open(Agent("test/m", stream_fn=ScriptedModel([])), cwd=tmp_path)
    app = ChatApp(session, settings=settings, environ={})
    async with app.run_test(size=(100, 30)) as pilot:
        await pilot.pause()
        app.run_verb("doctor")
        async with asyncio.timeout(10):
            while not isinstance(app.screen, OutputScreen):
                await pilot.pause(0.01)

        await pilot.pause()
        pages = app.screen.query_one(Pages)
        shown = "".join(pages.render_line(row).text for row in range(pages.size.height))

    assert "unknown key 'mod'" in " ".join(shown.split())
    assert "demo/tour" in shown
