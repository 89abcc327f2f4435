"""Pictures into the draft: from the clipboard, and from a path that was dropped on the terminal."""

from __future__ import annotations

import asyncio
import shlex
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

if TYPE_CHECKING:
    from agent_tui.tui.app import ChatApp

ENDINGS = (".png", ".jpg", ".jpeg", ".gif", ".webp")
_LONGEST_PATH = 4_096


class PictureVerbs:
    """One method a verb, named as in the registry."""

    def __init__(self, app: ChatApp) -> None:
        self._app = app

    def paste_picture(self, _: str) -> str | None:
        """Attach the picture on the clipboard."""
        if not self._app.copier.can_read_pictures:
            return "Nothing here reads pictures off the clipboard: wl-paste, xclip, pngpaste would."
        self._app.start(self._paste())
        return None

    async def _paste(self) -> None:
        data = await self._app.copier.picture()
        if data is None:
            self._app.flash("There is no picture on the clipboard.", "warning")
            return
        try:
            path = await asyncio.to_thread(_kept, data, self._app.settings)
        except OSError as error:
            self._app.flash(f"The picture cannot be kept: {error.strerror}.", "warning")
            return
        self._app.prompt.type(f"{mention(path)} ")


def _kept(data: bytes, settings: object) -> Path:
    """The picture in a file, so that the draft can name it, also after a restart."""
    folders = getattr(settings, "folders", None)
    folder = Path(tempfile.gettempdir()) if folders is None else folders.state / "pictures"
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(
        "wb", dir=folder, prefix="clipboard-", suffix=".png", delete=False
    ) as file:
        file.write(data)
    return Path(file.name)


def mention(path: Path) -> str:
    """How a draft names a file: `@path`, quoted if there is a blank in it."""
    text = str(path)
    return f'@"{text}"' if any(character.isspace() for character in text) else f"@{text}"


def dropped(text: str, cwd: Path) -> str | None:
    """The mention of a picture whose path alone is `text`, as terminals paste it; else None."""
    text = text.strip()
    if len(text) > _LONGEST_PATH or not text.rstrip("'\"").lower().endswith(ENDINGS):
        return None
    path = _path(text)
    if path is None or not (cwd / path).is_file():
        return None
    return f"{mention(path)} "


def _path(text: str) -> Path | None:
    """Of a plain, quoted or escaped path, or a file:// address."""
    if text.startswith("file://"):
        return Path(unquote(urlsplit(text).path))
    try:
        words = shlex.split(text)
    except ValueError:
        return None
    return Path(words[0]).expanduser() if len(words) == 1 else None
