"""Pictures as data: what kind one is, and how it is named to a person."""

from __future__ import annotations

import base64
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent_tui.core.messages import ImageBlock

IMAGE_BYTES = 3_500_000
"""The largest picture that is sent: in base64 less than the 5 MB that vendors take."""
KINDS = ("png", "jpeg", "gif", "webp")
_HEAD_CHARACTERS = 40


def type_of(start: bytes) -> str | None:
    """The media type by the content's signature and first structure, not by the name."""
    if start.startswith(b"\x89PNG\r\n\x1a\n") and start[12:16] == b"IHDR":
        return "image/png"
    if start.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if start.startswith((b"GIF87a", b"GIF89a")):
        return "image/gif"
    if start.startswith(b"RIFF") and start[8:12] == b"WEBP":
        return "image/webp"
    return None


def labels_of(content: object) -> list[str]:
    """A line for each picture of a message: `[image · png · 1200×800 · 240 kB]`."""
    blocks = content if isinstance(content, Iterable) and not isinstance(content, str) else ()
    return [label_of(block) for block in blocks if getattr(block, "type", "") == "image"]


def label_of(block: ImageBlock) -> str:
    """One picture in a line; its size in pixels where that is easily told."""
    size = len(block.data) * 3 // 4
    amount = f"{size / 1_000_000:.1f} MB" if size >= 1_000_000 else f"{max(1, size // 1000)} kB"
    kind = block.mime_type.removeprefix("image/")
    pixels = _pixels(base64.b64decode(block.data[:_HEAD_CHARACTERS] + "==", validate=False))
    return f"[{' · '.join(part for part in ('image', kind, pixels, amount) if part)}]"


def _pixels(start: bytes) -> str:
    match type_of(start):
        case "image/png" if len(start) >= 24:
            width, height = start[16:20], start[20:24]
            return f"{int.from_bytes(width)}×{int.from_bytes(height)}"
        case "image/gif" if len(start) >= 10:
            width, height = start[6:8], start[8:10]
            return f"{int.from_bytes(width, 'little')}×{int.from_bytes(height, 'little')}"
    return ""
