"""The `read` tool: a window of a text file, or a small picture."""

from __future__ import annotations

import base64
import hashlib
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from agent_tui.core.abort import AbortSignal
from agent_tui.core.messages import ImageBlock, TextBlock
from agent_tui.core.pictures import IMAGE_BYTES, type_of
from agent_tui.core.tool import Tool, ToolResult
from agent_tui.tools.files import EDITED_BYTES, chunks, opened
from agent_tui.tools.memory import FileMemory
from agent_tui.tools.output import LIMIT_BYTES, LIMIT_LINES, Excerpt, head
from agent_tui.tools.paths import Refused, real_path, size_text
from agent_tui.tools.slots import Slots

PROBED_BYTES = 8192
BOM = b"\xef\xbb\xbf"

DESCRIPTION = f"""Read a text file. Returns its lines as they are, without line numbers, at most \
{LIMIT_LINES} lines or {LIMIT_BYTES // 1024} KiB from `offset` on; a notice at the end says which \
lines of how many were shown and where to go on. PNG, JPEG, GIF and WebP pictures are returned as \
pictures. Use this instead of cat or sed; use ls for directories."""

PARAMETERS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "path": {"type": "string", "description": "The file, relative to the working directory"},
        "offset": {"type": "integer", "description": "First line to show, counted from 1"},
        "limit": {"type": "integer", "description": "How many lines to show at most"},
    },
    "required": ["path"],
    "additionalProperties": False,
}


def read_tool(cwd: Path, slots: Slots, memory: FileMemory) -> Tool:
    """The `read` tool for a project in `cwd`."""

    def read(args: dict[str, Any], signal: AbortSignal) -> ToolResult:
        name = args["path"]
        real = real_path(name, cwd)
        with opened(real, name) as (descriptor, info):
            start = os.read(descriptor, PROBED_BYTES)
            mime_type = type_of(start)
            if mime_type and info.st_size <= IMAGE_BYTES:
                return _image(name, mime_type, start + b"".join(chunks(descriptor, signal)))
            if b"\0" in start:
                raise Refused(f"{name} is a binary file ({size_text(info.st_size)}).")
            first = max(args.get("offset") or 1, 1)
            window = _Window(first - 1, min(args.get("limit") or LIMIT_LINES, LIMIT_LINES))
            window.take(start.removeprefix(BOM))
            seen = hashlib.sha256(start)
            for chunk in chunks(descriptor, signal):
                window.take(chunk)
                seen.update(chunk)
        answer = _answer(name, window, first)
        if info.st_size <= EDITED_BYTES:
            memory.saw(real, seen.hexdigest())
        return answer

    return Tool("read", DESCRIPTION, PARAMETERS, slots.run(read))


class _Window:
    """Some lines of a file that passes by in pieces; the rest of it is only counted."""

    def __init__(self, skip: int, limit: int) -> None:
        self._skip = skip
        self._limit = max(limit, 1)
        self._kept = bytearray()
        self._kept_newlines = 0
        self._newlines = 0
        self._open_line = False

    @property
    def lines(self) -> int:
        """How many lines the file has."""
        return self._newlines + self._open_line

    def take(self, chunk: bytes) -> None:
        if not chunk:
            return
        newlines = chunk.count(b"\n")
        skipped = self._newlines
        self._newlines += newlines
        self._open_line = not chunk.endswith(b"\n")
        if self._newlines < self._skip or self._is_full():
            return
        if skipped < self._skip:
            chunk = chunk[_after_newline(chunk, self._skip - skipped) :]
        self._kept += chunk
        self._kept_newlines += chunk.count(b"\n")

    def excerpt(self) -> tuple[Excerpt, bytes]:
        """What is shown of it, and the bytes behind."""
        raw = bytes(self._kept)
        if len(raw) > 2 * LIMIT_BYTES:
            raw = raw[: 2 * LIMIT_BYTES]
        text = raw.decode("utf-8", "replace").replace("\r\n", "\n")
        return head(text, self._limit), raw

    def _is_full(self) -> bool:
        return self._kept_newlines > self._limit or len(self._kept) > 2 * LIMIT_BYTES


def _after_newline(chunk: bytes, count: int) -> int:
    """The place behind the newline number `count` of `chunk`."""
    place = 0
    for _ in range(count):
        place = chunk.index(b"\n", place) + 1
    return place


def _answer(name: str, window: _Window, first: int) -> ToolResult:
    total = window.lines
    if not total:
        return ToolResult(f"{name} is empty.", details=_details(name, 0, 0, 0))
    if first > total:
        raise Refused(
            f"{name} has only {total} line{'s' * (total > 1)}; offset {first} is past it."
        )
    part, raw = window.excerpt()
    if b"\0" in raw:
        raise Refused(f"{name} is a binary file.")
    last = first + part.lines - 1
    notices = list(_notices(part, raw, first, last, total))
    text = part.text + "".join(f"\n\n[{notice}]" for notice in notices)
    return ToolResult(text or "\n", details=_details(name, first, last, total))


def _notices(part: Excerpt, raw: bytes, first: int, last: int, total: int) -> Iterable[str]:
    if part.cut:
        shown = size_text(LIMIT_BYTES)
        yield f"Only the first {shown} of line {first} of {total}; use bash for more"
    elif last < total:
        yield f"Lines {first}-{last} of {total}; go on with offset={last + 1}"
    elif first > 1:
        yield f"Lines {first}-{last} of {total}"
    if part.text.count("\ufffd") > raw.count("\ufffd".encode()):
        yield "The file is not UTF-8; bytes that could not be read are shown as \ufffd"
    if b"\r\n" in raw:
        yield "Lines of this file end in CRLF; edit keeps that, give plain newlines"


def _details(name: str, first: int, last: int, total: int) -> dict[str, Any]:
    return {"path": name, "first_line": first, "last_line": last, "lines": total}


def _image(name: str, mime_type: str, data: bytes) -> ToolResult:
    note = f"{name} is a picture ({mime_type}, {size_text(len(data))})."
    picture = ImageBlock(data=base64.b64encode(data).decode("ascii"), mime_type=mime_type)
    return ToolResult([TextBlock(text=note), picture], details=_details(name, 0, 0, 0))
