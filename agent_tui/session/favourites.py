"""The models that a person marked, kept in one file for all projects."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from pathlib import Path


class Favourites:
    """Keys of models (`provider/id`), in the order in which they were marked."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def keys(self) -> list[str]:
        """All of them; none if the file is missing or damaged."""
        try:
            keys = json.loads(self._file.read_text("utf-8"))
        except (OSError, ValueError):
            return []
        return [key for key in keys if isinstance(key, str)] if isinstance(keys, list) else []

    def toggle(self, key: str) -> bool:
        """Mark the model, or unmark it; whether it is marked now.

        Where nothing can be written, nothing changes.
        """
        keys = self.keys()
        if key in keys:
            keys.remove(key)
        else:
            keys.append(key)
        with suppress(OSError):
            self._write(keys)
        return key in self.keys()

    def _write(self, keys: list[str]) -> None:
        self._file.parent.mkdir(parents=True, exist_ok=True)
        fresh = self._file.with_suffix(f".{os.getpid()}.tmp")
        fresh.write_text(json.dumps(keys, ensure_ascii=False, indent=1) + "\n", "utf-8")
        fresh.replace(self._file)
