"""What only the model's own server knows of it, learned before the first request."""

from __future__ import annotations

import asyncio

from agent_tui.providers.addresses import is_local
from agent_tui.session.session import Session

SECONDS = 2.0
"""How long a start waits for it."""


async def describe_model(session: Session, seconds: float = SECONDS) -> None:
    """Ask a server near by how much the session's model reads at once; silence changes nothing.

    Hosted servers are not asked: what is not known of their models is no secret of the machine.
    """
    model = session.agent.state.model
    if not is_local(model.base_url):
        return
    from agent_tui.providers.discovery import described

    try:
        found = await asyncio.wait_for(described(model, seconds=seconds), seconds)
    except TimeoutError:
        return
    if session.agent.state.model is model and found != model:
        session.set_model(found)
