"""Writing the program's own files so that nobody sees half of one, and nobody else reads it."""

from __future__ import annotations

import os
from pathlib import Path


def write_private(path: Path, text: str) -> None:
    """Replace the file in one step, readable by the person alone; missing folders are made.

    Raises:
        OSError: It cannot be written; the old content is still there.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    fresh.unlink(missing_ok=True)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
    try:
        with os.fdopen(os.open(fresh, flags, 0o600), "w", encoding="utf-8") as out:
            out.write(text)
        fresh.replace(path)
    finally:
        fresh.unlink(missing_ok=True)
