"""Large things that arrive at once: a paste, a project's files, a file in the viewer, a diff.

CPU alone; the baseline of each is a bare walk over the same data in the same run.
"""

from __future__ import annotations

import itertools
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from agent_tui.tui.complete import rank
from agent_tui.tui.diff_reading import read_diff
from agent_tui.tui.keys import InputReader
from agent_tui.tui.texts import FileText
from benchmarks.report import Report, Table, Target

READ_BYTES = 4096
"""A terminal's buffer."""


def milliseconds(act: Callable[[], object], repeats: int) -> float:
    """CPU of the quickest of some runs."""
    best = float("inf")
    for _ in range(repeats):
        began = time.process_time()
        act()
        best = min(best, time.process_time() - began)
    return best * 1000


def measure(quick: bool) -> Report:
    repeats = 2 if quick else 5
    paste = b"\x1b[200~" + b"a line of a log that somebody pastes\r\n" * 27_000 + b"\x1b[201~"
    names = [f"package_{n % 97}/module_{n % 1009}/file_{n}.py" for n in range(100_000)]
    diff = "@@ -0,0 +1,40000 @@\n" + "".join(f"+line {n}\n" for n in range(40_000))
    marks = itertools.count()

    def read_paste() -> None:
        reader = InputReader()
        for at in range(0, len(paste), READ_BYTES):
            reader.feed(paste[at : at + READ_BYTES])

    def read_new_diff() -> None:
        read_diff(f"{diff}+{next(marks)}")

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "big.txt"
        line = b"a line of output that is like all the others\n"
        path.write_bytes(line * (100_000_000 // len(line)))

        def open_file() -> FileText:
            text = FileText(path)
            text.extend()
            return text

        opened = open_file()
        pieces: list[tuple[str, Callable[[], object], Callable[[], object], float]] = [
            ("a paste of 1 MB, read", read_paste, lambda: paste.decode().splitlines(), 300),
            ("100,000 names, ranked", lambda: rank("pkgmodfile9", names, 50), names.copy, 1000),
            ("a file of 100 MB, opened", open_file, lambda: path.open("rb").read(8_000_000), 300),
            ("4 MB of it, searched", lambda: opened.find("needle", 0, 4_000_000), lambda: 0, 500),
            (
                "a diff of 40,000 lines, read",
                lambda: read_diff(f"{diff}+{next(marks)}"),
                diff.splitlines,
                1000,
            ),
        ]
        rows, targets = [], []
        for name, act, bare, bound in pieces:
            took, base = milliseconds(act, repeats), milliseconds(bare, repeats)
            rows.append((name, f"{took:.1f}", f"{base:.1f}"))
            targets.append(Target(name, took, bound, " ms"))
    return Report([Table("Large things", ("", "ms CPU", "bare"), rows)], targets)
