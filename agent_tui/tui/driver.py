"""Which driver moves keys and screens between the terminal and the program."""

from __future__ import annotations

import os
import sys

from textual.driver import Driver


def driver_class() -> type[Driver] | None:
    """Our driver where it works (Linux, macOS), None for Textual's own: `App(driver_class=…)`.

    Also None when the environment names a driver, as Textual's web server does.
    """
    if sys.platform == "win32" or os.environ.get("TEXTUAL_DRIVER"):
        return None
    from agent_tui.tui.posix_driver import PosixDriver

    return PosixDriver
