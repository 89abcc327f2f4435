"""Which key does what: every action of the chat with its usual keys, and `[keys]` of the settings.

To add a key: add a row to `ACTIONS`, and what it does to `tui.presses` (a press), to the composer
or to a mode, under the same name. Whoever names a key on the screen asks `tui.keymap`.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping
from typing import Literal, NamedTuple

from agent_tui.core.tables import Table

Place = Literal["press", "composer", "strip", "blocks"]
"""Where an action belongs: to the chat, to the composer, to the pending list, to a block.

The first two count everywhere, the others while that has the keyboard.
"""


class Action(NamedTuple):
    """What keys can do."""

    place: Place
    keys: tuple[str, ...]


def _rows(place: Place, rows: Mapping[str, str]) -> Iterator[tuple[str, Action]]:
    for name, keys in rows.items():
        yield name, Action(place, tuple(keys.split()))


ACTIONS: Mapping[str, Action] = dict(
    [
        *_rows(
            "press",
            {
                "interrupt": "ctrl+c",
                "escape": "escape",
                "chord": "ctrl+x",
                "pending_up": "alt+up",
                "pending_down": "alt+down",
                "blocks_up": "f6 ctrl+up",
                "blocks_down": "ctrl+down",
                "expand": "ctrl+o",
                "help": "f1",
                "loop": "f2",
                "why": "f3",
                "thinking": "ctrl+t",
                "mode": "shift+tab",
                "model": "ctrl+l",
                "palette": "ctrl+p",
                "once": "alt+y",
                "always": "alt+a",
                "decline": "alt+n",
                "comment": "alt+e",
                "step": "alt+t",
                "extend": "alt+x",
                "finish": "alt+l",
                "halt": "alt+s",
                "card_up": "alt+pageup",
                "card_down": "alt+pagedown",
                "page_up": "pageup",
                "page_down": "pagedown",
            },
        ),
        *_rows(
            "composer",
            {
                "enter": "enter",
                "follow_up": "alt+enter",
                "tab": "tab",
                "now": "ctrl+s ctrl+enter",
                "newline": "ctrl+j shift+enter",
                "cursor_up": "up",
                "cursor_down": "down",
                "search": "ctrl+r",
                "edit_externally": "ctrl+g",
                "expand_chip": "alt+v",
                "delete_or_quit": "ctrl+d",
                "cursor_left": "left ctrl+b",
                "cursor_right": "right ctrl+f",
                "cursor_word_left": "ctrl+left alt+left alt+b",
                "cursor_word_right": "ctrl+right alt+right alt+f",
                "cursor_line_start": "home ctrl+a",
                "cursor_line_end": "end ctrl+e",
                "select_left": "shift+left",
                "select_right": "shift+right",
                "select_up": "shift+up",
                "select_down": "shift+down",
                "select_line_start": "shift+home",
                "select_line_end": "shift+end",
                "select_word_left": "ctrl+shift+left",
                "select_word_right": "ctrl+shift+right",
                "select_all": "f7",
                "delete_left": "backspace ctrl+h shift+backspace",
                "delete_right": "delete",
                "delete_word_left": "ctrl+w alt+backspace ctrl+backspace",
                "delete_word_right": "alt+d alt+delete",
                "delete_to_start_of_line": "ctrl+u",
                "delete_to_end_of_line_or_delete_line": "ctrl+k",
                "paste": "ctrl+v super+v",
                "undo": "ctrl+z super+z",
                "redo": "ctrl+y ctrl+shift+z",
            },
        ),
        *_rows(
            "strip",
            {
                "pending_earlier": "alt+shift+up",
                "pending_later": "alt+shift+down",
                "pending_edit": "e",
                "pending_delete": "d",
                "pending_lane": "s",
                "pending_discard": "x",
            },
        ),
        *_rows(
            "blocks",
            {
                "block_toggle": "space",
                "block_copy": "y",
                "block_kill": "k",
                "block_pin": "p",
                "block_raw": "r",
                "block_background": "b",
                "block_open": "o",
            },
        ),
    ]
)
"""Every action that a key can be given to, with its usual keys; the first of them is named."""

_NAMED = (
    *("enter", "tab", "space", "escape", "backspace", "delete", "insert"),
    *("home", "end", "pageup", "pagedown", "up", "down", "left", "right"),
)
_KEY = re.compile(
    r"(?P<modifiers>(?:(?:ctrl|alt|shift|super)\+)*)"
    rf"(?P<key>{'|'.join(_NAMED)}|f[1-9]|f1\d|f2[0-4]|\S)"
)
_MODIFIERS = ("ctrl", "alt", "shift", "super")


def read_keys(table: Table) -> dict[str, tuple[str, ...]] | None:
    """`[keys]`: the actions that were given other keys; None if there are none.

    What cannot be is reported, and the action keeps its usual keys.
    """
    found: dict[str, tuple[str, ...]] = {}
    for name in ACTIONS:
        words = table.words(name)
        if words is None:
            continue
        keys = tuple(dict.fromkeys(map(usual, words)))
        problem = next((said for key in keys if (said := _problem(name, key))), None)
        if problem is not None:
            table.wrong(name, problem)
        else:
            found[name] = (*keys, "ctrl+c") if _lacks_ctrl_c(name, keys) else keys
    table.finish()
    while (clash := _clash(found)) is not None:
        name, other, key = clash
        table.wrong(name, f"{key} is the key of {other}; it keeps its usual keys")
        del found[name]
    return found or None


def usual(key: str) -> str:
    """A key as Textual calls it: lower case, modifiers in one order, `esc` spelled out."""
    *modifiers, last = key.lower().replace("++", "+plus").split("+")
    last = {"esc": "escape", "pgup": "pageup", "pgdn": "pagedown", "plus": "+"}.get(last, last)
    known = [word for word in _MODIFIERS if word in modifiers]
    others = [word for word in modifiers if word not in _MODIFIERS]
    return "+".join([*others, *known, last])


def _lacks_ctrl_c(name: str, keys: tuple[str, ...]) -> bool:
    """Whatever else stops, Ctrl+C does."""
    return name == "interrupt" and "ctrl+c" not in keys


def _problem(name: str, key: str) -> str | None:
    match = _KEY.fullmatch(key)
    if match is None:
        close = difflib.get_close_matches(key.rpartition("+")[2], _NAMED, n=1)
        hint = f"; did you mean {close[0]}?" if close else "; like f9, alt+w, ctrl+shift+up"
        return f"{key!r} is no key{hint}"
    if key == "ctrl+c" and name != "interrupt":
        return "ctrl+c always stops and cannot do anything else"
    is_typed = len(match["key"]) == 1 and match["modifiers"] in ("", "shift+")
    if is_typed and ACTIONS[name].place in ("press", "composer"):
        return f"{key} types a character"
    return None


def _clash(found: Mapping[str, tuple[str, ...]]) -> tuple[str, str, str] | None:
    """An action with a key that another one has too: its name, the other's, the key."""
    owners: dict[tuple[str, str], str] = {}
    for name in sorted(ACTIONS, key=lambda name: name in found):
        action = ACTIONS[name]
        own = action.place if action.place in ("strip", "blocks") else "chat"
        for key in found.get(name, action.keys):
            other = owners.setdefault((own, key), name)
            if other != name and name in found:
                return name, other, key
    return None
