"""Which key is in force for what, and what it is called: the one place that knows.

Everything in the chat is written in terms of the usual keys. A key that a person has given to an
action is turned into that action's usual key where it comes in, and a usual key that is named on
the screen into the person's where it goes out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from agent_tui.config.keys import ACTIONS, Place

_SIGNS = {
    "up": "↑",
    "down": "↓",
    "left": "←",
    "right": "→",
    "pageup": "pgup",
    "pagedown": "pgdn",
    "escape": "esc",
}
_TOGETHER: Mapping[str, tuple[str, ...]] = {
    "alt+↑/↓": ("pending_up", "pending_down"),
    "alt+↑↓": ("pending_up", "pending_down"),
    "alt+shift+↑/↓": ("pending_earlier", "pending_later"),
    "alt+shift+↑↓": ("pending_earlier", "pending_later"),
    "ctrl+↑↓": ("blocks_up", "blocks_down"),
    "alt+pgup/pgdn": ("card_up", "card_down"),
    "alt+y a n e": ("once", "always", "decline", "comment"),
    "alt+y t e s": ("once", "step", "comment", "halt"),
    "ctrl+x s": ("chord",),
}
"""Names of several keys at once."""
_WORD = re.compile(r"(?P<key>[^\s:,()]+)")


def sign(key: str) -> str:
    """A key as a person reads it: `alt+↑`, `pgup`, `esc`."""
    *modifiers, last = key.split("+") if key != "+" else ["+"]
    return "+".join([*modifiers, _SIGNS.get(last, last)])


class Keymap:
    """The keys in force; `changed` are the actions that have other keys than the usual ones."""

    def __init__(self, changed: Mapping[str, tuple[str, ...]] | None = None) -> None:
        self._changed = changed or {}
        self._usual = _by_key(self._changed)
        """By place and key in force: the usual key of what it does."""
        self._released = _by_key({name: ACTIONS[name].keys for name in self._changed})
        """By place and usual key: what does not do its usual thing any more."""
        self._names = {
            (ACTIONS[name].place, sign(ACTIONS[name].keys[0])): sign(keys[0])
            for name, keys in self._changed.items()
        }

    @property
    def is_usual(self) -> bool:
        """Nothing was given another key."""
        return not self._changed

    def keys(self, action: str) -> tuple[str, ...]:
        """The keys of an action, the one to name first."""
        return self._changed.get(action, ACTIONS[action].keys)

    def pressed(self, key: str, places: Iterable[Place]) -> str:
        """The usual key for what `key` does in the first of `places` that knows it.

        The key itself where nothing was changed; empty if it does nothing any more.
        """
        for place in places:
            if (place, key) in self._usual:
                return self._usual[place, key]
            if (place, key) in self._released:
                return ""
        return key

    def action_of(self, key: str, places: Iterable[Place]) -> str | None:
        """What a key does, by name; None for nothing of the chat's own."""
        for place in places:
            for name, action in ACTIONS.items():
                if action.place == place and key in self.keys(name):
                    return name
        return None

    def shown(self, text: str, place: Place = "press") -> str:
        """`text` with the usual key at the beginning of each part (` · `) named as it is now."""
        if self.is_usual:
            return text
        return " · ".join(self._shown(part, place) for part in text.split(" · "))

    def named(self, keys: str) -> str:
        """The usual keys `a, b` of the help as they are now."""
        return keys if self.is_usual else ", ".join(map(self.shown, keys.split(", ")))

    def _shown(self, part: str, place: Place) -> str:
        for words, names in _TOGETHER.items():
            if part.startswith(words) and any(name in self._changed for name in names):
                keys = "/".join(sign(self.keys(name)[0]) for name in names)
                return keys + part[len(words) :]
        match = _WORD.search(part)
        if match is None:
            return part
        for where in (place, "press", "composer"):
            name = self._names.get((where, match["key"]))
            if name is not None:
                return part[: match.start()] + name + part[match.end() :]
        return part


def _by_key(keys: Mapping[str, tuple[str, ...]]) -> dict[tuple[Place, str], str]:
    return {
        (ACTIONS[name].place, key): ACTIONS[name].keys[0] for name in keys for key in keys[name]
    }
