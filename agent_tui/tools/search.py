"""A program, not a module to import: the lines of many files that match a regular expression.

Run by the `grep` tool in a process of its own where ripgrep is missing. The interpreter holds its
lock while it matches, so one unlucky pattern in a thread would freeze the whole screen for good; a
process can be killed. It imports nothing but the standard library to start quickly.

Arguments: the pattern, "i" or "" for ignoring case, how many matches at most. Standard input: paths
separated by NUL. Output as `rg --null --line-number`: path, NUL, line number, colon, line.
"""

from __future__ import annotations

import os
import re
import stat
import sys
from collections.abc import Iterable, Iterator
from typing import BinaryIO

PROBED_BYTES = 8192
LARGE_BYTES = 8 * 1024 * 1024
WIDTH = 500
LEAD = 100
_LOOKS_BEYOND_ITS_LINE = re.compile(r"\(\?<?[=!]|\\[AZ]")


def main(pattern: str, case: str, limit: str) -> None:
    """Search the files named on standard input."""
    flags = re.IGNORECASE if case == "i" else 0
    line_pattern = re.compile(pattern, flags)
    # What matches in no text at all matches in none of its lines, unless the pattern looks around.
    text_pattern = (
        None if _LOOKS_BEYOND_ITS_LINE.search(pattern) else re.compile(pattern, flags | re.M)
    )
    left = int(limit)
    for name in sys.stdin.buffer.read().split(b"\0"):
        for number, line in _matches(name, line_pattern, text_pattern):
            sys.stdout.buffer.write(b"%s\0%d:%s\n" % (name, number, line.encode("utf-8")))
            left -= 1
            if not left:
                return
        sys.stdout.buffer.flush()


def _matches(
    name: bytes, line_pattern: re.Pattern[str], text_pattern: re.Pattern[str] | None
) -> Iterator[tuple[int, str]]:
    try:
        descriptor = os.open(name, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
    except OSError:
        return
    with os.fdopen(descriptor, "rb", closefd=True) as file:
        for number, line in enumerate(_lines(file, text_pattern), 1):
            found = line_pattern.search(line)
            if found:
                yield number, _shortened(line, found.start())


def _lines(file: BinaryIO, text_pattern: re.Pattern[str] | None) -> Iterable[str]:
    info = os.fstat(file.fileno())
    if not stat.S_ISREG(info.st_mode):
        return
    if info.st_size > LARGE_BYTES:
        if b"\0" not in file.read(PROBED_BYTES):
            file.seek(0)
            yield from (line.decode("utf-8", "replace").rstrip("\r\n") for line in file)
        return
    data = file.read()
    text = "" if b"\0" in data[:PROBED_BYTES] else data.decode("utf-8", "replace")
    if text and (text_pattern is None or text_pattern.search(text)):
        yield from text.replace("\r\n", "\n").removesuffix("\n").split("\n")


def _shortened(line: str, start: int) -> str:
    if len(line) <= WIDTH:
        return line
    first = max(start - LEAD, 0) if start > WIDTH - LEAD else 0
    return ("…" if first else "") + line[first : first + WIDTH] + "…"


if __name__ == "__main__":
    main(*sys.argv[1:])
