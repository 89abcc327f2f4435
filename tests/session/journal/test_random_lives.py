"""Whatever happens in a session: a program that opens its file afterwards stands where it stood."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from agent_tui.agent.agent import Agent
from agent_tui.core.messages import UserMessage
from agent_tui.session.session import Session
from agent_tui.testing import ScriptedModel, call, calls, end, fail, hang, text
from tests.session.journal.kept import TOOLS, USED

Deed = Callable[["Life"], Awaitable[None]]


class Life:
    """A session, and what may happen in it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.model = ScriptedModel([])
        self.session = self._open(path)

    def _open(self, path: Path) -> Session:
        agent = Agent("test/m", tools=TOOLS, stream_fn=self.model)
        return Session.open(agent, path, mode="full-auto", sleep=_at_once)

    def plays(self, *script: Any) -> None:
        """The next answers of the model."""
        self.model = ScriptedModel([*script])
        self.session.agent.stream_fn = self.model

    def stands(self) -> dict[str, Any]:
        """What somebody sees who looks at the session."""
        return _stand(self.session)

    def would_stand(self) -> dict[str, Any]:
        """What a program would see that opened a copy of the file now."""
        copy = self.path.with_name("copy.jsonl")
        if not self.path.exists():
            return {}
        shutil.copyfile(self.path, copy)
        session = self._open(copy)
        session.close()
        copy.unlink()
        return _stand(session)

    def opens_again(self) -> None:
        """The program ends, and another one goes on."""
        self.session.close()
        self.session = self._open(self.path)


async def _at_once(seconds: float) -> None:
    """No retry waits in a test."""


def _stand(session: Session) -> dict[str, Any]:
    state = session.agent.state
    return {
        "messages": [message.id for message in state.messages],
        "queue": [(item.id, item.kind) for item in session.agent.queued()],
        "totals": session.totals,
        "thinking": state.thinking_level,
        "name": session.name,
    }


async def _talk(life: Life) -> None:
    life.plays([text("an answer"), end(usage=USED)])
    await life.session.prompt("a question")


async def _use_tools(life: Life) -> None:
    both = calls(call("shell", {"command": "ls"}), call("read", {"path": "a.txt"}))
    life.plays([both, end(usage=USED)], [text("done"), end(usage=USED)])
    await life.session.prompt("use tools")


async def _fail_and_try_again(life: Life) -> None:
    life.plays([text("half"), end(usage=USED), fail("network")], text("whole"))
    await life.session.prompt("over a bad line")


async def _fail(life: Life) -> None:
    life.plays(fail("auth"))
    await life.session.prompt("with a wrong key")


async def _go_on_after_failure(life: Life) -> None:
    messages = life.session.agent.state.messages
    if messages and getattr(messages[-1], "error", None) is not None:
        life.session.forget_failed_answer()
        life.plays(text("now it works"))
        await life.session.continue_()


async def _stop_with_pending(life: Life) -> None:
    life.plays(hang())
    turn = asyncio.create_task(life.session.prompt("something long"))
    while not life.session.agent.state.is_running or life.model.requests == []:
        await asyncio.sleep(0)
    life.session.steer("steered")
    life.session.follow_up("queued")
    life.session.abort()
    await turn


async def _take_back(life: Life) -> None:
    said = [m for m in life.session.agent.state.messages if isinstance(m, UserMessage)]
    if said:
        life.session.take_back(said[-1].id)


async def _drop(life: Life) -> None:
    items = life.session.agent.queued()
    if items:
        life.session.agent.cancel_queued(items[0].id)


async def _deliver(life: Life) -> None:
    life.plays(*[text("yes")] * 12)
    await life.session.resume_queue()


async def _think(life: Life) -> None:
    life.session.set_thinking("high" if life.session.agent.state.thinking_level == "off" else "off")


async def _name(life: Life) -> None:
    life.session.name = f"name {len(life.session.tree)}"


async def _open_again(life: Life) -> None:
    life.opens_again()


DEEDS: list[Deed] = [
    _talk,
    _use_tools,
    _fail_and_try_again,
    _fail,
    _go_on_after_failure,
    _stop_with_pending,
    _take_back,
    _drop,
    _deliver,
    _think,
    _name,
    _open_again,
]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(DEEDS), min_size=1, max_size=12))
def test_a_session_that_is_opened_again_stands_where_it_stood(deeds: list[Deed]) -> None:
    async def live(folder: Path) -> None:
        life = Life(folder / "s.jsonl")
        await _talk(life)
        try:
            for deed in deeds:
                await deed(life)
                assert life.would_stand() == life.stands(), deed.__name__
        finally:
            life.session.close()

    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(live(Path(folder)))
