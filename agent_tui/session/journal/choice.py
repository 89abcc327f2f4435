"""Which session a start goes on with."""

from __future__ import annotations

from agent_tui.config import LATEST, PICK, Settings
from agent_tui.core.errors import ConfigError, SessionError
from agent_tui.session.journal.journal import Journal, fork_session, recover_session
from agent_tui.session.journal.store import SessionStore


def journal_for(settings: Settings) -> Journal:
    """The journal of a start by these settings.

    Raises:
        ConfigError: There is no such session.
        SessionError: It is damaged, open in another program, or cannot be read.
    """
    choice, cwd = settings.session, settings.cwd
    if not choice.is_kept:
        return Journal.new(None, cwd)
    store = SessionStore(settings.folders.sessions, cwd)
    if choice.resume in (None, PICK):
        return Journal.new(store.new_path(), cwd, durable=settings.fsync)
    assert choice.resume is not None
    path = store.latest() if choice.resume == LATEST else store.find(choice.resume)
    if path is None:
        raise ConfigError(f"there is no session of {cwd} yet; agent-tui begins one")
    if choice.recover:
        return recover_session(path, store.new_path(), durable=settings.fsync)
    if choice.fork:
        return fork_session(path, store.new_path(), durable=settings.fsync)
    try:
        return Journal.open(path, cwd, durable=settings.fsync)
    except SessionError as error:
        if error.code == "locked":
            way_out = f"agent-tui --resume {path.stem} --fork goes on with a copy"
            raise SessionError(f"{error.message}; {way_out}", code="locked") from None
        raise
