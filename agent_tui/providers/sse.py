"""Bytes of a response → frames, wherever the network cuts them.

Lines end at LF, CRLF or CR and nowhere else: JSON strings may hold U+2028, U+0085 and VT, at which
`str.splitlines` and httpx's `aiter_lines` would cut. Only whole lines are decoded, so a character
that is cut by a read stays whole.
"""

from __future__ import annotations

from typing import TypeAlias

from agent_tui.core.errors import ProviderError

Frame: TypeAlias = tuple[str, str]
"""(event name, data). The name is empty when the server gave none."""

MAX_LINE_BYTES = 32 << 20
"""A whole picture or file may come in one line, but not more than this."""

_BOM = b"\xef\xbb\xbf"


class LineBuffer:
    """Splits bytes into lines without their ends; keeps what is not yet a whole line."""

    def __init__(self) -> None:
        self._rest = bytearray()
        self._after_cr = False
        self._is_first = True

    def feed(self, chunk: bytes) -> list[bytes]:
        """The lines that `chunk` completes.

        Raises:
            ProviderError: A line is longer than `MAX_LINE_BYTES`.
        """
        if self._after_cr and chunk:
            self._after_cr = False
            chunk = chunk.removeprefix(b"\n")
        if b"\r" in chunk:
            self._after_cr = chunk.endswith(b"\r")
            chunk = chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        if b"\n" not in chunk:
            self._rest += chunk
            if len(self._rest) > MAX_LINE_BYTES:
                raise ProviderError(f"a line of the answer exceeds {MAX_LINE_BYTES >> 20} MiB")
            return []
        lines = chunk.split(b"\n")
        if self._rest:
            lines[0] = bytes(self._rest) + lines[0]
        self._rest = bytearray(lines.pop())
        return self._without_bom(lines)

    def flush(self) -> list[bytes]:
        """The last line if it lacks its end; the body is over."""
        rest, self._rest = bytes(self._rest), bytearray()
        return self._without_bom([rest]) if rest else []

    def _without_bom(self, lines: list[bytes]) -> list[bytes]:
        if self._is_first and lines:
            self._is_first = False
            lines[0] = lines[0].removeprefix(_BOM)
        return lines


class SseDecoder:
    """Server-sent events, read leniently.

    A last event without its blank line counts. Comments give nothing. A line that is a JSON
    object is a frame of its own: some servers report errors so, in the middle of a stream.
    """

    def __init__(self) -> None:
        self._lines = LineBuffer()
        self._event = b""
        self._data: list[bytes] = []

    def feed(self, chunk: bytes) -> list[Frame]:
        """The frames that `chunk` completes."""
        frames: list[Frame] = []
        for line in self._lines.feed(chunk):
            self._accept(line, frames)
        return frames

    def close(self) -> list[Frame]:
        """What is left when the body ends."""
        frames: list[Frame] = []
        for line in [*self._lines.flush(), b""]:
            self._accept(line, frames)
        return frames

    def _accept(self, line: bytes, frames: list[Frame]) -> None:
        if line.startswith(b"data:"):
            self._data.append(line[5:].removeprefix(b" "))
        elif not line:
            if self._data:
                data = b"\n".join(self._data) if len(self._data) > 1 else self._data[0]
                if not data.isspace() and data:
                    frames.append((_text(self._event), _text(data)))
                self._data.clear()
            self._event = b""
        elif line.startswith(b"event:"):
            self._event = line[6:].strip()
        elif line.startswith(b"{") and line.rstrip().endswith(b"}"):
            frames.append(("", _text(line)))


class NdjsonDecoder:
    """One JSON object a line; blank lines give nothing."""

    def __init__(self) -> None:
        self._lines = LineBuffer()

    def feed(self, chunk: bytes) -> list[Frame]:
        """The frames that `chunk` completes."""
        return [("", _text(line)) for line in self._lines.feed(chunk) if line.strip()]

    def close(self) -> list[Frame]:
        """What is left when the body ends."""
        return [("", _text(line)) for line in self._lines.flush() if line.strip()]


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")
