"""What happens behind the first paint: heavy modules are imported while the person types.

The program starts with the garbage collector off (`__main__`); once everything is loaded it is
switched on, with all that start-up left behind out of its sight.
"""

from __future__ import annotations

import gc
import threading
from importlib import import_module

MODULES = ("httpx", "jsonschema", "markdown_it", "pygments.lexers", "pygments.token")


def up() -> threading.Thread:
    """Load what the first turn will need, in a thread that never keeps the program alive."""
    thread = threading.Thread(target=_load, name="warm-up", daemon=True)
    thread.start()
    return thread


def _load() -> None:
    for name in MODULES:
        try:
            import_module(name)
        except ImportError:  # whoever needs it will say so
            continue
    gc.enable()
    gc.freeze()
