"""The terminal as the program drives it: keys at once, pastes whole, everything put back at the end."""

from __future__ import annotations

from textual.driver import Driver


def driver_class() -> type[Driver] | None:
    """Our driver where it works (Linux, macOS), None for Textual's own: `App(driver_class=…)`."""
    raise NotImplementedError
