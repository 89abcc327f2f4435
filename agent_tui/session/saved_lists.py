"""What hosted servers said that they serve, kept on disk for a day, and as a name for longer.

A model that is newer than the catalog can be named after its provider was asked once. A damaged
file counts as none.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from agent_tui.config import Folders
from agent_tui.core.model import Model

FRESH_SECONDS = 24 * 3600.0
"""So long a list is as good as asking again."""
_FACTS: Mapping[str, type] = {
    "name": str,
    "context_window": int,
    "max_output_tokens": int,
    "reasoning": bool,
    "images": bool,
}


class SavedLists:
    """One file a provider."""

    def __init__(self, folders: Folders, now: Callable[[], float] = time.time) -> None:
        self._folder = folders.state / "models"
        self._now = now
        self._lists: dict[str, dict[str, dict[str, Any]]] = {}

    def named(self) -> Iterator[str]:
        """Every model in every list, as `provider/id`."""
        for file in sorted(self._folder.glob("*.json")):
            for model_id in self._list(file.stem):
                yield f"{file.stem}/{model_id}"

    def facts(self, key: str) -> dict[str, Any] | None:
        """What the server said of the model, as fields of `Model`; None if it never named it."""
        provider, _, model_id = key.partition("/")
        return self._list(provider).get(model_id)

    def is_fresh(self, provider: str) -> bool:
        """Whether the provider was asked within the last day."""
        try:
            age = self._now() - self._file(provider).stat().st_mtime
        except OSError:
            return False
        return 0 <= age < FRESH_SECONDS

    def put(self, provider: str, models: Sequence[Model]) -> None:
        """Keep what the provider's server serves; where nothing can be written, do not."""
        lines = {
            model.id: {name: value for name in _FACTS if (value := getattr(model, name))}
            for model in models
        }
        self._lists[provider] = lines
        file = self._file(provider)
        with suppress(OSError):
            self._folder.mkdir(parents=True, exist_ok=True)
            fresh = file.with_suffix(f".{os.getpid()}.tmp")
            fresh.write_text(json.dumps(lines, ensure_ascii=False), "utf-8")
            os.utime(fresh, (self._now(), self._now()))
            fresh.replace(file)

    def _file(self, provider: str) -> Path:
        return self._folder / f"{provider}.json"

    def _list(self, provider: str) -> dict[str, dict[str, Any]]:
        if provider not in self._lists:
            self._lists[provider] = self._read(provider)
        return self._lists[provider]

    def _read(self, provider: str) -> dict[str, dict[str, Any]]:
        if not provider.isidentifier():
            return {}
        try:
            data = json.loads(self._file(provider).read_text("utf-8"))
        except (OSError, ValueError):
            return {}
        if not isinstance(data, dict):
            return {}
        return {
            model_id: {n: v for n, kind in _FACTS.items() if type(v := said.get(n)) is kind}
            for model_id, said in data.items()
            if isinstance(said, dict)
        }
