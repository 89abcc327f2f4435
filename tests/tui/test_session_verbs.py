"""New, resume, name, export, rewind, tree, fork: by keys and commands, on the screen."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

from textual.pilot import Pilot
from textual.widgets import OptionList

from agent_tui import Agent
from agent_tui.config import PICK, Flags, SessionChoice, load_settings
from agent_tui.session.journal.journal import Journal
from agent_tui.session.session import Session
from agent_tui.testing import Part, ScriptedModel, hang, text
from agent_tui.tui.app import ChatApp
from tests.session.journal.kept import opened
from tests.tui.chat import as_text

PATIENCE_SECONDS = 10.0


class Kept:
    """A chat whose sessions are on disk below a folder."""

    def __init__(self, app: ChatApp, pilot: Pilot[None]) -> None:
        self.app = app
        self.pilot = pilot

    async def until(self, condition: Callable[[], bool]) -> None:
        loop = asyncio.get_running_loop()
        until = loop.time() + PATIENCE_SECONDS
        while not condition():
            assert loop.time() < until
            await self.pilot.pause(0.01)

    async def say(self, words: str) -> None:
        self.app.prompt.set_text(words)
        self.app.prompt.action_enter()
        await self.pilot.pause()
        await self.until(lambda: not self.app.is_busy)

    @property
    def hint(self) -> str:
        return as_text(self.app.chrome.rows("hint"))

    @property
    def rows(self) -> list[str]:
        """What the list on top offers."""
        options = self.app.screen.query_one(OptionList)
        return [str(option.prompt)[2:] for option in options.options]


@asynccontextmanager
async def kept(
    folder: Path, *script: Part | list[Part], choice: SessionChoice | None = None
) -> AsyncIterator[Kept]:
    """A chat in `folder/project`, at home in `folder/home`."""
    project = folder / "project"
    project.mkdir(exist_ok=True)
    settings = load_settings(Flags(cwd=project), {"AGENT_TUI_HOME": str(folder / "home")}, project)
    settings = replace(settings, session=choice or SessionChoice())

    def open_session() -> Session:
        path = where(folder) / "present.jsonl"
        agent = Agent("test/m", stream_fn=ScriptedModel([*script]))
        session = Session.open(agent, path, cwd=project, mode="full-auto")
        assert isinstance(session.journal, Journal)
        return session

    app = ChatApp(open_session, settings=settings)
    async with app.run_test(size=(100, 30)) as pilot:
        chat = Kept(app, pilot)
        await chat.until(lambda: app.is_ready)
        yield chat


def where(folder: Path) -> Path:
    """The folder of the project's sessions."""
    from agent_tui.session.journal.store import SessionStore

    return SessionStore(folder / "home" / "sessions", (folder / "project").resolve()).folder


async def test_a_new_session_leaves_this_one_on_disk(tmp_path: Path) -> None:
    async with kept(tmp_path, text("hello")) as chat:
        await chat.say("hi")
        await chat.say("/new")
        await chat.pilot.pause()

    assert chat.app.leaving.another is not None
    assert chat.app.leaving.another.session_id is None
    assert (where(tmp_path) / "present.jsonl").exists()


async def test_another_session_is_picked_by_what_was_said_in_it(tmp_path: Path) -> None:
    for name, words in (("aaaa", "the slow parser"), ("bbbb", "a poem")):
        session, _ = opened(where(tmp_path) / f"{name}.jsonl", text("yes"))
        await session.prompt(words)
        session.close()

    async with kept(tmp_path) as chat:
        await chat.say("/resume")
        await chat.until(lambda: len(chat.app.screen_stack) == 2 and len(chat.rows) == 2)
        await chat.pilot.press(*"poem")
        await chat.until(lambda: len(chat.rows) == 1)
        assert "a poem" in chat.rows[0]
        await chat.pilot.press("enter")
        await chat.pilot.pause()

    assert chat.app.leaving.another is not None
    assert chat.app.leaving.another.session_id == "bbbb"


async def test_a_start_that_wants_to_pick_shows_the_list_at_once(tmp_path: Path) -> None:
    async with kept(tmp_path, choice=SessionChoice(resume=PICK)) as chat:
        await chat.until(lambda: len(chat.app.screen_stack) == 2)


async def test_a_session_that_is_open_elsewhere_is_not_left_for(tmp_path: Path) -> None:
    other, _ = opened(where(tmp_path) / "cccc.jsonl", text("yes"))
    await other.prompt("mine")

    async with kept(tmp_path) as chat:
        await chat.say("/resume cccc")
        assert "another program" in chat.hint
        assert chat.app.prompt.text == "/resume cccc"
    other.close()

    assert chat.app.leaving.another is None


async def test_a_name_is_in_the_header_and_the_session_is_written_out(tmp_path: Path) -> None:
    async with kept(tmp_path, text("hello")) as chat:
        await chat.say("hi")
        await chat.say("/name the best talk")
        assert "the best talk" in as_text(chat.app.chrome.rows("header"))
        await chat.say("/export talk.md")
        assert "Written to" in chat.hint

    assert "# the best talk" in (tmp_path / "project" / "talk.md").read_text()


async def test_escape_twice_offers_to_go_back_and_the_text_is_in_the_composer(
    tmp_path: Path,
) -> None:
    async with kept(tmp_path, text("ONE"), text("TWO")) as chat:
        await chat.say("one")
        await chat.say("two")
        chat.app.prompt.set_text("a draft")
        await chat.pilot.press("escape", "escape")
        await chat.until(lambda: len(chat.app.screen_stack) == 2)
        assert [row.split("  ")[0] for row in chat.rows] == ["❯ two", "❯ one"]
        await chat.pilot.press("enter")
        await chat.until(lambda: chat.app.leaving.another is not None)
        assert chat.app.prompt.text == "two"
        assert [*chat.app.prompt.stashed] == ["a draft"]

    again, _ = opened(where(tmp_path) / "present.jsonl")
    again.close()
    assert [message.role for message in again.agent.state.messages] == ["user", "assistant"]
    assert again.drafts.text == "two"


async def test_the_tree_offers_every_place_and_a_copy_of_it(tmp_path: Path) -> None:
    async with kept(tmp_path, text("ONE"), text("TWO")) as chat:
        await chat.say("one")
        await chat.say("two")
        await chat.say("/tree")
        await chat.until(lambda: len(chat.app.screen_stack) == 2)
        assert len(chat.rows) == 4
        await chat.pilot.press("up", "ctrl+f")
        await chat.until(lambda: chat.app.leaving.another is not None)

    another = chat.app.leaving.another
    assert another is not None
    assert "copy" in another.news
    copy, _ = opened(where(tmp_path) / f"{another.session_id}.jsonl")
    copy.close()
    assert len(copy.agent.state.messages) == 2
    assert copy.drafts.text == "two"


async def test_the_news_of_the_chat_before_is_said(tmp_path: Path) -> None:
    app = ChatApp(Agent("test/m", stream_fn=ScriptedModel([])), news="You went back.")

    async with app.run_test(size=(80, 24)) as pilot:
        await Kept(app, pilot).until(lambda: app.is_ready)
        assert any("You went back." in block.source() for block in app.transcript.blocks)


async def test_one_can_go_back_with_a_summary_and_stay_while_it_is_made(tmp_path: Path) -> None:
    script: list[Part | list[Part]] = [text("ONE"), text("TWO"), hang(), text("IT FAILED")]
    async with kept(tmp_path, *script) as chat:
        await chat.say("one")
        await chat.say("two")
        await chat.say("/rewind")
        await chat.until(lambda: len(chat.app.screen_stack) == 2)
        await chat.pilot.press("ctrl+s")
        await chat.until(lambda: "what you leave" in chat.app.presenter.status.notice)
        await chat.pilot.press("escape")
        await chat.until(lambda: not chat.app.is_busy)
        assert chat.app.leaving.another is None
        assert len(chat.app.session.agent.state.messages) == 4

        await chat.say("/rewind")
        await chat.until(lambda: len(chat.app.screen_stack) == 2)
        await chat.pilot.press("ctrl+s")
        await chat.until(lambda: chat.app.leaving.another is not None)
        assert chat.app.prompt.text == "two"

    again, _ = opened(where(tmp_path) / "present.jsonl")
    again.close()
    roles = [message.role for message in again.agent.state.messages]
    assert roles == ["user", "assistant", "branch_summary"]
