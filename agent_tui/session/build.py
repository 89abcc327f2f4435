"""From settings to a session that can be prompted: model, tools, prompt, agent, approvals."""

from __future__ import annotations

from agent_tui.config import Settings
from agent_tui.session.session import Session


def build_session(settings: Settings, *, unattended: bool = False) -> Session:
    """A session by these settings.

    With `unattended`, a call that needs approval is refused with a sentence instead of waiting.

    Raises:
        ConfigError, InvalidInputError: With one sentence that says what is known.
    """
    raise NotImplementedError
