"""The report of a crash says where, and shows no values."""

from __future__ import annotations

from typing import Any

from rich.segment import Segments
from textual.app import App

from agent_tui.tui import crash


class Panicking(App[None]):
    said = ""

    def panic(self, *renderables: Any) -> None:
        assert isinstance(renderables[0], Segments)
        self.said = "".join(segment.text for segment in renderables[0].segments)


def fail_with(secret: str) -> None:
    copy = secret
    raise ValueError(f"{len(copy)} \x1b]0;owned\x07characters")


def test_a_crash_report_names_the_place_and_no_local_value() -> None:
    app = Panicking()

    try:
        fail_with("sk-" + "CANARY-0123456789abcdef")
    except ValueError:
        crash.report(app)

    assert "in fail_with" in app.said
    assert "26 characters" in app.said
    assert "sk-CANARY" not in app.said
    assert "\x1b" not in app.said
