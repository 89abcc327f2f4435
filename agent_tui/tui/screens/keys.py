"""The key doctor: what the terminal really sends, what that is called, and what it does here."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping

from textual import events
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.widgets import Static

from agent_tui.config.keys import ACTIONS, Place
from agent_tui.tui.keymap import Keymap, sign
from agent_tui.tui.keys import raw_of
from agent_tui.tui.paint import painted_lines
from agent_tui.tui.screens.page import Page
from agent_tui.tui.status import Span, cut

MOST_SHOWN = 12
WIDE = 60
"""From this width on what was sent stands beside what it does."""
_DOUBTFUL: Mapping[str, str] = {
    "shift+enter": "ctrl+j, or \\ and enter",
    "ctrl+enter": "ctrl+s",
    "alt+enter": "tab",
    "alt+up": "/queue",
    "ctrl+up": "f6",
    "shift+tab": "/mode",
    "f2": "/loop",
}
"""Keys that not every terminal sends, or that it keeps for itself, and what does the same."""
_PLACES: tuple[tuple[Place, str], ...] = (
    ("composer", ""),
    ("press", ""),
    ("strip", " in the pending list"),
    ("blocks", " on a block"),
)


class KeysScreen(Page[None]):
    """Shows each key that is pressed; Esc twice leaves."""

    def __init__(self, keymap: Keymap) -> None:
        super().__init__()
        self._keymap = keymap
        self._pressed: deque[tuple[str, str]] = deque(maxlen=MOST_SHOWN)
        """Key and what was sent for it, newest first."""
        self._seen: set[str] = set()

    def compose(self) -> ComposeResult:
        """One page."""
        with VerticalScroll(id="help"):
            yield Static()

    def on_mount(self) -> None:
        """Nothing was pressed yet."""
        self._draw()

    def on_resize(self) -> None:
        """The lines are cut to the new width."""
        self._draw()

    def on_key(self, event: events.Key) -> None:
        """Show it, whatever it is."""
        event.stop()
        event.prevent_default()
        if event.key == "escape" and self._pressed and self._pressed[0][0] == "escape":
            self.dismiss(None)
            return
        self._pressed.appendleft((event.key, raw_of(event)))
        self._seen.add(event.key)
        self._draw()

    def _draw(self) -> None:
        width = max(8, self.app.size.width - 6)
        self.query_one(Static).update(painted_lines([cut(row, width) for row in self._rows(width)]))

    def _rows(self, width: int) -> list[list[Span]]:
        rows: list[list[Span]] = [[("Keys: press any, esc twice leaves", "title")]]
        if not self._pressed:
            rows.append([("  nothing was pressed yet", "quiet")])
        for key, raw in self._pressed:
            sent = f" sent {spelled(raw)}" if raw else ""
            does = " · ".join(self._does(key)) or "nothing of the chat's"
            if width >= WIDE:
                rows.append([(f"  {sign(key):<15}", "key"), (f"{sent:<24} ", "quiet"), (does, "")])
            else:
                rows.append([(f"  {sign(key)} ", "key"), (does, "")])
                rows += [[(f"   {sent}", "quiet")]] if sent else []
        rows += [[], [("Not every terminal sends these", "title")]]
        for key, instead in _DOUBTFUL.items():
            state = "has come" if key in self._seen else "not yet"
            gap = f" {state:<9}" if width >= WIDE else f" {state} "
            named = f"  {sign(key):<15}" if width >= WIDE else f"  {sign(key)}"
            rows.append([(named, "key"), (gap, ""), (f"else {instead}", "quiet")])
        tells = any(raw.endswith("u") and raw.startswith("\x1b[") for _, raw in self._pressed)
        protocol = "kitty, which tells keys apart" if tells else "legacy, so far"
        rows.append([(f"  protocol: {protocol}", "")])
        rows += [[], [("Other keys", "title")]]
        rows.append([("  config.toml: [keys], a line each: why = ", ""), ('"f9"', "key")])
        changed = [name for name in ACTIONS if self._keymap.keys(name) != ACTIONS[name].keys]
        for name in changed:
            keys = ", ".join(map(sign, self._keymap.keys(name)))
            rows.append([(f"  {name} = {keys}", "quiet")])
        return rows

    def _does(self, key: str) -> list[str]:
        found = [(self._keymap.action_of(key, (place,)), words) for place, words in _PLACES]
        return [f"{name}{words}" for name, words in found if name is not None]


def spelled(raw: str) -> str:
    """What a terminal sent, so that it can be read: `ESC [ 1 3 ; 2 u`."""
    names = {"\x1b": "ESC", " ": "SPACE", "\x7f": "DEL"}
    return " ".join(
        names.get(each) or (f"^{chr(ord(each) + 64)}" if ord(each) < 32 else each) for each in raw
    )
