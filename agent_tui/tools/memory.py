"""What is known of the files that one agent's tools read and change.

Which content was read last, so that a change by somebody else is noticed; which diff a person was
shown, so that no other one is made; and who keeps the content that a change replaces.
"""

from __future__ import annotations

import hashlib
import stat
import threading
from pathlib import Path
from typing import Protocol

from agent_tui.core.abort import AbortSignal
from agent_tui.tools.diff import Diff
from agent_tui.tools.files import replace
from agent_tui.tools.paths import Refused

OPEN_CALLS = 1_000
"""So many calls that were shown are remembered until they run."""


class Keeper(Protocol):
    """Keeps what files held before an agent changed them."""

    def before_change(
        self, path: Path, before: bytes | None, mode: int | None, after: bytes
    ) -> None:
        """`path` is about to hold `after`; `before` and `mode` are None if there was no file.

        Called from worker threads, never for the same path at a time.
        """


class FileMemory:
    """Shared by all file tools of one agent."""

    def __init__(self, keeper: Keeper | None = None) -> None:
        self.keeper = keeper
        """Told before every change; None if nothing is kept."""
        self._digest_by_path: dict[Path, str] = {}
        self._shown_by_call: dict[str, str] = {}
        self._table = threading.Lock()

    def saw(self, real: Path, digest: str) -> None:
        """The model has seen this content (`digest_of` it); `real` is the path without links."""
        with self._table:
            self._digest_by_path[real] = digest

    def forget(self, real: Path) -> None:
        """What the file holds is not known any more, e.g. because it was put back."""
        with self._table:
            self._digest_by_path.pop(real, None)

    def is_stale(self, real: Path, content: bytes) -> bool:
        """Whether the file was seen with another content than this."""
        with self._table:
            seen = self._digest_by_path.get(real)
        return seen is not None and seen != digest_of(content)

    def was_shown(self, call_id: str, diff: str) -> None:
        """A person was asked about this call and saw this unified diff."""
        with self._table:
            self._shown_by_call[call_id] = diff
            if len(self._shown_by_call) > OPEN_CALLS:
                # A call that was declined never asks for its diff.
                del self._shown_by_call[next(iter(self._shown_by_call))]

    def check_shown(self, call_id: str, name: str, change: Diff) -> None:
        """Raise `Refused` if a person was shown another change than the one that would be made.

        Lines that moved because the file changed elsewhere are the same change.
        """
        with self._table:
            shown = self._shown_by_call.pop(call_id, None)
        if shown is not None and changed_lines(shown) != changed_lines(change.text):
            raise Refused(
                f"{name} has changed since the user was shown this change, so it would do "
                "something else now; nothing was changed. Read the file and try again."
            )

    def change(
        self, real: Path, name: str, before: bytes | None, after: bytes, signal: AbortSignal
    ) -> None:
        """Put `after` into the file, its old content kept before; raises what `replace` raises."""
        if self.keeper is not None:
            self.keeper.before_change(real, before, _mode_of(real), after)
        stale = before is not None and self.is_stale(real, before)
        replace(real, name, after, signal)
        if not stale:
            # A change by somebody else stays unseen until the file is read.
            self.saw(real, digest_of(after))


def digest_of(content: bytes) -> str:
    """What tells contents apart: their SHA-256 in hex."""
    return hashlib.sha256(content).hexdigest()


def changed_lines(diff: str) -> list[str]:
    """The lines that a unified diff of one file adds and removes, wherever they stand."""
    lines = diff.split("\n")
    start = next((n for n, line in enumerate(lines) if line.startswith("@@")), len(lines))
    return [line for line in lines[start:] if line.startswith(("+", "-", "\\"))]


def _mode_of(real: Path) -> int | None:
    try:
        return stat.S_IMODE(real.stat().st_mode)
    except OSError:
        return None
