"""The hint for a first time: said until it was followed, then never again."""

from __future__ import annotations

from pathlib import Path

from agent_tui import Agent
from agent_tui.config import Folders, Settings
from agent_tui.session.session import Session
from agent_tui.testing import ScriptedModel, hang
from agent_tui.tui.app import ChatApp
from agent_tui.tui.first_hint import FirstHint
from agent_tui.tui.keymap import Keymap
from tests.tui.chat import Chat, Clock


async def opened(home: Path, *texts: str) -> str:
    """What a chat at that home says at its start; then these texts are sent."""
    model, clock = ScriptedModel([hang()]), Clock()
    session = Session.open(Agent("test/m", stream_fn=model), cwd=home, clock=clock)
    settings = Settings(cwd=home, folders=Folders(home, home))
    app = ChatApp(session, settings=settings, clock=clock, environ={})
    async with app.run_test(size=(100, 30)) as pilot:
        c = Chat(app, pilot, model, session, clock)
        await c.until(lambda: app.is_ready)
        said = "\n".join(c.shown)
        for text in texts:
            await c.say(text)
            await c.until(lambda: app.is_busy)
        session.abort()
        await c.idle()
    return said


async def test_it_is_said_until_somebody_has_typed_into_a_running_turn(tmp_path: Path) -> None:
    assert "Type while it works: enter steers" in await opened(tmp_path, "one")
    assert "Type while it works" in await opened(tmp_path, "one", "and two")
    assert "Type while it works" not in await opened(tmp_path)


def test_it_names_the_keys_in_force_and_survives_a_folder_that_cannot_be(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    hint = FirstHint(tmp_path / "file")

    assert "ctrl+n queues" in hint.words(Keymap({"follow_up": ("ctrl+n",)}))
    hint.done()
    assert hint.words(Keymap()) == ""
    assert FirstHint(None).words(Keymap()) == ""
