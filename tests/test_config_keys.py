"""`[keys]`: other keys for the actions of the chat; what cannot be is said and left as it was."""

from __future__ import annotations

import pytest

from agent_tui.config.keys import ACTIONS, read_keys
from agent_tui.core.tables import Table


def read(**keys: object) -> tuple[dict[str, tuple[str, ...]], list[str]]:
    problems: list[str] = []
    return read_keys(Table(keys, "config.toml", problems, "keys")) or {}, problems


def test_an_action_gets_one_key_or_several_however_they_are_spelled() -> None:
    found, problems = read(why="F9", expand=["Shift+Ctrl+E", "alt+pgup"], card_up="alt+home")

    assert problems == []
    assert found == {
        "why": ("f9",),
        "expand": ("ctrl+shift+e", "alt+pageup"),
        "card_up": ("alt+home",),
    }


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"wy": "f9"}, "did you mean 'why'"),
        ({"why": "f99"}, "'f99' is no key"),
        ({"why": "ctrl+entr"}, "did you mean enter?"),
        ({"why": 3}, "must be text"),
        ({"why": "w"}, "w types a character"),
        ({"follow_up": "shift+w"}, "types a character"),
        ({"why": "ctrl+c"}, "ctrl+c always stops"),
        ({"why": "f1"}, "f1 is the key of help"),
        ({"why": "f9", "help": "f9"}, "f9 is the key of"),
        ({"pending_edit": "d"}, "d is the key of pending_delete"),
    ],
)
def test_what_cannot_be_is_said_and_the_usual_keys_stay(
    keys: dict[str, object], words: str
) -> None:
    found, problems = read(**keys)

    assert len(problems) == 1
    assert problems[0].startswith("config.toml: ")
    assert words in problems[0]
    assert len(found) == len(keys) - 1


def test_two_actions_may_change_places() -> None:
    found, problems = read(why="f1", help="f3", pending_edit="d", pending_delete="e")

    assert problems == []
    assert found["why"] == ("f1",)
    assert found["pending_edit"] == ("d",)


def test_a_letter_may_mean_one_thing_in_the_list_and_another_on_a_block() -> None:
    assert read(block_copy="e")[1] == []


def test_ctrl_c_stops_whatever_else_does() -> None:
    assert read(interrupt="f12")[0] == {"interrupt": ("f12", "ctrl+c")}


def test_no_two_actions_have_the_same_usual_key_in_one_place() -> None:
    assert read() == ({}, [])
    for name, action in ACTIONS.items():
        assert read(**{name: list(action.keys)}) == ({name: action.keys}, [])
