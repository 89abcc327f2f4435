"""The draft in the person's own editor, while the engine goes on working."""

from __future__ import annotations

import asyncio
import os
import shlex
import shutil
import signal
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from textual.app import App, SuspendNotSupported

from agent_tui.tui.paste import clean


class EditorError(Exception):
    """The editor could not do its work; the message is one sentence for the person."""


def editor_command(environ: Mapping[str, str]) -> list[str]:
    """`$VISUAL`, `$EDITOR` or the first usual editor that is installed, with its arguments.

    Raises:
        EditorError: none is set and none is installed, or the setting cannot be read.
    """
    setting = environ.get("VISUAL") or environ.get("EDITOR")
    if not setting:
        for name in ("nano", "vim", "vi"):
            if shutil.which(name, path=environ.get("PATH")):
                return [name]
        raise EditorError("No editor is set. Set EDITOR to one, for example EDITOR=nano.")
    try:
        return shlex.split(setting)
    except ValueError as error:
        raise EditorError(f"The editor setting {setting!r} cannot be read: {error}.") from None


async def edit(app: App[Any], text: str, environ: Mapping[str, str]) -> str:
    """`text` as the editor left it, one newline at the end taken off.

    The screen is lent to the editor meanwhile; the loop goes on running.

    Raises:
        EditorError: it could not be started or said that it failed; nothing is to be changed.
    """
    command = editor_command(environ)
    with _file_of(text) as path:
        if code := await _run(app, [*command, str(path)]):
            raise EditorError(f"{command[0]} ended with code {code}; the text is as before.")
        return _text_in(path)


async def open_in_editor(app: App[Any], path: Path, environ: Mapping[str, str]) -> None:
    """Let the person look at a file, or change it.

    Raises:
        EditorError: it could not be started or said that it failed.
    """
    command = editor_command(environ)
    if code := await _run(app, [*command, str(path)]):
        raise EditorError(f"{command[0]} ended with code {code}.")


@contextmanager
def _file_of(text: str) -> Iterator[Path]:
    """A file of the person's own that holds `text`, removed afterwards."""
    file, name = tempfile.mkstemp(prefix="prompt-", suffix=".md")
    path = Path(name)
    try:
        with os.fdopen(file, "w", encoding="utf-8", errors="replace", newline="") as stream:
            stream.write(text)
        yield path
    finally:
        path.unlink(missing_ok=True)


def _text_in(path: Path) -> str:
    return clean(path.read_bytes().decode("utf-8", "replace").removesuffix("\n"))


async def _run(app: App[Any], command: list[str]) -> int:
    """Run `command` on the whole terminal; its exit code."""
    problem: str | None = None
    code = 0
    earlier = signal.getsignal(signal.SIGINT)
    try:
        # An exception that leaves `suspend` would leave the screen off (Textualize/textual#6692).
        with app.batch_update(), app.suspend():
            # Ctrl+C belongs to the editor; a handler, unlike SIG_IGN, is not inherited by it.
            signal.signal(signal.SIGINT, lambda *_: None)
            try:
                process = await asyncio.create_subprocess_exec(*command)
                code = await process.wait()
            except (OSError, ValueError) as error:
                reason = getattr(error, "strerror", None) or error
                problem = f"{command[0]} cannot be started: {reason}."
            finally:
                signal.signal(signal.SIGINT, earlier)
    except SuspendNotSupported:
        problem = "An external editor cannot be used here."
    if problem is not None:
        raise EditorError(problem)
    return code
