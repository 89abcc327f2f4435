"""Pictures that a message names with `@`: read from disk and sent along with it."""

from __future__ import annotations

import base64
import re
from collections.abc import Sequence
from pathlib import Path

from agent_tui.core.errors import InvalidInputError
from agent_tui.core.messages import ImageBlock, TextBlock, UserMessage
from agent_tui.core.model import Model
from agent_tui.core.pictures import IMAGE_BYTES, KINDS, type_of

MOST_PICTURES = 20
_NAMED = re.compile(r'(?:^|(?<=\s))@(?:"([^"\n]+)"|([^\s"]+))')
_ENDINGS = (".png", ".jpg", ".jpeg", ".gif", ".webp")


def message_of(
    text: str, files: Sequence[Path], cwd: Path, model: Model
) -> tuple[UserMessage, str]:
    """The message that says `text`, with `files` and the pictures that it names, and a sentence.

    For a model that takes no pictures names stay names, and the sentence says so; else it is empty.

    Raises:
        InvalidInputError: A picture cannot be sent: too large, not to be read, or too many; or one
            of `files` to a model that takes none.
    """
    found = [*named_pictures(text, cwd), *files]
    if not found:
        return UserMessage(content=text), ""
    if not model.images:
        if files:
            raise InvalidInputError(f"{model.key} takes no pictures, as far as is known")
        names = ", ".join(path.name for path in found)
        return UserMessage(content=text), (
            f"{model.key} takes no pictures, as far as is known: {names} went as a name only. "
            "/model picks one that does; images = true in config.toml says that this one does."
        )
    if len(found) > MOST_PICTURES:
        raise InvalidInputError(f"{len(found)} pictures are too many: at most {MOST_PICTURES} fit")
    pictures = [read_picture(path) for path in found]
    return UserMessage(content=[TextBlock(text=text), *pictures]), ""


def named_pictures(text: str, cwd: Path) -> list[Path]:
    """The picture files that `text` names with `@`, each once, in order."""
    if "@" not in text:
        return []
    names = [quoted or plain.rstrip(".,;:!?)") for quoted, plain in _NAMED.findall(text)]
    wanted = [cwd / Path(name).expanduser() for name in names if name.lower().endswith(_ENDINGS)]
    return [path for path in dict.fromkeys(wanted) if path.is_file()]


def read_picture(path: Path) -> ImageBlock:
    """A picture from a file.

    Raises:
        InvalidInputError: It is too large, cannot be read, or is no picture.
    """
    try:
        size = path.stat().st_size
        if size > IMAGE_BYTES:
            most = f"{IMAGE_BYTES / 1_000_000:.1f} MB"
            raise InvalidInputError(f"{path} has {size / 1_000_000:.1f} MB: at most {most} can go")
        data = path.read_bytes()
    except OSError as error:
        raise InvalidInputError(f"{path} cannot be read: {error.strerror}") from None
    kind = type_of(data[:64])
    if kind is None:
        raise InvalidInputError(f"{path} is no picture: {', '.join(KINDS)} are")
    return ImageBlock(data=base64.b64encode(data).decode("ascii"), mime_type=kind)
