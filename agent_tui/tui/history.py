"""What was sent in a project, kept in a file, newest last, exactly as typed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path


def history_path(home: Path, cwd: Path) -> Path:
    """The history file of the project at `cwd`, below `home`/history."""
    raise NotImplementedError


class History:
    """The sent messages of one project. With `path` None they live in memory only.

    Two programs may share the file: each append is one write under a lock.
    """

    problem: str | None = None
    """Why the file could not be read or written, as a sentence; entries stay in memory then."""

    def __init__(self, path: Path | None = None, *, limit: int = 1000) -> None:
        raise NotImplementedError

    @property
    def entries(self) -> Sequence[str]:
        """Oldest first, at most `limit`."""
        raise NotImplementedError

    def add(self, text: str) -> None:
        """Remember `text`, unless it is blank or the same as the newest."""
        raise NotImplementedError

    def search(self, words: str) -> list[str]:
        """The entries that contain every word of `words`, newest first, each once."""
        raise NotImplementedError
