"""What a server answers, as what a model and a person may see."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from agent_tui.core.messages import ImageBlock, TextBlock
from agent_tui.core.text import printable
from agent_tui.core.tool import ToolResult
from agent_tui.tools.output import OutputLog, for_model, head

PICTURES = ("image/png", "image/jpeg", "image/gif", "image/webp")
PICTURE_BYTES = 5 * 1024 * 1024
MOST_PICTURES = 10


def result_of(answer: Any, folder: Path | None) -> ToolResult:
    """A `CallToolResult` of the SDK; what is too long is kept in `folder`."""
    blocks = list(answer.content)
    structured = answer.structured_content
    if structured is not None and not any(block.type == "text" for block in blocks):
        blocks.append(json.dumps(structured, ensure_ascii=False, indent=1))
    return _result(blocks, folder, is_error=bool(answer.is_error))


def resource_of(answer: Any, folder: Path | None) -> ToolResult:
    """A `ReadResourceResult` of the SDK, likewise."""
    return _result(answer.contents, folder, is_error=False)


def text_of_prompt(answer: Any) -> str:
    """A `GetPromptResult` of the SDK as one message of the person's."""
    parts = []
    for message in answer.messages:
        text = "\n".join(text for text, _ in map(_part, [message.content]) if text)
        parts.append(text if message.role == "user" else f"[assistant]\n{text}")
    return for_model("\n\n".join(parts).encode("utf-8", "replace"))


def _result(blocks: Iterable[Any], folder: Path | None, *, is_error: bool) -> ToolResult:
    texts: list[str] = []
    pictures: list[ImageBlock] = []
    for block in blocks:
        text, picture = _part(block)
        if picture is not None and len(pictures) < MOST_PICTURES:
            pictures.append(picture)
        elif picture is not None:
            text = "[one more picture, left out]"
        if text is not None:
            texts.append(text)
    details: dict[str, Any] = {}
    whole = for_model("\n".join(texts).encode("utf-8", "replace"))
    content: list[TextBlock | ImageBlock] = []
    if whole or not pictures:
        content.append(TextBlock(text=_within_limits(whole, folder, details)))
    return ToolResult([*content, *pictures], details=details, is_error=is_error)


def _within_limits(text: str, folder: Path | None, details: dict[str, Any]) -> str:
    part = head(text)
    details["lines"] = part.lines + part.left_out
    if not part.left_out and not part.cut:
        return text
    log = OutputLog(folder, name="mcp")
    log.add(text.encode())
    path = log.keep()
    log.close()
    where = f" Full output: {path}" if path is not None else ""
    if path is not None:
        details["output_path"] = str(path)
    shown = "the start of line 1" if part.cut else f"lines 1-{part.lines}"
    return f"{part.text}\n\n[Showing {shown} of {details['lines']}.{where}]"


def _part(block: Any) -> tuple[str | None, ImageBlock | None]:
    """A block as text or as a picture; a text that is there already is one."""
    if isinstance(block, str):
        return block, None
    match getattr(block, "type", None):
        case "text":
            return block.text, None
        case "image":
            return _picture(block.data, block.mime_type, "picture")
        case "audio":
            return f"[audio, {block.mime_type}, left out]", None
        case "resource":
            return _resource(block.resource)
        case "resource_link":
            about = f": {block.description}" if block.description else ""
            return f"[resource {block.name} at {block.uri}{about}]", None
        case None if hasattr(block, "uri"):
            return _resource(block)
    return f"[something of the kind {getattr(block, 'type', '?')!r}, left out]", None


def _resource(resource: Any) -> tuple[str | None, ImageBlock | None]:
    text = getattr(resource, "text", None)
    if isinstance(text, str):
        return f"[{resource.uri}]\n{text}", None
    return _picture(resource.blob, resource.mime_type or "", str(resource.uri))


def _picture(data: str, mime_type: str, name: str) -> tuple[str | None, ImageBlock | None]:
    try:
        size = len(base64.b64decode(data, validate=True))
    except (binascii.Error, ValueError):
        return f"[{printable(name)}: broken data, left out]", None
    if mime_type not in PICTURES:
        return f"[{printable(name)}: {size} bytes of {mime_type or 'something'}, left out]", None
    if size > PICTURE_BYTES:
        return f"[{printable(name)}: a picture of {size // 1024**2} MiB, left out]", None
    return None, ImageBlock(data=data, mime_type=mime_type)
