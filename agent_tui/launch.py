"""Opening the chat. Apart from the command line, so that a plain start can do without its parser.

Parsing no options costs a quarter of the time to the first paint: `agent-tui` and `agent-tui chat`
come here directly, every other command line through `cli`.
"""

from __future__ import annotations

import os
import signal
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from agent_tui.core.errors import AgentError, ConfigError

if TYPE_CHECKING:
    from agent_tui.config import Flags, Settings
    from agent_tui.session.first_model import FindLocal
    from agent_tui.session.session import Session
    from agent_tui.tui import ChatApp

USAGE = 2
"""Exit code of a start that makes no sense."""


def open_chat(flags: Flags) -> int:
    """Run the chat to its end; returns the exit code. Raises `AgentError` if it cannot begin."""
    if flags.linear:
        return _open_linear(flags)
    screen = _chat(flags)
    if screen.leaving.another is not None:
        # Between two screens the terminal is an ordinary one: Ctrl+C must not end the program.
        # No handler at all would be inherited by commands.
        signal.signal(signal.SIGINT, lambda number, frame: None)
    while (another := screen.leaving.another) is not None:
        screen.session.agent.reset()  # an agent of the person's own is the same object again
        choice = replace(flags.session, resume=another.session_id, recover=False, fork=False)
        flags = replace(flags, session=choice)
        screen = _chat(flags, another.news)
    return screen.return_code or 0


def _chat(flags: Flags, news: str = "") -> ChatApp:
    """The chat after it was run."""
    loaded, search = _load(flags)  # local servers answer while the screen is being loaded
    from agent_tui.tui import ChatApp
    from agent_tui.tui.themes import theme_files

    _require_terminal()
    settings = _settle(loaded, search)
    themes = theme_files([settings.folders.themes])
    if flags.theme is not None and flags.theme not in themes:
        known = ", ".join(themes)
        raise ConfigError(f"--theme: there is no theme {flags.theme!r}; known: {known}")

    async def open_session() -> Session:  # called behind the first paint
        from agent_tui.session.build import open_session

        return await open_session(settings)

    screen = ChatApp(open_session, settings=settings, news=news)
    screen.run()
    return screen


def open_replay(
    path: Path, cwd: Path, *, speed: float, until: int | None, theme: str | None
) -> int:
    """Play a recorded session in the chat's screen; returns the exit code."""
    from agent_tui.config import find_folders
    from agent_tui.session.replay import Pace, Player, load_recording
    from agent_tui.tui.replay import ReplayApp
    from agent_tui.tui.themes import theme_files

    recording = load_recording(path)
    _require_terminal()
    folder = find_folders(os.environ).themes
    known = theme_files([folder])
    if theme is not None and theme not in known:
        raise ConfigError(f"--theme: there is no theme {theme!r}; known: {', '.join(known)}")
    player = Player(recording, cwd, Pace(speed, until))
    screen = ReplayApp(player, theme=theme, themes_folder=folder)
    screen.run()
    return screen.return_code or 0


def _open_linear(flags: Flags) -> int:
    from agent_tui.config import NOT_TRUSTED
    from agent_tui.linear.chat import run_linear
    from agent_tui.session.build import build_session

    settings = settings_for(flags)
    session = build_session(settings)
    notices = [*settings.problems, *session.kit.notices]
    greeting = [f"{settings.model} answers ({settings.model_reason})", *notices]
    greeting += [NOT_TRUSTED] if settings.asks_for_trust else []
    greeting += [session.approvals.problem] if session.approvals.problem else []
    return run_linear(session, greeting, sys.stdin, sys.stdout)


def settings_for(flags: Flags) -> Settings:
    """The settings of a start here, with the model chosen.

    Raises:
        ConfigError: Somebody would have to pick a session, and there is no screen.
    """
    from agent_tui.config import PICK

    if flags.session.resume == PICK:
        raise ConfigError("--resume needs an ID here: agent-tui sessions list shows them")
    return _settle(*_load(flags))


def exit_with(sentence: str) -> NoReturn:
    """Say what is wrong and exit with the code of a wrong use."""
    from agent_tui.core.text import printable

    sys.stderr.write(f"agent-tui: {printable(sentence)}\n")
    sys.exit(USAGE)


def main() -> None:
    """The chat without any option."""
    from agent_tui.config import Flags

    try:
        code = open_chat(Flags())
    except AgentError as error:
        exit_with(error.message)
    sys.exit(code)


def _load(flags: Flags) -> tuple[Settings, FindLocal | None]:
    from agent_tui.config import load_settings
    from agent_tui.session.first_model import local_search

    settings = load_settings(flags, os.environ, Path.cwd())
    return settings, local_search(settings)


def _settle(settings: Settings, search: FindLocal | None) -> Settings:
    from agent_tui.session.first_model import settle_model

    return settle_model(settings, search)


def _require_terminal() -> None:
    from agent_tui.tui.terminal import size_reason, unfit_reason

    reason = unfit_reason(sys.stdin, sys.stdout, sys.stderr, os.environ)
    if reason is None:
        size = os.get_terminal_size(sys.stderr.fileno())
        if size.columns and size.lines:  # a terminal that does not know says 0
            reason = size_reason(size.columns, size.lines)
    if reason is not None:
        raise ConfigError(reason)
