"""From what the chat was given to a session, and what is said when it stands."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent_tui.core.figures import plural

if TYPE_CHECKING:
    from agent_tui.config import Settings
    from agent_tui.session.catalogue import SessionCatalogue
    from agent_tui.session.journal.resume import Resumed
    from agent_tui.session.session import Session
    from agent_tui.tui.blocks import NoticeKind
    from agent_tui.tui.presenter import Presenter


async def session_of(source: Any, cwd: Path) -> Session:
    """The session in `source`: an `Agent`, a `Session`, or a function that gives one of them."""
    from agent_tui.session.session import Session

    opened = source() if callable(source) else source
    if inspect.isawaitable(opened):
        opened = await opened
    return opened if isinstance(opened, Session) else Session.open(opened, cwd=cwd)


def catalogue_of(settings: Settings) -> SessionCatalogue:
    """The sessions of this start's folder, and of all others."""
    from agent_tui.session.catalogue import SessionCatalogue
    from agent_tui.session.journal.store import SessionStore

    return SessionCatalogue(SessionStore(settings.folders.sessions, settings.cwd))


def go_on(session: Session, presenter: Presenter) -> None:
    """Start the servers; let a session that was opened again stand where it was left."""
    if session.servers is not None:
        session.servers.start()
    if session.resumed is not None:
        session.tell_queue()
        presenter.course.can_continue = session.resumed.can_continue
        presenter.title = session.name or presenter.title


def greeting(
    session: Session, settings: Settings | None, problems: Iterable[str]
) -> Iterator[tuple[str, NoticeKind]]:
    """The sentences of the start, each with its kind: which model and why, then what is wrong."""
    # Only now: the first paint does without these.
    from agent_tui.tui.banner import welcome
    from agent_tui.tui.own_commands import clashes

    state = session.agent.state
    if settings is not None and not state.messages:
        is_demo = state.model.api == "demo"
        yield (
            welcome(state.model.key, settings.model_reason, is_demonstration=is_demo),
            "info",
        )
    if session.resumed is not None:
        yield from _about_earlier(session.resumed)
    outfit = session.outfit
    if outfit is not None and outfit.summary:
        yield f"With {outfit.summary}.", "info"
    problems = [*problems, *session.kit.notices, *clashes(session.kit)]
    if session.approvals.problem is not None:
        problems = [*problems, session.approvals.problem]
    if settings is not None and settings.asks_for_trust:
        yield _about_trust(settings), "warning"
    for problem in (*problems, *(settings.problems if settings is not None else ())):
        yield problem, "warning"


def _about_earlier(resumed: Resumed) -> Iterator[tuple[str, NoticeKind]]:
    for notice in resumed.notices:
        yield notice, "warning"
    if resumed.pending:
        what = plural(resumed.pending, "pending message")
        yield f"{what}, on hold: enter on the empty composer sends, alt+↑ selects.", "info"
    if resumed.can_continue:
        yield "The last message has no answer yet: enter on the empty composer goes on.", "info"


def _about_trust(settings: Settings) -> str:
    from agent_tui.config import Trust, what_it_brings

    is_known = Trust(settings.folders).was_answered(settings.cwd)
    changed = " (it has changed since your last answer)" if is_known else ""
    lines = "\n".join(f"  {line}" for line in what_it_brings(settings.cwd))
    return (
        f"This folder brings along{changed}:\n{lines}\n"
        "None of it is read or run unless you trust it: /trust, or /trust no."
    )
