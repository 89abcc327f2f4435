"""The clipboard: copying by the best way there is, always into our own too; pictures from it."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence

from agent_tui.core.pictures import type_of
from agent_tui.core.text import without_surrogates

LIMIT_BYTES = 74_000
"""What OSC 52 may carry: common terminals drop a sequence of more than 100,000 characters."""

_TOOL_SECONDS = 2.0


class Clipboard:
    """Copies text by the best way there is. `write` sends a control sequence to the terminal."""

    text: str = ""
    """What was copied last, whatever became of it outside."""

    def __init__(self, environ: Mapping[str, str], write: Callable[[str], None]) -> None:
        self._environ = environ
        self._write = write

    async def copy(self, text: str) -> str:
        """Copy, and say how: a tool's name, "terminal" (OSC 52) or, failing both, "memory".

        A tool is used on the own machine only; far from it, it would fill the wrong clipboard. The
        terminal does not say whether it took the text.
        """
        self.text = text
        data = without_surrogates(text).encode()
        for command in self._tools():
            if await self._feed(command, data):
                return command[0]
        if len(data) > LIMIT_BYTES:
            return "memory"
        self._write(f"\x1b]52;c;{base64.b64encode(data).decode()}\x07")
        return "terminal"

    async def picture(self) -> bytes | None:
        """The picture on the desktop's clipboard; None if there is none, or no tool to get it."""
        for command in self._readers():
            data = await self._output(command)
            if data and type_of(data[:64]) is not None:
                return data
        return None

    @property
    def can_read_pictures(self) -> bool:
        """Whether there is a tool for that here."""
        return bool(self._readers())

    @property
    def way(self) -> str:
        """What `copy` will try first: a tool's name or "terminal"."""
        return next((command[0] for command in self._tools()), "terminal")

    def _tools(self) -> list[Sequence[str]]:
        """The commands worth a try here, best first."""
        environ = self._environ
        wanted: list[Sequence[str]] = []
        if not (environ.get("SSH_CONNECTION") or environ.get("SSH_TTY")):
            if sys.platform == "darwin":
                wanted.append(["pbcopy"])
            if environ.get("WAYLAND_DISPLAY"):
                wanted.append(["wl-copy"])
            if environ.get("DISPLAY"):
                wanted += [["xclip", "-selection", "clipboard"], ["xsel", "-ib"]]
            if environ.get("WSL_DISTRO_NAME"):
                wanted.append(["clip.exe"])
        if environ.get("TMUX"):
            wanted.append(["tmux", "load-buffer", "-w", "-"])
        return [command for command in wanted if self._find(command[0])]

    def _readers(self) -> list[Sequence[str]]:
        wanted: list[Sequence[str]] = []
        if sys.platform == "darwin":
            wanted.append(["pngpaste", "-"])
        if self._environ.get("WAYLAND_DISPLAY"):
            wanted.append(["wl-paste", "--no-newline", "--type", "image/png"])
        if self._environ.get("DISPLAY"):
            wanted.append(["xclip", "-selection", "clipboard", "-t", "image/png", "-o"])
        return [command for command in wanted if self._find(command[0])]

    async def _output(self, command: Sequence[str]) -> bytes | None:
        """What `command` prints, if it ends well in time."""
        program = self._find(command[0])
        if program is None:
            return None
        try:
            process = await asyncio.create_subprocess_exec(
                program,
                *command[1:],
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.DEVNULL,
                env=dict(self._environ),
                start_new_session=True,
            )
        except OSError:
            return None
        try:
            async with asyncio.timeout(_TOOL_SECONDS):
                data, _ = await process.communicate()
        except TimeoutError:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()
            return None
        return data if process.returncode == 0 else None

    def _find(self, name: str) -> str | None:
        return shutil.which(name, path=self._environ.get("PATH"))

    async def _feed(self, command: Sequence[str], data: bytes) -> bool:
        """Whether `command` took `data` from its standard input and ended well."""
        program = self._find(command[0])
        if program is None:
            return False
        try:
            process = await asyncio.create_subprocess_exec(
                program,
                *command[1:],
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.DEVNULL,
                stderr=asyncio.subprocess.DEVNULL,
                env=dict(self._environ),
                start_new_session=True,
            )
        except OSError:
            return False
        try:
            async with asyncio.timeout(_TOOL_SECONDS):
                await process.communicate(data)
        except TimeoutError:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()
            return False
        return process.returncode == 0
