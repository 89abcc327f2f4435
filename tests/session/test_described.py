"""The window of a local model is learned before the first request."""

from __future__ import annotations

import asyncio
import json

import pytest

from agent_tui.agent.agent import Agent
from agent_tui.core.model import Model
from agent_tui.session.described import describe_model
from agent_tui.session.session import Session
from tests.providers.loopback import JSON, Peer, plays, serving

LISTED = json.dumps({"data": [{"id": "m", "max_model_len": 4096}]}).encode()


async def test_a_server_near_by_says_how_much_its_model_reads() -> None:
    async with serving(plays(LISTED, headers=JSON)) as lab:
        session = Session.open(Agent(lab.model()))
        await describe_model(session)

    assert session.context_window == 4096
    assert session.agent.state.model.key == "lab/m"


async def test_a_silent_server_is_not_waited_for_long() -> None:
    async def silent(peer: Peer) -> None:
        await peer.hung_up()

    async with serving(silent) as lab:
        session = Session.open(Agent(lab.model()))
        before = session.agent.state.model
        await asyncio.wait_for(describe_model(session, 0.1), 2)

    assert session.agent.state.model is before


@pytest.mark.parametrize("base_url", ["https://api.openai.com/v1", ""])
async def test_nobody_else_is_asked(base_url: str) -> None:
    model = Model("lab", "m", api="openai-chat", base_url=base_url)
    session = Session.open(Agent(model))

    await asyncio.wait_for(describe_model(session), 0.5)

    assert session.agent.state.model is model


async def test_a_model_that_is_picked_meanwhile_stays() -> None:
    other = Model("lab", "other")
    session: Session

    async def script(peer: Peer) -> None:
        session.set_model(other)
        await plays(LISTED, headers=JSON)(peer)

    async with serving(script) as lab:
        session = Session.open(Agent(lab.model()))
        await describe_model(session)

    assert session.agent.state.model is other
