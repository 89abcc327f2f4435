"""Tool arguments while the model writes them: half a JSON object, read as far as it goes."""

from __future__ import annotations

import json
import re

_KEY = re.compile(r'"((?:[^"\\]|\\.)*+)"\s*:\s*"', re.S)
_END = re.compile(r'(?:[^"\\]|\\.)*+"', re.S)
_SURE = re.compile(r"(?:[^\\]|\\u[0-9a-fA-F]{4}|\\[^u])*+", re.S)


class GrowingText:
    """The string value that an argument text ends in: the content of a file that is written.

    `feed` is given the whole text each time and looks only at what is new.
    """

    def __init__(self) -> None:
        self.key = ""
        """The name of the argument that was begun last."""
        self._start = 0
        """Where its value begins."""
        self._end: int | None = None
        """Where it ends, None while it is open."""
        self._seen = 0
        self._raw = ""

    def feed(self, raw: str) -> None:
        """Take the argument text so far; a text that is not longer than before changes nothing."""
        self._raw = raw
        while True:
            if self._start and self._end is None:
                end = _END.match(raw, self._seen)
                if end is None:
                    self._seen = self._safe_place(len(raw))
                    return
                self._end = end.end() - 1
                self._seen = end.end()
            key = _KEY.search(raw, self._seen)
            if key is None:
                return
            self.key, self._start, self._end = key[1], key.end(), None
            self._seen = self._start

    def tail(self, limit: int) -> str:
        """About the last `limit` characters of the value, without the escapes of JSON."""
        if not self._start:
            return ""
        end = len(self._raw) if self._end is None else self._end
        start = max(self._start, end - limit)
        if start > self._start:
            # Begin behind a whole escape, best after a line break.
            newline = self._raw.find("\\n", start, end)
            start = newline + 2 if newline >= 0 else self._safe_place(start)
        sure = _SURE.match(self._raw, start, end)
        text = sure[0] if sure else ""
        try:
            return str(json.loads(f'"{text}"', strict=False))
        except ValueError:
            return text

    @property
    def line_count(self) -> int:
        """How many lines the value has so far; counts every call anew.

        A complete value that ends with a line break has no further, empty line.
        """
        if not self._start:
            return 0
        end = len(self._raw) if self._end is None else self._end
        breaks = self._raw.count("\\n", self._start, end)
        is_closed = self._end is not None and breaks and self._raw.endswith("\\n", self._start, end)
        return breaks if is_closed else breaks + 1

    def _safe_place(self, place: int) -> int:
        """`place`, moved back so that no escape is cut in two."""
        backslashes = 0
        while place - backslashes > self._start and self._raw[place - backslashes - 1] == "\\":
            backslashes += 1
        return place - backslashes % 2
