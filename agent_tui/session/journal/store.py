"""Where sessions are: one folder for each project folder, one file for each session.

Light enough to be asked before the screen stands.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from agent_tui.core.errors import ConfigError
from agent_tui.core.ids import new_id


@dataclass(frozen=True, slots=True)
class SessionStore:
    """The session files below one folder, seen from a project."""

    root: Path
    """Holds a folder for each project."""
    cwd: Path
    """The project's folder."""

    @property
    def folder(self) -> Path:
        """Where this project's sessions are."""
        return self.root / hashlib.sha256(str(self.cwd).encode()).hexdigest()[:16]

    def checkpoints_of(self, path: Path) -> Path:
        """Where what a session's files held before is kept."""
        return self.root.parent / "checkpoints" / path.stem

    def new_path(self) -> Path:
        """Where a new session of this project goes."""
        return self.folder / f"{new_id()}.jsonl"

    def files(self, *, everywhere: bool = False) -> list[Path]:
        """The session files of this project, or of all, last changed first."""
        folders = self._folders() if everywhere else [self.folder]
        found = [path for folder in folders for path in folder.glob("*.jsonl")]
        return sorted(found, key=_changed, reverse=True)

    def latest(self) -> Path | None:
        """The session of this project that was used last, be it only a draft."""
        paths = [*self.folder.glob("*.jsonl"), *self.folder.glob("*.draft")]
        if not paths:
            return None
        return max(paths, key=_changed).with_suffix(".jsonl")

    def find(self, beginning: str) -> Path:
        """The session whose id begins so: one of this project's, or else of any.

        Raises:
            ConfigError: There is none, or there are several.
        """
        for everywhere in (False, True):
            paths = self.files(everywhere=everywhere)
            found = [path for path in paths if path.stem.startswith(beginning)]
            exact = [path for path in found if path.stem == beginning]
            if len(exact or found) == 1:
                return (exact or found)[0]
            if found:
                ids = ", ".join(path.stem for path in found[:5])
                raise ConfigError(f"several sessions begin with {beginning!r}: {ids}")
        raise ConfigError(
            f"there is no session {beginning!r}; agent-tui sessions list shows those of this folder"
        )

    def _folders(self) -> Iterator[Path]:
        try:
            yield from (path for path in self.root.iterdir() if path.is_dir())
        except OSError:
            return


def _changed(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0
